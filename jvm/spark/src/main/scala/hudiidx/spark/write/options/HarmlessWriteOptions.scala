package hudiidx.spark.write.options

import hudiidx.spark.options.StockOption
import hudiidx.spark.options.StockOption.Harmless

/** Options of stock Hudi's writers that may stand there: no row, key or path depends on them. */
private[write] object HarmlessWriteOptions {
  private val services =
    Harmless("compactions, clusterings and cleans are calls of their own, or stock Hudi's; rows are the same")
  private val speed = Harmless("how much memory, how many tasks or threads stock's writer takes")
  private val layout = Harmless("how stock sizes files and sorts and packs rows in them; rows are the same")
  private val lookups = Harmless("how stock looks keys up; hudiidx has its own index")
  private val catalogs = Harmless("tables in catalogs are made by stock Hudi's tools; run its sync after the write")
  private val meetings = Harmless(
    "how writers meet; a conflict is an error, and other locks than the file's are refused"
  )
  private val ofRefused = Harmless("says more of what is refused")
  private val internal = Harmless("Hudi's own code sets it")
  private val columns = Harmless("rows that lack a column, or have one of a type that loses something, are refused")
  private val figures = Harmless("figures in commits; rows do not depend on them")
  private val behind = Harmless("what fails after a commit is a warning")

  lazy val All: Map[String, StockOption] = ofRows ++ ofTables ++ ofServices

  private def ofRows: Map[String, StockOption] = Map(
    "hoodie.datasource.write.partitions.to.delete" -> Harmless("of the operation delete_partition, which is refused"),
    "hoodie.datasource.write.reconcile.schema" -> columns,
    "hoodie.datasource.write.schema.allow.auto.evolution.column.drop" -> columns,
    "hoodie.write.set.null.for.missing.columns" -> columns,
    "hoodie.avro.schema.validate" -> columns,
    "hoodie.avro.schema.external.transformation" -> columns,
    "hoodie.avro.schema.externaltransformation" -> columns,
    "hoodie.schema.on.read.enable" -> columns,
    "hoodie.combine.before.delete" -> Harmless("a key is deleted once, however often it comes"),
    "hoodie.datasource.write.row.writer.enable" ->
      Harmless("how stock writes rows; where keys depend on it docs/keys.md says so, and they are refused"),
    "hoodie.datasource.write.secondarykey.column" -> Harmless("says more of secondary indexes, which are not made"),
    "hoodie.write.track.event.time.watermark" -> figures,
    "hoodie.payload.event.time.field" -> figures,
    "hoodie.datasource.write.streaming.ignore.failed.batch" -> Harmless("a batch that fails ends the query"),
    "hoodie.write.ignore.failed" -> Harmless("a row that cannot be written fails the write"),
    "hoodie.spark.sql.merge.into.partial.updates" -> Harmless("whole rows are written; they are the same"),
    "hoodie.spark.sql.optimized.writes.enable" -> Harmless("how stock runs statements; rows are the same"),
    "hoodie.write.record.positions" -> Harmless("logs have none; rows are merged by their keys"),
    "hoodie.write.complex.keygen.validation.enable" -> Harmless("keys of such tables are always checked"),
    "hoodie.skip.default.partition.validation" -> Harmless("of upgrades of tables before 0.12"),
    "hoodie.datasource.view.type" -> Harmless("of reads"),
    "hoodie.write.merge.handle.fallback" -> ofRefused,
    "hoodie.write.rolling.metadata.timeline.lookback.commits" -> ofRefused,
    "hoodie.table.cdc.supplemental.logging.mode" -> ofRefused,
    "hoodie.internal.sql.merge.into.writes" -> internal,
    "hoodie.internal.write.schema.canonicalize" -> internal
  )

  private def ofTables: Map[String, StockOption] = {
    val version = Harmless(s"a new table's is ${WriteOptions.TableVersion}; a write does not change that of a table")
    Map(
      "hoodie.datasource.write.table.name" -> Harmless("a name for catalogs; hoodie.table.name is the table's"),
      "hoodie.base.path" -> Harmless("save(path) says where the table is"),
      "hoodie.storage.class" -> Harmless("stores are those of Hadoop's file systems"),
      "hoodie.table.version" -> version,
      "hoodie.table.initial.version" -> version,
      "hoodie.timeline.layout.version" -> version,
      "hoodie.write.auto.upgrade" -> version
    ) ++ Vector("checksum", "create.schema", "index.defs.path", "legacy.payload.class", "metadata.partitions")
      .map(n => s"hoodie.table.$n" -> internal) ++
      Vector("metadata.partitions.inflight", "secondary.indexes.metadata").map(n => s"hoodie.table.$n" -> internal)
  }

  private def ofServices: Map[String, StockOption] = Map(
    "hoodie.table.services.enabled" -> services,
    "hoodie.table.services.incremental.enabled" -> services,
    "hoodie.datasource.compaction.async.enable" -> services,
    "hoodie.datasource.clustering.async.enable" -> services,
    "hoodie.datasource.clustering.inline.enable" -> services,
    "hoodie.datasource.write.streaming.disable.compaction" -> services,
    "hoodie.fail.on.timeline.archiving" -> services,
    "hoodie.fail.writes.on.inline.table.service.exception" -> services,
    "hoodie.write.empty.clean.interval.hours" -> services,
    "hoodie.index.name" -> lookups,
    "hoodie.write.num.retries.on.conflict.failures" -> Harmless("a conflict is an error; write again"),
    "hoodie.allow.multi.write.on.same.instant" -> Harmless("each write has its own instant"),
    "hoodie.block.writes.on.speculative.execution" -> Harmless("a task that runs twice takes its own files away"),
    "hoodie.fail.job.on.duplicate.data.file.detection" -> Harmless("a file that was written twice is taken away"),
    "hoodie.writestatus.class" -> Harmless("what stock's client tells of a write"),
    "hoodie.post.commit.failures.ignored" -> behind,
    "hoodie.write.can.ignore.post.commit.failures" -> behind,
    "hoodie.write.application.id" -> Harmless("a name in stock's locks"),
    "hoodie.write.markers.type" -> Harmless("markers are files, which stock reads too")
  )

  /** The beginnings of names of more. */
  lazy val Families: Map[String, Harmless] = Seq(
    services ->
      ("archive clean cleaner clustering commits compact compaction keep layout log.compaction prewrite.cleaner rollback " +
        "table.service.manager timeline partition.ttl"),
    speed ->
      ("common delete embed file filesystem finalize fs insert instant_state markers memory merge.data merge.use optimized " +
        "release schema.cache sensitive upsert write.buffer write.executor write.status write.tagged cdc"),
    layout -> "bulkinsert copyonwrite hfile lance logfile orc parquet record.size",
    lookups ->
      "bloom.index simple.index global.index global.simple record.index index.bloom index.hbase index.name expression.index",
    catalogs -> "datasource.hive_sync datasource.meta datasource.meta_sync meta.sync meta_sync metaserver spark.polaris",
    Harmless("which parts of Hudi's metadata table there are; docs/writing.md says what a write keeps of it") ->
      "metadata assume.date",
    Harmless("figures of stock's writer; the index has its own") -> "metrics metricscompaction",
    Harmless("of Hudi's streamer and error tables; a row that cannot be written fails the write") ->
      "errortable streamer deltastreamer.source",
    Harmless("callbacks are not called") -> "write.commit.callback client.init.callback",
    meetings -> "write.lock write.concurrency time.generator optimistic consistency auto.adjust",
    ofRefused ->
      ("bootstrap bucket.index index.bucket storage.layout.partitioner keygen deltastreamer.keygen precommit prewrite " +
        "write.merge.handle.fallback"),
    Harmless("of reads") -> "read datasource.view datasource.read datasource.query"
  ).flatMap { case (is, names) => names.split(' ').map(n => s"hoodie.$n." -> is) }.toMap
}
