package hudiidx.spark.prune

import java.time.{Instant, ZoneId}

import hudiidx.column.ValueSet.{Longs, Texts}
import hudiidx.column.{ColumnType, ValueSet, ValueSets}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression}

/** A function of one value that keeps or turns round its order, evaluated by Spark itself.
  *
  *  @param argument the expression whose values go in; its type is ordered as longs
  *  @param call     the function over `BoundReference(0)`
  *  @param from     least and
  *  @param to       greatest code of an argument for which the order is known; no other argument is judged
  *  @param isRising greater arguments never give smaller results; else never greater ones
  *  @param isTotal  arguments in these bounds never give null
  *  @param clock    None: the order holds throughout; Some: but for two days around changes of the zone's offset
  */
final private[prune] case class OrderedFunction(
    argument: Expression,
    call: Expression,
    from: Long,
    to: Long,
    isRising: Boolean = true,
    isTotal: Boolean = true,
    clock: Option[Clock] = None
) {
  private val (least, greatest) = ValueCode.domain(argument.dataType)

  /** The same with narrower bounds; none at all if `min > max`. */
  def within(min: BigInt, max: BigInt): OrderedFunction = {
    val (low, high) = (min.max(from), max.min(to))
    if (low > high) copy(from = 1L, to = 0L) else copy(from = low.toLong, to = high.toLong)
  }

  /** Arguments that may give what is wanted, and perhaps more; None if that would be all. */
  def preimage(wanted: Wanted): Option[Wanted] =
    if (!isTotal && wanted.nulls) None
    else
      inner(wanted.values).map { values =>
        Wanted(ValueSets.union(values, unjudged(wanted)), wanted.takes(call.eval(InternalRow(null)), call.dataType))
      }

  private def at(code: Long): Any = call.eval(InternalRow(ValueCode.value(code, argument.dataType)))

  /** Arguments that are not judged by their order: beyond the bounds, and NaN if it gives what is wanted. */
  private def unjudged(wanted: Wanted): Longs = {
    val below =
      if (from > to) Vector((least, greatest)) else if (from > least) Vector((least, from - 1)) else Vector.empty
    val above = if (from <= to && to < greatest) Vector((to + 1, greatest)) else Vector.empty
    val nan =
      if (ValueCode.isFloating(argument.dataType) && wanted.takes(at(ColumnType.NaN), call.dataType))
        Vector((ColumnType.NaN, ColumnType.NaN))
      else Vector.empty
    ValueSets.longs(below ++ above ++ nan)
  }

  private def inner(values: ValueSet): Option[Longs] = {
    val found = values match {
      case s: Longs =>
        grouped(s.lows.length).map { case (i, j) =>
          between(
            v => ValueCode.long(v, call.dataType) >= s.lows(i),
            v => ValueCode.long(v, call.dataType) > s.highs(j)
          )
        }
      case s: Texts =>
        grouped(s.lows.length).map { case (i, j) =>
          between(v => reaches(v, s.lows(i)), v => s.highs(j) != null && reaches(v, s.highs(j)))
        }
    }
    if (found.contains(None)) None else Some(ValueSets.longs(found.flatten.flatten))
  }

  private def reaches(value: Any, bound: Array[Byte]): Boolean =
    java.util.Arrays.compareUnsigned(ValueCode.text(value, call.dataType), bound) >= 0

  /** First and last interval of runs, so few that each can be searched for. */
  private def grouped(intervals: Int): Vector[(Int, Int)] = {
    val each = (intervals + OrderedFunction.MostIntervals - 1) / OrderedFunction.MostIntervals
    (0 until intervals by each.max(1)).map(i => (i, (i + each - 1).min(intervals - 1))).toVector
  }

  /** Arguments whose result has entered the interval and not left it above. None: a result is null where none should be;
    * Some(None): there are none.
    */
  private def between(entered: Any => Boolean, left: Any => Boolean): Option[Option[(Long, Long)]] = {
    var isNull = false
    def test(p: Any => Boolean)(code: Long): Boolean = {
      val value = at(code)
      isNull ||= value == null
      value != null && p(value)
    }
    // Rising: in from `entered` on, out from `left` on; falling: in once not `left`, out once not `entered`.
    val isIn = if (isRising) test(entered) _ else (c: Long) => !test(left)(c)
    val isOut = if (isRising) test(left) _ else (c: Long) => !test(entered)(c)
    val bounds = for {
      first <- if (from > to) None else OrderedFunction.first(from, to)(isIn)
      end = OrderedFunction.first(from, to)(isOut)
      if !end.contains(from)
      last = end.fold(to)(_ - 1)
    } yield (clock.fold(first)(_.before(first)).max(from), clock.fold(last)(_.after(last)).min(to))
    if (isNull) None else Some(bounds.filter(b => b._1 <= b._2))
  }
}

private[prune] object OrderedFunction {

  /** More intervals are joined to so many. */
  val MostIntervals = 1000

  /** None if the argument's type is not ordered as longs, or the call cannot be evaluated on its own. */
  def of(whole: Expression, argument: Expression): OrderedFunction = {
    val bound = BoundReference(0, argument.dataType, nullable = true)
    val (least, greatest) = ValueCode.domain(argument.dataType)
    OrderedFunction(argument, whole.mapChildren(c => if (c eq argument) bound else c), least, greatest)
  }

  /** The least in `min..max` with `p`, which is false up to it and true from it on. */
  def first(min: Long, max: Long)(p: Long => Boolean): Option[Long] = {
    var (low, high) = (min, max)
    while (low < high) {
      val mid = low + ((high - low) >>> 1)
      if (p(mid)) high = mid else low = mid + 1
    }
    if (low == high && p(low)) Some(low) else None
  }
}

/** Where clocks of a zone are put forward or back, the order of local times and of instants differ.
  *
  *  @param unitMicros of the codes that are looked at
  */
final private[prune] case class Clock(zone: ZoneId, unitMicros: Long) {
  private val margin = Clock.MarginMicros / unitMicros

  /** `code`, or earlier if clocks are changed about then. */
  def before(code: Long): Long = if (isChanged(code)) code - margin else code

  /** `code`, or later if clocks are changed about then. */
  def after(code: Long): Long = if (isChanged(code)) code + margin else code

  private def isChanged(code: Long): Boolean = {
    val rules = zone.getRules
    !rules.isFixedOffset && {
      val micros = Math.multiplyExact(code, unitMicros)
      val next = rules.nextTransition(Clock.instant(micros - Clock.MarginMicros))
      next != null && !next.getInstant.isAfter(Clock.instant(micros + Clock.MarginMicros))
    }
  }
}

private[prune] object Clock {

  /** Offsets lie within 18 hours of UTC either way, so local times of one reading lie within 36 hours. */
  val MarginMicros: Long = 2L * 24 * 3600 * 1000000

  private def instant(micros: Long): Instant = Instant.ofEpochSecond(Math.floorDiv(micros, 1000000L))
}
