package hudiidx.log

import hudiidx.DamagedTable
import hudiidx.bytes.{ByteCursor, Bytes}
import hudiidx.storage.RandomReader
import java.io.EOFException

/** A walk over records of an Avro block. */
trait AvroRecordWalk {

  /** Moves to the next record; false behind the last. */
  def next(): Boolean

  /** A cursor at the current record's first byte. It may be moved, and is for this record alone: `next` may replace it. */
  def cursor: ByteCursor

  /** Bytes of the current record. */
  def length: Int

  /** Offset in the content of the current record's first byte, which stands behind the 4 bytes of its length. */
  def recordOffset: Long
}

/** Walks the records of an Avro data or CDC block: ranges of bytes, each a datum of the block's schema. Format notes §6.3.
  * Bytes after the last record belong to no record. Holds one window of the content, or one record if that is larger.
  * DamagedTable if the lengths do not fit.
  */
final class AvroRecords(reader: RandomReader, block: LogBlock, windowBytes: Int = AvroRecords.WindowBytes)
    extends AvroRecordWalk {
  private val content = LogFile.contentReader(reader, block)
  private var windowFrom = 0L // offset of the window in the content
  private var in = window(0L, 8)
  private val version = in.int("data block version")
  if (version < 1 || version > 3) in.fail(s"unsupported data block version $version; supported: 1 to 3")

  /** Records in the block. */
  val count: Int = in.int("record count")
  if (count < 0 || count > (content.sizeBytes - 8) / 4)
    in.fail(s"$count records cannot lie in ${content.sizeBytes - 8} bytes")
  private var left = count
  private var from = 0
  private var size = 0
  private var end = in.position
  private var tail = 0L // known behind the last record

  override def next(): Boolean = if (left > 0) {
    in.moveTo(end)
    need(4)
    size = in.int("record length")
    if (size < 0 || size > content.sizeBytes - tailFrom) in.fail(s"record length $size passes the block's end")
    need(size)
    from = in.position
    end = from + size
    left -= 1
    true
  } else {
    if (left == 0) checkTail()
    left = -1
    false
  }

  /** What stands behind the last record is no record. If by its lengths it is nothing but records, the count is wrong. */
  private def checkTail(): Unit = {
    in.moveTo(end)
    tail = tailFrom
    var at = tail
    var fits = true
    while (fits && content.sizeBytes - at >= 4) {
      moveTo(at)
      val next = in.int("record length")
      fits = next >= 0 && next <= content.sizeBytes - at - 4
      if (fits) at += 4L + next
    }
    if (fits && at == content.sizeBytes && at > tail)
      throw new DamagedTable(
        s"${reader.path}: record count $count leaves records behind the last, the log is damaged; at offset " +
          s"${block.contentOffset + tail}"
      )
  }

  /** Puts the cursor where a length stands. */
  private def moveTo(at: Long): Unit =
    if (at >= windowFrom && at + 4 <= windowFrom + in.limit) in.moveTo((at - windowFrom).toInt)
    else in = window(at, 4)

  override def cursor: ByteCursor = in

  /** The window's bytes; they change at `next`. */
  def bytes: Array[Byte] = in.bytes

  /** Index in `bytes` of the current record's first byte. */
  def offset: Int = from

  override def length: Int = size

  override def recordOffset: Long = windowFrom + from

  /** Offset in the content of the first byte behind the records read so far; behind all of them once `next` gave false. */
  def tailOffset: Long = if (left < 0) tail else windowFrom + end

  private def tailFrom: Long = windowFrom + in.position

  /** Sees to it that `bytes` bytes from the cursor on are in the window. */
  private def need(bytes: Int): Unit = if (in.remaining < bytes) in = window(tailFrom, bytes)

  private def window(at: Long, wanted: Int): ByteCursor = {
    val length = math.min(math.max(wanted, windowBytes).toLong, content.sizeBytes - at).toInt
    val read =
      try Bytes.ofBuffer(content.read(at, length))
      catch {
        case e: EOFException => throw new DamagedTable(s"${reader.path}: log file got shorter; read it again", e)
      }
    windowFrom = at
    new ByteCursor(read, 0, read.length, reader.path, block.contentOffset + at, new DamagedTable(_))
  }
}

object AvroRecords {
  val WindowBytes: Int = 1 << 20
}

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

  /** Puts the cursor at `offset` with at least `bytes` bytes after it. */
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
