package hudiidx.log

import hudiidx.{DamagedTable, HudiIdxException, UnsupportedTable}
import hudiidx.bytes.{ByteCursor, Bytes}
import hudiidx.storage.RandomReader
import java.io.EOFException

/** The blocks of a log file from an offset on, see `LogFile.blocks`. */
final class LogBlockScan private[log] (reader: RandomReader, atomicWrites: Boolean, from: Long)
    extends Iterator[LogBlock] {
  // One window on a block's header, one on its end and what follows: the header of the next.
  private var window, ahead = new Window(reader)
  private val magicBytes = LogFile.Magic.length
  private val headBytes = magicBytes + 8
  // Version, type, header count, content length, footer count and trailing length: no block is smaller.
  private val leastSize = 4 + 4 + 4 + 8 + 4 + 8
  private val maxHeaderBytes = 64 << 20
  private var at = from
  // Looks at places that the scan has passed, with windows of its own.
  private lazy val beside = new LogBlockScan(reader, atomicWrites, from)

  def hasNext: Boolean = at < window.size

  def next(): LogBlock = {
    if (!hasNext) throw new NoSuchElementException(s"${window.path}: no block at offset $at")
    if (window.size - at >= magicBytes && !window.hasMagic(at))
      throw new DamagedTable(s"${window.path}: no log block begins (#HUDI#) at offset $at; restore the file")
    val block = sizeAt(at) match {
      case Some(size) => whole(size)
      case None       => corrupt()
    }
    at = block.endOffset
    if (!window.holds(at, headBytes)) {
      val behind = window
      window = ahead
      ahead = behind
    }
    block
  }

  /** End of the block at an offset if its lengths agree with each other, whatever follows it; -1 for anything else. */
  private[log] def intactEnd(offset: Long): Long = beside.agreeing(offset).fold(-1L)(offset + headBytes + _)

  /** The block at an offset whose lengths agree with each other; None for anything else. What can be wrong of it is looked at
    * before its header is read, which may be long.
    */
  private[log] def intactAt(offset: Long): Option[LogBlock] = beside.agreeing(offset).flatMap { size =>
    beside.at = offset
    try {
      beside.check(size)
      Some(beside.whole(size))
    } catch { case _: HudiIdxException => None }
  }

  private def agreeing(offset: Long): Option[Long] =
    sizeFrom(offset).filter(size => trailerAgrees(offset + headBytes + size, size))

  /** The size field of the block, None if it cannot be right. */
  private def sizeAt(offset: Long): Option[Long] = sizeFrom(offset).filter { size =>
    val end = offset + headBytes + size
    atomicWrites || (trailerAgrees(end, size) && followed(end))
  }

  /** The size field, None if no such block fits into the file. */
  private def sizeFrom(offset: Long): Option[Long] = {
    val in = window.cursor(offset, headBytes)
    if (in.remaining < headBytes) None
    else {
      in.skip(magicBytes.toLong, "magic")
      val size = in.long("block size")
      if (size < leastSize || size > window.size - offset - headBytes) None else Some(size)
    }
  }

  private def trailerAgrees(end: Long, size: Long): Boolean =
    on(end - 8, 8).cursor(end - 8, 8).long("trailing block length") == size + magicBytes

  private def followed(end: Long): Boolean = window.size - end < magicBytes || on(end, magicBytes).hasMagic(end)

  private def on(offset: Long, length: Int): Window = if (window.holds(offset, length)) window else ahead

  private def corrupt(): LogBlock = {
    val from = math.min(at + magicBytes, window.size)
    val end = window.findMagic(from)
    LogBlock(LogBlockKind.Corrupt, Map.empty, at, from, end - from, end)
  }

  private def whole(size: Long): LogBlock = {
    val kind = kindOf()
    val headerOffset = at + headBytes + 8
    // A header longer than the window (a wide schema) is read again, whole.
    val in = window.cursor(headerOffset, headerSize(headerOffset, limitOf(size)) + 8)
    val header = readHeader(in)
    val contentLength = contentLengthAt(in, limitOf(size))
    val contentOffset = in.offset
    // Behind a long block the next read begins with its last 8 bytes; the header there may be a little longer than here.
    val next = if (size > Window.Bytes) 8 + contentOffset - at + 32 else Window.Bytes.toLong
    window.expect(next)
    ahead.expect(next)
    LogBlock(kind, header, at, contentOffset, contentLength, at + headBytes + size)
  }

  /** Does as `whole`, but reads no value of the header. */
  private def check(size: Long): Unit = {
    kindOf(): Unit
    val headerOffset = at + headBytes + 8
    val behind = headerOffset + headerSize(headerOffset, limitOf(size))
    contentLengthAt(window.cursor(behind, 8), limitOf(size)): Unit
  }

  /** Where a block's content ends at the latest: before its footer count and trailing length. */
  private def limitOf(size: Long): Long = at + headBytes + size - 8 - 4

  private def kindOf(): LogBlockKind = {
    val in = window.cursor(at + headBytes, 8)
    val version = in.int("block format version")
    if (version != LogFile.FormatVersion)
      throw new UnsupportedTable(
        s"${window.path}: log block has format version $version at offset $at, hudiidx reads 1; compact the table with Hudi"
      )
    val number = in.int("block type")
    LogBlockKind.Written.find(_.number == number).getOrElse(in.fail(s"log block type $number is unknown"))
  }

  private def contentLengthAt(in: ByteCursor, limit: Long): Long = {
    val length = in.long("content length")
    if (length < 0 || length > limit - in.offset)
      in.fail(s"log block content of $length bytes passes the block's end ($limit)")
    length
  }

  /** Bytes of the header map that starts at `offset` and must leave 8 bytes before `limit`. */
  private def headerSize(offset: Long, limit: Long): Int = {
    val most = math.min(limit - 8 - offset, maxHeaderBytes.toLong)
    var used = 4L
    var left = entryCount(window.cursor(offset, 4))
    while (left > 0) {
      val in = window.cursor(offset + used, 8)
      val key = in.int("header key")
      if (key < LogHeaderKey.InstantTime || key > LogHeaderKey.BaseFileInstantTime)
        in.fail(s"log block header key $key is unknown")
      val length = in.int("header value length")
      used += 8L + length
      if (length < 0 || used > most) in.fail(s"header value of $length bytes passes the block's end ($limit)")
      left -= 1
    }
    used.toInt
  }

  private def entryCount(in: ByteCursor): Int = {
    val count = in.int("header count")
    if (count < 0 || count > 64) in.fail(s"log block header has $count entries")
    count
  }

  private def readHeader(in: ByteCursor): Map[Int, String] = {
    val count = entryCount(in)
    (0 until count).map { _ =>
      in.int("header key") -> in.utf8(in.int("header value length"), "header value")
    }.toMap
  }
}

