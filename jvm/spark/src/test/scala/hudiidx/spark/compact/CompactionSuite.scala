package hudiidx.spark.compact

import java.nio.file.{Files, Paths}

import scala.collection.JavaConverters._

import hudiidx.TestSettings.isLong
import hudiidx.engine.Tables
import hudiidx.log.{BlockRules, SliceLog}
import hudiidx.logindex.LogLookup
import hudiidx.spark.{Answer, SparkSuite}
import hudiidx.storage.LocalStorage
import hudiidx.sync.{IndexOptions, TableContext, TableSnapshot}
import hudiidx.table.listing.MetadataTable
import hudiidx.table.{FileSlice, PropertiesFile, TableConfig}
import hudiidx.timeline.CommitMetadata
import hudiidx.write.{HeartbeatOptions, OpenCompaction}
import hudiidx.{DamagedTable, Fixtures, InvalidOption, TableFormat, UnsupportedTable, WriteConflict}
import org.apache.hadoop.conf.Configuration
import org.scalatest.concurrent.Eventually
import org.scalatest.time.SpanSugar._

/** Stock Hudi's tables are compacted: rows are what they were, and stand in base files alone. Stock Hudi reads such tables in
  * the tests of `integration/`.
  */
final class CompactionSuite extends SparkSuite with Eventually {
  private val sample =
    Set("v6-mor-part", "v9-mor-part", "v6-mor-types", "v9-mor-evolution", "v9-partial-updates", "v6-mor-log-only")
  private val merged = Fixtures.good.filter { n =>
    !n.startsWith("v8-") && Fixtures.json(n).path("table_type").asText == "MERGE_ON_READ"
  }

  private def compact(path: String, op: String = "schedule_and_execute", options: Map[String, String] = Map.empty) =
    CompactionApi.compact(spark, path, options, op, None)

  /** Without Hudi's metadata table. */
  private def withoutMetadataTable(path: String): Unit = {
    val file = Paths.get(TableConfig.read(LocalStorage, path).file)
    val kept = Files.readAllLines(file).asScala.filterNot(_.startsWith("hoodie.table.metadata.partitions"))
    Files.write(file, kept.asJava)
    LocalStorage.delete(s"$path/.hoodie/metadata"): Unit
  }

  /** Instants that stock left incomplete. */
  private def pending(name: String, action: String): Int = Fixtures
    .json(name)
    .get("active_timeline")
    .asScala
    .count(i => i.get("action").asText == action && i.get("state").asText != "COMPLETED")

  for (name <- merged if isLong || sample(name)) test(s"$name: rows are what they were, in base files") {
    val path = Fixtures.copy(name)
    withoutMetadataTable(path)
    if (pending(name, "deltacommit") > 0) intercept[WriteConflict](compact(path))
    else if (
      name.contains("-virtual-") || name.contains("-cdc-") || name.contains("-operation-") ||
      Fixtures.mergedByHudi(name)
    ) {
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
      assert(report.done.size === report.scheduled.size + pending(name, "compaction"))
      assert(compact(path) === CompactionReport(None, Vector.empty), "a second one finds nothing")
    }
  }

  Seq[(String, FileSlice => FileSlice)](
    "files of another group" -> (s => s.copy(fileId = "0" + s.fileId.drop(1))),
    "no file" -> (s => s.copy(baseFile = None, logFiles = Vector.empty))
  ).foreach { case (what, forged) =>
    test(s"a plan that names $what is refused by its group, and the table stays as it was") {
      val path = Fixtures.copy(unplanned)
      withoutMetadataTable(path)
      val before = (Answer.of(read(path)).rows, dataFiles(path))
      val access = Tables.access(new Configuration)
      OpenCompaction.schedule(access, path, HeartbeatOptions()) { table =>
        val view = TableSnapshot.of(table, IndexOptions(enabled = false)).view
        view.partitions.flatMap(view.latestMergedFileSlices(_)).filter(_.logFiles.nonEmpty).map(forged)
      }
      val said = intercept[DamagedTable](compact(path, "execute")).getMessage
      assert(said.contains("file group") && said.contains("roll back the plan of compaction"))
      assert((Answer.of(read(path)).rows, dataFiles(path)) === before)
    }
  }

  /** A fixture with logs and nothing pending. */
  private def unplanned: String = merged
    .filter(n => sample(n) && pending(n, "compaction") + pending(n, "deltacommit") == 0 && !Fixtures.mergedByHudi(n))
    .head

  private def dataFiles(path: String): Set[String] = Fixtures.filesBelow(path).filterNot(_.startsWith(".hoodie")).toSet

  for ((name, instant) <- Seq("v6-mor-part" -> "20261120234312573", "v9-mor-part" -> "20261120234343216"))
    test(s"$name: a plan of stock's that is run again counts what stock counted") {
      val path = Fixtures.copy(name)
      withoutMetadataTable(path)
      val table = TableContext.load(Tables.access(new Configuration), path)
      val done = table.timeline.completedWrites.find(_.requestedTime == instant).get
      val stocks = counts(table.contents.commit(done))
      // As it was when the plan was made.
      val files = Fixtures.filesBelow(path).filterNot(_.contains("hoodie.properties"))
      files.filter(f => instantOf(f).exists(_ > instant)).foreach(f => LocalStorage.delete(s"$path/$f"))
      files
        .filter(f => f.contains(instant) && !f.endsWith(".requested"))
        .foreach(f => LocalStorage.delete(s"$path/$f"))
      val report = compact(path, "execute")
      assert(report.done.map(_.instant) === Vector(instant))
      val after = TableContext.load(Tables.access(new Configuration), path)
      val ours = after.timeline.completedWrites.find(_.requestedTime == instant).get
      assert(ours.action === "commit")
      assert(counts(after.contents.commit(ours)) === stocks)
      assert(after.contents.commit(ours).operationType === Some("COMPACT"))
    }

