package hudiidx.log

import hudiidx.bytes.ByteSlice
import hudiidx.storage.RandomReader

/** Chosen columns of one row, each by its place in the list that was asked for. A column that the row's schema lacks is
  * null.
  */
trait RowFields {
  def isNull(field: Int): Boolean

  /** UTF-8 of a string, or the bytes of a binary; only for such a column that is not null. */
  def utf8(field: Int, into: ByteSlice): Unit

  /** Adds the value, null too, to a record key in the making. */
  def addTo(field: Int, key: RecordKeyBuilder): Unit

  /** False for null and for other types than boolean. */
  def boolean(field: Int): Boolean

  /** Default for null. */
  def ordering(field: Int): OrderingValue
}

/** Reads data blocks whose content is a file of another format. Implemented where that format is known. */
trait DataBlockRows {

  /** Calls `use` for every row in file order, with the key that the file itself holds (an HFile's cell key; null for
    * Parquet, whose keys are columns) and the columns. Both are valid during the call alone.
    *
    * @param content the block's content as a file
    * @param columns names, with dots for nested ones
    */
  def foreach(content: RandomReader, block: LogBlock, columns: Vector[String])(
      use: (ByteSlice, RowFields) => Unit
  ): Unit
}
