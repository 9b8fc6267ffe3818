package hudiidx.spark.procedure

import scala.collection.JavaConverters._

import hudiidx.InvalidOption
import hudiidx.spark.{HudiIdxCatalog, HudiTableReads}
import hudiidx.spark.views.NamedTable
import hudiidx.spark.compact.{CompactionApi, CompactionSteps}
import hudiidx.api.{TableIndex, TimedSync}
import hudiidx.spark.api.{HudiIdxApi, PrunedFiles, SparkTableIndex}
import hudiidx.sync.{IndexCounts, IndexOptions}
import org.apache.spark.sql.connector.catalog.Identifier
import org.apache.spark.sql.types._
import org.apache.spark.sql.{Row, SparkSession}

/** The procedures of namespace `system`, shaped as Iceberg's: the table is `table => 'db.trips'`, a name of the session's metastore,
  * or a path.
  */
object Procedures {
  private val texts = ArrayType(StringType)
  private val table = Parameter("table", StringType, required = true)
  private val recordParameters =
    Vector(Parameter("record", StringType), Parameter("window_days", LongType), Parameter("file_groups", LongType))
  private val logs = Parameter("logs", BooleanType)
  private val columnParameters = Vector(
    Parameter("columns", texts),
    Parameter("bloom", texts),
    Parameter("values", texts),
    Parameter("indexes", texts)
  )
  private val done = new StructType()
    .add("index_version", LongType)
    .add("files", LongType)
    .add("partitions", LongType)
    .add("rebuilt", BooleanType)
    .add("published", BooleanType)
    .add("elapsed_millis", LongType)
  private val compacted = new StructType()
    .add("instant", StringType)
    .add("file_groups", LongType)
    .add("log_files", LongType)
    .add("rows", LongType)
    .add("bytes_read", LongType)
    .add("bytes_written", LongType)
    .add("elapsed_millis", LongType)
  private val location = new StructType()
    .add("record_key", StringType)
    .add("partition_path", StringType)
    .add("file_id", StringType)
    .add("instant_time", StringType)
  private val exported = new StructType()
    .add("path", StringType)
    .add("partitions", LongType)
    .add("files", LongType)
    .add("written", LongType)
    .add("removed", LongType)
    .add("index_version", LongType)
  private val difference =
    new StructType().add("ok", BooleanType).add("kind", StringType).add("file", StringType).add("detail", StringType)

  val All: Vector[Procedure] = Vector(
    Procedure(
      "create_index",
      "Makes the index, whole; columns are named as in Python's `create`.",
      table +: (recordParameters ++ columnParameters :+ logs),
      done,
      (spark, call) => synced(index(spark, call, created(call)).create())
    ),
    Procedure(
      "add_index",
      "Makes a record index, an index of log blocks, or indexes on columns, beside what the index has.",
      table +: (recordParameters ++ columnParameters :+ logs),
      done,
      addIndex
    ),
    Procedure(
      "drop_index",
      "Removes indexes: the record index (`record => true`), that of log blocks (`logs => true`), those on columns, or, where none is named, all of the index.",
      Vector(table, Parameter("record", BooleanType), Parameter("columns", texts), logs),
      done,
      dropIndex
    ),
    Procedure(
      "update_index",
      "Brings the index up to the timeline.",
      Vector(table),
      done,
      (spark, call) => synced(index(spark, call).update())
    ),
    Procedure(
      "compact_table",
      "Merges the log files of a merge-on-read table into base files: a row for each plan that was run or made.",
      Vector(table, Parameter("op", StringType), Parameter("partitions", texts)),
      compacted,
      compactTable
    ),
    Procedure(
      "index_info",
      "The state of the index, as JSON.",
      Vector(table),
      new StructType().add("info", StringType),
      (spark, call) => Seq(Row(api(spark, call).info()))
    ),
    Procedure(
      "verify",
      "Compares the index with the table: one row says ok, or a row for each difference that is told.",
      Vector(table, Parameter("record", BooleanType), Parameter("columns", BooleanType)),
      difference,
      verify
    ),
    Procedure(
      "lookup",
      "Where record keys are.",
      Vector(table, Parameter("keys", texts, required = true), Parameter("partition", StringType)),
      location,
      lookup
    ),
    Procedure(
      "prune",
      "The files that a query with this filter reads.",
      Vector(table, Parameter("where", StringType, required = true)),
      PrunedFiles.schema,
      (spark, call) => api(spark, call).prune(call.text("where").get, null).collect().toSeq
    ),
    Procedure(
      "expire_index_versions",
      "Removes old versions of the index, and files that no version names: a row for each file removed.",
      Vector(table, Parameter("retain_last", LongType), Parameter("older_than_minutes", LongType)),
      new StructType().add("file_name", StringType),
      expire
    ),
    Procedure(
      "export_symlink_manifest",
      "Writes texts that name the latest base files, for Presto, Trino and Athena.",
      Vector(
        table,
        Parameter("path", StringType),
        Parameter("read_optimized", BooleanType),
        Parameter("keep", BooleanType)
      ),
      exported,
      exportSymlinks
    )
  )

