package hudiidx.report

import hudiidx.column.{Bounds, ColumnType}

/** How far the bounds of a column keep file slices apart.
  *
  *  @param slices        that were looked at
  *  @param unknown       of these without bounds: every query reads them
  *  @param empty         of these without a value: no query for values reads them
  *  @param deepest       most slices that may hold one value
  *  @param skippedOfOne  share of slices that a query for one value skips, on average over values that are spread evenly from
  *                       the lower to the upper bound of each slice: where rows are, queries ask
  *  @param skippedOfTenth the same for a query for a tenth of these values in a row
  *  @param grid          a picture: a row for each group of slices, by their lowest value; in it a digit for each group of
  *                       values, from lowest to highest: how many tenths of the slices may hold such values, 0 for none of them
  */
final case class Overlap(
    slices: Int,
    unknown: Int,
    empty: Int,
    deepest: Int,
    skippedOfOne: Double,
    skippedOfTenth: Double,
    grid: Vector[String]
)

object Overlap {

  /** Rows of a picture, and digits of a row, at most. */
  val Side = 32

  private val Windows = 19

  def of(columnType: ColumnType, bounds: Array[Bounds]): Overlap = {
    val ranges = Ranges.of(columnType, bounds)
    val unknown = bounds.count(_ == Bounds.Unknown)
    val n = bounds.length.max(1).toDouble
    val one = if (ranges.count == 0) 0.0 else ranges.meanDepth
    val tenth = if (ranges.count == 0) 0.0 else ranges.meanMet(Windows, share = 0.1)
    Overlap(
      bounds.length,
      unknown,
      bounds.length - unknown - ranges.count,
      ranges.deepest + unknown,
      share(n - one - unknown, n),
      share(n - tenth - unknown, n),
      ranges.grid(Side)
    )
  }

  private def share(skipped: Double, of: Double): Double = math.max(0.0, skipped / of)
}

/** Ranges of values as numbers; both ends are included. */
private[report] final class Ranges(lows: Array[Double], highs: Array[Double]) {
  import Ranges._

  def count: Int = lows.length

  private lazy val sortedLows = lows.sorted
  private lazy val sortedHighs = highs.sorted

  /** Values of all ranges, sorted. */
  private lazy val points: Array[Double] =
    lows.indices.toArray.flatMap(i => Array.tabulate(PointsOfRange)(point(lows(i), highs(i), _))).sorted

  def deepest: Int = if (count == 0) 0 else lows.map(l => meeting(l, l)).max

  /** Ranges over a point, on average. */
  def meanDepth: Double = points.map(p => meeting(p, p).toDouble).sum / points.length

  /** Ranges that meet a window of a share of all points, on average over windows from the lowest to the highest. */
  def meanMet(windows: Int, share: Double): Double = {
    val width = math.max(1, (points.length * share).round.toInt)
    val met = (0 until windows).map { w =>
      val from = ((points.length - width).toLong * w / math.max(1, windows - 1)).toInt
      meeting(points(from), points(from + width - 1)).toDouble
    }
    met.sum / windows
  }

  private def meeting(low: Double, high: Double): Int = notAbove(sortedLows, high) - below(sortedHighs, low)

  /** As [[Overlap.grid]]. Values are grouped so that about as many points fall to each group. */
  def grid(side: Int): Vector[String] = if (count == 0) Vector.empty
  else {
    val rows = math.min(side, count)
    val firsts = (1 until side).map(k => (k.toLong * points.length / side).toInt).filter(_ > 0)
    val edges = firsts.map(edge).distinct.toArray
    val order = lows.indices.sortBy(i => (lows(i), highs(i)))
    val change = Array.fill(rows)(new Array[Int](edges.length + 2))
    val sizes = new Array[Int](rows)
    order.indices.foreach { place =>
      val row = (place.toLong * rows / count).toInt
      sizes(row) += 1
      change(row)(notAbove(edges, lows(order(place)))) += 1
      change(row)(notAbove(edges, highs(order(place))) + 1) -= 1
    }
    change.indices.map { r =>
      change(r).scanLeft(0)(_ + _).slice(1, edges.length + 2).map(digit(_, sizes(r))).mkString
    }.toVector
  }

  /** Between a point and the one before. */
  private def edge(at: Int): Double = points(at - 1) + (points(at) - points(at - 1)) / 2

  private def digit(met: Int, of: Int): Int = if (met == 0) 0 else math.max(1, math.min(9, met * 10 / of))
}

private[report] object Ranges {

  /** So many values of each range are asked for. */
  val PointsOfRange = 8

  /** @param n from 0 to one below [[PointsOfRange]] */
  def point(low: Double, high: Double, n: Int): Double = low + (high - low) * ((n + 0.5) / PointsOfRange)

  /** Of the bounds that have values; those of no known upper end reach as far as any. */
  def of(columnType: ColumnType, bounds: Array[Bounds]): Ranges = {
    val longs = bounds.collect { case r: Bounds.LongRange => r }
    if (longs.nonEmpty) ofLongs(columnType, longs) else ofTexts(bounds.collect { case r: Bounds.TextRange => r })
  }

  private def ofLongs(columnType: ColumnType, ranges: Array[Bounds.LongRange]): Ranges = {
    val isFloating = columnType == ColumnType.Float32 || columnType == ColumnType.Float64
    def number(value: Long): Double = if (isFloating) ColumnType.toDouble(value) else value.toDouble
    val finite = ranges.flatMap(r => Array(number(r.min), number(r.max))).filter(x => !x.isNaN && !x.isInfinite)
    val (least, most) = if (finite.isEmpty) (0.0, 0.0) else (finite.min, finite.max)
    // Not a number is above all others.
    def within(x: Double): Double = if (x.isNaN) most else math.max(least, math.min(most, x))
    new Ranges(ranges.map(r => within(number(r.min))), ranges.map(r => within(number(r.max))))
  }

  private def ofTexts(ranges: Array[Bounds.TextRange]): Ranges = {
    val ends = ranges.flatMap(r => Array(r.min) ++ Option(r.max))
    val common = if (ends.isEmpty) 0 else ends.map(e => sharing(ends.head, e)).min
    def number(text: Array[Byte]): Double =
      (0 until TextBytes).foldLeft(0.0)((x, i) =>
        x * 256 + (if (common + i < text.length) text(common + i) & 0xff else 0)
      )
    val most = if (ends.isEmpty) 0.0 else ends.map(number).max
    new Ranges(ranges.map(r => number(r.min)), ranges.map(r => if (r.max == null) most else number(r.max)))
  }

  /** A double holds so many whole. */
  private val TextBytes = 6

  private def sharing(a: Array[Byte], b: Array[Byte]): Int = {
    val differ = java.util.Arrays.mismatch(a, b)
    if (differ < 0) a.length else differ
  }

  /** How many are not above `limit`. */
  private def notAbove(sorted: Array[Double], limit: Double): Int = first(sorted, _ > limit)

  private def below(sorted: Array[Double], limit: Double): Int = first(sorted, _ >= limit)

  /** The first place from which on it holds. */
  private def first(sorted: Array[Double], holds: Double => Boolean): Int = {
    var (low, high) = (0, sorted.length)
    while (low < high) {
      val mid = (low + high) >>> 1
      if (holds(sorted(mid))) high = mid else low = mid + 1
    }
    low
  }
}
