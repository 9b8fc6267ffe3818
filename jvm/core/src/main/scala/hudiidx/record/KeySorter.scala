package hudiidx.record

import hudiidx.bytes.Bytes
import java.nio.ByteBuffer

/** What an entry carries besides its key, in one number that orders by group, then ordinal: 14 bits hash group, 32 bits
  * ordinal, 16 bits stamp, 2 bits flags.
  */
private[record] object EntryValue {
  private val GroupShift = 50
  private val OrdinalShift = 18
  val MaxStamp = 0xffff

  def apply(group: Int, ordinal: Int, stamp: Int, flags: Int): Long =
    (group.toLong << GroupShift) | ((ordinal & 0xffffffffL) << OrdinalShift) | (stamp.toLong << 2) | flags.toLong

  def group(value: Long): Int = (value >>> GroupShift).toInt
  def ordinal(value: Long): Int = (value >>> OrdinalShift).toInt
  def stamp(value: Long): Int = ((value >>> 2) & MaxStamp).toInt
  def flags(value: Long): Int = (value & 3).toInt
}

/** Entries of one key class in memory, sorted by (hash group, key, value). An entry is three words: for numbers and UUIDs
  * the two halves of the key, for texts 8 bytes of it and its place in the array of texts; then the value. Sorting needs
  * as much again.
  *
  * Sorts by radix from the highest bit that differs, so that common prefixes cost one look, and finishes small ranges by
  * insertion: docs/decisions.md has the figures.
  */