  private def instantOf(file: String): Option[String] =
    raw"\d{17}".r.findFirstIn(file.substring(file.lastIndexOf('/') + 1))

  private def counts(commit: CommitMetadata) = commit.writeStats
    .map(s => (s.partitionPath, s.fileId, s.prevCommit, s.numWrites, s.numInserts, s.numUpdateWrites, s.numDeletes))
    .sortBy(_.toString)

  /** Keys that the filters of the table's only file slice have. */
  private def filteredKeys(path: String): Int = {
    val snapshot = TableSnapshot.open(Tables.access(new Configuration), path, IndexOptions())
    try {
      val Vector(slice) = snapshot.view.latestMergedFileSlices("", None)
      val logs = slice.logFiles.map(l => s"$path/${l.fileName}")
      val blocks = SliceLog.countedBlocks(LocalStorage, logs, BlockRules(TableFormat.V9, None, _ => true))
      val lookup = new LogLookup(LocalStorage, blocks)
      lookup.chain(s"$path/").map(lookup.load(s"$path/")(_).entries.length).sum
    } finally snapshot.close()
  }

  test("filters of a slice that a compaction made know nothing of the keys before it") {
    val path = Fixtures.newFolder("compacted").resolve("t").toString
    def save(keys: Int): Unit = spark
      .range(keys)
      .selectExpr("cast(id AS string) AS id", "id AS n")
      .coalesce(1)
      .write
      .format("hudiidx")
      .options(Map("hoodie.table.name" -> "t", "hoodie.datasource.write.recordkey.field" -> "id"))
      .option("hoodie.datasource.write.precombine.field", "n")
      .option(TableConfig.LogInserts, "true")
      .mode("append")
      .save(path)
    save(200)
    save(150)
    assert(filteredKeys(path) >= 200)
    compact(path)
    assert(filteredKeys(path) === 0)
    save(7)
    assert(filteredKeys(path) === 7)
  }

  test("a file of the plan that is gone is DamagedTable, and the plan is run when it is back") {
    val path = Fixtures.copy("v9-no-mdt-mor")
    val before = Answer.of(read(path)).rows
    val planned = compact(path, "schedule").scheduled.get
    val log = Fixtures.filesBelow(path).find(f => f.contains(".log.") && !f.endsWith(".crc")).get
    val content = LocalStorage.readAll(s"$path/$log")
    LocalStorage.delete(s"$path/$log")
    val e = intercept[DamagedTable](compact(path, "execute"))
    assert(e.getMessage.contains(log.substring(log.lastIndexOf('/') + 1)))
    eventually(timeout(10.seconds)) { // another task may be at its file still
      val left = Fixtures.filesBelow(path).filter(_.contains(planned)).map(f => f.substring(f.lastIndexOf('/') + 1))
      // Records that say that the try is over are there until the plan is done.
      assert(left.toSet === Set(s"$planned.compaction.requested", s"$planned.1", s"$planned.2"))
    }
    LocalStorage.write(s"$path/$log")(_.write(content))
    assert(compact(path, "execute").done.map(_.instant) === Vector(planned))
    assert(Answer.of(read(path)).rows === before)
    assert(LocalStorage.list(s"$path/.hoodie/.heartbeat").isEmpty)
  }

  test("partitions and steps are taken as they are asked for") {
    val path = Fixtures.copy("v9-no-mdt-mor")
    val partitions = read(path).select("_hoodie_partition_path").distinct().collect().map(_.getString(0))
    val one = CompactionApi.compact(spark, path, Map.empty, "schedule", Some(Set(partitions.head)))
    val table = TableContext.load(Tables.access(new Configuration), path)
    val plan = table.timeline.pending("compaction").flatMap(table.contents.compactionPlan)
    assert(plan.map(_.partitionPath).toSet === Set(partitions.head) && one.done.isEmpty)
    assert(intercept[InvalidOption](compact(path, "merge")).getMessage.contains("schedule_and_execute"))
    assert(compact(path, options = Map("hoodie.parquet.compression.codec" -> "zstd")).done.size === 2)
  }

  test("copy-on-write tables are refused") {
    assert(intercept[UnsupportedTable](compact(Fixtures.copy("v9-cow-part"))).getMessage.contains("copy-on-write"))
  }

  test("the metadata table has the base files, and keeps what maps keys") {
    val path = Fixtures.copy("v9-mor-part")
    PropertiesFile.update(LocalStorage, path)(_ + (TableConfig.MetadataPartitions -> "files,record_index"))
    val before = Answer.of(read(path)).rows
    assert(compact(path).done.nonEmpty)
    assert(Answer.of(read(path)).rows === before)
    val table = TableContext.load(Tables.access(new Configuration), path)
    assert(table.config.metadataPartitions.toSet === Set("files", "record_index"))
    val listing = MetadataTable.open(LocalStorage, path, table.config, table.timeline, table.contents).get
    try {
      assert(listing.inStep)
      val files = listing.partitions.flatMap(p => listing.files(p).map(_.fileName)).filter(_.endsWith(".parquet"))
      val stored =
        listing.partitions.flatMap(p => LocalStorage.list(s"$path/$p").map(_.name)).filter(_.endsWith(".parquet"))
      assert(files.toSet === stored.toSet)
    } finally listing.close()
  }
}
