package hudiidx.bytes

import java.nio.ByteBuffer
import java.util.concurrent.ThreadLocalRandom

/** A hash that nobody can make keys for: a polynomial of the key's words at a point that is drawn anew for each, modulo the prime 2^61 - 1.
  * Whatever two keys of n words are, they meet at n of 2^61 points; XXH64 has keys that meet whatever its seed is.
  */
private[hudiidx] final class SeededHash {
  import SeededHash._

  private val point = ThreadLocalRandom.current.nextLong(1L << 32, Prime)

  /** @param bytes in little-endian order */
  def hash(bytes: ByteBuffer, from: Int, length: Int): Long = {
    var h = length.toLong
    var at = from
    val end = from + length
    while (at + 8 <= end) {
      h = next(h, bytes.getLong(at))
      at += 8
    }
    if (at < end) {
      var rest = 0L
      while (end > at) {
        rest = (rest << 8) | (bytes.get(at) & 0xffL)
        at += 1
      }
      h = next(h, rest)
    }
    spread(h)
  }

  private def next(h: Long, word: Long): Long = reduced(times(h, point) + (word & Prime) + (word >>> 61))
}

private object SeededHash {
  private val Prime = (1L << 61) - 1

  /** Of two numbers below the prime; one that is below twice the prime. */
  private def times(a: Long, b: Long): Long = {
    val low = a * b
    (low & Prime) + ((low >>> 61) | (Math.multiplyHigh(a, b) << 3))
  }

  /** Of one that is below four times the prime. */
  private def reduced(n: Long): Long = {
    val once = (n & Prime) + (n >>> 61)
    if (once >= Prime) once - Prime else once
  }

  /** Each bit of the result depends on all of `h`. */
  private def spread(h: Long): Long = {
    var x = h * 0x9e3779b97f4a7c15L
    x = (x ^ (x >>> 32)) * 0xd6e8feb86659fd93L
    x ^ (x >>> 32)
  }
}
