package hudiidx.spark.options

import java.util.Locale

import hudiidx.InvalidOption

import hudiidx.sync.{IndexOptions, OptionDoc}
import hudiidx.sync.OptionKind.{Flag, OneOf, Text}
import hudiidx.table.query.{QueryInstant, QuerySettings}

/** Settings of one read, resolved and checked.
  *
  *  @param asOf instant time of the query; None: the latest
  *  @param queryType one of [[ReadOptions.QueryTypes]]
  *  @param view one of [[ReadOptions.Views]]: the table's rows, or a listing of it
  *  @param columnsByName files are read by the names of their columns, whatever a history of columns says
  *  @param mergesAs11 logs of tables of version 6 are merged by the rules of Hudi 1.1, not of 0.15
  *  @param partitionsFromPaths the values of all partition columns are those of the paths
  *  @param keepsHistory each scan leaves a record in the index folder
  *  @param increment of an incremental query; None: a snapshot
  *  @param changes of a query of changes
  *  @param lacksBegin of both: nobody said where they begin, which streams alone know by themselves
  *  @param tagStrategy how `tag_location` looks keys up, see [[TagStrategy]]
  */
final case class ReadOptions(
    asOf: Option[String],
    queryType: String,
    view: String,
    index: IndexOptions,
    tagStrategy: String,
    increment: Option[IncrementalOptions] = None,
    changes: Option[ChangeOptions] = None,
    pushdowns: ReadPushdowns = ReadPushdowns.of(Map.empty),
    columnsByName: Boolean = false,
    mergesAs11: Boolean = false,
    keepsHistory: Boolean = false,
    partitionsFromPaths: Boolean = false,
    lacksBegin: Boolean = false
) {

  /** InvalidOption for a query that must have a begin and has none. */
  def requireBegin(): Unit = if (lacksBegin) throw IncrementalOptions.beginNeeded
}

object ReadOptions {

  /** What `format` calls the source. */
  val SourceName = "hudiidx"
  val RowsView = "rows"
  val PartitionsView = "partitions"
  val TimelineView = "timeline"
  val RecordIndexView = "record_index"
  val LogBlocksView = "log_blocks"
  val ColumnStatsView = "column_stats"
  val BloomFiltersView = "bloom_filters"

  /** Names that the `view` option takes. */
  val Views: Vector[String] =
    Vector(
      RowsView,
      PartitionsView,
      TimelineView,
      RecordIndexView,
      LogBlocksView,
      ColumnStatsView,
      BloomFiltersView
    ) ++ ViewCall.All.map(
      _.name
    )

  /** What a query of the rows asks for: all rows, of merge-on-read tables those of the base files alone, or those that some
    * commits wrote.
    */
  val Snapshot: String = QuerySettings.Snapshot
  val ReadOptimized: String = QuerySettings.ReadOptimized
  val Incremental = "incremental"
  val QueryTypes: Vector[String] = Vector(Snapshot, ReadOptimized, Incremental)

  val QueryType: String = QuerySettings.QueryType

  /** Stock's older name of the same, and its older name of `snapshot`. */
  val ViewType = "hoodie.datasource.view.type"
  private val RealTime = "realtime"
  val SchemaOnRead: String = QuerySettings.SchemaOnRead
  val PartitionsFromPaths = "hoodie.datasource.read.extract.partition.values.from.path"
  val AsOfInstant: String = QuerySettings.AsOfInstant
  val ViewName = "view"
  val MergeRelease: String = QuerySettings.MergeRelease
  val ReadHistory = "hudiidx.read.history"
  private val Release015 = "0.15"
  private val Release11 = "1.1"

