package hudiidx.spark

import java.time.format.DateTimeFormatter
import java.time.{LocalDateTime, ZoneId}

import hudiidx.TestSettings.versions
import hudiidx.table.LocalTimelineSuite
import hudiidx.{Fixtures, InvalidOption}
import org.apache.spark.sql.DataFrame

/** A table whose writers' clock is set back between its writes, in a session of another zone: SQL's time travel and incremental
  * reads give the rows that were written by then.
  */
final class RepeatedHourSuite extends SparkSuite {

  /** Of the process, and thus of the table's instants. The day's hour from one to two comes twice. */
  private val own = ZoneId.of("America/New_York")
  private val day = "20371101"
  private val session = ZoneId.of("Australia/Lord_Howe")

  private def abroad[A](work: => A): A = LocalTimelineSuite.in(own.getId) {
    val settings = Map(
      "spark.sql.session.timeZone" -> session.getId,
      "spark.sql.catalog.hudiidx" -> classOf[HudiIdxCatalog].getName
    )
    settings.foreach { case (k, v) => spark.conf.set(k, v) }
    try work
    finally {
      spark.conf.unset("spark.sql.catalog.hudiidx")
      spark.conf.set(SparkSuite.Zone, zone)
    }
  }

  /** Each after an instant of another writer at this time of the day, which is later than any clock shows. */
  private val times = Vector("003000000", "011000000", "015000000", "023000000")

  private def ids(frame: DataFrame): Set[String] = {
    val found = frame.select("id").collect().map(_.getString(0))
    assert(found.distinct.length === found.length)
    found.toSet
  }

  private def wanted(of: Range): Set[String] = of.map(i => s"k$i").toSet

  /** As the session's clock shows what the table's showed. */
  private def shown(instant: String): String = LocalDateTime
    .parse(instant, DateTimeFormatter.ofPattern("yyyyMMddHHmmssSSS"))
    .atZone(own)
    .withZoneSameInstant(session)
    .format(DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss.SSS"))

  for (version <- versions(9))
    test(s"version $version: rows as of instants, of moments and between bounds, around an hour that comes twice") {
      abroad {
        val path = Fixtures.newFolder("hour").resolve("t").toString
        writeKeys(path, version, 0 until 1)
        times.zipWithIndex.foreach { case (time, i) =>
          LocalTimelineSuite.put(path, day + time, day + time)
          writeKeys(path, version, i + 1 until i + 2)
        }
        def loaded = LocalTimelineSuite.load(path).timeline.completedWrites
        val writes = loaded.filter(w => w.requestedTime.startsWith(day) && !times.contains(w.requestedTime.drop(8)))
        assert(writes.map(_.requestedTime.slice(8, 12)) === times.map(_.take(4)))
        asked(path, writes.map(w => w.requestedTime))
        bounds(path, writes.map(w => if (version == 6) w.requestedTime else w.completionTime.get))
      }
    }

  private def asked(path: String, instants: Vector[String]): Unit = {
    def as(clause: String): Set[String] = ids(spark.sql(s"SELECT * FROM hudiidx.`$path` $clause"))
    instants.zipWithIndex.foreach { case (instant, i) =>
      val rows = wanted(0 to i + 1)
      assert(as(s"VERSION AS OF '$instant'") === rows && ids(read(path, "as.of.instant" -> instant)) === rows)
      val moment = s"TIMESTAMP AS OF '${shown(instant)}'"
      if (instant.slice(8, 10) == "01") {
        val refused = intercept[InvalidOption](as(moment)).getMessage
        assert(refused.contains("VERSION AS OF '" + day + "01") && refused.contains(own.getId))
      } else assert(as(moment) === rows, moment)
    }
    // Between the hour's second end and the next write.
    assert(as(s"TIMESTAMP AS OF '${shown(day + "020000000")}'") === wanted(0 to 3))
  }

  private def bounds(path: String, all: Vector[String]): Unit = {
    val begin = "hoodie.datasource.read.begin.instanttime"
    val end = "hoodie.datasource.read.end.instanttime"
    val kind = "hoodie.datasource.query.type" -> "incremental"
    for (i <- all.indices) {
      assert(ids(read(path, kind, begin -> all(i))) === wanted(i + 2 to all.size))
      for (j <- i + 1 until all.size)
        assert(ids(read(path, kind, begin -> all(i), end -> all(j))) === wanted(i + 2 to j + 1))
    }
  }
}
