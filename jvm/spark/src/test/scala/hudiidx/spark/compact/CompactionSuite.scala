package hudiidx.spark.compact

import java.nio.file.{Files, Paths}

import scala.collection.JavaConverters._

import hudiidx.spark.{Answer, SparkSuite}
import hudiidx.storage.LocalStorage
import hudiidx.table.TableConfig
import hudiidx.{Fixtures, UnsupportedTable, WriteConflict}

/** Stock Hudi's tables are compacted: rows are what they were, and stand in base files alone. Stock Hudi reads such tables in
  * the tests of `integration/`.
  */
final class CompactionSuite extends SparkSuite {
  private val isLong = sys.env.contains("HUDIIDX_TEST_EVERY_BYTE")
  private val sample =
    Set("v6-mor-part", "v9-mor-part", "v6-mor-types", "v9-mor-evolution", "v9-partial-updates", "v6-mor-log-only")
  private val merged = Fixtures.good.filter { n =>
    !n.startsWith("v8-") && Seq("-mor-", "-no-mdt-mor", "-time", "-updates", "-restore").exists(n.contains)
  }

  private def compact(path: String, op: String = "schedule_and_execute", options: Map[String, String] = Map.empty) =
    CompactionApi.compact(spark, path, options, op, None)

  /** Without Hudi's metadata table, which is not kept here. */
  private def withoutMetadataTable(path: String): Unit = {
    val file = Paths.get(TableConfig.read(LocalStorage, path).file)
    val kept = Files.readAllLines(file).asScala.filterNot(_.startsWith("hoodie.table.metadata.partitions"))
    Files.write(file, kept.asJava)
    LocalStorage.delete(s"$path/.hoodie/metadata"): Unit
  }

  for (name <- merged if isLong || sample(name)) test(s"$name: rows are what they were, in base files") {
    val path = Fixtures.copy(name)
    withoutMetadataTable(path)
    if (name.endsWith("-rollback")) intercept[WriteConflict](compact(path))
    else if (name.contains("-virtual-") || name.contains("-cdc-") || name.endsWith("-payload")) {
      val before = Fixtures.filesBelow(path)
      intercept[UnsupportedTable](compact(path))
      assert(Fixtures.filesBelow(path) === before)
    } else {
      val before = Answer.of(read(path)).rows
      val report = compact(path)
      assert(Answer.of(read(path)).rows === before)
      val optimized = read(path, "hoodie.datasource.query.type" -> "read_optimized")
      assert(Answer.of(optimized).rows === before)
      // A plan that stock Hudi left comes first.
      assert(report.done.size === (if (name.endsWith("-mor-part")) 2 else report.scheduled.size))
      assert(compact(path) === CompactionReport(None, Vector.empty), "a second one finds nothing")
    }
  }

  test("copy-on-write tables, and those with a metadata table, are refused") {
    assert(intercept[UnsupportedTable](compact(Fixtures.copy("v9-cow-part"))).getMessage.contains("copy-on-write"))
    assert(intercept[UnsupportedTable](compact(Fixtures.copy("v9-mor-part"))).getMessage.contains("metadata table"))
  }
}
