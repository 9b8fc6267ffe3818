package hudiidx.sync

import hudiidx.InvalidOption
import hudiidx.store.{IndexStore, Retention}
import hudiidx.table.LogCheck

/** One option of hudiidx: what docs and error messages say of it. */
final case class OptionDoc(name: String, default: String, meaning: String)

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
  *  @param damagedAsStock files of the table that are cut, gone or overwritten are passed over where stock Hudi does so
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
    damagedAsStock: Boolean = false
) {

  def indexDir(tablePath: String): String = indexPath.getOrElse(IndexStore.defaultDir(tablePath)).stripSuffix("/")
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
  val RetainedVersions = "hudiidx.clean.retained.versions"
  val RetainedMinutes = "hudiidx.clean.retained.minutes"
  val OrphanMinutes = "hudiidx.clean.orphan.minutes"
  val RecordMode = "hudiidx.record.mode"
  val RecordWindowDays = "hudiidx.record.window.days"
  val RecordFileGroups = "hudiidx.record.file.groups"
  val RecordGroupBytes = "hudiidx.record.group.bytes"
  val Columns = "hudiidx.columns"
  val BloomColumns = "hudiidx.bloom.columns"
  val BloomFpp = "hudiidx.bloom.fpp"
  val ValuesColumns = "hudiidx.values.columns"
  val ValuesMost = "hudiidx.values.most"
  val OtherIndexes = "hudiidx.column.indexes"
  val Logs = "hudiidx.logs"
  val ReadDamaged: String = LogCheck.OptionName

  /** auto: Hudi's metadata table where it is in step, else a listing. */
  val Sources: Set[String] = Set("auto", "listing", "metadata")

  /** Record indexes: a key is one record of the table, or of its partition. */
  val GlobalMode = "global"
  val RecordModes: Set[String] = Set(GlobalMode, "partitioned")

  private val DamagedModes: Set[String] = Set(LogCheck.AsError, LogCheck.AsStock)
  private val MostFileGroups = 1 << 14
  private val LeastGroupBytes = 1 << 16

  val Docs: Vector[OptionDoc] = Vector(
    OptionDoc(Path, "<table>/.hoodie/hudiidx", "Folder of the index; set it for a table that is read-only."),
    OptionDoc(Enabled, "true", "false plans from a listing, as if there were no index."),
    OptionDoc(Strict, "false", "true raises an error where hudiidx would fall back to listing."),
    OptionDoc(Source, "auto", "Where create takes files from: auto, listing, or metadata (Hudi's own metadata table)."),
    OptionDoc(
      MergePercent,
      "5",
      "The delta manifest is merged when it holds more than this share of the master's files..."
    ),
    OptionDoc(MergeMinFiles, "2000", "...and more files than this."),
    OptionDoc(RetainedVersions, "3", "So many newest index versions are kept whatever their age."),
    OptionDoc(RetainedMinutes, "60", "An index version younger than this is kept: a reader may have it open."),
    OptionDoc(OrphanMinutes, "1440", "A file that no version names is removed when it is older than this."),
    OptionDoc(
      RecordMode,
      "as the index has it",
      "create makes a record index: global (a key is one record of the table) or partitioned (of its partition)."
    ),
    OptionDoc(RecordWindowDays, "all", "The record index holds records committed in the last so many days only."),
    OptionDoc(RecordFileGroups, "by size", "Hash groups that a record index is made with; they split as it grows."),
    OptionDoc(
      RecordGroupBytes,
      "67108864",
      "A hash group of the record index is split when it has twice so many bytes."
    ),
    OptionDoc(Columns, "as the index has it", "create indexes the bounds of these columns: names with commas, or *."),
    OptionDoc(BloomColumns, "as the index has it", "create makes bloom filters of these columns."),
    OptionDoc(BloomFpp, "0.01", "Share of absent values that a bloom filter takes for present."),
    OptionDoc(
      ValuesColumns,
      "as the index has it",
      "create keeps the values of these columns, which have few in a file."
    ),
    OptionDoc(ValuesMost, "64", "Values that a file's set has at most; of a file that has more none are kept."),
    OptionDoc(
      OtherIndexes,
      "as the index has it",
      "Indexes of kinds from the class path, semicolons between them: kind(column,column,option=value)."
    ),
    OptionDoc(
      Logs,
      "as the index has it",
      "create keeps an index of log blocks, by which records of some keys are found in logs: true or false."
    ),
    OptionDoc(
      ReadDamaged,
      LogCheck.AsError,
      "Files that are cut, gone or overwritten: error, or as_stock (passed over with a warning where stock Hudi passes them over)."
    )
  )

  private val names: Set[String] = Docs.map(_.name).toSet

  def isKnown(name: String): Boolean = names(name)

  /** Reads the options above from `settings`; other names are somebody else's. Raises InvalidOption for a bad value. */
  def of(settings: Map[String, String]): IndexOptions = {
    val d = IndexOptions()
    IndexOptions(
      indexPath = settings.get(Path).filter(_.nonEmpty),
      enabled = boolean(settings, Enabled, d.enabled),
      strict = boolean(settings, Strict, d.strict),
      source = oneOf(settings, Source, Sources, d.source),
      mergePercent = integer(settings, MergePercent, 1, 100, d.mergePercent),
      mergeMinFiles = integer(settings, MergeMinFiles, 0, Int.MaxValue, d.mergeMinFiles),
      retention = Retention(
        integer(settings, RetainedVersions, 1, 10000, d.retention.retained),
        integer(settings, RetainedMinutes, 0, 10000000, 60) * 60000L,
        integer(settings, OrphanMinutes, 0, 10000000, 1440) * 60000L
      ),
      record = RecordOptions(
        mode = settings.get(RecordMode).map(_ => oneOf(settings, RecordMode, RecordModes, "")),
        windowDays = settings.get(RecordWindowDays).map(_ => integer(settings, RecordWindowDays, 1, 36500, 0)),
        fileGroups = settings.get(RecordFileGroups).map(_ => integer(settings, RecordFileGroups, 1, MostFileGroups, 0)),
        groupBytes = settings.get(RecordGroupBytes).map { _ =>
          integer(settings, RecordGroupBytes, LeastGroupBytes, Int.MaxValue, 0).toLong
        }
      ),
      columns = ColumnOptions(
        settings.get(Columns),
        settings.get(BloomColumns),
        settings.get(BloomFpp),
        settings.get(ValuesColumns),
        settings.get(ValuesMost),
        settings.get(OtherIndexes)
      ),
      logs = settings.get(Logs).map(_ => boolean(settings, Logs, default = false)),
      damagedAsStock = oneOf(settings, ReadDamaged, DamagedModes, LogCheck.AsError) == LogCheck.AsStock
    )
  }

  /** A setting that is true or false, in any case; InvalidOption for anything else. */
  def boolean(settings: Map[String, String], name: String, default: Boolean): Boolean =
    settings.get(name).map(_.trim.toLowerCase) match {
      case None          => default
      case Some("true")  => true
      case Some("false") => false
      case Some(other)   => throw new InvalidOption(s"option $name is '$other'; it takes true or false")
    }

  private def oneOf(settings: Map[String, String], name: String, allowed: Set[String], default: String): String =
    settings.get(name) match {
      case None                  => default
      case Some(v) if allowed(v) => v
      case Some(v)               =>
        throw new InvalidOption(s"option $name is '$v'; it takes one of ${allowed.toVector.sorted.mkString(", ")}")
    }

  private def integer(settings: Map[String, String], name: String, min: Int, max: Int, default: Int): Int =
    settings.get(name) match {
      case None    => default
      case Some(v) =>
        val n =
          try v.trim.toLong
          catch { case _: NumberFormatException => Long.MinValue }
        if (n < min || n > max)
          throw new InvalidOption(s"option $name is '$v'; it takes a whole number from $min to $max")
        n.toInt
    }
}
