package hudiidx.report

import hudiidx.column.Bounds

/** How far the bounds of a column keep file slices apart.
  *
  *  @param slices        that were looked at
  *  @param unknown       of these without bounds: every query reads them
  *  @param empty         of these without a value: no query for values reads them
  *  @param deepest       most slices that may hold one value
  *  @param skippedOfOne  share of slices that a query for one value skips, on average over the ends of all bounds
  *  @param skippedOfTenth the same for a query for a tenth of the values in a row
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

  def of(bounds: Array[Bounds]): Overlap = {
    val ranges = Ranges.of(bounds)
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

/** Ranges of values as ranks among all their ends: what the values are does not matter.
  *
  *  @param lows  rank of the lower end of each
  *  @param highs of the upper end, included
  *  @param ranks how many ranks there are
  */
private[report] final class Ranges(lows: Array[Int], highs: Array[Int], ranks: Int) {
  def count: Int = lows.length

  /** Ranges over each rank. */
  private lazy val depths: Array[Int] = {
    val change = new Array[Int](ranks + 1)
    lows.foreach(l => change(l) += 1)
    highs.foreach(h => change(h + 1) -= 1)
    change.scanLeft(0)(_ + _).slice(1, ranks + 1)
  }

  def deepest: Int = if (count == 0) 0 else depths.max

  /** Ranges over an end of a range, on average. */
  def meanDepth: Double =
    lows.indices.map(i => depths(lows(i)).toDouble + depths(highs(i))).sum / (2.0 * count)

  private lazy val sortedLows = lows.sorted
  private lazy val sortedHighs = highs.sorted
  private lazy val ends = (lows ++ highs).sorted

  /** Ranges that meet a window of a share of all ends, on average over windows from the lowest to the highest. */
  def meanMet(windows: Int, share: Double): Double = {
    val width = math.max(1, (ends.length * share).round.toInt)
    val met = (0 until windows).map { w =>
      val from = ((ends.length - width).toLong * w / math.max(1, windows - 1)).toInt
      val (low, high) = (ends(from), ends(from + width - 1))
      below(sortedLows, high + 1) - below(sortedHighs, low)
    }
    met.map(_.toDouble).sum / windows
  }

  /** How many are below `limit`. */
  private def below(sorted: Array[Int], limit: Int): Int = {
    val at = java.util.Arrays.binarySearch(sorted, limit)
    var i = if (at < 0) -at - 1 else at
    while (i > 0 && sorted(i - 1) == limit) i -= 1
    i
  }

  /** As [[Overlap.grid]]. Values are grouped so that about as many ends fall to each group. */
  def grid(side: Int): Vector[String] = if (count == 0) Vector.empty
  else {
    val rows = math.min(side, count)
    val columns = math.min(side, ranks)
    val columnOf = groups(columns)
    val order = lows.indices.sortBy(i => (lows(i), highs(i)))
    val change = Array.fill(rows)(new Array[Int](columns + 1))
    val sizes = new Array[Int](rows)
    order.indices.foreach { place =>
      val row = (place.toLong * rows / count).toInt
      sizes(row) += 1
      change(row)(columnOf(lows(order(place)))) += 1
      change(row)(columnOf(highs(order(place))) + 1) -= 1
    }
    change.indices.map { r =>
      change(r).scanLeft(0)(_ + _).slice(1, columns + 1).map(digit(_, sizes(r))).mkString
    }.toVector
  }

  /** Group of each rank. */
  private def groups(columns: Int): Array[Int] =
    if (columns == ranks) Array.tabulate(ranks)(identity)
    else {
      val weights = new Array[Int](ranks)
      ends.foreach(weights(_) += 1)
      val before = weights.scanLeft(0L)(_ + _)
      Array.tabulate(ranks)(r => (before(r) * columns / ends.length).toInt)
    }

  private def digit(met: Int, of: Int): Int = if (met == 0) 0 else math.max(1, math.min(9, met * 10 / of))
}

private[report] object Ranges {

  /** Of the bounds that have values; those of no known upper end reach as far as any. */
  def of(bounds: Array[Bounds]): Ranges = {
    val longs = bounds.collect { case r: Bounds.LongRange => r }
    if (longs.nonEmpty) ofLongs(longs) else ofTexts(bounds.collect { case r: Bounds.TextRange => r })
  }

  private def ofLongs(ranges: Array[Bounds.LongRange]): Ranges = {
    val ends = (ranges.map(_.min) ++ ranges.map(_.max)).distinct.sorted
    def rank(value: Long): Int = java.util.Arrays.binarySearch(ends, value)
    new Ranges(ranges.map(r => rank(r.min)), ranges.map(r => rank(r.max)), ends.length)
  }

  private def ofTexts(ranges: Array[Bounds.TextRange]): Ranges = {
    val order: java.util.Comparator[Array[Byte]] = (a, b) => java.util.Arrays.compareUnsigned(a, b)
    val set = new java.util.TreeSet[Array[Byte]](order)
    ranges.foreach { r =>
      set.add(r.min)
      if (r.max != null) set.add(r.max): Unit
    }
    val ends = set.toArray(Array.empty[Array[Byte]])
    def rank(value: Array[Byte]): Int = java.util.Arrays.binarySearch(ends, value, order)
    val highs = ranges.map(r => if (r.max == null) ends.length - 1 else rank(r.max))
    new Ranges(ranges.map(r => rank(r.min)), highs, ends.length)
  }
}
