package hudiidx.parquet

import java.io.IOException
import java.nio.{ByteBuffer, ByteOrder}

import org.apache.parquet.bytes.ByteBufferInputStream
import org.apache.parquet.column.Encoding
import org.apache.parquet.column.values.delta.DeltaBinaryPackingValuesReader

/** The byte-array values of one Parquet data page, one after the other and without an object for each: `next` moves to a
  * value, which then is `length` bytes of `bytes` from `from` on, until the next call.
  */
private[hudiidx] abstract class PageValues {
  var bytes: Array[Byte] = Array.emptyByteArray
  var from: Int = 0
  var length: Int = 0

  def next(): Unit

  /** Number of the current value in the column's dictionary; -1 if the page has its values itself. */
  def id: Int = -1
}

private[hudiidx] object PageValues {

  /** @param values bytes of the page from `at` on hold `count` values
    * @param dictionary of the column chunk; null if it has none
    */
  def of(encoding: Encoding, values: Array[Byte], at: Int, count: Int, dictionary: BytesDictionary): PageValues =
    encoding match {
      case Encoding.PLAIN                    => new PlainValues(values, at)
      case numbers if numbers.usesDictionary =>
        if (dictionary == null) throw new IOException("a page refers to a dictionary that the column lacks")
        new DictionaryValues(values, at, dictionary)
      case Encoding.DELTA_LENGTH_BYTE_ARRAY => new DeltaLengthValues(values, at, count)
      case Encoding.DELTA_BYTE_ARRAY        => new DeltaValues(values, at, count)
      case other                            => throw new IOException(s"pages of encoding $other are not known for keys")
    }

  def requireRange(page: Array[Byte], at: Int, length: Int): Unit =
    if (length < 0 || length > page.length - at)
      throw new IOException(s"a value of $length bytes at $at passes the end of its page (${page.length} bytes)")
}

/** Values behind 4-byte lengths. */
private final class PlainValues(page: Array[Byte], start: Int) extends PageValues {
  private val buffer = ByteBuffer.wrap(page).order(ByteOrder.LITTLE_ENDIAN)
  bytes = page
  from = start

  override def next(): Unit = {
    val at = from + length
    val size = buffer.getInt(at)
    PageValues.requireRange(page, at + 4, size)
    from = at + 4
    length = size
  }
}

/** Numbers of dictionary entries, packed in runs. */
private final class DictionaryValues(page: Array[Byte], start: Int, dictionary: BytesDictionary) extends PageValues {
  private val ids = new HybridRuns(page, start + 1, page.length, if (start < page.length) page(start).toInt else 0)
  private var current = -1
  bytes = dictionary.bytes

  override def id: Int = current

  override def next(): Unit = {
    current = ids.next()
    from = dictionary.start(current)
    length = dictionary.start(current + 1) - 4 - from
  }
}

/** All lengths first, then all values. */
private final class DeltaLengthValues(page: Array[Byte], start: Int, count: Int) extends PageValues {
  private val in = ByteBufferInputStream.wrap(ByteBuffer.wrap(page, start, page.length - start))
  private val lengths = DeltaLengthValues.read(in, count)
  private var left = count
  bytes = page
  from = page.length - in.available()

  override def next(): Unit = {
    if (left == 0) throw new IOException("a page has fewer values than rows")
    left -= 1
    from += length
    length = lengths.readInteger()
    PageValues.requireRange(page, from, length)
  }
}

private object DeltaLengthValues {
  def read(in: ByteBufferInputStream, count: Int): DeltaBinaryPackingValuesReader = {
    val reader = new DeltaBinaryPackingValuesReader
    reader.initFromPage(count, in)
    reader
  }
}

/** Each value as the number of bytes it shares with the one before, and the rest. */
private final class DeltaValues(page: Array[Byte], start: Int, count: Int) extends PageValues {
  private val in = ByteBufferInputStream.wrap(ByteBuffer.wrap(page, start, page.length - start))
  private val prefixes = DeltaLengthValues.read(in, count)
  private val suffixes = DeltaLengthValues.read(in, count)
  private var at = page.length - in.available()
  private var left = count
  bytes = new Array[Byte](128)

