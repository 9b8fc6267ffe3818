package hudiidx.spark

import hudiidx.record.PackedKeys
import hudiidx.spark.api.HudiIdxApi
import hudiidx.spark.compact.CompactionApi
import hudiidx.spark.options.IncrementalOptions
import hudiidx.{Causes, Fixtures, UnsupportedTable}

/** Each call that reads or writes a table, or makes something of it. */
trait EveryCall { self: SparkSuite =>

  type Call = (String, () => Any)

  /** The form of all refusals. */
  val Refusal = ", which hudiidx does not read, since "

  /** Each refuses the table with one message, in which these words are, and none makes anything in it. */
  def refuse(table: String, calls: Vector[Call], words: String*): Unit = {
    // The lease of a write that failed stays until another one looks.
    def files = Fixtures.filesBelow(table).filterNot(_.startsWith(".hoodie/.heartbeat/"))
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
      "lookup of rows" -> (() => api.lookupRows(PackedKeys.encode(Seq(key)), null, null).collect()),
      "tag_location" -> (() => tagged(api, key)),
      "a view" -> (() => api.view("latest_file_slices", "sf", null)),
      "prune" -> (() => api.prune("true", null).collect()),
      "paths" -> (() => api.paths("true", null, true)),
      "create" -> (() => api.create()),
      "symlink manifests" -> (() => api.exportSymlinks(null, true, false)),
      "a stream" -> (() => streamed(table))
    ) ++ Seq("files", "latest_file_slices", "all_base_files", "column_stats").map { view =>
      (s"view $view", () => read(table, "view" -> view).collect())
    }
  }

  def onIndex(table: String): Vector[Call] = {
    val api = new HudiIdxApi(spark, table, java.util.Map.of())
    Vector[Call](
      "update" -> (() => api.update()),
      "verify" -> (() => api.verify()),
      "verify of parts" -> (() => api.verifyParts(true, true, 1, null)),
      "a part" -> (() => api.addIndex("record"))
    )
  }

  /** Those that look at the table alone. */
  def onTable(table: String): Vector[Call] = {
    val api = new HudiIdxApi(spark, table, java.util.Map.of())
    Vector[Call](
      "info" -> (() => api.info()),
      "report" -> (() => api.report()),
      "partitions" -> (() => api.partitions()),
      "columns" -> (() => read(table).schema)
    ) ++ Seq("partitions", "timeline", "log_blocks").map(v => (s"view $v", () => read(table, "view" -> v).collect()))
  }

  def append(table: String): Call = {
    def row = read(Fixtures.table("v9-cow-part")).limit(1)
    "append" -> (() => row.write.format("hudiidx").mode("append").save(table))
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
}
