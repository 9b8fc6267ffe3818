package hudiidx.spark.write.options

import java.util.Locale

import hudiidx.StockIndexClass
import hudiidx.spark.options.StockOption
import hudiidx.spark.options.StockOption.Refused
import hudiidx.table.TableMergeRules

/** Options of stock Hudi's writers that rows, paths or files depend on and that are not followed, each with the values that mean what
  * is done here: stock's own default is always one.
  */
private[write] object RefusedWriteOptions {
  private val Off = Set("false", "")
  private val On = Set("true", "")
  private val Unset = Set("")

  private def one(values: String*): Set[String] = values.map(_.toLowerCase(Locale.ROOT)).toSet + ""

  lazy val All: Map[String, StockOption] = rows ++ merging ++ files ++ classes ++ ofTables

  /** Those that count for some operations alone. */
  lazy val OfOperations: Map[String, Set[WriteOperation]] = {
    import WriteOperation._
    Map(
      "hoodie.combine.before.insert" -> Set(Insert, BulkInsert),
      "hoodie.combine.before.upsert" -> Set(Upsert),
      "hoodie.datasource.insert.dup.policy" -> Set(Insert, BulkInsert),
      "hoodie.merge.allow.duplicate.on.inserts" -> Set(Insert),
      "hoodie.datasource.write.insert.drop.duplicates" -> (WriteOperation.All.toSet - Delete)
    )
  }

  val OverwriteMode = "hoodie.datasource.overwrite.mode"

  /** Those that count for the statement `INSERT` alone. */
  val OfInserts: Set[String] = Set("hoodie.sql.insert.mode", "hoodie.sql.bulk.insert.enable", OverwriteMode)

  /** Those that count, in stock Hudi too, only where none of these is given. */
  val Behind: Map[String, Vector[String]] = Map(
    "hoodie.payload.ordering.field" -> (WriteOptions.OrderingField +: WriteOptions.OrderingSpellings),
    "hoodie.sql.insert.mode" -> Vector(WriteOptions.InsertOperation),
    "hoodie.sql.bulk.insert.enable" -> Vector(WriteOptions.InsertOperation)
  )

  /** Those that count for compactions. */
  val OfCompactions: Set[String] = Set(
    "hoodie.compact.merge.handle.class",
    "hoodie.compaction.payload.class",
    "hoodie.io.factory.class",
    "hoodie.base.file.format"
  )

  private def rows: Map[String, StockOption] = Map(
    "hoodie.datasource.write.insert.drop.duplicates" -> Refused(
      Off,
      "hoodie.datasource.write.operation=upsert writes each key once; or take keys that are there out of the rows"
    ),
    "hoodie.datasource.insert.dup.policy" -> Refused(one("none"), "inserts look nothing up; take such rows out before"),
    "hoodie.combine.before.insert" -> Refused(Off, "inserts keep rows of one key; take them out before, or upsert"),
    "hoodie.combine.before.upsert" -> Refused(On, "of rows of one key one is upserted; leave it out"),
    "hoodie.merge.allow.duplicate.on.inserts" -> Refused(On, "inserts look nothing up; upsert"),
    "hoodie.write.schema" -> schema,
    "hoodie.avro.schema" -> schema,
    "hoodie.sql.insert.mode" -> Refused(one("upsert"), s"set ${WriteOptions.InsertOperation}"),
    "hoodie.sql.bulk.insert.enable" -> Refused(Off, s"set ${WriteOptions.InsertOperation}=bulk_insert"),
    OverwriteMode -> Refused(
      Unset,
      "set spark.sql.sources.partitionOverwriteMode, or partitionOverwriteMode of the write"
    ),
    "hoodie.partition.ttl.inline" -> Refused(Off, "partitions do not go by their age; write with stock Hudi"),
    "hoodie.precommit.validators" -> validator,
    "hoodie.prewrite.validators" -> validator,
    "hoodie.payload.delete.field" -> delete,
    "hoodie.payload.delete.marker" -> delete,
    "hoodie.auto.commit" -> Refused(On, "a write commits, or nothing of it is there; leave it out"),
    "hoodie.allow.empty.commit" -> Refused(
      On,
      "a write without rows is a commit without files; leave such a write out"
    ),
    "hoodie.write.rolling.metadata.keys" ->
      Refused(Unset, "no metadata is carried from commit to commit; give it with each write"),
    "hoodie.static.overwrite.partition.paths" -> internal,
    "hoodie.bulkinsert.overwrite.operation.type" -> internal,
    "hoodie.write.partial.update.schema" -> internal,
    "hoodie.internal.schema" -> internal
  )

  private def schema = Refused(Unset, "the rows' own columns are written; select them in the DataFrame")
  private def validator = Refused(Unset, "validators are not run; check the rows before, or write with stock Hudi")
  private def delete = Refused(Unset, "deletes are told by _hoodie_is_deleted; make that column of it")
  private def internal = Refused(Unset, "Hudi's own code sets it; leave it out")

  private def merging: Map[String, StockOption] = {
    val instead = s"rows are merged by ${WriteOptions.MergeMode}; set that, or write with stock Hudi"
    val mergers = Refused(StockMergers, instead)
    val strategy = Refused(one(TableMergeRules.EventTimeStrategy), instead)
    Map(
      "hoodie.datasource.write.record.merger.impls" -> mergers,
      "hoodie.write.record.merge.custom.implementation.classes" -> mergers,
      "hoodie.datasource.write.record.merger.strategy" -> strategy,
      "hoodie.compaction.record.merger.strategy" -> strategy,
      "hoodie.compaction.payload.class" -> Refused(one(AskedMergeMode.Payloads: _*), instead),
      "hoodie.table.partial.update.mode" -> Refused(Unset, instead),
      "hoodie.payload.ordering.field" -> Refused(one("ts"), s"set ${WriteOptions.OrderingField}")
    )
  }

  private lazy val StockMergers = one("org.apache.hudi.DefaultSparkRecordMerger") ++
    one(
      Seq("HoodieAvroRecordMerger", "OverwriteWithLatestMerger", "EventTimeAvroRecordMerger").map(
        AskedMergeMode.Package + _
      ): _*
    )

  private def files: Map[String, StockOption] = {
    val parquet = Refused(one("parquet"), "base files are Parquet files; write with stock Hudi")
    val logs = Refused(one("hoodie_log"), "log files are Hudi's; leave it out")
    Map(
      "hoodie.base.file.format" -> parquet,
      "hoodie.table.base.file.format" -> parquet,
      "hoodie.table.ro.file.format" -> parquet,
      "hoodie.table.log.file.format" -> logs,
      "hoodie.table.rt.file.format" -> logs,
      "hoodie.table.multiple.base.file.formats.enable" -> Refused(Off, "base files are Parquet files; leave it out"),
      "hoodie.logfile.data.block.format" -> Refused(one("avro"), "records of logs are written as Avro; leave it out"),
      "hoodie.parquet.outputtimestamptype" ->
        Refused(one("timestamp_micros"), "timestamps are written in microseconds; leave it out"),
      "hoodie.parquet.writelegacyformat.enabled" ->
        Refused(Off, "files have Parquet's present form; leave it out, or write with stock Hudi"),
      "hoodie.datasource.write.drop.partition.columns" -> Refused(Off, "files hold all columns; leave it out"),
      "hoodie.populate.meta.fields" -> Refused(On, "rows hold Hudi's columns; leave it out"),
      WriteOptions.AllowOperation -> Refused(
        Off,
        "the meta column _hoodie_operation is read, but not written here; leave the option out, or write with stock Hudi"
      ),
      "hoodie.storage.layout.type" ->
        Refused(one("default"), "file groups are not fixed by a hash of the key; write with stock Hudi"),
      "hoodie.fileid.prefix.provider.class" ->
        Refused(
          one("org.apache.hudi.table.RandomFileIdPrefixProvider"),
          "file groups have names by chance; leave it out"
        ),
      "hoodie.table.cdc.enabled" ->
        Refused(Off, "hudiidx writes no tables that keep change data; write with stock Hudi"),
      "hoodie.metaserver.enabled" ->
        Refused(Off, "instants are files of the table, not of a server; write with stock Hudi")
    )
  }

  private def classes: Map[String, StockOption] = {
    def own(standard: String*) =
      Refused(one(standard: _*), "classes of one's own that write are not run; write with stock Hudi")
    val merging = own("org.apache.hudi.io.FileGroupReaderBasedMergeHandle")
    val resolution = "org.apache.hudi.client.transaction."
    Map(
      "hoodie.write.merge.handle.class" -> merging,
      "hoodie.compact.merge.handle.class" -> merging,
      "hoodie.write.concat.handle.class" -> own("org.apache.hudi.io.HoodieConcatHandle"),
      "hoodie.avro.write.support.class" -> own("org.apache.hudi.avro.HoodieAvroWriteSupport"),
      "hoodie.parquet.spark.row.write.support.class" ->
        own("org.apache.hudi.io.storage.row.HoodieRowParquetWriteSupport"),
      "hoodie.parquet.write.config.injector.class" -> own(),
      "hoodie.io.factory.class" -> own(
        "org.apache.hudi.io.storage.hadoop.HoodieHadoopIOFactory",
        "org.apache.hudi.io.hadoop.HoodieHadoopIOFactory"
      ),
      "hoodie.index.class" -> Refused(
        one(StockIndexClass.Name),
        "records are looked up by hudiidx' own index; leave it out, or write with stock Hudi"
      ),
      "hoodie.write.lock.conflict.resolution.strategy" -> Refused(
        one(
          s"${resolution}SimpleConcurrentFileWritesConflictResolutionStrategy",
          s"${resolution}PreferWriterConflictResolutionStrategy"
        ),
        "a file group that two writes wrote is a conflict; leave it out, or write with stock Hudi"
      )
    )
  }

  /** Properties of a table, which stock takes among options where it makes one. */
  private def ofTables: Map[String, StockOption] = {
    val folder = "folders of the timeline are Hudi's own; leave it out"
    val extractors = Seq(
      "MultiPartKeysValueExtractor",
      "NonPartitionedExtractor",
      "SinglePartPartitionValueExtractor",
      "HiveStylePartitionValueExtractor"
    )
    val extractor = Refused(
      one(extractors.map("org.apache.hudi.hive." + _): _*),
      s"how paths are taken apart is the table's own; leave it out, or set ${WriteOptions.SlashDates} for a new table"
    )
    Map(
      "hoodie.timeline.path" -> Refused(one("timeline"), folder),
      "hoodie.timeline.history.path" -> Refused(one("history"), folder),
      "hoodie.archivelog.folder" -> Refused(one("archived", "history"), folder),
      "hoodie.meta.fields.mode" -> Refused(one("all"), "rows hold Hudi's columns; leave it out"),
      "hoodie.partition.metafile.use.base.format" ->
        Refused(Off, "the files that mark partitions are texts; leave it out"),
      "hoodie.table.format" -> Refused(one("native"), "tables are Hudi's own; leave it out"),
      "hoodie.table.partition_extractor_class" -> extractor,
      "hoodie.datasource.partition_extractor_class" -> extractor
    )
  }
}