  override def next(): Unit = {
    if (left == 0) throw new IOException("a page has fewer values than rows")
    left -= 1
    val prefix = prefixes.readInteger()
    val suffix = suffixes.readInteger()
    PageValues.requireRange(page, at, suffix)
    if (prefix < 0 || prefix > length) throw new IOException(s"a value shares $prefix bytes with one of $length")
    if (prefix + suffix > bytes.length)
      bytes = java.util.Arrays.copyOf(bytes, math.max(bytes.length * 2, prefix + suffix))
    System.arraycopy(page, at, bytes, prefix, suffix)
    at += suffix
    length = prefix + suffix
  }
}

/** The distinct values of a column chunk, as they stand in its dictionary page (plain encoding). */
private[hudiidx] final class BytesDictionary(val bytes: Array[Byte], val size: Int) {
  // Each value stands behind four bytes with its length.
  if (size < 0 || size > bytes.length / 4)
    throw new IOException(s"a dictionary of ${bytes.length} bytes cannot hold $size values")

  // Where each value begins; the next value's length takes the four bytes before it. One more entry for the end.
  private val starts = new Array[Int](size + 1)
  locate()

  private def locate(): Unit = {
    val buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN)
    var at = 0
    var i = 0
    while (i < size) {
      val length = buffer.getInt(at)
      PageValues.requireRange(bytes, at + 4, length)
      starts(i) = at + 4
      at += 4 + length
      i += 1
    }
    starts(size) = at + 4
  }

  /** Index in `bytes` of a value's first byte; four more than its end for `size` itself. */
  def start(id: Int): Int = starts(id)
}

/** Parquet's hybrid of run lengths and packed numbers, over `bytes` from `start` until `end`. */
private[hudiidx] final class HybridRuns(bytes: Array[Byte], start: Int, end: Int, bitWidth: Int) {
  if (bitWidth < 0 || bitWidth > 32) throw new IOException(s"numbers of $bitWidth bits")
  private val mask = if (bitWidth == 32) -1L else (1L << bitWidth) - 1
  private var at = start
  private var left = 0
  private var packed = false
  private var value = 0
  private var bit = 0L

  def next(): Int = {
    if (left == 0) nextRun()
    left -= 1
    if (packed) unpack() else value
  }

  /** True if all of `count` numbers are one run of `number`; to be asked before the first `next`. */
  def isOneRun(count: Int, number: Int): Boolean = count > 0 && {
    nextRun()
    !packed && left >= count && value == number
  }

  private def nextRun(): Unit = {
    if (bitWidth == 0) left = Int.MaxValue
    else {
      val header = varint()
      packed = (header & 1) == 1
      val count = header >>> 1
      if (count == 0 || (packed && count > Int.MaxValue / 8)) throw new IOException(s"a run of $count numbers")
      if (packed) {
        left = count * 8
        bit = at.toLong * 8
        at += math.min(count.toLong * bitWidth, (end - at).toLong).toInt
      } else {
        left = count
        value = number((bitWidth + 7) / 8)
      }
    }
  }

  private def unpack(): Int = {
    val first = (bit >>> 3).toInt
    val shift = (bit & 7).toInt
    val count = (shift + bitWidth + 7) >>> 3
    if (first + count > end) throw new IOException("numbers of a page end too soon")
    var word = 0L
    var i = 0
    while (i < count) {
      word |= (bytes(first + i) & 0xffL) << (8 * i)
      i += 1
    }
    bit += bitWidth
    ((word >>> shift) & mask).toInt
  }

  private def number(byteCount: Int): Int = {
    if (byteCount > end - at) throw new IOException("numbers of a page end too soon")
    var result = 0
    var i = 0
    while (i < byteCount) {
      result |= (bytes(at + i) & 0xff) << (8 * i)
      i += 1
    }
    at += byteCount
    result
  }

  private def varint(): Int = {
    var result = 0
    var shift = 0
    var more = true
    while (more) {
      if (at >= end || shift > 28) throw new IOException("numbers of a page end too soon")
      val b = bytes(at)
      at += 1
      result |= (b & 0x7f) << shift
      shift += 7
      more = b < 0
    }
    result
  }
}