  def named(name: String): Procedure = All
    .find(_.name.equalsIgnoreCase(name))
    .getOrElse(throw new InvalidOption(s"unknown procedure system.$name; there are ${All.map(_.name).mkString(", ")}"))

  private def created(call: Arguments): Map[String, String] = recordOptions(call) ++ Seq(
    IndexOptions.Columns -> "columns",
    IndexOptions.BloomColumns -> "bloom",
    IndexOptions.ValuesColumns -> "values"
  ).flatMap { case (option, name) => call.texts(name).map(option -> _.mkString(",")) } ++
    call.texts("indexes").map(IndexOptions.OtherIndexes -> _.mkString(";")) ++
    call.values.get("logs").map(_ => IndexOptions.Logs -> call.flag("logs").toString)

  private def recordOptions(call: Arguments): Map[String, String] =
    (call.text("record").map(IndexOptions.RecordMode -> _) ++
      call.whole("window_days").map(IndexOptions.RecordWindowDays -> _.toString) ++
      call.whole("file_groups").map(IndexOptions.RecordFileGroups -> _.toString)).toMap

  private def addIndex(spark: SparkSession, call: Arguments): Seq[Row] = {
    val specs = Seq("columns" -> "range", "bloom" -> "bloom", "values" -> "values").flatMap { case (name, kind) =>
      call.texts(name).toVector.flatten.map(column => s"$kind($column)")
    } ++ call.texts("indexes").toVector.flatten
    val record = recordOptions(call)
    val made = Vector(
      if (record.nonEmpty) Some(index(spark, call, record).addIndex("record")) else None,
      if (call.flag("logs")) Some(index(spark, call).addIndex("logs")) else None,
      if (specs.nonEmpty) Some(index(spark, call).addColumns(specs.mkString(";"), wait = true)) else None
    ).flatten
    made.lastOption.fold(call.of.refuse("name what to make: record, logs, columns, bloom, values or indexes"))(
      synced
    )
  }

  private def dropIndex(spark: SparkSession, call: Arguments): Seq[Row] = {
    val columns = call.texts("columns").toVector.flatten
    val dropped = Vector("record", "logs").filter(call.flag).map(index(spark, call).dropIndex) ++
      (if (columns.isEmpty) None else Some(index(spark, call).dropColumns(columns.map(c => s"any($c)").mkString(";"))))
    if (dropped.isEmpty) index(spark, call).drop(): Unit
    dropped.lastOption.fold[Seq[Row]](Seq(Row(null, 0L, 0L, false, true, null)))(synced)
  }

