package hudiidx.spark.options

import java.util.Locale

import hudiidx.InvalidOption
import hudiidx.table.TableMergeRules

/** What becomes of one of stock Hudi's reader options; docs/options.md has the list. */
sealed abstract class StockOption(val name: String) extends Product with Serializable {
  def why: String
}

object StockOption {

  /** As stock follows it. */
  case object Followed extends StockOption("followed") {
    override def why: String = "see above"
  }

  /** It may stand there: rows do not depend on it. */
  final case class Harmless(why: String) extends StockOption("harmless")

  /** A value other than these is refused: rows would not be what was asked for.
    *
    * @param taken in lower case
    */
  final case class Refused(taken: Set[String], why: String) extends StockOption("refused")

  /** InvalidOption for a value that is refused.
    *
    * @param given  names in lower case
    * @param counts of which names a value is refused here
    */
  def check(decided: Map[String, StockOption], given: Map[String, String])(counts: String => Boolean): Unit =
    decided.foreach {
      case (name, Refused(taken, why)) if counts(name) =>
        given.get(name).map(_.trim).filterNot(v => taken(v.toLowerCase(Locale.ROOT))).foreach { value =>
          throw new InvalidOption(s"$name: unsupported value '$value'; $why")
        }
      case _ => ()
    }
}

/** All options of stock Hudi's reader, 0.15.0 to 1.2.0, each with a decision: none is taken silently and not followed. */
object StockReadOptions {
  import StockOption._

  private val Off = Set("false")
  private val deletes =
    Refused(Set(""), "_hoodie_is_deleted and the table's own properties say which records are deletes; leave it out")
  private val asTable = "rows are merged as the table's own properties say; leave it out"

  /** But those whose merging is the table's own. */
  private val mergers = Refused(
    Set("HoodieAvroRecordMerger", "OverwriteWithLatestMerger", "EventTimeAvroRecordMerger")
      .map(name =>
        s"org.apache.hudi.common.model.$name".toLowerCase(Locale.ROOT)
      ) + "org.apache.hudi.defaultsparkrecordmerger",
    asTable
  )
  private val listing = Harmless("how stock lists files and leaves some out; the index does that here")

  /** By name; those of all releases. */
  val Decided: Map[String, StockOption] = Map(
    ReadOptions.AsOfInstant -> Followed,
    ReadOptions.QueryType -> Followed,
    ReadOptions.ViewType -> Followed,
    ReadOptions.SchemaOnRead -> Followed,
    ReadOptions.PartitionsFromPaths -> Followed,
    IncrementalOptions.Begin -> Followed,
    IncrementalOptions.End -> Followed,
    IncrementalOptions.Fallback -> Followed,
    IncrementalOptions.Holes -> Followed,
    IncrementalOptions.PathGlob -> Followed,
    IncrementalOptions.SkipCompaction -> Followed,
    IncrementalOptions.EndSchema -> Followed,
    IncrementalOptions.Format -> Followed,
    "hoodie.datasource.read.incr.filters" ->
      Refused(Set(""), "filter the DataFrame, filters are pushed down to the files"),
    "hoodie.datasource.merge.type" -> Refused(
      Set("payload_combine"),
      "rows of logs are always merged; leave it out, or set hoodie.datasource.query.type to read_optimized to read base files alone"
    ),
    "hoodie.datasource.read.incr.table.version" ->
      Refused(Set(""), "the version of the table itself says how instants are meant; leave it out"),
    "hoodie.datasource.read.incr.skip_cluster" ->
      Refused(Off, "clusterings are read as the writes that they stand for; leave it out"),
    "hoodie.datasource.read.paths" ->
      Refused(Set(""), "load the table's base path and filter, by _hoodie_partition_path or _file for one"),
    "hoodie.datasource.read.create.filesystem.relation" -> Refused(Off, "option view=files lists files"),
    "hoodie.datasource.read.table.valued.function.timeline.relation" ->
      Refused(Off, "option view=timeline shows the timeline"),
    "hoodie.datasource.read.partition.value.extractor.enabled" ->
      Refused(Off, "values of partition columns are those that paths or files hold; leave it out"),
    "hoodie.datasource.read.table.valued.function.filesystem.relation.subpath" ->
      Harmless("says more of hoodie.datasource.read.create.filesystem.relation, which is refused"),
    "hoodie.datasource.read.table.valued.function.timeline.relation.archived" ->
      Harmless("says more of hoodie.datasource.read.table.valued.function.timeline.relation, which is refused"),
    "hoodie.datasource.write.precombine.field" ->
      Harmless("an option of writes too; the table's own ordering fields order its records"),
    "hoodie.datasource.read.use.new.parquet.file.format" ->
      Harmless("which of stock's readers opens the files; rows are the same"),
    "hoodie.spark.polaris.catalog.class" -> Harmless("names a catalog, which finds tables and reads none"),
    StreamOptions.Start.toLowerCase(Locale.ROOT) -> Followed,
    "hoodie.datasource.read.streaming.table.version" ->
      Harmless(
        "of streams, which refuse it where it is not the version of the table itself, as that says how instants are meant"
      ),
    "hoodie.enable.data.skipping" -> listing,
    "hoodie.file.index.enable" -> listing,
    "hoodie.datasource.read.file.index.listing.mode" -> listing,
    "hoodie.datasource.read.file.index.listing.partition-path-prefix.analysis.enabled" -> listing,
    "hoodie.datasource.read.file.index.optimize.listing.using.path.filter" -> listing,
    "hoodie.datasource.read.file.index.list.partitions.from.catalog" -> listing
  ) ++ ofOtherClasses

