package hudiidx.bytes

import java.nio.ByteBuffer

/** Order and sums of byte ranges. */
object Bytes {

  /** Unsigned order of two ranges: negative, zero or positive. */
  def compare(a: Array[Byte], aFrom: Int, aLength: Int, b: Array[Byte], bFrom: Int, bLength: Int): Int =
    java.util.Arrays.compareUnsigned(a, aFrom, aFrom + aLength, b, bFrom, bFrom + bLength)

  def compare(a: Array[Byte], b: Array[Byte]): Int = java.util.Arrays.compareUnsigned(a, b)

  /** CRC32C (Castagnoli) of a range. */
  def crc32c(bytes: Array[Byte], from: Int, length: Int): Int = {
    val sum = new java.util.zip.CRC32C
    sum.update(bytes, from, length)
    sum.getValue.toInt
  }

  /** CRC32 (the one of gzip) of a range. */
  def crc32(bytes: Array[Byte], from: Int, length: Int): Int = {
    val sum = new java.util.zip.CRC32
    sum.update(bytes, from, length)
    sum.getValue.toInt
  }

  /** The remaining bytes of `buffer`: its own array if that holds exactly them, else a copy. Leaves the position. */
  def ofBuffer(buffer: ByteBuffer): Array[Byte] =
    if (buffer.hasArray && buffer.arrayOffset + buffer.position() == 0 && buffer.array.length == buffer.remaining)
      buffer.array
    else {
      val copy = new Array[Byte](buffer.remaining)
      buffer.duplicate().get(copy)
      copy
    }
}
