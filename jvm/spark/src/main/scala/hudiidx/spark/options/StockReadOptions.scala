package hudiidx.spark.options

import java.util.Locale

import hudiidx.InvalidOption

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
  private val listing = Harmless("how stock lists files and leaves some out; the index does that here")

  /** By name; those of `DataSourceReadOptions` of all releases. */
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
    "hoodie.datasource.streaming.startoffset" -> Followed,
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
