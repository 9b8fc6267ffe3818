package hudiidx.spark

import java.nio.file.{Files, Paths}

import com.fasterxml.jackson.databind.JsonNode
import hudiidx.spark.api.HudiIdxApi
import hudiidx.spark.options.{IncrementalOptions, ReadOptions}
import hudiidx.spark.pinned.{PinnedTable, SharedTable}
import hudiidx.sync.IndexOptions
import hudiidx.{DamagedTable, Fixtures, InvalidOption, UnsupportedTable}
import org.apache.spark.sql.DataFrame

/** Incremental reads of every fixture are stock Hudi's. */
final class IncrementalSuite extends SparkSuite {
  private val begin = "hoodie.datasource.read.begin.instanttime"
  private val end = "hoodie.datasource.read.end.instanttime"
  private val incremental = "hoodie.datasource.query.type" -> "incremental"

  private def changes(path: String, options: (String, String)*): DataFrame = read(path, incremental +: options: _*)

  private def bounds(stored: JsonNode): Seq[(String, String)] =
    Seq(begin -> stored.get("begin").asText) ++
      (if (stored.get("end").isNull) Nil else Seq(end -> stored.get("end").asText))

  /** Not those of which rows only Hudi can merge. */
  private val tables: Vector[String] = Fixtures.good.filter { name =>
    val answers = Fixtures.json(name)
    answers.path("incremental").isArray && !Fixtures.mergedByHudi(name)
  }

  private def stored(name: String): Vector[JsonNode] = {
    val found = Vector.newBuilder[JsonNode]
    Fixtures.json(name).get("incremental").forEach(i => found += i)
    found.result()
  }

  /** Stock 1.1.1 gives all rows of a log compaction, 1.2.0 those of the other commits, where the range has no write of it. */
  private val logCompacted = "v9-mor-log-compaction"

  test("there are stored answers of every version") {
    assert(
      Seq("v6-", "v8-", "v9-").forall(v => tables.exists(n => n.startsWith(v) && stored(n).exists(_.has("count"))))
    )
  }

  test("a log compaction in a range gives no rows of earlier commits") {
    val table = Fixtures.table(logCompacted)
    val Vector(withWrite, writeAlone, alone) = stored(logCompacted)
    assert(withWrite.get("count").asInt === 105 && writeAlone.get("count").asInt === 3)
    assert(Answer.of(changes(table, bounds(withWrite): _*)).checksum === writeAlone.get("checksum").asText)
    assert(Answer.of(changes(table, bounds(writeAlone): _*)).checksum === writeAlone.get("checksum").asText)
    assert(changes(table, bounds(alone): _*).count() === 0)
  }

  test("a range that holds a part of what a log compaction covers has the rows of its own commits") {
    val table = Fixtures.table(logCompacted)
    def instants(field: String): Vector[String] = {
      val found = Vector.newBuilder[String]
      Fixtures.json(logCompacted).get("active_timeline").forEach(i => found += i.get(field).asText)
      found.result()
    }
    val (requested, completed) = (instants("requested"), instants("completion"))
    // Behind the second write: both log compactions hold rows of it, and what the range has of a delete and four writes.
    val found = changes(table, begin -> completed(1)).select("_hoodie_commit_time", "id").collect()
    def of(commit: Int): Vector[Int] =
      found.filter(_.getString(0) == requested(commit)).map(_.getString(1).drop(1).toInt).sorted.toVector
    assert(of(3) === (30 until 90).filterNot((50 until 55).contains))
    assert(of(5) === (0 until 30).filterNot((5 until 8).contains))
    assert(of(7) === (100 until 120))
    assert(of(9) === (5 until 8))
    assert(found.length === 55 + 27 + 20 + 3)
  }