  private def compactTable(spark: SparkSession, call: Arguments): Seq[Row] = {
    val named = tableOf(spark, call.text("table").get)
    val op = call.text("op").getOrElse(CompactionSteps.Both.name)
    val report = CompactionApi.compact(spark, named.path, named.options, op, call.texts("partitions").map(_.toSet))
    val planned = report.scheduled.filterNot(i => report.done.exists(_.instant == i))
    report.done.map { c =>
      Row(c.instant, c.fileGroups.toLong, c.logFiles, c.rows, c.bytesRead, c.bytesWritten, c.elapsedMillis)
    } ++ planned.map(Row(_, null, null, null, null, null, null))
  }

  private def verify(spark: SparkSession, call: Arguments): Seq[Row] = {
    val found = index(spark, call).verify(call.flag("record"), call.flag("columns"))
    val rows = found.files.differences.map(d => Row(false, d.kind, d.file, d.detail)) ++
      found.record.toVector.flatMap(_.samples).map(d => Row(false, d.kind, null, d.detail)) ++
      found.columns.toVector.flatMap(_.samples).map(d => Row(false, d.kind, d.file, d.detail))
    if (rows.isEmpty) Seq(Row(found.ok, null, null, null)) else rows
  }

  private def expire(spark: SparkSession, call: Arguments): Seq[Row] = {
    val settings = call.whole("retain_last").map(IndexOptions.RetainLast -> _.toString) ++
      call.whole("older_than_minutes").map(IndexOptions.OlderThanMinutes -> _.toString)
    index(spark, call, settings.toMap).expire().map(Row(_))
  }

  private def exportSymlinks(spark: SparkSession, call: Arguments): Seq[Row] = {
    val keep = call.values.get("keep").map(_ => call.flag("keep"))
    val done = index(spark, call).exportSymlinks(call.text("path"), call.flag("read_optimized"), keep)
    Seq(
      Row(done.path, done.partitions.toLong, done.files, done.written.toLong, done.removed.toLong, done.indexVersion)
    )
  }

  private def lookup(spark: SparkSession, call: Arguments): Seq[Row] = {
    val keys = call.texts("keys").toVector.flatten
    api(spark, call)
      .locations(keys, call.text("partition"))
      .map(l => Row(l.key, l.partitionPath, l.fileId, l.instantTime))
  }

  private def api(spark: SparkSession, call: Arguments): HudiIdxApi = {
    val named = tableOf(spark, call.text("table").get)
    new HudiIdxApi(spark, named.path, named.options.asJava)
  }

  private def index(spark: SparkSession, call: Arguments, more: Map[String, String] = Map.empty): TableIndex = {
    val named = tableOf(spark, call.text("table").get)
    SparkTableIndex.of(spark, named.path, named.options ++ more)
  }

  private[procedure] def tableOf(spark: SparkSession, name: String): NamedTable =
    if (name.contains('/')) NamedTable(name, Map.empty)
    else {
      val parts = spark.sessionState.sqlParser.parseMultipartIdentifier(name).toVector
      val inCatalog = if (parts.length > 2 && readsMetastore(spark, parts.head)) parts.tail else parts
      val full = if (inCatalog.length == 1) spark.catalog.currentDatabase +: inCatalog else inCatalog
      NamedTable
        .inMetastore(spark, Identifier.of(full.init.toArray, full.last))
        .getOrElse(
          throw new InvalidOption(
            s"table => '$name': not a Hudi table of the session's metastore; name one, or give a path"
          )
        )
    }

  /** Tables of any other catalog may have the names of the metastore's. */
  private def readsMetastore(spark: SparkSession, catalog: String): Boolean =
    catalog.equalsIgnoreCase(HudiTableReads.SessionCatalog) || {
      val catalogs = spark.sessionState.catalogManager
      catalogs.isCatalogRegistered(catalog) && catalogs.catalog(catalog).isInstanceOf[HudiIdxCatalog]
    }

  private def synced(done: TimedSync): Seq[Row] = {
    val (result, version) = (done.result, done.result.version)
    val (files, partitions) = (IndexCounts.files(version), IndexCounts.partitions(version))
    Seq(Row(version.number, files, partitions, result.rebuilt, result.published, done.elapsedMillis))
  }
}
