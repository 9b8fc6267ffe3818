package hudiidx.sync

import hudiidx.InvalidOption
import hudiidx.column.{BloomKind, NeverColumns, ValuesKind}
import hudiidx.record.RecordPlan
import hudiidx.store.{IndexStore, Retention}
import hudiidx.sync.OptionKind.{Flag, IntRange, OneOf, Text}
import hudiidx.table.LogCheck

/** Settings of an index, from reader options, `hudiidx.*` session settings or keywords.
  *
  *  @param indexPath     folder of the index; None = `<table>/.hoodie/hudiidx`
  *  @param enabled       false: plan from a listing, as if there were no index
  *  @param strict        true: what would fall back to listing raises an error
  *  @param source        where `create` takes the files from: [[IndexOptions.Sources]]
  *  @param mergePercent  the delta is merged into a new master when it holds more than this share of the master's files
  *  @param mergeMinFiles ...and more files than this
  *  @param retention     how long index versions are kept
  *  @param logs          of log blocks whose writers left no index one is kept; None: as the index has it
  *  @param damagedAsStock files of the table that are cut, gone or overwritten are skipped where stock Hudi does so
  *  @param never         columns of which the index holds nothing, beside those that it was told of before
  *  @param symlinkPaths  folders outside the index folder in which updates may keep symlink manifests
  *  @param record        of the record index
  *  @param columns       of the indexes on columns
  */
final case class IndexOptions(
    indexPath: Option[String] = None,
    enabled: Boolean = true,
    strict: Boolean = false,
    source: String = "auto",
    mergePercent: Int = 5,
    mergeMinFiles: Int = 2000,
    retention: Retention = Retention(retained = 3, minAgeMillis = 3600000L, orphanAgeMillis = 86400000L),
    record: RecordOptions = RecordOptions(),
    columns: ColumnOptions = ColumnOptions(),
    logs: Option[Boolean] = None,
    damagedAsStock: Boolean = false,
    symlinkPaths: Vector[String] = Vector.empty,
    never: NeverColumns = NeverColumns.None
) {

  def indexDir(tablePath: String): String = {
    val dir = indexPath.getOrElse(IndexStore.defaultDir(tablePath))
    if (dir == "/") dir else dir.stripSuffix("/")
  }
}

/** Settings of the record index.
  *
  *  @param mode       `global`: a key is one record of the table; `partitioned`: of its partition. None: as the index has it,
  *                    no record index if it has none
  *  @param windowDays only records committed in the last so many days of the timeline; None: as the index has it, or all
  *  @param fileGroups hash groups that a new record index is made with, and which merges leave; None: by its size
  *  @param groupBytes size of a hash group: with twice as much it is split; None: as the index has it, or 64 MiB
  */
final case class RecordOptions(
    mode: Option[String] = None,
    windowDays: Option[Int] = None,
    fileGroups: Option[Int] = None,
    groupBytes: Option[Long] = None
)

/** Settings of the indexes on columns; None: as the index has it.
  *
  *  @param range  columns with bounds and counts, commas between them; `*`: all
  *  @param bloom  columns with bloom filters
  *  @param fpp    share of absent values that these take for present
  *  @param values columns with sets of values
  *  @param most   values that such a set has at most
  *  @param others indexes of other kinds, semicolons between them: `kind(column,option=value)`
  */
final case class ColumnOptions(
    range: Option[String] = None,
    bloom: Option[String] = None,
    fpp: Option[String] = None,
    values: Option[String] = None,
    most: Option[String] = None,
    others: Option[String] = None
)

object IndexOptions {
  val Path = "hudiidx.index.path"
  val Enabled = "hudiidx.index.enabled"
  val Strict = "hudiidx.index.strict"
  val Source = "hudiidx.create.source"
  val MergePercent = "hudiidx.update.merge.percent"
  val MergeMinFiles = "hudiidx.update.merge.min.files"
  val RetainLast = "hudiidx.expire.retain.last"
  val OlderThanMinutes = "hudiidx.expire.older.than.minutes"
  val OrphanMinutes = "hudiidx.expire.orphan.minutes"
  val RecordMode = "hudiidx.record.mode"
  val RecordWindowDays = "hudiidx.record.window.days"
  val RecordFileGroups = "hudiidx.record.file.groups"
  val RecordGroupBytes = "hudiidx.record.group.bytes"
  val Columns = "hudiidx.columns"
  val BloomColumns = "hudiidx.bloom.columns"
  val BloomFpp = "hudiidx.bloom.fpp"
  val ValuesColumns = "hudiidx.values.columns"
  val ValuesMax = "hudiidx.values.max"
  val OtherIndexes = "hudiidx.column.indexes"
  val Logs = "hudiidx.logs"
  val Never: String = NeverColumns.OptionName
  val SymlinkPath = "hudiidx.symlinks.path"
  val ReadDamaged: String = LogCheck.OptionName

