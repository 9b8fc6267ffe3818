package hudiidx.column

import java.util.Arrays

/** Gathers values of one column into statistics: single ones, and statistics of parts of the rows. */
final class StatsBuilder(columnType: ColumnType) {
  private val isText = columnType.order == ValueOrder.Texts
  private var rows, nulls = 0L
  private var knowsBounds, exact = true
  private var low = Long.MaxValue
  private var high = Long.MinValue
  private var lowText, highText: Array[Byte] = _
  private var hasHighText = true

  /** True once no value can change what is known of the bounds: they are not. */
  def isUnknown: Boolean = !knowsBounds

  /** So many rows without a value. */
  def addNulls(count: Long): Unit = {
    addRows(count)
    if (nulls >= 0) nulls += count
  }

  /** A value as [[ColumnType]] holds it. */
  def add(value: Long): Unit = {
    addRows(1)
    if (value < low) low = value
    if (value > high) high = value
  }

  /** A value of bytes; they are copied if they are kept. */
  def add(bytes: Array[Byte], from: Int, length: Int): Unit = {
    addRows(1)
    val to = from + length
    if (lowText == null || Arrays.compareUnsigned(bytes, from, to, lowText, 0, lowText.length) < 0)
      lowText = Arrays.copyOfRange(bytes, from, to)
    if (hasHighText && (highText == null || Arrays.compareUnsigned(bytes, from, to, highText, 0, highText.length) > 0))
      highText = Arrays.copyOfRange(bytes, from, to)
  }

  /** A row whose value is not known. */
  def addUnknown(): Unit = add(ColumnStats(1, -1, Bounds.Unknown))

  def add(stats: ColumnStats): Unit = {
    rows = if (rows < 0 || stats.rows < 0) -1 else rows + stats.rows
    nulls = if (nulls < 0 || stats.nulls < 0) -1 else nulls + stats.nulls
    stats.bounds match {
      case Bounds.NoValues                    => ()
      case Bounds.Unknown                     => knowsBounds = false
      case Bounds.LongRange(min, max, isTrue) =>
        if (isText) knowsBounds = false
        low = math.min(low, min)
        high = math.max(high, max)
        exact &&= isTrue
      case Bounds.TextRange(min, max, isTrue) =>
        if (!isText) knowsBounds = false
        if (lowText == null || Arrays.compareUnsigned(min, lowText) < 0) lowText = min
        if (max == null) hasHighText = false
        else if (highText == null || Arrays.compareUnsigned(max, highText) > 0) highText = max
        exact &&= isTrue
    }
  }

  private def addRows(count: Long): Unit = if (rows >= 0) rows += count

  /** Of all that was added; long texts are cut as [[TextBounds]] says. */
  def result: ColumnStats = ColumnStats(rows, nulls, bounds)

  private def bounds: Bounds =
    if (!knowsBounds) Bounds.Unknown
    else if (isText) {
      if (lowText == null) Bounds.NoValues else TextBounds.of(lowText, if (hasHighText) highText else null, exact)
    } else if (low > high) Bounds.NoValues
    else Bounds.LongRange(low, high, exact)
}

/** Bounds of texts are kept short: what is cut off the upper one makes it greater, never less. */
object TextBounds {

  /** Bytes that a bound has at most. */
  val MaxBytes = 64

  /** @param max null: there is no upper bound */
  def of(min: Array[Byte], max: Array[Byte], exact: Boolean): Bounds.TextRange = {
    val isCut = min.length > MaxBytes || max == null || max.length > MaxBytes
    Bounds.TextRange(
      if (min.length > MaxBytes) Arrays.copyOf(min, MaxBytes) else min,
      if (max == null || max.length <= MaxBytes) max else above(max),
      exact && !isCut
    )
  }

  /** The least text of at most so many bytes that is above all that begin as this one; null if there is none. */
  private def above(text: Array[Byte]): Array[Byte] = {
    var length = MaxBytes
    while (length > 0 && text(length - 1) == -1) length -= 1
    if (length == 0) null
    else {
      val bound = Arrays.copyOf(text, length)
      bound(length - 1) = (bound(length - 1) + 1).toByte
      bound
    }
  }
}
