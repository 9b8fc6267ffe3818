package hudiidx.column

import hudiidx.bytes.{PackedInput, PackedOutput}

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

  /** True if the set of values meets the bounds of file `i`, which has some. */
  protected def meeting(set: ValueSet): Int => Boolean

  def stats(i: Int): ColumnStats = {
    val bounds = states(i) match {
      case StatsPage.Unknown  => Bounds.Unknown
      case StatsPage.NoValues => Bounds.NoValues
      case _                  => range(i)
    }
    ColumnStats(rows(i), nulls(i), bounds)
  }

  /** Sets a bit, from `at` on, for each file that may have a wanted row. */
  def mark(test: LeafTest, bits: FileBits, at: Int): Unit = {
    val meets = test.values match {
      case Some(set) => if (set.isEmpty) (_: Int) => false else meeting(set)
      case None      => (_: Int) => true
    }
    var i = 0
    while (i < count) {
      val wanted = (test.nulls && nulls(i) != 0) || (states(i) match {
        case StatsPage.NoValues => false
        case StatsPage.Unknown  => test.wantsValues
        case _                  => meets(i)
      })
      if (wanted) bits.set(at + i)
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

  protected def meeting(set: ValueSet): Int => Boolean = set match {
    case s: ValueSet.Longs => i => s.meets(mins(i), maxs(i))
    case _                 => _ => true
  }
}

/** @param maxs null where there is no upper bound */
private[column] final class TextStatsPage(
    columnType: ColumnType,
    states: Array[Byte],
    nulls: Array[Long],
    rows: Array[Long],
    mins: Array[Array[Byte]],
    maxs: Array[Array[Byte]]
) extends StatsPage(columnType, states, nulls, rows) {

  protected def range(i: Int): Bounds = Bounds.TextRange(mins(i), maxs(i), exact(i))

  protected def meeting(set: ValueSet): Int => Boolean = set match {
    case s: ValueSet.Texts => i => s.meets(mins(i), maxs(i))
    case _                 => _ => true
  }
}

object StatsPage {
  private[column] final val Unknown = 0
  private[column] final val NoValues = 1
  private[column] final val Exact = 2
  private[column] final val Cut = 3

  /** As `Cut`, without an upper bound. */
  private[column] final val Open = 4
  private val Version = 1

  /** @param fileRows rows of each file, -1 where unknown: of a column only what differs from it is stored */
  def encode(columnType: ColumnType, stats: Array[ColumnStats], fileRows: Array[Long]): Array[Byte] = {
    require(fileRows.length == stats.length, s"rows of ${fileRows.length} files, statistics of ${stats.length}")
    val n = stats.length
    val out = new PackedOutput(64 + n * 8)
    out.byte(Version)
    out.varint(n.toLong)
    val states = stats.map(s => stateOf(s.bounds).toLong)
    out.column(states, n)
    out.column(Array.tabulate(n)(i => stats(i).rows - fileRows(i)), n)
    // A column without values has as many nulls as rows: stored as the difference, so that it does not widen the others.
    out.column(stats.map(s => if (s.bounds == Bounds.NoValues) s.rows - s.nulls else s.nulls), n)
    columnType.order match {
      case ValueOrder.Longs =>
        val ranges = stats.map(_.bounds).collect { case r: Bounds.LongRange => r }
        LongBounds.encode(out, ranges.map(_.min), ranges.map(_.max))
      case ValueOrder.Texts =>
        val ranges = stats.map(_.bounds).collect { case r: Bounds.TextRange => r }
        ranges.foreach(r => out.bytes(r.min))
        ranges.foreach(r => out.bytes(if (r.max == null) Array.emptyByteArray else r.max))
    }
    out.toBytes
  }

  /** @param fileRows as `encode` had them; null if nobody asks for numbers of rows and nulls, but whether there are nulls */
  def decode(columnType: ColumnType, bytes: Array[Byte], fileRows: Array[Long]): StatsPage =
    decode(columnType, new PackedInput(bytes), fileRows)

  /** IllegalArgumentException if the page is malformed. */
  private[column] def decode(columnType: ColumnType, in: PackedInput, fileRows: Array[Long]): StatsPage = {
    val version = in.byte()
    require(version == Version, s"statistics page of format $version, this hudiidx reads $Version")
    val n = in.varint()
    require(n >= 0 && n <= MaxFiles && (fileRows == null || fileRows.length == n), s"page of $n files")
    val states = in.column(n.toInt).map(_.toByte)
    require(states.forall(s => s >= Unknown && s <= Open), "state of a file")
    val rows = in.column(states.length)
    val nulls = in.column(states.length)
    var i = 0
    while (i < rows.length) {
      if (fileRows != null) rows(i) += fileRows(i)
      if (states(i) == NoValues) nulls(i) = if (fileRows == null) -1 else rows(i) - nulls(i)
      i += 1
    }
    val places = states.indices.filter(states(_) >= Exact).toArray
    columnType.order match {
      case ValueOrder.Longs =>
        val (mins, maxs) = LongBounds.decode(in, places.length)
        new LongStatsPage(columnType, states, nulls, rows, spread(mins, places, n.toInt), spread(maxs, places, n.toInt))
      case ValueOrder.Texts =>
        val (mins, maxs) = (new Array[Array[Byte]](n.toInt), new Array[Array[Byte]](n.toInt))
        places.foreach(p => mins(p) = in.bytes())
        places.foreach { p =>
          val max = in.bytes()
          maxs(p) = if (states(p) == Open) null else max
        }
        new TextStatsPage(columnType, states, nulls, rows, mins, maxs)
    }
  }

  private def spread(values: Array[Long], places: Array[Int], n: Int): Array[Long] =
    if (values.length == n) values
    else {
      val out = new Array[Long](n)
      places.indices.foreach(i => out(places(i)) = values(i))
      out
    }

  private def stateOf(bounds: Bounds): Int = bounds match {
    case Bounds.Unknown                => Unknown
    case Bounds.NoValues               => NoValues
    case Bounds.LongRange(_, _, exact) => if (exact) Exact else Cut
    case Bounds.TextRange(_, null, _)  => Open
    case Bounds.TextRange(_, _, exact) => if (exact) Exact else Cut
  }

  /** No page has more. */
  private[column] val MaxFiles = 1 << 24
}

private[column] object LongBounds {

  def encode(out: PackedOutput, mins: Array[Long], maxs: Array[Long]): Unit = {
    out.column(mins, mins.length)
    out.column(Array.tabulate(mins.length)(i => maxs(i) - mins(i)), mins.length)
  }

  def decode(in: PackedInput, n: Int): (Array[Long], Array[Long]) = {
    val mins = in.column(n)
    val maxs = in.column(n)
    var i = 0
    while (i < n) {
      maxs(i) += mins(i)
      i += 1
    }
    (mins, maxs)
  }
}
