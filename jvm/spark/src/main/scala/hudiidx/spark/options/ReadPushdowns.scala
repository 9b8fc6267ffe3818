package hudiidx.spark.options

import hudiidx.sync.{OptionDoc, OptionKind}

/** What a scan takes over from Spark. Each can be turned off; rows never depend on it. */
final case class ReadPushdowns(
    partitionFilters: Boolean,
    fileFilters: Boolean,
    runtimeFilters: Boolean,
    nestedColumns: Boolean,
    limit: Boolean,
    aggregates: Boolean,
    recordKeys: Boolean,
    columnStats: Boolean
)

object ReadPushdowns {
  val PartitionFilters = "hudiidx.read.partition.filters"
  val FileFilters = "hudiidx.read.file.filters"
  val RuntimeFilters = "hudiidx.read.runtime.filters"
  val NestedColumns = "hudiidx.read.nested.columns"
  val Limit = "hudiidx.read.limit"
  val Aggregates = "hudiidx.read.aggregates"
  val RecordKeys = "hudiidx.read.record.keys"
  val ColumnStats = "hudiidx.read.column.stats"

  /** Each is on unless a setting says otherwise. */
  private def on(name: String, meaning: String): OptionDoc = OptionDoc(name, OptionKind.Flag, "true", meaning)

  val Docs: Vector[OptionDoc] = Vector(
    on(
      PartitionFilters,
      "A filter on partition columns that paths decide without doubt is not evaluated on rows."
    ),
    on(
      FileFilters,
      "Filters are handed to the Parquet reader, which skips row groups and pages."
    ),
    on(
      RuntimeFilters,
      "Values that a join finds while it runs leave out partitions, and by record and column indexes files. Offered to Spark are " +
        "partition columns, record keys, and indexed columns of types that have an order; of more than 100,000 values the least " +
        "and the greatest count."
    ),
    on(
      NestedColumns,
      "Of structs only the fields that a query uses are read."
    ),
    on(
      Limit,
      "A limit plans no more files than it needs: where no filter is left and files without logs have enough rows."
    ),
    on(
      Aggregates,
      "`count`, and `min` and `max` of whole numbers, decimals up to 18 digits, dates, times and booleans, of the table or by " +
        "partition column, also behind a filter that partitions decide, come from the column index (then no file is opened and " +
        "no task runs) or from file footers; slices with logs are read."
    ),
    on(
      RecordKeys,
      "A filter `_hoodie_record_key = …` or `IN (…)`, or on the key field where a table has one plain one, reads the file groups " +
        "that the record index names. So does a join by such a column with something small (below " +
        "`spark.sql.autoBroadcastJoinThreshold`, at most 100,000 rows, or with a broadcast hint), whose keys are collected while " +
        "the query runs: from a broadcast that the join uses too, or, of rows at hand and files, by a run of their own."
    ),
    on(
      ColumnStats,
      "Filters on indexed columns, and values of such columns that a join finds while it runs, leave out partitions and files " +
        "that hold none of the values. [Files that a query reads](python.md#files-that-a-query-reads) has the forms."
    )
  )

  private val byName: Map[String, OptionDoc] = Docs.map(d => d.name -> d).toMap

  def isKnown(name: String): Boolean = byName.contains(name)

  def of(settings: Map[String, String]): ReadPushdowns = {
    def isOn(name: String): Boolean = byName(name).flag(settings)
    ReadPushdowns(
      partitionFilters = isOn(PartitionFilters),
      fileFilters = isOn(FileFilters),
      runtimeFilters = isOn(RuntimeFilters),
      nestedColumns = isOn(NestedColumns),
      limit = isOn(Limit),
      aggregates = isOn(Aggregates),
      recordKeys = isOn(RecordKeys),
      columnStats = isOn(ColumnStats)
    )
  }
}
