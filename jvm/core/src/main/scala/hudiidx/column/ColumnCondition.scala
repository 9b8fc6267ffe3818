package hudiidx.column

/** A condition that holds for every row that a query wants, in a form that statistics decide: it may hold for other rows,
  * never for fewer.
  */
sealed trait ColumnCondition
object ColumnCondition {

  /** Nothing is known: every row may be wanted. `why` for people. */
  final case class Anything(why: String) extends ColumnCondition

  /** No row is wanted. */
  case object Nothing extends ColumnCondition
  final case class And(all: Vector[ColumnCondition]) extends ColumnCondition
  final case class Or(any: Vector[ColumnCondition]) extends ColumnCondition

  /** The column's value is one of `values`.
    *
    *  @param path        as of [[IndexedColumn]]; nothing else is said of the column in this part of the condition
    *  @param ofType      the values for a file that has the column in this type; None: that type's bounds tell nothing
    *  @param nulls       rows without a value are wanted
    *  @param noValue     rows with a value are not wanted, in whatever type their file has the column
    */
  final case class In(
      path: String,
      nulls: Boolean,
      ofType: ColumnType => Option[ValueSet],
      noValue: Boolean = false
  ) extends ColumnCondition
}

/** Values as sorted intervals that neither meet nor touch. */
sealed trait ValueSet {
  def isEmpty: Boolean

  /** It is a list of single values. */
  def isPoints: Boolean
}

object ValueSet {

  /** Intervals `[lows(i), highs(i)]`, both ends within. */
  final class Longs(val lows: Array[Long], val highs: Array[Long]) extends ValueSet {
    override def isEmpty: Boolean = lows.isEmpty
    override def isPoints: Boolean = java.util.Arrays.equals(lows, highs)

    /** Some value lies within min and max, both within. */
    def meets(min: Long, max: Long): Boolean = {
      val at = java.util.Arrays.binarySearch(highs, min)
      val first = if (at < 0) -at - 1 else at
      first < lows.length && lows(first) <= max
    }
  }

  /** Intervals `[lows(i), highs(i))` of unsigned bytes, the upper end without; null as the last upper end: none. A single
    * value v is `[v, v + 0x00)`.
    */
  final class Texts(val lows: Array[Array[Byte]], val highs: Array[Array[Byte]]) extends ValueSet {
    override def isEmpty: Boolean = lows.isEmpty
    override def isPoints: Boolean = lows.indices.forall(i => ValueSets.isPoint(lows(i), highs(i)))

    /** Some value lies within min and max, both within; max null: from min on. */
    def meets(min: Array[Byte], max: Array[Byte]): Boolean = {
      val first = firstAbove(min)
      first < lows.length && (max == null || java.util.Arrays.compareUnsigned(lows(first), max) <= 0)
    }

    /** The first interval that ends above `value`. */
    private def firstAbove(value: Array[Byte]): Int = {
      var (low, high) = (0, highs.length)
      while (low < high) {
        val mid = (low + high) >>> 1
        val above = highs(mid) == null || java.util.Arrays.compareUnsigned(highs(mid), value) > 0
        if (above) high = mid else low = mid + 1
      }
      low
    }
  }
}
