package hudiidx.log

import hudiidx.{DamagedTable, HudiIdxException, UnsupportedTable}
import hudiidx.bytes.{ByteCursor, Bytes}
import hudiidx.storage.{RandomReader, RangeReader, Storage}
import java.io.EOFException
import java.nio.charset.StandardCharsets.US_ASCII

/** The blocks of a Hudi log file. Reads headers only; memory is that of one header and one window. Format notes §6.1,
  * §6.2. An empty file has no blocks. A block that is cut off, or whose lengths contradict each other, becomes a corrupt
  * block; there is no checksum, so damage inside a block's content is not seen here.
  *
  * Errors: DamagedTable where bytes between blocks are no magic or a whole block cannot be understood, UnsupportedTable
  * for a block format other than 1.
  */
object LogFile {
  private[log] val Magic = "#HUDI#".getBytes(US_ASCII)
  private[log] val FormatVersion = 1

  /** Does the file begin with a block? */
  def begins(storage: Storage, path: String): Boolean = {
    val reader = storage.open(path)
    try
      reader.sizeBytes >= Magic.length && {
        val start = new Array[Byte](Magic.length)
        reader.readInto(0, start.length, start)
        java.util.Arrays.equals(start, Magic)
      }
    finally reader.close()
  }

  /** @param atomicWrites the store never leaves half a file (S3 and the like): lengths are trusted, as stock Hudi does */
  def blocks(reader: RandomReader, atomicWrites: Boolean = false): Iterator[LogBlock] =
    new LogBlockIterator(reader, atomicWrites)

  /** The block at an offset if its lengths agree with each other, whatever follows it. None for anything else. */
  private[log] def intactBlock(reader: RandomReader, offset: Long): Option[LogBlock] =
    new LogBlockIterator(reader, atomicWrites = false, offset).intact()

  /** Blocks whose lengths agree with each other, wherever they begin and whatever is between them. */
  def anywhere(reader: RandomReader): Iterator[LogBlock] = {
    val window = new Window(reader)
    Iterator
      .iterate(window.findMagic(0))(at => window.findMagic(at + Magic.length))
      .takeWhile(_ < window.size)
      .flatMap(intactBlock(reader, _))
  }

  /** Instant of the first block that is not corrupt; None if the file has no such block, or it bears no instant. */
  def firstInstantTime(reader: RandomReader, atomicWrites: Boolean = false): Option[String] =
    blocks(reader, atomicWrites).find(_.kind != LogBlockKind.Corrupt).flatMap(_.instantTime)

  /** The Avro schema of the first rows at or behind the offset of a block; None if there are none. */
  def schemaFrom(reader: RandomReader, offset: Long): Option[String] =
    new LogBlockIterator(reader, atomicWrites = false, offset).flatMap(_.schema).take(1).toVector.headOption

  /** The whole content of a block; DamagedTable if it is longer than an array, or the file got shorter. */
  def content(reader: RandomReader, block: LogBlock): Array[Byte] = {
    if (block.contentLength > Int.MaxValue - 16)
      throw new DamagedTable(
        s"${reader.path}: log block content has ${block.contentLength} bytes at offset ${block.contentOffset}, more than " +
          "Hudi writes; restore the file"
      )
    val buffer =
      try reader.read(block.contentOffset, block.contentLength.toInt)
      catch {
        case e: EOFException => throw new DamagedTable(s"${reader.path}: log file got shorter; read it again", e)
      }
    Bytes.ofBuffer(buffer)
  }

  /** The content of a block as a file of its own, for HFile and Parquet blocks: nothing is read ahead of being asked for.
    * Its path is `<log file>@<offset of the content>`. Closing it leaves `reader` open.
    */
  def contentReader(reader: RandomReader, block: LogBlock): RandomReader =
    new RangeReader(reader, block.contentOffset, block.contentLength)
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
      val in = cursor(at, Window.ScanBytes)
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

private final class LogBlockIterator(reader: RandomReader, atomicWrites: Boolean, from: Long = 0L)
    extends Iterator[LogBlock] {
  // One window on a block's header, one on its end and what follows: the header of the next.
  private var window, ahead = new Window(reader)
  private val magicBytes = LogFile.Magic.length
  private val headBytes = magicBytes + 8
  // Version, type, header count, content length, footer count and trailing length: no block is smaller.
  private val leastSize = 4 + 4 + 4 + 8 + 4 + 8
  private val maxHeaderBytes = 64 << 20
  private var at = from

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

  /** The block here, if its lengths alone are right. */
  def intact(): Option[LogBlock] =
    sizeFrom(at).filter(size => trailerAgrees(at + headBytes + size, size)).flatMap { size =>
      try Some(whole(size))
      catch { case _: HudiIdxException => None }
    }

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
    val end = at + headBytes + size
    val limit = end - 8 - 4 // trailing length, footer count
    var in = window.cursor(at + headBytes, 8)
    val version = in.int("block format version")
    if (version != LogFile.FormatVersion)
      throw new UnsupportedTable(
        s"${window.path}: log block has format version $version at offset $at, hudiidx reads 1; compact the table with Hudi"
      )
    val number = in.int("block type")
    val kind = LogBlockKind.Written.find(_.number == number).getOrElse(in.fail(s"log block type $number is unknown"))
    // A header longer than the window (a wide schema) is read again, whole.
    val headerOffset = in.offset
    val headerBytes = headerSize(headerOffset, limit)
    in = window.cursor(headerOffset, headerBytes + 8)
    val header = readHeader(in)
    val contentLength = in.long("content length")
    val contentOffset = in.offset
    if (contentLength < 0 || contentLength > limit - contentOffset)
      in.fail(s"log block content of $contentLength bytes passes the block's end ($limit)")
    // Behind a long block the next read begins with its last 8 bytes; the header there may be a little longer than here.
    val next = if (size > Window.Bytes) 8 + contentOffset - at + 32 else Window.Bytes.toLong
    window.expect(next)
    ahead.expect(next)
    LogBlock(kind, header, at, contentOffset, contentLength, end)
  }

  /** Bytes of the header map that starts at `offset` and must leave 8 bytes before `limit`. */
  private def headerSize(offset: Long, limit: Long): Int = {
    val most = math.min(limit - 8 - offset, maxHeaderBytes.toLong)
    var used = 4L
    var left = entryCount(window.cursor(offset, 4))
    while (left > 0) {
      val in = window.cursor(offset + used, 8)
      in.int("header key")
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
      val key = in.int("header key")
      if (key < LogHeaderKey.InstantTime || key > LogHeaderKey.BaseFileInstantTime)
        in.fail(s"log block header key $key is unknown")
      key -> in.utf8(in.int("header value length"), "header value")
    }.toMap
  }
}
