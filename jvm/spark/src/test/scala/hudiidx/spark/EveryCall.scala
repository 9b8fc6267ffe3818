package hudiidx.spark

import hudiidx.record.PackedKeys
import hudiidx.spark.api.HudiIdxApi
import hudiidx.spark.compact.CompactionApi
import hudiidx.spark.options.{IncrementalOptions, ViewCall}
import hudiidx.spark.write.options.WriteOperation
import hudiidx.storage.LocalStorage
import hudiidx.{Causes, Fixtures, UnsupportedTable}
import org.apache.spark.sql.DataFrame

/** Each call that reads or writes a table, or makes something of it: `EveryCallSuite` holds the list against what there is. Those of the
  * stock writers' index class are `hudi/RefusedIndexSuite`'s, those of Python `tests/test_refused.py`'s.
  */
trait EveryCall { self: SparkSuite =>

  type Call = (String, () => Any)

  /** The form of all refusals. */
  val Refusal = ", which hudiidx does not read, since "

  /** Each refuses the table with one message, in which these words are, and none changes anything in it. */
  def refuse(table: String, calls: Vector[Call], words: String*): Unit = {
    // The lease of a write that failed stays until another one looks.
    def files = Fixtures
      .filesBelow(table)
      .filterNot(_.startsWith(".hoodie/.heartbeat/"))
      .map(f => f -> LocalStorage.readAll(s"$table/$f").toVector.hashCode)
    val before = files
    val messages = calls.map { case (what, call) =>
      withClue(s"$what: ") {
        val thrown = intercept[Exception](call())
        val refused = Causes.ours(thrown).getOrElse(fail("no typed error", thrown))
        assert(refused.isInstanceOf[UnsupportedTable], refused.getMessage)
        (words :+ Refusal).foreach(word => assert(refused.getMessage.contains(word)))
        refused.getMessage.substring(refused.getMessage.indexOf(": "))
      }
    }
    assert(messages.distinct.size === 1, messages.distinct)
    assert(files === before)
  }

  /** All of a table that has an index. */
  def everyCall(table: String, key: String): Vector[Call] =
    onFiles(table, key) ++ onIndex(table) ++ onTable(table) ++ ofIndex(table) ++ writes(table) ++
      EveryCommand.of(table, key) ++ EveryStatement.calls(table, key) ++ EveryStatement.functions(table, key) ++
      EveryStatement.reads(table) ++ EveryStatement.writes(table) :+ ofChanges(table) :+ compaction(table)

  /** Those that look at files of the table, whatever else it has. */
  def onFiles(table: String, key: String): Vector[Call] = {
    val api = new HudiIdxApi(spark, table, java.util.Map.of())
    Vector[Call](
      "rows" -> (() => read(table).collect()),
      "a count" -> (() => read(table).count()),
      "time travel" -> (() => read(table, "as.of.instant" -> "2099-01-01").collect()),
      "read_optimized" -> (() => read(table, "hoodie.datasource.query.type" -> "read_optimized").collect()),
      "incremental" -> (() => changed(table, "latest_state")),
      "lookup" -> (() => api.lookup(PackedKeys.encode(Seq(key)), null, null)),
      "lookupRows" -> (() => api.lookupRows(PackedKeys.encode(Seq(key)), null, null).collect()),
      "locations" -> (() => api.locations(Seq(key), None)),
      "tagLocation" -> (() => tagged(api, key)),
      "prune" -> (() => api.prune("true", null).collect()),
      "paths" -> (() => api.paths("true", null, true)),
      "dataset" -> (() => api.dataset("true", null, true)),
      "explain" -> (() => api.explain(read(table))),
      "create" -> (() => api.create()),
      "exportSymlinks" -> (() => api.exportSymlinks(null, true, false)),
      "a stream" -> (() => streamed(table))
    ) ++ ViewCall.All.map(_.name).flatMap { view =>
      Vector[Call](
        s"view $view of a partition" -> (() => api.view(view, "sf", null)),
        s"viewFrame $view" -> (() => api.viewFrame(view, null).collect()),
        s"view $view" -> (() => read(table, "view" -> view).collect())
      )
    } :+ ("view column_stats" -> (() => read(table, "view" -> "column_stats").collect()))
  }

