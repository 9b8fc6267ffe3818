package hudiidx.log

import hudiidx.DamagedTable
import hudiidx.bytes.{ByteCursor, Bytes}
import hudiidx.storage.RandomReader
import java.io.EOFException

/** Records of an Avro data block that stand at known offsets. Reads these alone, and what lies between neighbours.
  * DamagedTable if the lengths do not fit.
  *
  * @param offsets as in [[BlockPart]]
  */
final class AvroRecordsAt(reader: RandomReader, block: LogBlock, offsets: Array[Int]) extends AvroRecordWalk {
  private val content = LogFile.contentReader(reader, block)
  private var at = -1
  private var windowFrom, windowEnd = 0L
  private var in: ByteCursor = _
  private var size = 0
  private var largest = AvroRecordsAt.FirstBytes

  override def next(): Boolean = at + 1 < offsets.length && {
    at += 1
    val offset = offsets(at).toLong
    need(offset, 4, neighboursEnd)
    size = in.int("record length")
    if (size < 0 || size > content.sizeBytes - offset - 4) in.fail(s"record length $size passes the block's end")
    largest = math.max(largest, math.min(size + 4, AvroRecordsAt.MostAhead))
    if (in.remaining < size) {
      need(offset, size + 4, offset)
      in.int("record length")
    }
    true
  }

  override def cursor: ByteCursor = in

  override def length: Int = size

  override def recordOffset: Long = offsets(at) + 4L

  /** Where a record of the usual size would end behind the last of those that follow closely. */
  private def neighboursEnd: Long = {
    var i = at
    while (
      i + 1 < offsets.length && offsets(i + 1) - offsets(i) <= largest + AvroRecordsAt.Gap &&
      offsets(i + 1) - offsets(at) < AvroRecords.WindowBytes
    ) i += 1
    offsets(i).toLong + largest
  }

  /** Puts the cursor at `offset` with at least `bytes` bytes behind it. */
  private def need(offset: Long, bytes: Int, until: Long): Unit = {
    if (offset < windowFrom || offset + bytes > windowEnd) fetch(offset, math.max(bytes.toLong, until - offset))
    in.moveTo((offset - windowFrom).toInt)
  }

  private def fetch(offset: Long, wanted: Long): Unit = {
    val length = math.min(wanted, content.sizeBytes - offset).toInt
    if (offset < 0 || length < 4)
      throw new DamagedTable(s"${content.path}: no record at offset $offset of ${content.sizeBytes} bytes")
    val read =
      try Bytes.ofBuffer(content.read(offset, length))
      catch {
        case e: EOFException => throw new DamagedTable(s"${reader.path}: log file got shorter; read it again", e)
      }
    windowFrom = offset
    windowEnd = offset + length
    in = new ByteCursor(read, 0, length, reader.path, block.contentOffset + offset, new DamagedTable(_))
  }
}

private object AvroRecordsAt {
  private val FirstBytes = 512
  private val MostAhead = 16 << 10

  /** Bytes between two records that are cheaper to read than to ask a second time. */
  private val Gap = 4 << 10
}
