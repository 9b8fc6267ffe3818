package hudiidx.spark

import hudiidx.sync.{IndexOptions, OptionDoc}

/** What a scan takes over from Spark. Each can be turned off; rows never depend on it. */
final case class ReadPushdowns(
    partitionFilters: Boolean = true,
    fileFilters: Boolean = true,
    runtimeFilters: Boolean = true,
    nestedColumns: Boolean = true,
    limit: Boolean = true,
    aggregates: Boolean = true,
    recordKeys: Boolean = true,
    columnStats: Boolean = true
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

  val Docs: Vector[OptionDoc] = Vector(
    OptionDoc(PartitionFilters, "true", "Filters that partitions alone decide are not evaluated on rows."),
    OptionDoc(FileFilters, "true", "Filters are handed to the Parquet reader, which passes over row groups and pages."),
    OptionDoc(RuntimeFilters, "true", "Values that a join finds while it runs leave partitions out."),
    OptionDoc(NestedColumns, "true", "Of structs only the fields that a query uses are read."),
    OptionDoc(Limit, "true", "A limit plans no more files than it needs."),
    OptionDoc(Aggregates, "true", "count, min and max are answered from file footers where those are exact."),
    OptionDoc(RecordKeys, "true", "Filters on record keys read the file groups that the record index names."),
    OptionDoc(
      ColumnStats,
      "true",
      "Filters on indexed columns leave out partitions and files that hold no such values."
    )
  )

  private val names: Set[String] = Docs.map(_.name).toSet

  def isKnown(name: String): Boolean = names(name)

  def of(settings: Map[String, String]): ReadPushdowns = {
    def on(name: String): Boolean = IndexOptions.boolean(settings, name, default = true)
    ReadPushdowns(
      partitionFilters = on(PartitionFilters),
      fileFilters = on(FileFilters),
      runtimeFilters = on(RuntimeFilters),
      nestedColumns = on(NestedColumns),
      limit = on(Limit),
      aggregates = on(Aggregates),
      recordKeys = on(RecordKeys),
      columnStats = on(ColumnStats)
    )
  }
}
