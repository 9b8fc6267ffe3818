package hudiidx.hive

import java.nio.file.{Files, Path}

import scala.collection.JavaConverters._

import examples.mapreduce.FareByCity
import hudiidx.table.query.QuerySettings
import hudiidx.{Fixtures, TestSettings}
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.util.ToolRunner

/** The MapReduce job of docs/hive.md, run by Hadoop's local runner. */
final class MapReduceSuite extends HiveSuite {

  private def run(table: String, settings: (String, String)*): Set[String] = {
    val out: Path = Fixtures.newFolder("job").resolve("out")
    val conf = new Configuration()
    conf.set("mapreduce.framework.name", "local")
    settings.foreach { case (name, value) => conf.set(name, value) }
    assert(ToolRunner.run(conf, new FareByCity, Array(table, out.toString)) === 0)
    Files
      .list(out)
      .iterator
      .asScala
      .filter(_.getFileName.toString.startsWith("part-"))
      .flatMap(MapReduceSuite.lines)
      .toSet
  }

  private def expected(table: String, settings: (String, String)*): Set[String] =
    read(table, settings: _*)
      .selectExpr("coalesce(city, '-') AS city", "coalesce(fare, 0D) AS fare")
      .groupBy("city")
      .agg(Map("city" -> "count", "fare" -> "sum"))
      .collect()
      .map(r => s"${r.getString(0)}\t${r.getLong(1)}\t${math.round(r.getDouble(2) * 100)}")
      .toSet

  TestSettings.some(4)(Vector("v6-cow-part", "v9-mor-part", "v9-mor-types", "v9-partial-updates")).foreach { name =>
    test(s"$name: a job counts and sums what Spark does") {
      val table = Fixtures.table(name)
      val found = run(table)
      assert(found.nonEmpty && found === expected(table))
    }
  }

  test("base files alone, small splits, partitions and keys are asked for by settings") {
    val table = Fixtures.table("v9-mor-part")
    val readOptimized = QuerySettings.QueryType -> "read_optimized"
    assert(run(table, readOptimized) === expected(table, readOptimized))
    assert(run(table, "mapreduce.input.fileinputformat.split.maxsize" -> "1000") === expected(table))
    val some = run(table, ReadSettings.Partitions -> """["sf"]""")
    assert(some === expected(table).filter(_.startsWith("sf\t")))
    val one = run(table, ReadSettings.Keys -> """["k000373"]""")
    assert(one.size === 1 && one.head.split('\t')(1) === "1")
  }
}

object MapReduceSuite {
  private def lines(file: Path): Vector[String] = Files.readAllLines(file).asScala.toVector
}
