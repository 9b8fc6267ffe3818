package hudiidx.column

import hudiidx.bytes.{PackedInput, PackedOutput}
import java.util.Arrays

/** The distinct texts of a page in order, one behind the other: a text is known by its rank. */
private[column] final class TextRanks(bytes: Array[Byte], starts: Array[Int]) {
  def count: Int = starts.length - 1

  def apply(rank: Int): Array[Byte] = Arrays.copyOfRange(bytes, starts(rank), starts(rank + 1))

  /** The first rank whose text is not below `text`. */
  def rankOf(text: Array[Byte]): Int = {
    var (low, high) = (0, count)
    while (low < high) {
      val mid = (low + high) >>> 1
      if (Arrays.compareUnsigned(bytes, starts(mid), starts(mid + 1), text, 0, text.length) < 0) low = mid + 1
      else high = mid
    }
    low
  }
}

/** Bounds of order Texts, packed. docs/format.md, "Text bounds". */
private[column] object RankedTexts {
  private val Differences = 1
  private val Itself = 0

  /** More than any page of texts takes. */
  private val MostBytes = 1 << 29

  /** Far more than any bound has: without a limit texts that share all of long ones before them fill any memory. */
  private val MostTextBytes = 16L * TextBounds.MaxBytes

  /** @param maxs null where there is no upper bound */
  def encode(out: PackedOutput, mins: Array[Array[Byte]], maxs: Array[Array[Byte]]): Unit = {
    val texts = distinct(mins ++ maxs.filter(_ != null))
    def rank(text: Array[Byte]): Long = Arrays.binarySearch(texts, text, ValuesCreator.Unsigned).toLong
    val shared = texts.indices.map(i => if (i == 0) 0L else common(texts(i - 1), texts(i)).toLong).toArray
    val n = texts.length
    out.varint(n.toLong)
    out.column(shared, n)
    out.column(Array.tabulate(n)(i => texts(i).length - shared(i)), n)
    texts.indices.foreach(i => out.raw(texts(i), shared(i).toInt, texts(i).length - shared(i).toInt))
    val low = mins.map(rank)
    val high = Array.tabulate(maxs.length)(i => if (maxs(i) == null) low(i) else rank(maxs(i)))
    PatchedColumn.of(low).write(out)
    val itself = PatchedColumn.of(high)
    val differences = PatchedColumn.of(Array.tabulate(high.length)(i => high(i) - low(i)))
    out.byte(if (differences.bits < itself.bits) Differences else Itself)
    (if (differences.bits < itself.bits) differences else itself).write(out)
  }

  /** In order; the array is sorted. */
  private def distinct(texts: Array[Array[Byte]]): Array[Array[Byte]] = {
    Arrays.sort(texts, ValuesCreator.Unsigned)
    var n = 0
    var i = 0
    while (i < texts.length) {
      if (n == 0 || !Arrays.equals(texts(n - 1), texts(i))) {
        texts(n) = texts(i)
        n += 1
      }
      i += 1
    }
    Arrays.copyOf(texts, n)
  }

  private def common(a: Array[Byte], b: Array[Byte]): Int = {
    val at = Arrays.mismatch(a, b)
    if (at < 0) a.length else at
  }

  /** Texts, and the ranks of the bounds. */
  def decode(in: PackedInput, n: Int): (TextRanks, Array[Long], Array[Long]) = {
    val count = in.varint()
    require(count >= 0 && count <= 2L * n, s"$count texts for $n files")
    val shared = in.column(count.toInt)
    val rests = in.column(count.toInt)
    val ranks = texts(in, shared, rests)
    val mins = PatchedColumn.read(in, n)
    val form = in.byte()
    require(form == Itself || form == Differences, s"form $form of upper bounds")
    val maxs = PatchedColumn.read(in, n)
    var i = 0
    while (i < n) {
      if (form == Differences) maxs(i) += mins(i)
      require(mins(i) >= 0 && mins(i) < count && maxs(i) >= 0 && maxs(i) < count, s"rank of $count texts")
      i += 1
    }
    (ranks, mins, maxs)
  }

  private def texts(in: PackedInput, shared: Array[Long], rests: Array[Long]): TextRanks = {
    val n = shared.length
    val starts = new Array[Int](n + 1)
    var total = 0L
    var i = 0
    while (i < n) {
      val before = if (i == 0) 0L else total - starts(i - 1)
      require(shared(i) >= 0 && shared(i) <= before && rests(i) >= 0, s"text $i shares ${shared(i)} bytes")
      starts(i) = total.toInt
      val length = shared(i) + rests(i)
      require(length >= 0 && length <= MostTextBytes, s"text $i has $length bytes")
      total += length
      require(total <= MostBytes, s"texts of more than $total bytes")
      i += 1
    }
    starts(n) = total.toInt
    val bytes = new Array[Byte](total.toInt)
    i = 0
    while (i < n) {
      val common = shared(i).toInt
      if (common > 0) System.arraycopy(bytes, starts(i - 1), bytes, starts(i), common)
      in.raw(bytes, starts(i) + common, rests(i).toInt)
      i += 1
    }
    new TextRanks(bytes, starts)
  }
}
