package hudiidx.spark

import java.nio.file.{Files, Path, Paths}

import scala.collection.JavaConverters._
import scala.util.Random

import hudiidx.spark.options.ReadPushdowns
import hudiidx.{Fixtures, TestSettings}
import hudiidx.engine.Tables
import hudiidx.logindex.LogIndex
import hudiidx.record.PackedKeys
import hudiidx.spark.api.HudiIdxApi
import hudiidx.store.{Current, IndexStore, IndexVersion}
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.{DataFrame, Row}

/** Rows of record keys in slices with logs, read through the index of log blocks, are those of a merge of all. */
final class LogKeysReadSuite extends SparkSuite {
  private val whole = ReadPushdowns.RecordKeys -> "false"

  // Every version, order and kind of log block, mixed rows, duplicates, deletes, rollbacks, log compactions, logs alone, all types.
  private val tables = Vector(
    "v6-mor-bucket-parquet",
    "v6-mor-event",
    "v6-mor-log-only",
    "v6-mor-types",
    "v8-mor-rollback",
    "v8-partial-updates",
    "v9-cdc-mor",
    "v9-mor-evolution",
    "v9-mor-log-compaction",
    "v9-mor-ordering",
    "v9-moved-mor"
  ) ++ Fixtures.newest.filter { n =>
    Fixtures.json(n).path("table_type").asText == "MERGE_ON_READ" && !Fixtures.mergedByHudi(n)
  }

  private def api(table: String, options: (String, String)*): HudiIdxApi =
    new HudiIdxApi(spark, table, (Map("hudiidx.record.mode" -> "partitioned") ++ options).asJava)

  private def rows(frame: DataFrame): Vector[String] = frame.collect().map(text).toVector.sorted

  private def text(row: Row): String = row.toSeq
    .map {
      case bytes: Array[Byte] => bytes.toVector
      case nested: Row        => text(nested)
      case other              => other
    }
    .mkString(",")

  private def version(table: String): IndexVersion =
    new IndexStore(Tables.access(spark.sessionState.newHadoopConf()).storage, IndexStore.defaultDir(table))
      .current() match {
      case Current.Found(v, _) => v
      case other               => fail(s"$table: $other")
    }

  private def logFiles(table: String): Vector[Path] =
    version(table).files.filter(_.kind == LogIndex.Kind).map(f => Paths.get(table, ".hoodie", "hudiidx", f.name))

  private def agrees(table: String, seed: Int = 7): Unit = {
    val all = read(table, whole)
    if (all.columns.contains("_hoodie_record_key")) {
      val byKey = all.collect().groupBy(_.getAs[String]("_hoodie_record_key")).filter(_._1 != null)
      val random = new Random(seed)
      val lookups = api(table)
      val keys = random.shuffle(byKey.keys.toVector.sorted)
      // Of keys that were deleted some are asked for too.
      val gone = read(table, "hoodie.datasource.query.type" -> "read_optimized")
        .select("_hoodie_record_key")
        .collect()
        .map(_.getString(0))
        .filter(k => k != null && !byKey.contains(k))
      for (n <- Seq(1, 5, 40)) {
        val some = keys.take(n) ++ random.shuffle(gone.toVector).take(n) :+ "absent"
        val found = read(table).where(col("_hoodie_record_key").isin(some: _*))
        val expected = some.distinct.flatMap(k => byKey.getOrElse(k, Array.empty).toVector).map(text).sorted
        assert(rows(found) === expected, s"$n keys of $table")
        assert(rows(lookups.lookupRows(PackedKeys.encode(some), null, null)) === expected, s"$n keys of $table")
      }
    }
  }

  Fixtures.sampled(this, tables, oneOf = 4).foreach { name =>
    test(s"$name: rows of some keys are those of a merge of all, with the index of log blocks and without") {
      val table = Fixtures.copy(name)
      api(table).create()
      agrees(table)
      api(table).addIndex("logs")
      agrees(table)
    }
  }

  test("the index of log blocks is followed by updates, and leads to a few bytes of the log") {
    val table = Fixtures.copy("v9-mor-part")
    val timeline = Paths.get(table, ".hoodie", "timeline")
    val instants = Fixtures.filesBelow(timeline.toString).filter(_.matches("[\\d_]+\\.deltacommit")).sorted
    val aside = Files.createTempDirectory("aside")
    val last = instants.takeRight(3)
    last.foreach(i => Files.move(timeline.resolve(i), aside.resolve(i)))
    api(table, "hudiidx.logs" -> "true").create()
    last.foreach { i =>
      Files.move(aside.resolve(i), timeline.resolve(i))
      agrees(table)
      api(table).update()
      agrees(table)
      assert(logFiles(table).size <= 10)
    }
    val made = version(table)
    assert(LogIndex.isIn(made) && made.files.exists(_.kind == LogIndex.Kind))
    // Made in one go it holds the same blocks.
    api(table).dropIndex("logs")
    assert(!LogIndex.isIn(version(table)) && logFiles(table).isEmpty)
    api(table).addIndex("logs")
    agrees(table)
  }

  test("an index of log blocks that is gone, cut or changed costs time alone, and an update makes it anew") {
    val table = Fixtures.copy("v9-mor-part")
    api(table, "hudiidx.logs" -> "true").create()
    val file = logFiles(table).head
    val good = Files.readAllBytes(file)
    def put(bytes: Array[Byte]): Unit = {
      Files.deleteIfExists(file.resolveSibling("." + file.getFileName + ".crc"))
      Files.write(file, bytes): Unit
    }
    for (at <- good.indices by (good.length / TestSettings.upTo(7, 2) + 1)) {
      put(good.updated(at, (good(at) ^ 0x41).toByte))
      agrees(table, at)
    }
    put(good.take(good.length / 2))
    agrees(table)
    Files.delete(file)
    agrees(table)
    api(table).addIndex("logs")
    assert(logFiles(table).forall(Files.exists(_)))
    agrees(table)
  }
}
