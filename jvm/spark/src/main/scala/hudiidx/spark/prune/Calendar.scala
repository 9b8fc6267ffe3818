package hudiidx.spark.prune

import java.time.{LocalDate, LocalDateTime, ZoneId, ZoneOffset}

import hudiidx.column.ValueSet.Longs
import hudiidx.column.ValueSets
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Cast, Expression, Hour}
import org.apache.spark.sql.types.{DateType, TimestampNTZType}

/** Functions that come round again with days and hours: every one of a span of years is tried. Others are not judged. */
private[prune] object Calendar {
  private val FirstDay = LocalDate.of(1900, 1, 1).toEpochDay.toInt
  private val LastDay = LocalDate.of(2099, 12, 31).toEpochDay.toInt
  private val Second = 1000000L
  private val HourMicros = 3600L * Second

  /** The one expression of dates that `e` is a function of, and the dates that may give what is wanted. */
  def dates(e: Expression, wanted: Wanted): Option[(Expression, Wanted)] =
    e.find(d => d != e && d.dataType == DateType && !d.foldable && d.references.nonEmpty).flatMap { date =>
      val bound = BoundReference(0, DateType, nullable = true)
      val call = e.transformDown { case d if d.semanticEquals(date) => bound }
      if (call.references.nonEmpty || !e.deterministic) None
      else {
        def takes(day: Any): Boolean = wanted.takes(call.eval(InternalRow(day)), e.dataType)
        val days = (FirstDay to LastDay).iterator.filter(d => takes(d)).map(_.toLong).toArray
        Some((date, Wanted(ValueSets.union(ValueSets.oneOf(days), otherDays), takes(null))))
      }
    }

  private val otherDays: Longs = {
    val (least, greatest) = ValueCode.domain(DateType)
    ValueSets.longs(Vector((least, FirstDay - 1L), (LastDay + 1L, greatest)))
  }

  /** Instants, or local times, of the wanted hours of the day. */
  def hours(e: Hour, wanted: Wanted): Wanted = {
    val zone = if (e.child.dataType == TimestampNTZType) ZoneOffset.UTC else e.zoneId
    val runs = hourRuns(wanted.values.asInstanceOf[Longs])
    val times = for {
      day <- HourFirstDay to HourLastDay
      (first, last) <- runs
    } yield instants(zone, (day * 24L + first) * HourMicros, (day * 24L + last + 1) * HourMicros)
    val ends = Vector(
      (Long.MinValue, HourFirstDay * 24L * HourMicros + 2 * 24 * HourMicros),
      (HourLastDay * 24L * HourMicros - 2 * 24 * HourMicros, Long.MaxValue)
    )
    Wanted(ValueSets.longs(times ++ ends), wanted.nulls)
  }

  /** Instants, or local times, of the wanted dates. */
  def instantsOfDates(e: Cast, wanted: Wanted): Wanted = {
    val zone = if (e.child.dataType == TimestampNTZType) ZoneOffset.UTC else e.zoneId
    val times = ValueSets.intervals(wanted.values.asInstanceOf[Longs]).map { case (first, last) =>
      val (from, end) = (first.max(EarliestDay).min(LatestDay), (last + 1).max(EarliestDay).min(LatestDay))
      val (start, stop) = instants(zone, from * 24L * HourMicros, end * 24L * HourMicros)
      (if (first <= EarliestDay) Long.MinValue else start, if (last >= LatestDay) Long.MaxValue else stop)
    }
    Wanted(ValueSets.longs(times), wanted.nulls)
  }

  private val EarliestDay = LocalDate.of(1, 1, 3).toEpochDay
  private val LatestDay = LocalDate.of(9999, 12, 29).toEpochDay

  // Fewer years than for days: each has so many hours.
  private val HourFirstDay = LocalDate.of(1990, 1, 1).toEpochDay
  private val HourLastDay = LocalDate.of(2049, 12, 31).toEpochDay

  private def hourRuns(wanted: Longs): Vector[(Long, Long)] =
    ValueSets.intervals(ValueSets.intersect(wanted, ValueSets.range(0, 23)).asInstanceOf[Longs])

  /** All instants with local times in `from` until `end`, both in microseconds. */
  private def instants(zone: ZoneId, from: Long, end: Long): (Long, Long) = {
    val rules = zone.getRules
    if (rules.isFixedOffset) {
      val offset = rules.getOffset(java.time.Instant.EPOCH).getTotalSeconds * Second
      (from - offset, end - 1 - offset)
    } else (from - greatestOffset(rules, from), end - 1 - leastOffset(rules, end))
  }

  private def greatestOffset(rules: java.time.zone.ZoneRules, local: Long): Long = offsets(rules, local).max

  private def leastOffset(rules: java.time.zone.ZoneRules, local: Long): Long = offsets(rules, local).min

  /** Offsets that count a day before and after a local time, in microseconds. */
  private def offsets(rules: java.time.zone.ZoneRules, local: Long): Vector[Long] = {
    val time = LocalDateTime.ofEpochSecond(Math.floorDiv(local, Second), 0, ZoneOffset.UTC)
    Vector(-1L, 0L, 1L).map(d => rules.getOffset(time.plusDays(d)).getTotalSeconds * Second)
  }
}