/** A file through a window that is read in one go, so that small fields cost no reads of their own. */
private[log] final class Window(reader: RandomReader) {
  val path: String = reader.path
  val size: Long = reader.sizeBytes
  private var from = 0L
  private var usual = Window.Bytes
  private var bytes = Array.emptyByteArray

  /** A cursor over exactly `length` bytes at `offset`; fewer if the file ends sooner. */
  def cursor(offset: Long, length: Int): ByteCursor = {
    val count = math.min(length.toLong, size - offset).toInt
    if (offset < from || offset + count > from + bytes.length) fetch(offset, math.max(count, usual))
    val start = (offset - from).toInt
    new ByteCursor(bytes, start, start + count, path, offset, new DamagedTable(_))
  }

  def holds(offset: Long, length: Int): Boolean = offset >= from && offset + length <= from + bytes.length

  /** Reads so many bytes from now on, where no more are asked for: blocks of a file are alike in their headers. */
  def expect(bytes: Long): Unit = usual = math.max(Window.LeastBytes.toLong, math.min(bytes, Window.Bytes.toLong)).toInt

  private def fetch(offset: Long, wanted: Int): Unit = {
    val count = math.min(wanted.toLong, size - offset).toInt
    bytes =
      try Bytes.ofBuffer(reader.read(offset, count))
      catch { case e: EOFException => throw new DamagedTable(s"$path: log file got shorter; read it again", e) }
    from = offset
  }

  /** Offset of the next magic at or behind `offset`; the file's size if there is none. */
  def findMagic(offset: Long): Long = {
    var at = offset
    var found = -1L
    while (found < 0 && at < size) {
      // What is held first: of a file with many magics the same bytes would be read for each of them.
      val held = from + bytes.length - at
      val in = cursor(at, if (holds(at, LogFile.Magic.length)) held.toInt else Window.ScanBytes)
      val start = in.position
      var i = start
      while (found < 0 && i + LogFile.Magic.length <= in.limit) {
        if (isMagic(in.bytes, i)) found = at + (i - start)
        i += 1
      }
      // The last five bytes of a window may begin a magic.
      at = if (in.limit - start < LogFile.Magic.length) size else at + (i - start)
    }
    if (found < 0) size else found
  }

  private def isMagic(bytes: Array[Byte], at: Int): Boolean =
    java.util.Arrays.equals(bytes, at, at + LogFile.Magic.length, LogFile.Magic, 0, LogFile.Magic.length)

  def hasMagic(offset: Long): Boolean = {
    val in = cursor(offset, LogFile.Magic.length)
    in.remaining == LogFile.Magic.length && isMagic(in.bytes, in.position)
  }
}

private[log] object Window {
  val Bytes: Int = 8 << 10
  val LeastBytes: Int = 512
  val ScanBytes: Int = 1 << 20
}
