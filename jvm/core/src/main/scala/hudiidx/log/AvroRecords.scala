package hudiidx.log

import hudiidx.DamagedTable
import hudiidx.bytes.ByteCursor

/** Walks the records of an Avro data or CDC block's content: ranges of bytes, each a datum of the block's schema. Format
  * notes §6.3. Bytes behind the last record belong to no record. DamagedTable if the lengths do not fit.
  *
  * @param file       log file, for messages
  * @param fileOffset offset of the content in it
  */
final class AvroRecords(val content: Array[Byte], file: String, fileOffset: Long) {
  private val in = new ByteCursor(content, 0, content.length, file, fileOffset, new DamagedTable(_))
  private val version = in.int("data block version")
  if (version < 1 || version > 3) in.fail(s"data block has version $version, known are 1 to 3")

  /** Records in the block. */
  val count: Int = in.int("record count")
  if (count < 0 || count > in.remaining / 4) in.fail(s"$count records cannot lie in ${in.remaining} bytes")
  private var left = count
  private var from = 0
  private var size = 0

  /** Moves to the next record; false behind the last. */
  def next(): Boolean = left > 0 && {
    size = in.int("record length")
    from = in.position
    in.skip(size.toLong, "record")
    left -= 1
    true
  }

  /** Index in `content` of the current record's first byte. */
  def offset: Int = from

  /** Bytes of the current record. */
  def length: Int = size

  /** Index of the first byte behind the records read so far; behind all of them once `next` gave false. */
  def tailOffset: Int = in.position
}