  Fixtures.sampled(this, tables.filterNot(_ == logCompacted), oneOf = 3).foreach { name =>
    test(s"$name: incremental rows are stock Hudi's, and refused where stock refuses") {
      stored(name).foreach { point =>
        withClue(s"${bounds(point)}: ") {
          if (point.has("error")) intercept[UnsupportedTable](changes(Fixtures.table(name), bounds(point): _*).count())
          else {
            val found = Answer.of(Answer.asIncremental(name, changes(Fixtures.table(name), bounds(point): _*)))
            assert(found.rows.length === point.get("count").asInt)
            assert(found.checksum === point.get("checksum").asText)
            assert(found.dataChecksum === point.get("checksum_data").asText)
          }
        }
      }
    }
  }

  // Without a difference there would be no need to rewrite ours before they are compared.
  tables.filter(Answer.hasEscapes).foreach { name =>
    test(s"$name: incremental rows of stock Hudi have partition values with the path's escapes, ours do not") {
      val differs = stored(name).filter(_.has("count")).filter { point =>
        val found = Answer.of(changes(Fixtures.table(name), bounds(point): _*))
        found.checksum != point.get("checksum").asText && found.dataChecksum != point.get("checksum_data").asText
      }
      assert(differs.nonEmpty)
    }
  }

  // Numbers of rows as stock Hudi 0.15.0 and 1.1.1 gave them for the same options.
  Vector(
    ("v6-archived-cow", Seq.empty, 60),
    ("v6-archived-cow", Seq(IncrementalOptions.Fallback -> "true"), 160),
    ("v6-archived-cow", Seq(end -> "20261121001406289"), 40),
    ("v9-archived-cow", Seq.empty, 160),
    ("v9-archived-cow", Seq(IncrementalOptions.Fallback -> "false"), 160),
    ("v9-archived-cow", Seq(end -> "20261121001306550"), 120),
    ("v9-archived-mor", Seq.empty, 160)
  ).foreach { case (name, options, count) =>
    test(s"$name: from before the active timeline, with ${options.mkString(" ")}, there are stock Hudi's rows") {
      assert(changes(Fixtures.table(name), options :+ (begin -> "000"): _*).count() === count)
    }
  }

  test("what is selected and filtered is the same as selecting and filtering afterwards") {
    val point = stored("v9-cow-part").head
    def some(frame: DataFrame): Vector[String] =
      frame.where("qty > 3").selectExpr("city", "qty").collect().map(_.toString).toVector.sorted
    val table = Fixtures.table("v9-cow-part")
    val whole = changes(table, bounds(point): _*).cache()
    assert(some(changes(table, bounds(point): _*)) === some(whole))
    assert(changes(table, bounds(point): _*).select().count() === whole.count())
    whole.unpersist()
  }

  test("rows come in batches or one by one, and are the same") {
    val point = stored("v9-cow-part").head
    val table = Fixtures.table("v9-cow-part")
    val setting = "spark.sql.parquet.enableVectorizedReader"
    def rows: Answer = Answer.of(changes(table, bounds(point): _*))
    val batches = rows
    spark.conf.set(setting, "false")
    try assert(rows === batches)
    finally spark.conf.unset(setting)
  }

  test("only files that the commits of the range wrote are read") {
    val name = "v9-cow-part"
    val table = Fixtures.copy(name)
    val point = stored(name)(1)
    new HudiIdxApi(spark, table, new java.util.HashMap[String, String]()).create()
    val opened = SharedTable.open(spark, table, IndexOptions())
    val used = for {
      instant <- opened.timeline.completedWrites if instant.completionTime.exists(_ > point.get("begin").asText)
      stat <- opened.contents.commit(instant).writeStats
    } yield stat.fileName.get
    assert(used.nonEmpty)
    Fixtures.filesBelow(table).filter(f => f.endsWith(".parquet") && !f.startsWith(".hoodie/")).foreach { f =>
      if (!used.contains(f.substring(f.lastIndexOf('/') + 1))) Files.delete(Paths.get(table, f))
    }
    // Of stock Hudi's answer, although almost nothing of the table is left.
    val left = changes(table, bounds(point): _*)
    assert(Answer.of(left).checksum === point.get("checksum").asText)
    assert(left.queryExecution.executedPlan.toString.contains("no index (commit metadata names the files)"))
  }

