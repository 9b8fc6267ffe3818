package hudiidx.hfile

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, InputStream}
import java.util.zip.{Deflater, GZIPInputStream, Inflater, ZipException}

/** How the blocks of an HFile are compressed. `number` is the one in the trailer. */
sealed abstract class Codec(val number: Int) extends Product with Serializable

object Codec {
  case object None extends Codec(2)
  case object Gzip extends Codec(1)

  /** @param level zstd's compression level, 1 to 22 */
  final case class Zstd(level: Int) extends Codec(6) {
    require(level >= 1 && level <= 22, s"zstd level $level is not from 1 to 22")
  }

  /** Size of what the codec makes of the first `length` bytes. */
  def compressedBytes(codec: Codec, bytes: Array[Byte], length: Int): Int =
    BlockCompression.compress(codec, bytes, length)._2

  /** The codec with the trailer's number; scala.None for one that this reader does not know. */
  def ofNumber(number: Long): Option[Codec] = number match {
    case 2 => Some(None)
    case 1 => Some(Gzip)
    case 6 => Some(Zstd(3))
    case _ => scala.None
  }
}

/** A block's bytes to and from their compressed form. */
private[hfile] object BlockCompression {
  private val GzipHeader = Array[Byte](0x1f, 0x8b.toByte, 8, 0, 0, 0, 0, 0, 0, 0)
  private val GzipTrailerBytes = 8
  private val GzipMaxRatio = 1040L

  /** zstd knows no such bound: beyond this size the one of gzip holds for its blocks too, so that few bytes cannot ask for all
    * memory.
    */
  private val ZstdFreeBytes = 64 << 20
  private val ZstdMagic = 0x28b52ffd

  /** The compressed form of the first `length` bytes; the array itself if the codec is none. */
  def compress(codec: Codec, bytes: Array[Byte], length: Int): (Array[Byte], Int) = codec match {
    case Codec.None => (bytes, length)
    case Codec.Gzip =>
      val packed = gzip(bytes, length)
      (packed, packed.length)
    case Codec.Zstd(level) => ZstdLibrary.current.compress(bytes, length, level)
  }

  // Written by hand because java.util.zip.GZIPOutputStream differs in its header between Java releases.
  private def gzip(bytes: Array[Byte], length: Int): Array[Byte] = {
    val out = new ByteArrayOutputStream(length / 2 + 64)
    out.write(GzipHeader, 0, GzipHeader.length)
    val deflater = new Deflater(Deflater.DEFAULT_COMPRESSION, true)
    try {
      deflater.setInput(bytes, 0, length)
      deflater.finish()
      val chunk = new Array[Byte](16384)
      while (!deflater.finished) out.write(chunk, 0, deflater.deflate(chunk))
    } finally deflater.end()
    littleEndian(out, hudiidx.bytes.Bytes.crc32(bytes, 0, length))
    littleEndian(out, length)
    out.toByteArray
  }

  private def littleEndian(out: ByteArrayOutputStream, value: Int): Unit = {
    var shift = 0
    while (shift < 32) {
      out.write(value >>> shift)
      shift += 8
    }
  }

  /** Exactly `expected` bytes from `length` compressed ones, at the start of the array given. The allocation is bounded by
    * what the input can hold.
    *
    * @param room where they may be put; null for an array of their own
    * @param fail throws the caller's error for damaged input
    */
  def decompress(codec: Codec, bytes: Array[Byte], from: Int, length: Int, expected: Int, room: BlockRoom)(
      fail: String => Nothing
  ): Array[Byte] = codec match {
    case Codec.None =>
      if (length != expected) fail(s"plain block of $length bytes says it holds $expected")
      java.util.Arrays.copyOfRange(bytes, from, from + length)
    case Codec.Gzip =>
      if (expected > length * GzipMaxRatio) fail(s"gzip block of $length bytes cannot hold $expected")
      requireRoom(expected)(fail)
      gunzip(bytes, from, length, expected, room)(fail)
    case _: Codec.Zstd =>
      if (expected > ZstdFreeBytes && expected > length * GzipMaxRatio)
        fail(s"zstd block of $length bytes says it holds $expected, more than is taken for true")
      requireRoom(expected)(fail)
      unzstd(bytes, from, length, expected, room)(fail)
  }

  private def requireRoom(expected: Int)(fail: String => Nothing): Unit = {
    val most = Runtime.getRuntime.maxMemory / 4
    if (expected > most) fail(s"block holds $expected bytes, and $most are the most with this process's memory")
  }

  private def target(room: BlockRoom, length: Int): Array[Byte] =
    if (room == null) new Array[Byte](length) else room.plain(length)

  private def gunzip(
      bytes: Array[Byte],
      from: Int,
      length: Int,
      expected: Int,
      room: BlockRoom
  )(fail: String => Nothing): Array[Byte] = {
    val plainHeader = length > GzipHeader.length + GzipTrailerBytes &&
      bytes(from) == GzipHeader(0) && bytes(from + 1) == GzipHeader(1) && bytes(from + 2) == 8 && bytes(from + 3) == 0
    if (!plainHeader)
      drain(new GZIPInputStream(new ByteArrayInputStream(bytes, from, length)), expected, "gzip")(fail)
    else {
      val plain = target(room, expected)
      val inflater = new Inflater(true)
      try {
        inflater.setInput(bytes, from + GzipHeader.length, length - GzipHeader.length)
        var filled = 0
        var stuck = false
        while (filled < expected && !stuck) {
          val count = inflater.inflate(plain, filled, expected - filled)
          filled += count
          stuck = count == 0 && (inflater.finished || inflater.needsInput || inflater.needsDictionary)
        }
        if (filled < expected) fail(s"gzip block ends after $filled of $expected bytes")
        checkGzipEnd(inflater, bytes, from, length, plain, expected)(fail)
      } catch { case e: java.util.zip.DataFormatException => fail(s"gzip block cannot be decoded (${e.getMessage})") }
      finally inflater.end()
      plain
    }
  }

  private def checkGzipEnd(
      inflater: Inflater,
      bytes: Array[Byte],
      from: Int,
      length: Int,
      plain: Array[Byte],
      expected: Int
  )(fail: String => Nothing): Unit = {
    val extra = if (inflater.finished) 0 else inflater.inflate(new Array[Byte](1))
    val left = inflater.getRemaining
    if (extra != 0 || !inflater.finished) fail(s"gzip block holds more than $expected bytes")
    if (left < GzipTrailerBytes) fail(s"gzip block ends before its check sum")
    val at = from + length - left
    val sum = java.nio.ByteBuffer.wrap(bytes).order(java.nio.ByteOrder.LITTLE_ENDIAN).getInt(at)
    if (sum != hudiidx.bytes.Bytes.crc32(plain, 0, expected)) fail("gzip block differs from its check sum")
  }

  // A frame as zstd and Hadoop's native codec write it, or cut into Hadoop's length-prefixed chunks: mostly one chunk.
  private def unzstd(
      bytes: Array[Byte],
      from: Int,
      length: Int,
      expected: Int,
      room: BlockRoom
  )(fail: String => Nothing): Array[Byte] = {
    val head = java.nio.ByteBuffer.wrap(bytes)
    if (length >= 4 && head.getInt(from) == ZstdMagic) unzstdFrame(bytes, from, length, expected, room)(fail)
    else if (length >= 12 && head.getInt(from) == expected && head.getInt(from + 4) == length - 8)
      unzstdFrame(bytes, from + 8, length - 8, expected, room)(fail)
    else if (expected == 0 && length == 0) new Array[Byte](0)
    else drain(new ChunkedZstd(bytes, from, length), expected, "zstd")(fail)
  }

  private def unzstdFrame(
      bytes: Array[Byte],
      from: Int,
      length: Int,
      expected: Int,
      room: BlockRoom
  )(fail: String => Nothing): Array[Byte] = {
    val zstd = ZstdLibrary.current
    val known = zstd.plainSize(bytes, from, length)
    if (known == expected && expected > 0) {
      val plain = target(room, expected)
      val size =
        try zstd.decompress(bytes, from, length, plain, expected)
        catch { case e: java.io.IOException => fail(s"zstd block cannot be decoded (${e.getMessage})") }
      if (size != expected) fail(s"zstd block holds $size bytes, its header says $expected")
      plain
    } else if (known > 0) fail(s"zstd block holds $known bytes, its header says $expected")
    else drain(zstd.open(new ByteArrayInputStream(bytes, from, length)), expected, "zstd")(fail)
  }

  // Grows with the bytes that really come, so that a wrong `expected` costs nothing.
  private def drain(open: => InputStream, expected: Int, name: String)(fail: String => Nothing): Array[Byte] =
    try {
      val in = open
      try {
        val all = in.readNBytes(expected)
        if (all.length != expected || in.read() >= 0) fail(s"$name block does not hold the $expected bytes it says")
        all
      } finally in.close()
    } catch {
      case e: ZipException        => fail(s"$name block cannot be decoded (${e.getMessage})")
      case e: java.io.IOException => fail(s"$name block cannot be decoded (${e.getMessage})")
    }
}

