package hudiidx.bytes

import java.nio.{ByteBuffer, ByteOrder}

/** XXH64 of a range of bytes (the xxHash specification, "XXH64 algorithm description"). */
object XxHash64 {
  private val Prime1 = 0x9e3779b185ebca87L
  private val Prime2 = 0xc2b2ae3d27d4eb4fL
  private val Prime3 = 0x165667b19e3779f9L
  private val Prime4 = 0x85ebca77c2b2ae63L
  private val Prime5 = 0x27d4eb2f165667c5L

  def hash(bytes: Array[Byte], from: Int, length: Int, seed: Long): Long =
    hash(ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN), from, length, seed)

  /** Of a little-endian buffer's bytes from index `from` on; its position plays no part. */
  def hash(bytes: ByteBuffer, from: Int, length: Int, seed: Long): Long = {
    val end = from + length
    var at = from
    var h = seed + Prime5
    if (length >= 32) {
      var v1 = seed + Prime1 + Prime2
      var v2 = seed + Prime2
      var v3 = seed
      var v4 = seed - Prime1
      while (at <= end - 32) {
        v1 = round(v1, bytes.getLong(at))
        v2 = round(v2, bytes.getLong(at + 8))
        v3 = round(v3, bytes.getLong(at + 16))
        v4 = round(v4, bytes.getLong(at + 24))
        at += 32
      }
      h = rotate(v1, 1) + rotate(v2, 7) + rotate(v3, 12) + rotate(v4, 18)
      h = merge(merge(merge(merge(h, v1), v2), v3), v4)
    }
    avalanche(tail(bytes, at, end, h + length))
  }

  private def tail(bytes: ByteBuffer, from: Int, end: Int, start: Long): Long = {
    var h = start
    var at = from
    while (at <= end - 8) {
      h = rotate(h ^ round(0, bytes.getLong(at)), 27) * Prime1 + Prime4
      at += 8
    }
    if (at <= end - 4) {
      h = rotate(h ^ (bytes.getInt(at) & 0xffffffffL) * Prime1, 23) * Prime2 + Prime3
      at += 4
    }
    while (at < end) {
      h = rotate(h ^ (bytes.get(at) & 0xffL) * Prime5, 11) * Prime1
      at += 1
    }
    h
  }

  private def avalanche(hash: Long): Long = {
    var h = hash
    h = (h ^ (h >>> 33)) * Prime2
    h = (h ^ (h >>> 29)) * Prime3
    h ^ (h >>> 32)
  }

  private def rotate(value: Long, by: Int): Long = java.lang.Long.rotateLeft(value, by)

  private def round(acc: Long, input: Long): Long = rotate(acc + input * Prime2, 31) * Prime1

  private def merge(acc: Long, value: Long): Long = (acc ^ round(0, value)) * Prime1 + Prime4
}