private[record] final class KeySorter(isText: Boolean) {
  private var words = Array.emptyLongArray
  private var scratch = Array.emptyLongArray
  private var texts = Array.emptyByteArray
  private var textView = ByteBuffer.wrap(texts)
  private var textEnd = 0
  private var n = 0

  def count: Int = n

  /** About the most that the entries take when they are sorted, half of which is arrays' room to grow and to sort in. */
  def bytesHeld: Long = n * KeySorter.EntryBytes + textEnd

  /** True if another entry with a text of so many bytes fits into the arrays' largest size. */
  def takes(textLength: Int): Boolean =
    n < KeySorter.MaxEntries && textEnd.toLong + textLength <= KeySorter.MaxTextBytes

  def clear(): Unit = {
    n = 0
    textEnd = 0
  }

  def addFixed(high: Long, low: Long, value: Long): Unit = put(high, low, value)

  def addText(key: Array[Byte], from: Int, length: Int, value: Long): Unit = {
    val end = textEnd + length
    if (end + 8 > texts.length) {
      texts = java.util.Arrays.copyOf(texts, KeySorter.grown(texts.length, end + 8))
      textView = ByteBuffer.wrap(texts)
    }
    System.arraycopy(key, from, texts, textEnd, length)
    put(0L, (textEnd.toLong << 32) | length, value)
    textEnd = end
  }

  private def put(first: Long, second: Long, value: Long): Unit = {
    val at = n * 3
    if (at + 3 > words.length) words = java.util.Arrays.copyOf(words, KeySorter.grown(words.length, at + 3))
    words(at) = first
    words(at + 1) = second
    words(at + 2) = value
    n += 1
  }

  def high(i: Int): Long = words(i * 3)
  def low(i: Int): Long = words(i * 3 + 1)
  def value(i: Int): Long = words(i * 3 + 2)
  def text: Array[Byte] = texts
  def textFrom(i: Int): Int = (words(i * 3 + 1) >>> 32).toInt
  def textLength(i: Int): Int = words(i * 3 + 1).toInt

  /** True if two entries of a sorted group have one key and one ordinal. The texts' first words may differ. */
  def sameMapping(a: Int, b: Int): Boolean = EntryValue.ordinal(value(a)) == EntryValue.ordinal(value(b)) && (
    if (isText) Bytes.compare(texts, textFrom(a), textLength(a), texts, textFrom(b), textLength(b)) == 0
    else high(a) == high(b) && low(a) == low(b)
  )

  /** Sorts everything; for each of `groups` groups where it starts, and behind them the number of entries. */
  def sort(groups: Int): Array[Int] = {
    if (scratch.length < n * 3) scratch = new Array[Long](n * 3)
    if (isText) load(0, n, 0)
    val starts = byGroup(groups)
    var g = 0
    while (g < groups) {
      sort(starts(g), starts(g + 1), 0)
      g += 1
    }
    starts
  }

  private def byGroup(groups: Int): Array[Int] = {
    val starts = new Array[Int](groups + 1)
    var i = 0
    while (i < n) {
      starts(EntryValue.group(value(i)) + 1) += 1
      i += 1
    }
    i = 0
    while (i < groups) {
      starts(i + 1) += starts(i)
      i += 1
    }
    if (groups > 1) {
      val next = java.util.Arrays.copyOf(starts, groups)
      i = 0
      while (i < n) {
        val g = EntryValue.group(value(i))
        System.arraycopy(words, i * 3, scratch, next(g) * 3, 3)
        next(g) += 1
        i += 1
      }
      val swapped = words
      words = scratch
      scratch = swapped
    }
    starts
  }

  /** Takes 8 bytes of each text from `depth` on as its first word, zeros behind the end. */
  private def load(from: Int, to: Int, depth: Int): Unit = {
    var i = from
    while (i < to) {
      val left = textLength(i) - depth
      val at = textFrom(i) + depth
      words(i * 3) =
        if (left <= 0) 0L else if (left >= 8) textView.getLong(at) else textView.getLong(at) & (-1L << (64 - 8 * left))
      i += 1
    }
  }

  /** Sorts a range whose texts agree in their first `depth` bytes. */
  private def sort(from: Int, to: Int, depth: Int): Unit =
    if (to - from <= KeySorter.InsertionMax) insertion(from, to)
    else {
      val word = differingWord(from, to, depth)
      if (word == KeySorter.InOrder) ()
      else if (word == KeySorter.NextBytes) {
        load(from, to, depth + 8)
        sort(from, to, depth + 8)
      } else if (word == KeySorter.Compare) mergeSort(from, to)
      else spread(from, to, word, depth)
    }

  /** The first word (0, 1, 2) in which entries of the range differ, or what to do instead. */
  private def differingWord(from: Int, to: Int, depth: Int): Int = {
    var first, second, third = 0L
    var inOrder = true
    var shortest = Int.MaxValue
    var i = from
    while (i < to) {
      val at = i * 3
      first |= words(at) ^ words(from * 3)
      second |= words(at + 1) ^ words(from * 3 + 1)
      third |= words(at + 2) ^ words(from * 3 + 2)
      if (isText) shortest = math.min(shortest, textLength(i))
      inOrder = inOrder && (i == from || compare(i - 1, i) <= 0)
      i += 1
    }
    if (inOrder) KeySorter.InOrder
    else if (first != 0) 0
    else if (!isText) if (second != 0) 1 else 2
    else if (shortest > depth + 8) KeySorter.NextBytes
    else KeySorter.Compare
  }

  private def spread(from: Int, to: Int, word: Int, depth: Int): Unit = {
    var differing = 0L
    var i = from
    while (i < to) {
      differing |= words(i * 3 + word) ^ words(from * 3 + word)
      i += 1
    }
    val top = 63 - java.lang.Long.numberOfLeadingZeros(differing)
    val wanted = math.min(KeySorter.MaxDigitBits, math.max(1, 29 - Integer.numberOfLeadingZeros(to - from)))
    val shift = math.max(0, top + 1 - wanted)
    val buckets = 1 << (top + 1 - shift)
    val starts = new Array[Int](buckets + 1)
    i = from
    while (i < to) {
      starts(((words(i * 3 + word) >>> shift).toInt & (buckets - 1)) + 1) += 1
      i += 1
    }
    starts(0) = from
    i = 0
    while (i < buckets) {
      starts(i + 1) += starts(i)
      i += 1
    }
    val next = java.util.Arrays.copyOf(starts, buckets)
    i = from
    while (i < to) {
      val b = (words(i * 3 + word) >>> shift).toInt & (buckets - 1)
      val at = next(b) * 3
      scratch(at) = words(i * 3)
      scratch(at + 1) = words(i * 3 + 1)
      scratch(at + 2) = words(i * 3 + 2)
      next(b) += 1
      i += 1
    }
    System.arraycopy(scratch, from * 3, words, from * 3, (to - from) * 3)
    i = 0
    while (i < buckets) {
      sort(starts(i), starts(i + 1), depth)
      i += 1
    }
  }

  private def compare(a: Int, b: Int): Int = {
    var order = java.lang.Long.compareUnsigned(high(a), high(b))
    if (order == 0 && isText)
      order = Bytes.compare(texts, textFrom(a), textLength(a), texts, textFrom(b), textLength(b))
    else if (order == 0) order = java.lang.Long.compareUnsigned(low(a), low(b))
    if (order != 0) order else java.lang.Long.compareUnsigned(value(a), value(b))
  }

  private def insertion(from: Int, to: Int): Unit = {
    var i = from + 1
    while (i < to) {
      var j = i
      while (j > from && compare(j - 1, j) > 0) {
        swap(j - 1, j)
        j -= 1
      }
      i += 1
    }
  }

  private def swap(a: Int, b: Int): Unit = {
    var k = 0
    while (k < 3) {
      val held = words(a * 3 + k)
      words(a * 3 + k) = words(b * 3 + k)
      words(b * 3 + k) = held
      k += 1
    }
  }

  /** For long equal texts, where radix would look at the same bytes again and again. */
  private def mergeSort(from: Int, to: Int): Unit =
    if (to - from <= KeySorter.InsertionMax) insertion(from, to)
    else {
      val middle = (from + to) >>> 1
      mergeSort(from, middle)
      mergeSort(middle, to)
      System.arraycopy(words, from * 3, scratch, from * 3, (to - from) * 3)
      mergeHalves(from, middle, to)
    }

  private def mergeHalves(from: Int, middle: Int, to: Int): Unit = {
    val order = new Array[Int](to - from)
    var a = from
    var b = middle
    var i = 0
    while (i < order.length) {
      if (b >= to || (a < middle && compare(a, b) <= 0)) {
        order(i) = a
        a += 1
      } else {
        order(i) = b
        b += 1
      }
      i += 1
    }
    i = 0
    while (i < order.length) {
      System.arraycopy(scratch, order(i) * 3, words, (from + i) * 3, 3)
      i += 1
    }
  }
}

private[record] object KeySorter {
  val EntryBytes = 60L
  private val InsertionMax = 24
  private val MaxDigitBits = 11
  private val MaxEntries = (Int.MaxValue - 64) / 3
  private val MaxTextBytes = Int.MaxValue - 64L
  private val InOrder = -1
  private val NextBytes = -2
  private val Compare = -3

  private def grown(now: Int, needed: Int): Int =
    math.max(needed.toLong, math.min(Int.MaxValue - 16L, math.max(192L, now + (now >> 1).toLong))).toInt
}
