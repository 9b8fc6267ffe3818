package hudiidx.column

/** What is known of the values of a column that are not null. */
sealed trait Bounds {
  import Bounds._

  /** Of the values of both; both must be of one column type. */
  def union(other: Bounds): Bounds = (this, other) match {
    case (Unknown, _) | (_, Unknown)              => Unknown
    case (NoValues, b)                            => b
    case (a, NoValues)                            => a
    case (LongRange(a, b, e), LongRange(c, d, f)) => LongRange(math.min(a, c), math.max(b, d), e && f)
    case (a: TextRange, b: TextRange)             =>
      val min = if (java.util.Arrays.compareUnsigned(a.min, b.min) <= 0) a.min else b.min
      val max =
        if (a.max == null || b.max == null) null
        else if (java.util.Arrays.compareUnsigned(a.max, b.max) >= 0) a.max
        else b.max
      TextRange(min, max, a.exact && b.exact)
    case _ => throw new IllegalArgumentException(s"$this and $other are bounds of different types")
  }
}

object Bounds {

  /** Any value may be there. */
  case object Unknown extends Bounds

  /** There is no value: all are null, or there are no rows. */
  case object NoValues extends Bounds

  /** min <= every value <= max, and both are values if `exact`. */
  final case class LongRange(min: Long, max: Long, exact: Boolean) extends Bounds

  /** min <= every value <= max as unsigned bytes; max null: no upper bound is known. Not exact where they were cut. */
  final case class TextRange(min: Array[Byte], max: Array[Byte], exact: Boolean) extends Bounds {
    override def equals(other: Any): Boolean = other match {
      case o: TextRange =>
        exact == o.exact && java.util.Arrays.equals(min, o.min) && java.util.Arrays.equals(max, o.max)
      case _ => false
    }
    override def hashCode: Int = java.util.Arrays.hashCode(min) * 31 + java.util.Arrays.hashCode(max)
  }
}

/** Statistics of one column over some rows: of a file, or of all files of a page, slice or partition together.
  *
  *  @param rows  rows, nulls included; -1: unknown
  *  @param nulls rows without a value; -1: unknown
  */
final case class ColumnStats(rows: Long, nulls: Long, bounds: Bounds) {

  /** What is known of these rows and those of `other` together. */
  def union(other: ColumnStats): ColumnStats =
    ColumnStats(ColumnStats.sum(rows, other.rows), ColumnStats.sum(nulls, other.nulls), bounds.union(other.bounds))
}

object ColumnStats {
  val Unknown: ColumnStats = ColumnStats(-1, -1, Bounds.Unknown)

  /** Of no rows: `union` with it changes nothing. */
  val Empty: ColumnStats = ColumnStats(0, 0, Bounds.NoValues)

  private def sum(a: Long, b: Long): Long = if (a < 0 || b < 0) -1 else a + b
}

/** A column that has an index of one kind.
  *
  *  @param path name, parts of nested ones joined by dots; backquoted where a part holds a dot
  *  @param kind `range`, `bloom`, `values` or a kind that was added
  */
final case class IndexedColumn(path: String, columnType: ColumnType, kind: String)
