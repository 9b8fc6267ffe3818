package hudiidx.bytes

import java.nio.{ByteBuffer, ByteOrder}
import java.nio.charset.StandardCharsets.UTF_8

/** A growing byte array with the integer forms of our index pages. docs/format.md, "Packed integers".
  *
  *  A *column* of n integers is one of: constant (tag 0, zigzag varint), or frame of reference (tag = width 1..64 in bits,
  *  zigzag varint minimum, then n values minus the minimum, `width` bits each, least significant bit first, padded to a byte).
  */
final class PackedOutput(initialBytes: Int = 256) {
  private var buffer = new Array[Byte](math.max(16, initialBytes))
  private var words = PackedInts.words(buffer)
  private var length = 0

  def size: Int = length

  def toBytes: Array[Byte] = java.util.Arrays.copyOf(buffer, length)

  def byte(value: Int): Unit = {
    room(1)
    buffer(length) = value.toByte
    length += 1
  }

  /** Unsigned LEB128; negative numbers take ten bytes. */
  def varint(value: Long): Unit = {
    room(10)
    var v = value
    while ((v & ~0x7fL) != 0) {
      buffer(length) = ((v & 0x7f) | 0x80).toByte
      length += 1
      v >>>= 7
    }
    buffer(length) = v.toByte
    length += 1
  }

  def zigzag(value: Long): Unit = varint((value << 1) ^ (value >> 63))

  def bytes(value: Array[Byte]): Unit = {
    varint(value.length.toLong)
    room(value.length)
    System.arraycopy(value, 0, buffer, length, value.length)
    length += value.length
  }

  def string(value: String): Unit = bytes(value.getBytes(UTF_8))

  /** A column of the first `count` values. */
  def column(values: Array[Long], count: Int): Unit = {
    var min = if (count == 0) 0L else values(0)
    var max = min
    var i = 1
    while (i < count) {
      if (values(i) < min) min = values(i)
      if (values(i) > max) max = values(i)
      i += 1
    }
    // max - min may overflow into the sign bit: as an unsigned number it is still the width needed.
    val width = 64 - java.lang.Long.numberOfLeadingZeros(max - min)
    byte(width)
    zigzag(min)
    if (width > 0) bits(values, count, min, width)
  }

  /** `count` values minus `min`, `width` bits each, without the head of a column. */
  def bits(values: Array[Long], count: Int, min: Long, width: Int): Unit = {
    val total = PackedInts.bytesFor(count, width)
    room(total + 8)
    var at = length
    var pending = 0L // bits not yet written, the lowest first
    var used = 0
    var i = 0
    while (i < count) {
      val v = values(i) - min
      pending |= v << used
      used += width
      if (used >= 64) {
        words.putLong(at, pending)
        at += 8
        used -= 64
        pending = if (used == 0) 0L else v >>> (width - used)
      }
      i += 1
    }
    words.putLong(at, pending)
    length += total
  }

  /** `count` bytes as they are. */
  def raw(value: Array[Byte], from: Int, count: Int): Unit = {
    room(count)
    System.arraycopy(value, from, buffer, length, count)
    length += count
  }

  def long(value: Long): Unit = {
    room(8)
    words.putLong(length, value)
    length += 8
  }

  /** Begins anew in the same buffer. */
  def clear(): Unit = length = 0

  /** The bytes from 0 until `size`; replaced when the output grows. */
  def array: Array[Byte] = buffer

  private def room(more: Int): Unit =
    if (length + more > buffer.length) {
      buffer = java.util.Arrays.copyOf(buffer, math.max(buffer.length * 2, length + more))
      words = PackedInts.words(buffer)
    }
}

/** Reads what [[PackedOutput]] wrote. A malformed input raises IllegalArgumentException with the position; lengths are
  *  checked against what is left before anything is allocated.
  */
final class PackedInput(buffer: Array[Byte], start: Int, end: Int) {
  private var at = start
  private val words = PackedInts.words(buffer)

  def this(buffer: Array[Byte]) = this(buffer, 0, buffer.length)

  def position: Int = at - start

  def remaining: Int = end - at

  /** Index in the array of the next byte. */
  def index: Int = at

  /** What is left, for keeping: in an array that holds little else, copied if this one does. */
  def mostlyOwn: PackedInput =
    if (remaining >= buffer.length / 2) this else new PackedInput(java.util.Arrays.copyOfRange(buffer, at, end))

  /** Passes `count` bytes over; the index of the first of them. */
  def skip(count: Int): Int = {
    require(count >= 0 && count <= remaining, s"$count bytes at $position pass the end")
    at += count
    at - count
  }

  /** The next `count` bytes, to `target` from `to` on. */
  def raw(target: Array[Byte], to: Int, count: Int): Unit = System.arraycopy(buffer, skip(count), target, to, count)

  def long(): Long = {
    val from = skip(8)
    words.getLong(from)
  }

  def byte(): Int = {
    require(at < end, s"data ends at $position")
    at += 1
    buffer(at - 1) & 0xff
  }

