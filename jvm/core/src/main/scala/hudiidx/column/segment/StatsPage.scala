package hudiidx.column.segment

import hudiidx.bytes.{PackedInput, PackedOutput}
import hudiidx.column.{
  Bounds,
  ColumnStats,
  ColumnType,
  LeafTest,
  LongBounds,
  PatchedColumn,
  RankedTexts,
  TextRanks,
  ValueOrder,
  ValueSet
}

/** Statistics of one column over consecutive files, decoded into arrays. docs/format.md, "Statistics page".
  *
  *  @param states of [[StatsPage]]: what is known of each file's values
  *  @param nulls  rows without a value; -1 unknown
  *  @param rows   rows; -1 unknown
  */
sealed abstract class StatsPage(
    val columnType: ColumnType,
    states: Array[Byte],
    nulls: Array[Long],
    rows: Array[Long]
) {
  def count: Int = states.length

  protected def range(i: Int): Bounds

  /** Marks the files, with bounds or not, whose bounds meet the set; those without bounds as it likes. */
  protected def markMeeting(set: ValueSet, found: Array[Boolean]): Unit

  def stats(i: Int): ColumnStats = {
    val bounds = states(i) match {
      case StatsPage.Unknown                    => Bounds.Unknown
      case StatsPage.NoValues | StatsPage.Empty => Bounds.NoValues
      case _                                    => range(i)
    }
    ColumnStats(rows(i), nulls(i), bounds)
  }

  /** Sets a bit, from `at` on, for each file that may have a wanted row. */
  def mark(test: LeafTest, bits: FileBits, at: Int): Unit = {
    val meets = new Array[Boolean](count)
    test.values match {
      case Some(set) => if (!set.isEmpty) markMeeting(set, meets)
      case None      => java.util.Arrays.fill(meets, true)
    }
    var i = 0
    while (i < count) {
      val state = states(i)
      val wanted = if (state >= StatsPage.Exact) meets(i) else state == StatsPage.Unknown && !test.noValue
      if (wanted || (test.nulls && nulls(i) != 0)) bits.set(at + i)
      i += 1
    }
  }

  protected def exact(i: Int): Boolean = states(i) == StatsPage.Exact
}

private[column] final class LongStatsPage(
    columnType: ColumnType,
    states: Array[Byte],
    nulls: Array[Long],
    rows: Array[Long],
    mins: Array[Long],
    maxs: Array[Long]
) extends StatsPage(columnType, states, nulls, rows) {

  protected def range(i: Int): Bounds = Bounds.LongRange(mins(i), maxs(i), exact(i))

  protected def markMeeting(set: ValueSet, found: Array[Boolean]): Unit = set match {
    case s: ValueSet.Longs =>
      if (s.lows.length == 1) markOne(s.lows(0), s.highs(0), found)
      else {
        var i = 0
        while (i < found.length) {
          found(i) = s.meets(mins(i), maxs(i))
          i += 1
        }
      }
    case _ => java.util.Arrays.fill(found, true)
  }

  private def markOne(low: Long, high: Long, found: Array[Boolean]): Unit = {
    var i = 0
    while (i < found.length) {
      found(i) = mins(i) <= high && maxs(i) >= low
      i += 1
    }
  }
}

/** @param mins ranks of lower bounds among the texts
  * @param maxs ranks of upper bounds; without meaning where there is none
  */
private[column] final class TextStatsPage(
    columnType: ColumnType,
    states: Array[Byte],
    nulls: Array[Long],
    rows: Array[Long],
    texts: TextRanks,
    mins: Array[Long],
    maxs: Array[Long]
) extends StatsPage(columnType, states, nulls, rows) {

  private def isOpen(i: Int): Boolean = states(i) == StatsPage.Open

  protected def range(i: Int): Bounds =
    Bounds.TextRange(texts(mins(i).toInt), if (isOpen(i)) null else texts(maxs(i).toInt), exact(i))

  protected def markMeeting(set: ValueSet, found: Array[Boolean]): Unit = set match {
    case s: ValueSet.Texts => if (s.lows.length <= texts.count) byRanks(s, found) else byTexts(s, found)
    case _                 => java.util.Arrays.fill(found, true)
  }

  /** Few intervals: each end becomes a rank, and files are compared by ranks. An interval `[low, high)` meets bounds if the
    * lower one is below `high`, so that its rank is below that of `high`, and the upper one not below `low`.
    */
  private def byRanks(set: ValueSet.Texts, found: Array[Boolean]): Unit = {
    val lows = set.lows.map(l => texts.rankOf(l).toLong)
    val highs = set.highs.map(h => if (h == null) Long.MaxValue else texts.rankOf(h).toLong)
    var i = 0
    while (i < found.length) {
      val j = firstAbove(highs, mins(i))
      found(i) = j < lows.length && (isOpen(i) || lows(j) <= maxs(i))
      i += 1
    }
  }

  private def firstAbove(highs: Array[Long], min: Long): Int = {
    var (low, high) = (0, highs.length)
    while (low < high) {
      val mid = (low + high) >>> 1
      if (highs(mid) > min) high = mid else low = mid + 1
    }
    low
  }

  private def byTexts(set: ValueSet.Texts, found: Array[Boolean]): Unit = {
    var i = 0
    while (i < found.length) {
      found(i) = states(i) < StatsPage.Exact ||
        set.meets(texts(mins(i).toInt), if (isOpen(i)) null else texts(maxs(i).toInt))
      i += 1
    }
  }
}