/** Hadoop's block framing: int32 plain size, then chunks of int32 compressed size and a zstd frame, repeated. */
private[hfile] final class ChunkedZstd(bytes: Array[Byte], from: Int, length: Int) extends InputStream {
  private val in = java.nio.ByteBuffer.wrap(bytes, from, length)
  private var plainLeft = 0L
  private var current: InputStream = new ByteArrayInputStream(Array.emptyByteArray)

  override def read(): Int = {
    val one = new Array[Byte](1)
    if (read(one, 0, 1) < 0) -1 else one(0) & 0xff
  }

  override def read(target: Array[Byte], offset: Int, count: Int): Int = {
    var got = current.read(target, offset, count)
    while (got < 0 && openNext()) got = current.read(target, offset, count)
    if (got > 0) plainLeft -= got
    got
  }

  private def openNext(): Boolean =
    if (in.remaining == 0) false
    else {
      if (plainLeft <= 0) plainLeft = int()
      val size = if (in.remaining == 0) 0 else int()
      if (plainLeft < 0 || size < 0 || size > in.remaining) throw new java.io.IOException(s"chunk of $size bytes")
      current = ZstdLibrary.current.open(new ByteArrayInputStream(bytes, in.position(), size))
      in.position(in.position() + size)
      true
    }

  private def int(): Int =
    if (in.remaining < 4) throw new java.io.IOException("chunk length is cut off") else in.getInt()
}
