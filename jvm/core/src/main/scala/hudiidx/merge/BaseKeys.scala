package hudiidx.merge

import hudiidx.log.OrderingValue

/** Walks the record keys of a base file's rows, in the order of the file. What it shows is good until the next `next`. */
trait BaseKeys extends AutoCloseable {

  /** Moves to the next row; false behind the last. */
  def next(): Boolean

  /** Number of the row in the file, from 0. */
  def row: Long

  /** The key is `length` bytes of `bytes` from `from` on, UTF-8. */
  def bytes: Array[Byte]
  def from: Int
  def length: Int

  /** The row's ordering value, where asked for. */
  def ordering: OrderingValue
}

/** A slice's base file, as far as merging needs it. */
trait BaseKeyFile {

  /** Instant of the file: positions of records in it are good for that alone. */
  def instant: String

  /** Walks the rows from the first; each call anew.
    *
    * @param keys     false: keys are not asked for
    * @param ordering true: ordering values are
    */
  def open(keys: Boolean, ordering: Boolean): BaseKeys
}