  private val queryTypeDoc = OptionDoc(
    QueryType,
    OneOf(QueryTypes),
    Snapshot,
    s"`$ReadOptimized` reads the base files of a merge-on-read table alone, without its logs; `$Incremental`: the rows that some " +
      s"commits wrote, as they left them. (`$ViewType` is taken for it too, and `$RealTime` for `$Snapshot`; not for `$ReadOptimized`, " +
      "where stock Hudi reads logs all the same.)"
  )
  private val schemaOnRead = OptionDoc(
    SchemaOnRead,
    Flag,
    "true",
    "Where the table keeps a history of its columns (`.hoodie/.schema`) files are read by the ids of columns, so that ones that " +
      "were renamed, or dropped and added again, are found; where keys, partitions or ordering fields were renamed the table is " +
      "`UnsupportedTable`. `false` reads files by the names of their columns, as stock Hudi does by default."
  )
  private val fromPaths = OptionDoc(
    PartitionsFromPaths,
    Flag,
    "false",
    "`true`: all partition columns have the values of the paths, and null where a path cannot be read; those of timestamp key " +
      "generators are the texts of the paths, whatever type the column has. Default: where the text of a path is the column's own value."
  )
  private val mergeRelease = OptionDoc(
    MergeRelease,
    OneOf(Vector(Release015, Release11)),
    Release015,
    s"The release of Hudi by whose rules the logs of tables of version 6 are merged. `$Release11`: other rows where records or " +
      "deletes come late (of two log records under OverwriteWithLatestAvroPayload the later wins, a late delete under " +
      "DefaultHoodieRecordPayload deletes nothing). Record indexes hold keys by the rules of 0.15, so then scans ask none. Compactions by hudiidx merge by it, too."
  )
  private val readHistory = OptionDoc(
    ReadHistory,
    Flag,
    "false",
    "`true`: each scan of a table that has an index leaves its filters and metrics as a small file in the index folder " +
      "(`scans/`, the newest 1,000), by which `recommend` goes in any later process."
  )
  private val viewName = OptionDoc(
    ViewName,
    OneOf(Views),
    RowsView,
    "What to read: the table's rows, or a listing of it as a DataFrame ([python.md](python.md))."
  )
  private val tagStrategy = OptionDoc(
    TagStrategy.OptionName,
    OneOf(TagStrategy.All),
    TagStrategy.Auto,
    "How `tag_location` looks keys up: `driver`, `direct` (each task its own rows), `shuffle` (rows go by the hash of their keys " +
      "first)."
  )

  /** Those that any session or reader may name. */
  val OwnDocs: Vector[OptionDoc] = Vector(tagStrategy, mergeRelease, readHistory)

  /** Those of the reader alone, and stock Hudi's. */
  val ReaderDocs: Vector[OptionDoc] = Vector(
    OptionDoc(
      AsOfInstant,
      Text("instant"),
      "(the latest)",
      "Time travel, as stock Hudi spells it: `yyyyMMddHHmmss[SSS]`, `yyyy-MM-dd HH:mm:ss[.SSS]`, `yyyy-MM-dd`."
    ),
    queryTypeDoc,
    schemaOnRead,
    fromPaths,
    viewName
  ) ++ IncrementalOptions.Docs ++ StreamOptions.Docs

  /** All settings that a reader takes. Those that begin with `hudiidx.` or `hoodie.` may stand in the Spark session's
    * configuration under the same name; the reader's own option wins.
    */
  val Docs: Vector[OptionDoc] = ReaderDocs ++ OwnDocs ++ ReadPushdowns.Docs ++ IndexOptions.Docs

  val Prefix = "hudiidx."
  private val WritePrefix = "hudiidx.write."

  /** Stock Hudi's settings, which it takes from the session too. */
  val HudiPrefix = "hoodie."