  /** auto: Hudi's metadata table where it is in step, else a listing. */
  val Sources: Set[String] = Set("auto", "listing", "metadata")

  /** Record indexes: a key is one record of the table, or of its partition. */
  val GlobalMode = "global"
  val RecordModes: Set[String] = Set(GlobalMode, "partitioned")

  private val MostFileGroups = 1 << 14
  private val LeastGroupBytes = 1 << 16
  private val MostMinutes = 10000000
  private val Minute = 60000L

  // What holds where nothing is given: the defaults of the classes above.
  private val usual = IndexOptions()
  private val Kept = "(as the index has it, else none)"
  private val ColumnList = "columns, commas between them"

  private val path =
    OptionDoc(
      Path,
      Text("path"),
      "(`<table>/.hoodie/hudiidx`)",
      "Folder of the index; set it for a table that is read-only."
    )
  private val enabled =
    OptionDoc(Enabled, Flag, usual.enabled.toString, "`false`: do as if there were no index, list the table.")
  private val strict = OptionDoc(
    Strict,
    Flag,
    usual.strict.toString,
    "`true`: an index that is missing, damaged or of another table is an error, not a warning."
  )
  private val source = OptionDoc(
    Source,
    OneOf(Sources.toVector.sorted),
    usual.source,
    "Where `create` takes the files from: `listing`, `metadata` (Hudi's own metadata table), `auto` (that where it is in step, " +
      "else a listing)."
  )
  private val mergePercent = OptionDoc(
    MergePercent,
    IntRange(1, 100),
    usual.mergePercent.toString,
    "The delta manifest is merged into a new master when it holds more than this share of the master's files, in percent…"
  )
  private val mergeMinFiles =
    OptionDoc(MergeMinFiles, IntRange(0, Int.MaxValue), usual.mergeMinFiles.toString, "…and more files than this.")
  private val retained = OptionDoc(
    RetainLast,
    IntRange(1, 10000),
    usual.retention.retained.toString,
    "So many newest index versions are kept, whatever their age."
  )
  private val olderThanMinutes = OptionDoc(
    OlderThanMinutes,
    IntRange(0, MostMinutes),
    (usual.retention.minAgeMillis / Minute).toString,
    "An index version that was replaced less than this ago is kept: a reader may have it open."
  )
  private val orphanMinutes = OptionDoc(
    OrphanMinutes,
    IntRange(0, MostMinutes),
    (usual.retention.orphanAgeMillis / Minute).toString,
    "An index file that no version names is removed when it is older than this. Making an index must not take longer."
  )
  private val recordMode = OptionDoc(
    RecordMode,
    OneOf(RecordModes.toVector.sorted),
    Kept,
    "`create` makes a record index: `global` (a key is one record of the table) or `partitioned` (of its partition)."
  )
  private val windowDays = OptionDoc(
    RecordWindowDays,
    IntRange(1, 36500),
    "(all)",
    "The record index holds records committed in the last so many days only, counted from the newest instant."
  )
  private val fileGroups = OptionDoc(
    RecordFileGroups,
    IntRange(1, MostFileGroups),
    "(by size)",
    "Hash groups that a record index is made with; they split as it grows."
  )
  private val groupBytes = OptionDoc(
    RecordGroupBytes,
    IntRange(LeastGroupBytes, Int.MaxValue),
    s"(as the index has it, else ${RecordPlan.TargetBytes})",
    "A hash group of the record index is split when it has twice so many bytes. The index keeps it."
  )
  private val damaged = OptionDoc(
    ReadDamaged,
    OneOf(Vector(LogCheck.AsError, LogCheck.AsStock)),
    LogCheck.AsError,
    "Files of the table that are cut, gone or overwritten: `error`, or `as_stock` (skipped with a warning, where stock Hudi " +
      "skips them and silently returns fewer or older rows; files are then listed, whatever the index says)."
  )
  private val logs = OptionDoc(
    Logs,
    Flag,
    "(as the index has it, else `false`)",
    "`true`: `create` keeps an index of the keys of log blocks (merge-on-read), by which reads of some record keys find their " +
      "records in logs; `false` takes it away."
  )