  def onIndex(table: String): Vector[Call] = {
    val api = new HudiIdxApi(spark, table, java.util.Map.of())
    Vector[Call](
      "update" -> (() => api.update()),
      "verify" -> (() => api.verify()),
      "verifyParts" -> (() => api.verifyParts(true, true, 1, null)),
      "addIndex" -> (() => api.addIndex("record"))
    )
  }

  /** Those that change the index, and look at no files of the table. */
  private def ofIndex(table: String): Vector[Call] = {
    val soon = java.util.Map.of("hudiidx.expire.retain.last", "1", "hudiidx.expire.older.than.minutes", "0")
    val api = new HudiIdxApi(spark, table, soon)
    Vector[Call](
      "addIndex of log blocks" -> (() => api.addIndex("logs")),
      "addColumns" -> (() => api.addColumns("range(fare)", true)),
      "addColumns, and not waiting" -> (() => api.addColumns("range(fare)", false)),
      "noteColumns" -> (() => api.noteColumns("range(fare)")),
      "dropColumns" -> (() => api.dropColumns("any(fare)")),
      "dropIndex" -> (() => api.dropIndex("record")),
      "dropIndex of log blocks" -> (() => api.dropIndex("logs")),
      "expireVersions" -> (() => api.expireVersions())
    )
  }

  /** Those that look at the table alone. */
  def onTable(table: String): Vector[Call] = {
    val api = new HudiIdxApi(spark, table, java.util.Map.of())
    Vector[Call](
      "info" -> (() => api.info()),
      "report" -> (() => api.report()),
      "partitions" -> (() => api.partitions()),
      "keyForm" -> (() => api.keyForm()),
      "recommend" -> (() => api.recommend(java.util.Collections.emptyList[DataFrame], 1)),
      "logBlocks" -> (() => api.logBlocks(null, null).collect()),
      "logBlocks of a partition" -> (() => api.logBlocks("sf", null).collect()),
      "columns" -> (() => read(table).schema)
    ) ++ Seq("partitions", "timeline", "record_index", "log_blocks", "bloom_filters").map { v =>
      (s"view $v", () => read(table, "view" -> v).collect())
    }
  }

  private def rowOfAnother: DataFrame = read(Fixtures.table("v9-cow-part")).limit(1)

  def append(table: String): Call =
    "append" -> (() => rowOfAnother.write.format("hudiidx").mode("append").save(table))

  private def writes(table: String): Vector[Call] = {
    val remade = Map("hudiidx.write.remake" -> "true")
    Vector[Call](
      append(table),
      "overwrite" -> (() => rowOfAnother.write.format("hudiidx").mode("overwrite").save(table)),
      "remake" -> (() => rowOfAnother.write.format("hudiidx").options(remade).mode("overwrite").save(table)),
      "writeStream" -> (() => streamedInto(table))
    ) ++ WriteOperation.All.map(_.name).map { name =>
      val asked = rowOfAnother.write.format("hudiidx").option("hoodie.datasource.write.operation", name)
      (s"operation $name", () => asked.mode("append").save(table))
    }
  }

  def ofChanges(table: String): Call = "change data" -> (() => changed(table, "cdc"))

  def compaction(table: String): Call =
    "compaction" -> (() => CompactionApi.compact(spark, table, Map.empty, "schedule_and_execute", None))

  private def changed(table: String, format: String): Any = {
    val begin = "hoodie.datasource.read.begin.instanttime" -> "000"
    read(table, "hoodie.datasource.query.type" -> "incremental", IncrementalOptions.Format -> format, begin).collect()
  }

  private def tagged(api: HudiIdxApi, key: String): Any =
    api
      .tagLocation(spark.range(1).selectExpr(s"'$key' as k"), java.util.Collections.singletonList("k"), true, null)
      .collect()

  private def streamed(table: String): Unit = {
    val stream = spark.readStream.format("hudiidx").load(table).writeStream.format("noop").start()
    try stream.processAllAvailable()
    finally stream.stop()
  }

  private def streamedInto(table: String): Unit = {
    val stream = spark.readStream
      .format("hudiidx")
      .load(Fixtures.table("v9-cow-part"))
      .writeStream
      .format("hudiidx")
      .option("checkpointLocation", Fixtures.newFolder("checkpoint").toString)
      .start(table)
    try stream.processAllAvailable()
    finally stream.stop()
  }
}
