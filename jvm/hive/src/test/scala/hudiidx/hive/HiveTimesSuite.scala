package hudiidx.hive

import java.time.{Instant, LocalDate, LocalDateTime, ZoneId, ZoneOffset}
import java.util.TimeZone

import org.apache.hadoop.hive.serde2.io.{DateWritable, TimestampWritable}
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** Dates and timestamps have in Hive the texts that they have in the table. */
final class HiveTimesSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val first = LocalDate.of(1, 1, 1).toEpochDay
  private val last = LocalDate.of(9999, 12, 31).toEpochDay

  /** Days that java.sql's calendar does not have. */
  private def isInGap(day: LocalDate): Boolean =
    day.isAfter(LocalDate.of(1582, 10, 4)) && day.isBefore(LocalDate.of(1582, 10, 15))

  private val days = Gen.oneOf(Gen.choose(first, last), Gen.choose(-141500L, -141300L), Gen.choose(-3L, 3L))

  test("dates from year 1 to 9999") {
    forAll(days, minSuccessful(1000)) { day =>
      val date = LocalDate.ofEpochDay(day)
      whenever(!isInGap(date)) {
        assert(HiveTimes.date(day.toInt).asInstanceOf[DateWritable].get.toString === date.toString)
      }
    }
  }

  test("timestamps of UTC and of the wall clock, in any zone") {
    val zones = Vector("UTC", "America/Los_Angeles", "Asia/Kolkata")
    val own = TimeZone.getDefault
    try
      zones.foreach { zone =>
        TimeZone.setDefault(TimeZone.getTimeZone(zone))
        forAll(days, Gen.choose(0L, 86399999999L)) { (day, micros) =>
          val all = day * 86400000000L + micros
          val nanos = Math.floorMod(all, 1000000L).toInt * 1000
          val instant = Instant.ofEpochSecond(Math.floorDiv(all, 1000000L), nanos.toLong)
          check(HiveTimes.timestamp(all, local = false), LocalDateTime.ofInstant(instant, ZoneId.of(zone)))
          // The hour that a zone leaves out cannot be shown there.
          if (zone == "UTC")
            check(HiveTimes.timestamp(all, local = true), LocalDateTime.ofInstant(instant, ZoneOffset.UTC))
        }
      }
    finally TimeZone.setDefault(own)
  }

  private def check(found: org.apache.hadoop.io.Writable, expected: LocalDateTime): Unit = {
    val sql = found.asInstanceOf[TimestampWritable].getTimestamp
    if (!isInGap(expected.toLocalDate)) {
      val text = f"${expected.getYear}%04d-${expected.getMonthValue}%02d-${expected.getDayOfMonth}%02d " +
        f"${expected.getHour}%02d:${expected.getMinute}%02d:${expected.getSecond}%02d"
      assert(sql.toString.takeWhile(_ != '.') === text)
      assert(sql.getNanos === expected.getNano): Unit
    }
  }
}