object StatsPage {
  private[column] final val Unknown = 0

  /** No values, but nulls, or it is not known that there are none. */
  private[column] final val NoValues = 1

  /** Neither values nor nulls. */
  private[column] final val Empty = 2
  private[column] final val Exact = 3
  private[column] final val Cut = 4

  /** As `Cut`, without an upper bound. */
  private[column] final val Open = 5
  private val Version = 1

  /** @param fileRows rows of each file, -1 where unknown: of a column only what differs from it is stored */
  def encode(columnType: ColumnType, stats: Array[ColumnStats], fileRows: Array[Long]): Array[Byte] = {
    require(fileRows.length == stats.length, s"rows of ${fileRows.length} files, statistics of ${stats.length}")
    val n = stats.length
    val out = new PackedOutput(64 + n * 8)
    out.byte(Version)
    out.varint(n.toLong)
    out.column(stats.map(stateOf(_).toLong), n)
    PatchedColumn.of(Array.tabulate(n)(i => stats(i).rows - fileRows(i))).write(out)
    // A column without values has as many nulls as rows: stored as the difference, so that it does not widen the others.
    PatchedColumn.of(stats.map(s => if (s.bounds == Bounds.NoValues) s.rows - s.nulls else s.nulls)).write(out)
    columnType.order match {
      case ValueOrder.Longs =>
        val ranges = stats.map(_.bounds).collect { case r: Bounds.LongRange => r }
        LongBounds.encode(out, columnType, ranges.map(_.min), ranges.map(_.max))
      case ValueOrder.Texts =>
        val ranges = stats.map(_.bounds).collect { case r: Bounds.TextRange => r }
        RankedTexts.encode(out, ranges.map(_.min), ranges.map(_.max))
    }
    out.toBytes
  }

  /** @param fileRows as `encode` had them; null if nobody asks for numbers of rows and nulls, but whether there are nulls */
  def decode(columnType: ColumnType, bytes: Array[Byte], fileRows: Array[Long]): StatsPage =
    decode(columnType, new PackedInput(bytes), fileRows)

  /** IllegalArgumentException if the page is malformed.
    *
    * @param most files that it may have: of equal ones any number takes but a few bytes
    */
  private[column] def decode(
      columnType: ColumnType,
      in: PackedInput,
      fileRows: Array[Long],
      most: Int = MaxFiles
  ): StatsPage = {
    val version = in.byte()
    require(version == Version, s"statistics page of format $version, this hudiidx reads $Version")
    val n = in.varint()
    require(n >= 0 && n <= most && (fileRows == null || fileRows.length == n), s"page of $n files")
    val states = readStates(in, n.toInt)
    val rows = PatchedColumn.read(in, states.length)
    val nulls = PatchedColumn.read(in, states.length)
    complete(states, rows, nulls, fileRows)
    var ranges = 0
    var i = 0
    while (i < states.length) {
      if (states(i) >= Exact) ranges += 1
      i += 1
    }
    columnType.order match {
      case ValueOrder.Longs =>
        val (mins, maxs) = LongBounds.decode(in, columnType, ranges)
        new LongStatsPage(columnType, states, nulls, rows, spread(mins, states), spread(maxs, states))
      case ValueOrder.Texts =>
        val (texts, mins, maxs) = RankedTexts.decode(in, ranges)
        new TextStatsPage(columnType, states, nulls, rows, texts, spread(mins, states), spread(maxs, states))
    }
  }

  private def readStates(in: PackedInput, n: Int): Array[Byte] = {
    val found = in.column(n)
    val states = new Array[Byte](n)
    var i = 0
    while (i < n) {
      require(found(i) >= Unknown && found(i) <= Open, s"state ${found(i)} of file $i")
      states(i) = found(i).toByte
      i += 1
    }
    states
  }

  private def complete(states: Array[Byte], rows: Array[Long], nulls: Array[Long], fileRows: Array[Long]): Unit = {
    var i = 0
    while (i < states.length) {
      if (fileRows != null) rows(i) += fileRows(i)
      if (states(i) == NoValues) nulls(i) = if (fileRows == null) -1 else rows(i) - nulls(i)
      else if (states(i) == Empty) nulls(i) = 0
      i += 1
    }
  }

  /** Values of the files that have bounds, to the places of these. */
  private def spread(values: Array[Long], states: Array[Byte]): Array[Long] =
    if (values.length == states.length) values
    else {
      val out = new Array[Long](states.length)
      var i = 0
      var next = 0
      while (i < states.length) {
        if (states(i) >= Exact) {
          out(i) = values(next)
          next += 1
        }
        i += 1
      }
      out
    }

  private def stateOf(stats: ColumnStats): Int = stats.bounds match {
    case Bounds.Unknown                => Unknown
    case Bounds.NoValues               => if (stats.nulls == 0) Empty else NoValues
    case Bounds.LongRange(_, _, exact) => if (exact) Exact else Cut
    case Bounds.TextRange(_, null, _)  => Open
    case Bounds.TextRange(_, _, exact) => if (exact) Exact else Cut
  }

  /** No page has more. */
  private[column] val MaxFiles = 1 << 24
}
