package hudiidx.timeline

import java.time.format.DateTimeFormatter
import java.time.{Instant => Moment, LocalDateTime, ZoneId}

import org.scalatest.funsuite.AnyFunSuite

/** Moments and instant times in zones whose clocks are set. */
final class InstantTimeSuite extends AnyFunSuite {
  private val zones =
    Seq("UTC", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "America/St_Johns").map(ZoneId.of)
  private val year = Moment.parse("2026-01-01T00:00:00Z")
  private val Millis = DateTimeFormatter.ofPattern("yyyyMMddHHmmssSSS")

  private def local(instantTime: String): LocalDateTime = LocalDateTime.parse(instantTime, Millis)

  private def changes(zone: ZoneId): Vector[Moment] = Iterator
    .iterate(Option(zone.getRules.nextTransition(year)))(
      _.flatMap(t => Option(zone.getRules.nextTransition(t.getInstant)))
    )
    .takeWhile(_.isDefined)
    .flatten
    .map(_.getInstant)
    .take(4)
    .toVector

  for (zone <- zones)
    test(s"$zone: an instant time is always behind the last one, and one that a clock shows") {
      val around = if (changes(zone).isEmpty) Vector(year) else changes(zone)
      around.foreach { change =>
        var last = InstantTime.format(change.toEpochMilli - 7500000, zone)
        // Two hours and more before and behind, and the milliseconds around the change.
        val minutes = (-125 to 125).map(_ * 60000L)
        val close = (-3 to 3).map(_.toLong)
        (minutes ++ close).sorted.foreach { shift =>
          val now = change.toEpochMilli + shift
          val next = InstantTime.next(last, now, zone)
          assert(next > last, s"$zone at $change + $shift")
          assert(zone.getRules.getValidOffsets(local(next)).size > 0, next)
          val shown = InstantTime.format(now, zone)
          assert(next === shown || shown <= last)
          last = next
        }
        // The hour is over: instants are those of the clock again.
        val later = change.toEpochMilli + 4 * 3600000L
        assert(InstantTime.next(last, later, zone) === InstantTime.format(later, zone))
      }
    }

  test(
    "behind the last millisecond of an hour that comes again is the first behind both; behind that before a gap its end"
  ) {
    val berlin = ZoneId.of("Europe/Berlin")
    val second = Moment.parse("2026-10-25T01:30:00Z").toEpochMilli
    assert(InstantTime.next("20261025025959999", second, berlin) === "20261025030000000")
    val before = Moment.parse("2026-03-29T00:59:59.999Z").toEpochMilli
    assert(InstantTime.next("20260329015959999", before, berlin) === "20260329030000000")
    assert(InstantTime.next("20260329023000000", before, berlin) === "20260329030000000")
    val lordHowe = ZoneId.of("Australia/Lord_Howe") // half an hour
    assert(InstantTime.next("20261004015959999", year.toEpochMilli, lordHowe) === "20261004023000000")
  }

  test("behind what no clock shows is the next number, and instants of seconds count") {
    assert(InstantTime.next("99999999999999998", year.toEpochMilli, ZoneId.of("UTC")) === "99999999999999999")
    assert(InstantTime.next("00000000000000001", year.toEpochMilli, ZoneId.of("UTC")) === "20260101000000000")
    assert(InstantTime.next("20260101000000", year.toEpochMilli, ZoneId.of("UTC")) === "20260101000000000")
    assert(InstantTime.next("20270101000000", year.toEpochMilli, ZoneId.of("UTC")) > "20270101000000")
    assert(InstantTime.next("", year.toEpochMilli, ZoneId.of("UTC")) === "20260101000000000")
  }

  test("of the two moments of a time that comes twice the file's tells which is meant") {
    val york = ZoneId.of("America/New_York")
    val (first, second) =
      (Moment.parse("2026-11-01T05:30:00Z").toEpochMilli, Moment.parse("2026-11-01T06:30:00Z").toEpochMilli)
    val shown = "20261101013000000"
    assert(InstantTime.format(first, york) === shown && InstantTime.format(second, york) === shown)
    assert(InstantTime.comesTwice(shown, york) && !InstantTime.comesTwice("20261101020000000", york))
    assert(InstantTime.toMillis(shown, york) === Some(first))
    assert(InstantTime.toMillis(shown, york, near = Some(first + 900)) === Some(first))
    assert(InstantTime.toMillis(shown, york, near = Some(second + 900)) === Some(second))
    for (layout <- Seq(1, 2)) {
      val name = if (layout == 1) s"$shown.commit" else s"20261101010000000_$shown.commit"
      val file = hudiidx.storage.FileInfo(s"/t/$name", 1, second + 40, isDirectory = false)
      val timeline = TimelineReader.of("/t", layout, Vector(file), york)
      val completed = timeline.completedMillis(timeline.completed.head, york)
      assert(completed === Some(if (layout == 1) second + 40 else second))
    }
  }

  test("the hour that comes twice is found from any moment in it") {
    val york = ZoneId.of("America/New_York")
    val hour = Some(("20261101010000000", "20261101015959999"))
    for (t <- Seq("05:00:00", "05:59:59.999", "06:00:00", "06:59:59.999"))
      assert(InstantTime.twiceAround(Moment.parse(s"2026-11-01T${t}Z").toEpochMilli, york) === hour, t)
    for (t <- Seq("04:59:59.999", "07:00:00"))
      assert(InstantTime.twiceAround(Moment.parse(s"2026-11-01T${t}Z").toEpochMilli, york) === None, t)
  }
}
