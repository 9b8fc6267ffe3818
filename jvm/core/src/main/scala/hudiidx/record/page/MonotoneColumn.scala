package hudiidx.record.page

import hudiidx.bytes.{PackedInput, PackedInts, PackedOutput}
import java.nio.ByteBuffer

/** Numbers that never fall (as unsigned 64 bits), in about 2.5 bits each beyond what tells neighbours apart, searched in
  * place: Elias and Fano's form. docs/format.md, "Entry page". The distance to the first number is cut into its lower `l`
  * bits, packed, and a bucket number above them, which a bitmap gives: for each bucket a one for every number in it, then
  * a zero.
  */
private[record] object MonotoneColumn {

  def write(out: PackedOutput, values: Array[Long], count: Int): Unit = {
    val base = values(0)
    val span = values(count - 1) - base
    val gap = java.lang.Long.divideUnsigned(span, count.toLong)
    val lowBits = if (gap == 0) 0 else 63 - java.lang.Long.numberOfLeadingZeros(gap)
    val buckets = (span >>> lowBits) + 1
    out.long(base)
    out.byte(lowBits)
    out.varint(buckets)
    val ones = new Array[Long]((count + buckets.toInt + 63) / 64)
    val low = new Array[Long](count)
    val mask = (1L << lowBits) - 1
    var i = 0
    while (i < count) {
      val distance = values(i) - base
      val bit = (distance >>> lowBits).toInt + i
      ones(bit >> 6) |= 1L << (bit & 63)
      low(i) = distance & mask
      i += 1
    }
    i = 0
    while (i < ones.length) {
      out.long(ones(i))
      i += 1
    }
    if (lowBits > 0) out.bits(low, count, 0L, lowBits)
  }
}

/** Reads a monotone column where it stands; `open` anew for each page. Not safe for several threads. */
private[record] final class MonotoneReader {
  private var words: ByteBuffer = _
  private var base = 0L
  private var lowBits = 0
  private var buckets = 0L
  private var bitmapAt = 0
  private var bitmapWords = 0
  private var lowAt = 0
  private var count = 0

  /** The numbers equal to the one searched: from `first` until `until`; both the place where it would stand if there are
    * none.
    */
  var first = 0
  var until = 0

  /** Takes the column that starts at the cursor, which goes on behind it. */
  def open(in: PackedInput, buffer: ByteBuffer, n: Int): Unit = {
    words = buffer
    count = n
    base = in.long()
    lowBits = in.byte()
    require(lowBits < 64, s"$lowBits low bits")
    buckets = in.varint()
    require(buckets >= 1 && buckets <= in.remaining * 8L, s"$buckets buckets at ${in.position}")
    bitmapWords = ((n + buckets + 63) / 64).toInt
    bitmapAt = in.skip(bitmapWords * 8)
    lowAt = in.skip(PackedInts.bytesFor(n, lowBits))
  }

  def search(value: Long): Unit =
    if (java.lang.Long.compareUnsigned(value, base) < 0) place(0)
    else {
      val distance = value - base
      val bucket = distance >>> lowBits
      if (bucket < 0 || bucket >= buckets) place(count)
      else inBucket(bucket.toInt, distance & ((1L << lowBits) - 1))
    }

  private def place(at: Int): Unit = {
    first = at
    until = at
  }

  private def inBucket(bucket: Int, low: Long): Unit = {
    // Number of ones before the zero that ends the bucket, and the same of the bucket before.
    var end = 0
    var start = 0
    if (bucket > 0) start = zero(bucket - 1) - (bucket - 1)
    end = onesFrom(start + bucket) + start
    require(end <= count, s"bucket $bucket ends at $end of $count")
    if (lowBits == 0) {
      first = start
      until = end
    } else {
      var at = start
      if (end - start > MonotoneReader.LinearSearch) {
        var high = end
        while (at < high) {
          val middle = (at + high) >>> 1
          if (lowOf(middle) < low) at = middle + 1 else high = middle
        }
      } else while (at < end && lowOf(at) < low) at += 1
      first = at
      while (at < end && lowOf(at) == low) at += 1
      until = at
    }
  }

  /** Low bits as a number that compares like an unsigned one: there are at most 63 of them. */
  private def lowOf(i: Int): Long = PackedInts.get(words, lowAt, i, lowBits)

  /** Position in the bitmap of zero number `n`, from 0. */
  private def zero(n: Int): Int = {
    var left = n
    var word = 0
    var zeros = 64 - java.lang.Long.bitCount(word64(0))
    while (left >= zeros) {
      left -= zeros
      word += 1
      zeros = 64 - java.lang.Long.bitCount(word64(word))
    }
    var rest = ~word64(word)
    while (left > 0) {
      rest &= rest - 1
      left -= 1
    }
    word * 64 + java.lang.Long.numberOfTrailingZeros(rest)
  }

  /** Length of the run of ones that starts at a position of the bitmap. */
  private def onesFrom(position: Int): Int = {
    var word = position >> 6
    var zeros = ~word64(word) >>> (position & 63)
    var at = position
    while (zeros == 0) {
      word += 1
      at = word * 64
      zeros = ~word64(word)
    }
    at + java.lang.Long.numberOfTrailingZeros(zeros) - position
  }

  private def word64(i: Int): Long = {
    require(i < bitmapWords, s"bucket bitmap ends after $bitmapWords words")
    words.getLong(bitmapAt + i * 8)
  }

  /** The highest number. */
  def last: Long = {
    var word = bitmapWords - 1
    while (word64(word) == 0 && word > 0) word -= 1
    val bit = word * 64 + 63 - java.lang.Long.numberOfLeadingZeros(word64(word))
    require(bit >= count - 1, s"bucket bitmap has fewer than $count numbers")
    base + ((bit - count + 1).toLong << lowBits) + (if (lowBits == 0) 0L else lowOf(count - 1))
  }

  /** All numbers, in order. */
  def decode(out: Array[Long]): Unit = {
    var i = 0
    var word = 0
    var bits = word64(0)
    while (i < count) {
      while (bits == 0) {
        word += 1
        bits = word64(word)
      }
      val bucket = (word * 64 + java.lang.Long.numberOfTrailingZeros(bits) - i).toLong
      bits &= bits - 1
      out(i) = base + (bucket << lowBits) + (if (lowBits == 0) 0L else lowOf(i))
      i += 1
    }
  }
}

private[record] object MonotoneReader {
  private val LinearSearch = 8
}