  /** Of `HoodieReaderConfig`, and all else that stock's reading classes ask for. */
  private def ofOtherClasses: Map[String, StockOption] = refused ++ ofMemory ++ ofTables ++
    Seq(
      "_hoodie.hfile.use.native.reader",
      "hoodie.file.group.reader.enabled",
      "hoodie.merge.use.record.positions",
      "hoodie.compaction.lazy.block.read",
      "hoodie.compaction.reverse.log.read",
      "hoodie.optimized.log.blocks.scan.enable"
    ).map(_ -> Harmless("how stock opens files and merges logs; rows are the same")) ++
    Seq(
      "hoodie.metadata.enable",
      "hoodie.bucket.index.hash.field",
      "hoodie.bucket.index.num.buckets",
      "hoodie.bucket.index.query.pruning",
      "hoodie.index.bucket.engine",
      "hoodie.index.type"
    ).map(_ -> listing) ++
    Seq(
      "_hoodie.merger.payload.class",
      "hoodie.payload.record.schema",
      "hoodie.valid.commits.list",
      "hoodie.vector.columns"
    ).map(_ -> Harmless("stock's reader sets it itself")) ++
    Seq("hoodie.blob.batching.lookahead.size", "hoodie.blob.batching.max.gap.bytes").map(
      _ -> Harmless("of stock's function read_blob, which is its session's")
    ) +
    ("hoodie.read.blob.inline.mode" -> Harmless(
      "of blobs in Lance files, which are refused; in Parquet rows are the same"
    ))

  private def ofMemory: Map[String, StockOption] =
    Seq(
      "hoodie.cdc.file.group.iterator.memory.spill.bytes",
      "hoodie.common.diskmap.compression.enabled",
      "hoodie.common.spillable.diskmap.type",
      "hoodie.file.index.cache.spillable.mem",
      "hoodie.file.index.cache.use.spillable.map",
      "hoodie.hfile.block.cache.enabled",
      "hoodie.hfile.block.cache.size",
      "hoodie.hfile.block.cache.ttl.minutes",
      "hoodie.lance.read.allocator.size.bytes",
      "hoodie.lance.read.metadata.allocator.size.bytes",
      "hoodie.memory.dfs.buffer.max.size",
      "hoodie.memory.merge.max.size",
      "hoodie.memory.spillable.map.path",
      "hoodie.metadata.max.reader.buffer.size"
    ).map(_ -> Harmless("how much memory stock's reader takes, and where it goes on behind that")).toMap

  private def ofTables: Map[String, StockOption] =
    Seq(
      "hoodie.datasource.write.partitionpath.field",
      "hoodie.datasource.write.recordkey.field",
      "hoodie.deltastreamer.keygen.timebased.input.dateformat",
      "hoodie.deltastreamer.keygen.timebased.output.dateformat",
      "hoodie.deltastreamer.keygen.timebased.timestamp.type",
      "hoodie.keygen.timebased.input.dateformat",
      "hoodie.keygen.timebased.output.dateformat",
      "hoodie.keygen.timebased.timestamp.type",
      "hoodie.payload.ordering.field",
      "hoodie.table.name",
      "hoodie.table.ordering.fields",
      "hoodie.table.partition_extractor_class",
      "hoodie.table.precombine.field",
      "hoodie.table.recordkey.fields",
      "hoodie.write.partial.update.unavailable.value"
    ).map(_ -> Harmless("an option of writes too; what the table itself keeps of it counts")).toMap

  private def refused: Map[String, StockOption] = Map(
    "hoodie.datasource.write.record.merger.impls" -> mergers,
    "hoodie.write.record.merge.custom.implementation.classes" -> mergers,
    "hoodie.datasource.write.record.merger.strategy" -> Refused(Set(TableMergeRules.EventTimeStrategy), asTable),
    "hoodie.payload.delete.field" -> deletes,
    "hoodie.payload.delete.marker" -> deletes,
    "hoodie.bootstrap.data.queries.only" -> Refused(Off, "of bootstrapped tables, which are not read; leave it out"),
    "hoodie.io.factory.class" -> Refused(
      Set("org.apache.hudi.io.storage.hadoop.hoodiehadoopiofactory", "org.apache.hudi.io.hadoop.hoodiehadoopiofactory"),
      "files are opened by hudiidx' own readers; leave it out"
    )
  )

  /** There is a decision on the option. */
  def isDecided(name: String): Boolean = Decided.contains(name.toLowerCase(Locale.ROOT))

  /** InvalidOption for what rows would depend on and is not followed, and for what begins like an option of the reader and is none.
    *
    * @param asked of a read of rows, names in lower case
    */
  def check(asked: Map[String, String]): Unit = {
    asked.keys.toVector.sorted.find(k => Families.exists(k.startsWith(_)) && !Decided.contains(k)).foreach { name =>
      throw UnknownOption.refused(name, Decided.keys)
    }
    StockOption.check(Decided, asked)(_ => true)
  }

  /** The beginnings of names that are the reader's alone. */
  private val Families = Vector("read", "query", "view", "merge", "streaming").map(n => s"hoodie.datasource.$n.")
}
