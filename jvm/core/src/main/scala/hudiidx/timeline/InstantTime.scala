package hudiidx.timeline

import java.time.format.DateTimeFormatter
import java.time.temporal.ChronoUnit
import java.time.{DateTimeException, Instant => Moment, LocalDateTime, ZoneId}

import hudiidx.DamagedTable

/** Moments as instant times: what a wall clock shows in the zone of a table's timeline, ordered as text. Where the zone's clocks
  * are set back, an hour comes twice: its instant times mean two moments each. Where they are set forward, an hour is left out,
  * whose instant times mean none.
  */
object InstantTime {
  private val Millis = DateTimeFormatter.ofPattern("yyyyMMddHHmmssSSS")

  /** A moment (epoch milliseconds) as a 17-digit instant time. */
  def format(millis: Long, zone: ZoneId): String = Millis.format(Moment.ofEpochMilli(millis).atZone(zone))

  /** The moment (epoch milliseconds) that an instant time of 14 or 17 digits shows; None for any other text.
    *
    *  @param near of two moments the one that is nearer to this one is meant; None: the first
    */
  def toMillis(instantTime: String, zone: ZoneId, near: Option[Long] = None): Option[Long] = local(instantTime).map {
    time =>
      val offsets = zone.getRules.getValidOffsets(time)
      if (offsets.size < 2 || near.isEmpty) time.atZone(zone).toInstant.toEpochMilli
      else {
        val moments = Vector(offsets.get(0), offsets.get(1)).map(o => time.toInstant(o).toEpochMilli)
        moments.minBy(m => math.abs(m - near.get))
      }
  }

  /** True if the zone's clock showed this time at two moments. */
  def comesTwice(instantTime: String, zone: ZoneId): Boolean =
    local(instantTime).exists(t => zone.getRules.getValidOffsets(t).size > 1)

  /** First and last instant time of the hour that comes twice and has this moment in it; None: it comes once. */
  def twiceAround(millis: Long, zone: ZoneId): Option[(String, String)] = {
    val time = LocalDateTime.ofInstant(Moment.ofEpochMilli(millis), zone)
    Option(zone.getRules.getTransition(time)).filter(_.isOverlap).map { t =>
      (Millis.format(t.getDateTimeAfter), Millis.format(t.getDateTimeBefore.minus(1, ChronoUnit.MILLIS)))
    }
  }

  /** The instant time of now, or where that is not behind `last` (an hour comes again, another machine's clock is ahead) the next
    * one that a clock shows. DamagedTable where there is none: a write under any other would be lost.
    *
    *  @param last of a timeline: digits, or nothing
    */
  def next(last: String, nowMillis: Long, zone: ZoneId): String = {
    val now = format(nowMillis, zone)
    def numbered = (BigInt(last) + 1).toString.reverse.padTo(last.length, '0').reverse
    val next = if (now > last) now else local(last).fold(numbered)(after(_, zone))
    if (next <= last)
      throw new DamagedTable(
        s"the timeline has an instant $last, after which none can come; find out who wrote it, and remove it with Hudi (rollback)"
      )
    next
  }

  private def after(time: LocalDateTime, zone: ZoneId): String = {
    val next = time.plus(1, ChronoUnit.MILLIS)
    val left = Option(zone.getRules.getTransition(next)).filter(_.isGap)
    Millis.format(left.fold(next)(_.getDateTimeAfter))
  }

  private def local(instantTime: String): Option[LocalDateTime] =
    try Some(LocalDateTime.parse(if (instantTime.length == 14) instantTime + "000" else instantTime, Millis))
    catch { case _: DateTimeException => None }
}
