package hudiidx.hive

import java.sql.{Timestamp => SqlTimestamp}
import java.time.{Instant, LocalDateTime, ZoneId, ZoneOffset}
import java.util.{GregorianCalendar, TimeZone}

import org.apache.hadoop.hive.serde2.io.{DateWritable, TimestampWritable}
import org.apache.hadoop.io.Writable

/** Dates and timestamps as Hive 2's classes hold them: in the calendar of java.sql, Julian before 1582-10-15, so that their texts
  * are those that tables' dates and timestamps have in the proleptic calendar.
  */
private[hive] object HiveTimes {
  private val FirstGregorianDay = -141427 // 1582-10-15

  /** 1900-01-01: before it the offsets of java.util's zones are not those of java.time's. */
  private val FirstCommonMillis = -2208988800000L
  private val utc = TimeZone.getTimeZone("UTC")

  def date(days: Int): Writable = new DateWritable(
    if (days >= FirstGregorianDay) days
    else {
      val day = java.time.LocalDate.ofEpochDay(days.toLong)
      val calendar = new GregorianCalendar(utc)
      calendar.clear()
      // Years before 1 count from 0 downwards there, and from 1 BC on here.
      if (day.getYear > 0) calendar.set(day.getYear, day.getMonthValue - 1, day.getDayOfMonth)
      else {
        calendar.set(1 - day.getYear, day.getMonthValue - 1, day.getDayOfMonth)
        calendar.set(java.util.Calendar.ERA, GregorianCalendar.BC)
      }
      Math.floorDiv(calendar.getTimeInMillis, 86400000L).toInt
    }
  )

  /** @param local the microseconds are of the wall clock, of no zone */
  def timestamp(micros: Long, local: Boolean): Writable = {
    val millis = Math.floorDiv(micros, 1000L)
    val nanos = Math.floorMod(micros, 1000000L).toInt * 1000
    val made =
      if (!local && millis >= FirstCommonMillis) new SqlTimestamp(millis)
      else {
        val zone = if (local) ZoneOffset.UTC else ZoneId.systemDefault
        SqlTimestamp.valueOf(LocalDateTime.ofInstant(Instant.ofEpochMilli(millis), zone))
      }
    made.setNanos(nanos)
    new TimestampWritable(made)
  }
}