  def varint(): Long = {
    var shift = 0
    var result = 0L
    var more = true
    while (more) {
      require(shift < 70, s"number too long at $position")
      val b = byte()
      result |= (b & 0x7fL) << shift
      shift += 7
      more = (b & 0x80) != 0
    }
    result
  }

  /** A varint that counts things of at least `atLeastBits` bits each in the rest of the data. */
  def count(atLeastBits: Int): Int = {
    val n = varint()
    require(
      n >= 0 && n * atLeastBits <= remaining * 8L && n <= PackedInts.MaxCount,
      s"count $n at $position passes the end"
    )
    n.toInt
  }

  def zigzag(): Long = {
    val v = varint()
    (v >>> 1) ^ -(v & 1)
  }

  def bytes(): Array[Byte] = {
    val n = count(8)
    at += n
    java.util.Arrays.copyOfRange(buffer, at - n, at)
  }

  def string(): String = {
    val n = count(8)
    at += n
    new String(buffer, at - n, n, UTF_8)
  }

  def column(count: Int): Array[Long] = {
    val width = byte()
    val min = zigzag()
    require(width <= 64, s"column width $width at $position")
    requireBits(count, width)
    val out = new Array[Long](count)
    if (width == 0) java.util.Arrays.fill(out, min) else bits(out, min, width)
    out
  }

  /** A column of `count` values that is read where it stands: for those who want few of them. */
  def columnInPlace(count: Int): PackedColumn = {
    val width = byte()
    val min = zigzag()
    require(width <= 64, s"column width $width at $position")
    bitsInPlace(count, min, width)
  }

  /** `count` values of `width` bits plus `min`, read where they stand. */
  def bitsInPlace(count: Int, min: Long, width: Int): PackedColumn = {
    val total = requireBits(count, width)
    at += total
    new PackedColumn(words, at - total, count, min, width)
  }

  /** Fills `out` with values of `width` bits plus `min`. */
  def bits(out: Array[Long], min: Long, width: Int): Unit = {
    val total = requireBits(out.length, width)
    val mask = if (width == 64) -1L else (1L << width) - 1
    var bit = 0L
    var i = 0
    while (i < out.length) {
      out(i) = (window(at + (bit >>> 3).toInt, (bit & 7).toInt, width) & mask) + min
      bit += width
      i += 1
    }
    at += total
  }

  /** Bytes of `count` values of `width` bits, which must be there. */
  def requireBits(count: Int, width: Int): Int = {
    val total = PackedInts.bytesFor(count, width)
    require(total <= remaining, s"column of $count x $width bits at $position passes the end")
    total
  }

  /** 64 bits from `shift` bits into the byte at `from`; bytes after the end count as zero. */
  private def window(from: Int, shift: Int, width: Int): Long =
    if (from + 9 <= end) {
      val low = words.getLong(from)
      if (shift == 0) low else (low >>> shift) | ((buffer(from + 8) & 0xffL) << (64 - shift))
    } else {
      var v = 0L
      var i = 0
      while (i * 8 < width + shift && from + i < end) {
        val b = buffer(from + i) & 0xffL
        val to = i * 8 - shift
        v |= (if (to < 0) b >>> -to else b << to)
        i += 1
      }
      v
    }
}

/** A packed column where it stands in an array that must not change. */
final class PackedColumn private[bytes] (words: ByteBuffer, from: Int, val length: Int, min: Long, width: Int) {

  /** All values are the same. */
  def isConstant: Boolean = width == 0

  /** @param i from 0 until `length`, which is not checked */
  def apply(i: Int): Long = if (width == 0) min else PackedInts.get(words, from, i, width) + min

  def toArray: Array[Long] = {
    val out = new Array[Long](length)
    var i = 0
    while (i < length) {
      out(i) = apply(i)
      i += 1
    }
    out
  }
}

object PackedInts {

  /** The array's bytes as little-endian words. */
  def words(bytes: Array[Byte]): ByteBuffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN)

  /** Value `index` of bits(n, width) that begin at byte `from`, in place; of the bytes after it only those in the array matter. */
  def get(bits: ByteBuffer, from: Int, index: Int, width: Int): Long = {
    val bit = index.toLong * width
    val at = from + (bit >>> 3).toInt
    val shift = (bit & 7).toInt
    if (at + 9 <= bits.limit()) {
      val low = bits.getLong(at) >>> shift
      if (shift + width <= 64) low & mask(width)
      else (low | (bits.get(at + 8) & 0xffL) << (64 - shift)) & mask(width)
    } else tail(bits, at, shift) & mask(width)
  }

  private def mask(width: Int): Long = if (width == 64) -1L else (1L << width) - 1

  private def tail(bits: ByteBuffer, at: Int, shift: Int): Long = {
    var v = 0L
    var i = 0
    while (i < 9 && at + i < bits.limit()) {
      val b = bits.get(at + i) & 0xffL
      val to = i * 8 - shift
      if (to < 64) v |= (if (to < 0) b >>> -to else b << to)
      i += 1
    }
    v
  }

  /** No page of ours holds more values; a hostile count above it is refused. */
  val MaxCount = 1 << 24

  def bytesFor(count: Int, width: Int): Int = ((count.toLong * width + 7) / 8).toInt
}
