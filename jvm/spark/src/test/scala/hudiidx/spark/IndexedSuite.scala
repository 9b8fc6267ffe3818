package hudiidx.spark

import java.nio.file.{Files, Paths}

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import hudiidx.spark.api.HudiIdxApi
import hudiidx.spark.options.ViewCall
import hudiidx.{Fixtures, IndexNotFound, InvalidOption}
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec

/** Tables with an index made by Spark: the same answers as without, and the index is what gave them. */
final class IndexedSuite extends SparkSuite {
  private val mapper = new ObjectMapper
  private val strict = "hudiidx.index.strict" -> "true"

  private def api(table: String, options: (String, String)*): HudiIdxApi = {
    val map = new java.util.HashMap[String, String]()
    options.foreach { case (k, v) => map.put(k, v) }
    new HudiIdxApi(spark, table, map)
  }

  private def json(text: String): JsonNode = mapper.readTree(text)

  /** An index of a shared table, in a folder of its own. */
  private def indexed(name: String): (String, Seq[(String, String)]) = {
    val table = Fixtures.table(name)
    val options = Seq("hudiidx.index.path" -> Fixtures.newFolder("index").resolve("i").toString, strict)
    assert(json(api(table, options: _*).create()).get("index_version").asLong === 1)
    (table, options)
  }

  private val tables = Vector("v6-cow-replace", "v8-cow-complex", "v9-cow-part", "v9-archived-cow", "v9-empty-commit")

  tables.foreach { name =>
    test(s"$name: rows through the index are stock Hudi's, now and as of each instant") {
      val (table, options) = indexed(name)
      val stock = Fixtures.json(name)
      assert(Answer.of(read(table, options: _*)).checksum === stock.get("snapshot").get("checksum").asText)
      stock.get("time_travel").forEach { point =>
        if (point.has("count")) {
          val frame = read(table, options :+ ("as.of.instant" -> point.get("as_of").asText): _*)
          assert(Answer.of(frame).checksum === point.get("checksum").asText)
        }
      }
    }
  }

  Vector("v6-mor-part", "v9-mor-part", "v9-cow-complex").foreach { name =>
    test(s"$name: views through the index equal those of a listing") {
      val (table, options) = indexed(name)
      ViewCall.All.foreach { call =>
        def rows(o: (String, String)*): Vector[String] =
          read(table, o :+ ("view" -> call.name): _*).collect().map(_.toString).toVector.sorted
        assert(rows(options: _*) === rows("hudiidx.index.enabled" -> "false"), call.name)
      }
    }
  }

  test("the plan tells index, partitions and files, and the metrics carry them") {
    val (table, options) = indexed("v9-cow-part")
    val frame = read(table, options: _*).where("city = 'sf'")
    frame.collect()
    val scan = frame.queryExecution.executedPlan.collectFirst { case b: BatchScanExec => b }.get
    assert(scan.scan.description().contains("index version 1, 0 instants overlaid, partitions 1 of 4"))
    val value = (name: String) => scan.metrics(name).value
    assert(value("indexVersion") === 1 && value("partitionsTotal") === 4 && value("partitionsKept") === 1)
    assert(value("filesKept") === read(table, "view" -> "latest_base_files").where("partition_path = 'sf'").count())
    assert(value("indexFallbacks") === 0)
  }

  test("without an index the table is listed and the plan says why; strict reading is an error") {
    val table = Fixtures.table("v9-cow-part")
    val frame = read(table)
    assert(frame.queryExecution.executedPlan.toString.contains("no index (NO_INDEX: there is no index)"))
    val thrown = intercept[IndexNotFound](read(table, strict).count())
    assert(thrown.getMessage.contains("hudiidx create"))
  }

  test("create, info, update, verify and drop answer as documents") {
    val table = Fixtures.copy("v9-cow-part")
    val made = json(api(table).create())
    assert(made.get("partitions").asLong === 4 && made.get("files").asLong > 0)
    val info = json(api(table).info())
    assert(info.get("state").asText === "READY" && info.get("instants_behind").asInt === 0)
    assert(info.get("bytes_by_kind").size > 0)
    assert(!json(api(table).update()).get("published").asBoolean)
    assert(json(api(table).verify()).get("ok").asBoolean)
    api(table).drop()
    assert(json(api(table).info()).get("state").asText === "ABSENT")
    assert(!Files.exists(Paths.get(table, ".hoodie", "hudiidx")))
    intercept[IndexNotFound](api(table).verify())
  }

  test("verify finds a base file that was removed and a partition that was") {
    val table = Fixtures.copy("v9-cow-part")
    api(table).create()
    val file = Fixtures.filesBelow(table).find(f => f.startsWith("sf/") && f.endsWith(".parquet")).get
    Files.delete(Paths.get(table, file))
    Fixtures.filesBelow(table).filter(_.startsWith("oslo/")).foreach(f => Files.delete(Paths.get(table, f)))
    val found = json(api(table).verify())
    val kinds = found.get("differences").findValuesAsText("kind")
    assert(!found.get("ok").asBoolean)
    assert(kinds.contains("FILE_EXTRA") && kinds.contains("PARTITION_EXTRA"))
  }

  test("drop leaves a folder alone that holds no index") {
    val folder = Fixtures.newFolder("others")
    Files.write(folder.resolve("note.txt"), Array[Byte](1))
    intercept[InvalidOption](api(Fixtures.table("v9-cow-part"), "hudiidx.index.path" -> folder.toString).drop())
    assert(Files.exists(folder.resolve("note.txt")))
  }

  test("view calls on a partition have the names of their columns") {
    val table = Fixtures.table("v9-mor-part")
    ViewCall.All.foreach { call =>
      val rows = json(api(table).view(call.name, "sf", null).toString)
      assert(rows.size > 0, call.name)
      val names = Vector.newBuilder[String]
      rows.get(0).fieldNames().forEachRemaining(n => names += n)
      assert(names.result() === call.schema.fieldNames.toVector)
    }
    assert(json(api(table).partitions().toString).size === 4)
    assert(api(table).viewFrame("files", null).count() > 0)
    intercept[InvalidOption](api(table).view("everything", "sf", null))
  }
}