  private val never = OptionDoc(
    Never,
    Text(ColumnList),
    "(as the index has it, else none)",
    "The index holds no value of these columns, fields of structs with dots, in any form: no index, report or recorded scan has them, and none can be asked for. The index keeps the list, and " +
      "other sessions can add to it only. A name that the table's schema does not have is warned of. Columns of partitions, `_hoodie_partition_path` " +
      "and `_hoodie_file_name` are refused: every index lists their values, names of folders and files."
  )
  private val symlinkPath = OptionDoc(
    SymlinkPath,
    Text("paths, commas between them"),
    "(none)",
    "Folders outside the index folder in which an index may keep symlink manifests: where none of these is the one that the index " +
      "names, updates leave the manifests as they are and say so."
  )

  /** Values of these are read where indexes on columns are made. */
  private val columnDocs = Vector(
    OptionDoc(
      Columns,
      Text(ColumnList),
      Kept,
      "`create` keeps bounds and counts of these columns for every file: names, those in structs with dots, expressions of " +
        "columns (`date_format(ts, 'yyyy-MM')`), or `*` for all columns, later ones included."
    ),
    OptionDoc(BloomColumns, Text(ColumnList), Kept, "`create` keeps bloom filters of these columns."),
    OptionDoc(
      BloomFpp,
      Text("number between 0 and 1"),
      BloomKind.DefaultFalsePositives.toString,
      "Share of absent values that a bloom filter takes for present."
    ),
    OptionDoc(
      ValuesColumns,
      Text(ColumnList),
      Kept,
      "`create` keeps the values of these columns, for files that have few of them."
    ),
    OptionDoc(
      ValuesMax,
      Text("integer"),
      ValuesKind.DefaultMost.toString,
      "Values that are kept of a file at most; of one that has more none are."
    ),
    OptionDoc(
      OtherIndexes,
      Text("`kind(column,column,option=value)`, semicolons between them"),
      Kept,
      "Indexes of kinds from the class path."
    )
  )

  val Docs: Vector[OptionDoc] = Vector(path, enabled, strict, source, recordMode, windowDays, fileGroups, groupBytes) ++
    columnDocs ++ Vector(
      never,
      logs,
      mergePercent,
      mergeMinFiles,
      retained,
      olderThanMinutes,
      orphanMinutes,
      symlinkPath,
      damaged
    )

  private val names: Set[String] = Docs.map(_.name).toSet

  def isKnown(name: String): Boolean = names(name)

  /** Reads the options above from `settings`; other names are somebody else's. Raises InvalidOption for a bad value. */
  def of(settings: Map[String, String]): IndexOptions = {
    def ifGiven[A](option: OptionDoc, read: OptionDoc => A): Option[A] =
      if (settings.contains(option.name)) Some(read(option)) else None
    IndexOptions(
      indexPath = settings.get(Path).filter(_.nonEmpty),
      enabled = enabled.flag(settings),
      strict = strict.flag(settings),
      source = source.choice(settings),
      mergePercent = mergePercent.whole(settings).toInt,
      mergeMinFiles = mergeMinFiles.whole(settings).toInt,
      retention = Retention(
        retained.whole(settings).toInt,
        olderThanMinutes.whole(settings) * Minute,
        orphanMinutes.whole(settings) * Minute
      ),
      record = RecordOptions(
        mode = ifGiven(recordMode, _.choice(settings)),
        windowDays = ifGiven(windowDays, _.whole(settings).toInt),
        fileGroups = ifGiven(fileGroups, _.whole(settings).toInt),
        groupBytes = ifGiven(groupBytes, _.whole(settings))
      ),
      columns = columnsOf(settings),
      logs = ifGiven(logs, _.flag(settings)),
      damagedAsStock = damaged.choice(settings) == LogCheck.AsStock,
      never = settings.get(Never).fold(NeverColumns.None)(NeverColumns.parse),
      symlinkPaths =
        settings.get(SymlinkPath).fold(Vector.empty[String])(_.split(',').toVector.map(_.trim).filter(_.nonEmpty))
    )
  }
  private def columnsOf(settings: Map[String, String]): ColumnOptions = {
    val (fpp, most) = (settings.get(BloomFpp), settings.get(ValuesMax))
    // Also where no column is named: a later call may name one.
    refusedBy(BloomFpp, fpp)(text => BloomKind.falsePositives(Map(BloomKind.FalsePositives -> text)))
    refusedBy(ValuesMax, most)(text => ValuesKind.most(Map(ValuesKind.Most -> text)))
    ColumnOptions(
      settings.get(Columns),
      settings.get(BloomColumns),
      fpp,
      settings.get(ValuesColumns),
      most,
      settings.get(OtherIndexes)
    )
  }

  private def refusedBy(name: String, given: Option[String])(read: String => Any): Unit =
    try given.foreach(read)
    catch { case e: InvalidOption => throw new InvalidOption(s"option $name is '${given.mkString}'; ${e.getMessage}") }
}