  test("a write that has not completed stops an incremental read of version 6, or bounds it") {
    val name = "v6-cow-part"
    val table = Fixtures.copy(name)
    val point = stored(name).head
    val hole = stored(name)(1).get("begin").asText.toLong - 1
    Files.write(Paths.get(table, ".hoodie", s"$hole.commit.requested"), Array.emptyByteArray)
    val thrown = intercept[InvalidOption](changes(table, bounds(point): _*))
    assert(thrown.getMessage.contains(hole.toString) && thrown.getMessage.contains("BLOCK"))
    val blocked = changes(table, bounds(point) :+ ("hoodie.read.timeline.holes.resolution.policy" -> "block"): _*)
    val before = changes(Fixtures.table(name), begin -> point.get("begin").asText, end -> hole.toString)
    assert(Answer.of(blocked) === Answer.of(before))
  }

  test("a commit that wrote rows and names no file is damage for who asks what it wrote, and none for a snapshot") {
    val table = Fixtures.copy("v9-no-mdt-cow")
    val before = Answer.of(read(table))
    CommitSchemas.unname(table)
    assert(Answer.of(read(table)) === before)
    val said = intercept[DamagedTable](changes(table, "hoodie.datasource.read.begin.instanttime" -> "000").collect())
    assert(said.getMessage.contains("does not name their file"), said)
  }

  test("a path pattern leaves partitions out") {
    val table = Fixtures.table("v9-cow-part")
    val point = stored("v9-cow-part").head
    val glob = "hoodie.datasource.read.incr.path.glob" -> "/sf/*"
    val some = changes(table, bounds(point) :+ glob: _*)
    assert(Answer.of(some) === Answer.of(changes(table, bounds(point): _*).where("city = 'sf'")))
    assert(some.count() > 0)
  }

  test("stock's options count from the session's conf too, in SQL as well, and listings go on without them") {
    val table = Fixtures.table("v9-cow-part")
    val point = stored("v9-cow-part").head
    val settings = bounds(point) :+ incremental :+ ("spark.sql.catalog.hudiidx" -> classOf[HudiIdxCatalog].getName)
    settings.foreach { case (k, v) => spark.conf.set(k, v) }
    try {
      assert(Answer.of(read(table)).checksum === point.get("checksum").asText)
      assert(Answer.of(spark.sql(s"SELECT * FROM hudiidx.`$table`")).checksum === point.get("checksum").asText)
      assert(read(table, "hoodie.datasource.query.type" -> "snapshot").count() > point.get("count").asLong)
      assert(read(table, "view" -> "partitions").count() === 4)
    } finally settings.foreach { case (k, _) => spark.conf.unset(k) }
  }

  test("options that an incremental read does not take are refused by name") {
    val table = Fixtures.table("v9-cow-part")
    def refused(options: (String, String)*): String = intercept[InvalidOption](changes(table, options: _*)).getMessage
    assert(intercept[InvalidOption](changes(table).count()).getMessage.contains(begin))
    assert(
      intercept[InvalidOption](changes(table).where("qty > 3").select("city").collect()).getMessage.contains(begin)
    )
    val lacking = ReadOptions.of(Map(incremental), Map.empty)
    assert(intercept[InvalidOption](PinnedTable.open(spark, table, lacking)).getMessage.contains(begin))
    assert(refused(begin -> "soon").contains(begin))
    assert(refused(begin -> "0", "hoodie.datasource.query.incremental.format" -> "all").contains("latest_state"))
    assert(refused(begin -> "0", "as.of.instant" -> "2026-11-20").contains("as.of.instant"))
    assert(refused(begin -> "0", "hoodie.datasource.read.incr.filters" -> "a > 1").contains("incr.filters"))
    assert(intercept[InvalidOption](read(table, "hoodie.datasource.query.type" -> "cdc")).getMessage.contains("cdc"))
  }
}