  /** @param options the reader's own, keys in any case
    * @param session the session's configuration, of which keys count that begin with `hudiidx.`, but those of writes, and where
    *                rows are read with `hoodie.`
    */
  def of(options: Map[String, String], session: Map[String, String]): ReadOptions = {
    val own = options.map { case (k, v) => k.toLowerCase(Locale.ROOT) -> v }
    val settings = session.filter { case (k, _) => k.startsWith(Prefix) && !k.startsWith(WritePrefix) } ++ own
    settings.keys.filter(k => k.startsWith(Prefix) && !isKnown(k)).foreach(refuse)
    val what = view(viewName.text(own))
    val asked =
      (if (what == RowsView) session.filter(_._1.startsWith(HudiPrefix)) else Map.empty[String, String]) ++ own
    if (what == RowsView) StockReadOptions.check(asked)
    val kind = asked.get(QueryType).map(queryType).orElse(asked.get(ViewType).map(olderType)).getOrElse(Snapshot)
    val ofChanges = kind == Incremental && IncrementalOptions.isOfChanges(asked)
    ReadOptions(
      asOf = own.get(AsOfInstant).map(QueryInstant.parse(AsOfInstant, _)),
      queryType = kind,
      view = what,
      index = IndexOptions.of(settings),
      tagStrategy = TagStrategy.checked(ReadOptions.tagStrategy.text(settings)),
      increment = if (kind == Incremental && !ofChanges) Some(IncrementalOptions.of(asked)) else None,
      changes = if (ofChanges) Some(IncrementalOptions.ofChanges(asked)) else None,
      pushdowns = ReadPushdowns.of(settings),
      columnsByName = !schemaOnRead.flag(asked),
      mergesAs11 = mergesAs11(mergeRelease.text(settings)),
      keepsHistory = readHistory.flag(settings),
      partitionsFromPaths = fromPaths.flag(asked),
      lacksBegin = kind == Incremental && IncrementalOptions.lacksBegin(asked)
    )
  }

  /** The setting of [[MergeRelease]] for what merges log files but is no query; none: its default. */
  def mergeReleaseOf(session: Map[String, String], options: Map[String, String]): Map[String, String] =
    (session.get(MergeRelease) ++ options.collect { case (k, v) if k.equalsIgnoreCase(MergeRelease) => v }).lastOption
      .map(MergeRelease -> _)
      .toMap

  /** Does an option, in lower case, decide how or which rows are read? */
  def isRowOption(name: String): Boolean =
    name.startsWith(Prefix) || name.startsWith(HudiPrefix) || name == AsOfInstant || name == ViewName

  private def isKnown(name: String): Boolean =
    IndexOptions.isKnown(name) || ReadPushdowns.isKnown(name) || own(name)

  private val own: Set[String] = OwnDocs.map(_.name).toSet

  private def view(name: String): String = {
    val lower = name.toLowerCase(Locale.ROOT)
    if (!Views.contains(lower))
      throw new InvalidOption(s"$ViewName: unknown view '$name'; expected one of: ${Views.mkString(", ")}")
    lower
  }

  private def mergesAs11(release: String): Boolean = release.trim match {
    case Release015 => false
    case Release11  => true
    case other      =>
      throw new InvalidOption(s"$MergeRelease: unsupported value '$other'; supported: $Release015, $Release11")
  }

  private def queryType(name: String): String = {
    val lower = name.trim.toLowerCase(Locale.ROOT)
    if (lower == RealTime) Snapshot
    else if (!QueryTypes.contains(lower))
      throw new InvalidOption(s"$QueryType: unsupported value '$name'; supported: ${QueryTypes.mkString(", ")}")
    else lower
  }

  /** Stock Hudi takes base files for this name and then reads their logs too. */
  private def olderType(name: String): String = queryType(name) match {
    case ReadOptimized =>
      throw new InvalidOption(
        s"$ViewType: unsupported value '$name', as stock Hudi reads logs with it; set $QueryType to $ReadOptimized, or leave it out"
      )
    case other => other
  }

  private def refuse(name: String): Unit = throw new InvalidOption(
    s"$name: unknown option; supported: ${Docs.map(_.name).filter(_.startsWith(Prefix)).sorted.mkString(", ")}"
  )
}
