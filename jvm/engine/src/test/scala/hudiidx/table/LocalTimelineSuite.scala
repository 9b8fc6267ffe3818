package hudiidx.table

import java.time.Instant
import java.util.TimeZone

import hudiidx.table.query.{IncrementalQuery, IncrementalRequest, TimeTravel}
import hudiidx.{Fixtures, InvalidOption, TableFormats}
import hudiidx.storage.LocalStorage
import hudiidx.sync.{IndexerSuite, TableContext}
import hudiidx.write.format.CompletedWrite
import hudiidx.write.{HeartbeatOptions, OpenWrite, WriteStepsSuite}
import org.scalatest.funsuite.AnyFunSuite

/** Tables whose instants are those of a clock that is set: `hoodie.table.timeline.timezone=LOCAL`. */
final class LocalTimelineSuite extends AnyFunSuite {
  import LocalTimelineSuite._

  private def newTable(version: Int): String =
    WriteStepsSuite.newTable(version, LocalStorage, Fixtures.newFolder("local").resolve("t").toString)

  for (version <- TableFormats.written) {
    test(s"version $version: behind the last instant of an hour that comes again a write begins and completes later") {
      in("America/New_York") {
        val path = newTable(version)
        // As if this were the hour's second time: the clock shows less than the last instant.
        put(path, if (version == 6) "20271107015959999" else "20271107015959998", "20271107015959999")
        val open = OpenWrite.begin(IndexerSuite.accessOf(LocalStorage), path, HeartbeatOptions())
        open.start()
        val schema = """{"type":"record","name":"t","fields":[]}"""
        open.complete(CompletedWrite("UPSERT", schema, Vector.empty))
        val all = load(path).timeline.completed
        assert(all.map(_.requestedTime).last === open.instant && open.instant > "20271107015959999")
        assert(all.size === 2 && all.last.completionTime.forall(_ > open.instant))
      }
    }

    test(s"version $version: a moment in an hour that comes twice is refused if writes are in it, others are not") {
      def asOf(path: String, moment: String): String = {
        val table = load(path)
        val micros = Instant.parse(moment).toEpochMilli * 1000 + 999
        TimeTravel.instantTime(table.config, table.timeline, micros)
      }
      in("Europe/Berlin") {
        val path = newTable(version)
        put(path, "20251026010000000", "20251026010000500")
        assert(asOf(path, "2025-10-26T01:30:00Z") === "20251026023000000")
        put(path, "20251026024500000", "20251026024500500")
        for (moment <- Seq("2025-10-26T00:30:00Z", "2025-10-26T01:30:00Z")) {
          val e = intercept[InvalidOption](asOf(path, moment))
          assert(e.getMessage.contains("VERSION AS OF '20251026024500000'") && e.getMessage.contains("Europe/Berlin"))
        }
        assert(asOf(path, "2025-10-26T02:00:00Z") === "20251026030000000")
        assert(asOf(path, "2026-03-29T01:00:00Z") === "20260329030000000")
      }
      in("UTC")(assert(asOf(newTable(version), "2025-10-26T01:30:00.123Z") === "20251026013000123"))
    }

    test(s"version $version: bounds in an hour that comes twice are compared as texts, as stock Hudi compares them") {
      // In the hour twice, once before it and once behind.
      val times = Vector("20261101003000000", "20261101011000000", "20261101015000000", "20261101023000000")
      def done(requested: String) = requested.dropRight(3) + "500"
      in("America/New_York") {
        val path = newTable(version)
        times.foreach(t => put(path, t, done(t)))
        val table = load(path)
        def found(begin: String, end: Option[String]): Vector[String] =
          new IncrementalQuery(table.config, table.timeline, table.contents, table.history)
            .increment(IncrementalRequest(begin, end))
            .instants
        val bounds = if (version == 6) times else times.map(done)
        for (i <- bounds.indices) {
          assert(found(bounds(i), None) === times.drop(i + 1))
          for (j <- i until bounds.size) assert(found(bounds(i), Some(bounds(j))) === times.slice(i + 1, j + 1))
        }
      }
    }
  }
}

private[hudiidx] object LocalTimelineSuite {

  /** In a process of this zone, as stock Hudi takes LOCAL. */
  def in[A](zone: String)(work: => A): A = {
    val own = TimeZone.getDefault
    try {
      TimeZone.setDefault(TimeZone.getTimeZone(zone))
      work
    } finally TimeZone.setDefault(own)
  }

  def load(path: String): TableContext = TableContext.load(IndexerSuite.accessOf(LocalStorage), path)

  /** A completed write without files. */
  def put(path: String, requested: String, completed: String): Unit = {
    val table = load(path)
    val empty = """{"partitionToWriteStats":{},"operationType":"UPSERT"}""".getBytes
    val done =
      if (table.config.timelineLayout == 1) s"$requested.deltacommit" else s"${requested}_$completed.deltacommit"
    Seq(s"$requested.deltacommit.requested", s"$requested.deltacommit.inflight", done)
      .foreach(n => LocalStorage.publish(s"${table.timeline.dir}/$n", empty))
  }
}
