package hudiidx.bytes

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8

/** Reads forward through a range of bytes and never past it. Every failure names the file and the offset in it.
  * Big-endian, as Hudi's and HBase's containers are.
  *
  * @param file       file the bytes come from
  * @param fileOffset offset in the file of `bytes(start)`; for decompressed bytes that of their block
  * @param damaged    makes the error to throw when the bytes end too soon or hold nonsense
  */
final class ByteCursor(
    val bytes: Array[Byte],
    start: Int,
    val limit: Int,
    val file: String,
    fileOffset: Long,
    damaged: String => RuntimeException
) {
  require(start >= 0 && start <= limit && limit <= bytes.length, s"range $start until $limit of ${bytes.length}")
  private val buffer = ByteBuffer.wrap(bytes)
  private var position0 = start

  /** Index in `bytes` of the next byte. */
  def position: Int = position0

  def remaining: Int = limit - position0

  /** Offset in the file of the next byte. */
  def offset: Long = fileOffset + (position0 - start)

  /** The error for nonsense found at the cursor: `<file>: <what> at <offset>`. */
  def fail(what: String): Nothing = throw damaged(s"$file: $what at offset $offset")

  def need(count: Long, what: String): Unit =
    if (count < 0 || count > remaining) fail(s"$what needs $count bytes, $remaining are left")

  def skip(count: Long, what: String): Unit = {
    need(count, what)
    position0 += count.toInt
  }

  def byte(what: String): Byte = {
    need(1, what)
    position0 += 1
    bytes(position0 - 1)
  }

  def int(what: String): Int = {
    need(4, what)
    position0 += 4
    buffer.getInt(position0 - 4)
  }

  def long(what: String): Long = {
    need(8, what)
    position0 += 8
    buffer.getLong(position0 - 8)
  }

  def unsignedShort(what: String): Int = {
    need(2, what)
    position0 += 2
    buffer.getShort(position0 - 2) & 0xffff
  }

  /** A protobuf varint of at most 64 bits. */
  def varint(what: String): Long =
    if (position0 < limit && bytes(position0) >= 0) {
      position0 += 1
      bytes(position0 - 1).toLong
    } else longVarint(what)

  private def longVarint(what: String): Long = {
    var value = 0L
    var shift = 0
    var more = true
    while (more) {
      if (shift > 63) fail(s"$what is a varint of more than 10 bytes")
      val b = byte(what)
      value |= (b & 0x7fL) << shift
      shift += 7
      more = b < 0
    }
    value
  }

  /** A count or length as a protobuf varint, checked to be from 0 to `max`. */
  def varintUpTo(max: Long, what: String): Int = {
    val value = varint(what)
    if (value < 0 || value > max || value > Int.MaxValue) fail(s"$what is $value, not from 0 to $max")
    value.toInt
  }

  /** Hadoop's vint. */
  def hadoopVint(what: String): Long = {
    val first = byte(what)
    val more = Varint.hadoopSize(first) - 1
    if (more == 0) first.toLong
    else {
      need(more.toLong, what)
      var value = 0L
      var i = 0
      while (i < more) {
        value = (value << 8) | (bytes(position0 + i) & 0xff)
        i += 1
      }
      position0 += more
      if (first < -120) ~value else value
    }
  }

  /** A copy of the next `length` bytes. */
  def take(length: Int, what: String): Array[Byte] = {
    need(length.toLong, what)
    position0 += length
    java.util.Arrays.copyOfRange(bytes, position0 - length, position0)
  }

  def utf8(length: Int, what: String): String = {
    need(length.toLong, what)
    position0 += length
    new String(bytes, position0 - length, length, UTF_8)
  }

  /** A cursor over the next `length` bytes, which this one skips. */
  def slice(length: Int, what: String): ByteCursor = {
    val from = position0
    val at = offset
    skip(length.toLong, what)
    new ByteCursor(bytes, from, from + length, file, at, damaged)
  }

  /** Moves to an index in `bytes`, which must lie in the range. */
  def moveTo(index: Int): Unit = {
    require(index >= start && index <= limit, s"index $index of $start until $limit")
    position0 = index
  }
}
