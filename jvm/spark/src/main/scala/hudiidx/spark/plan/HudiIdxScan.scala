package hudiidx.spark.plan

import java.util.concurrent.atomic.AtomicBoolean

import hudiidx.Texts
import hudiidx.spark.pinned.PinnedTable
import hudiidx.spark.read.{
  BaseFileReaderFactory,
  CommitTimeReaderFactory,
  FileSliceSplit,
  KeyGroups,
  LimitedFiles,
  ParquetReaders,
  RecordKeyFilter,
  ScanColumns,
  ShownColumns
}
import hudiidx.table.query.CommitTimes
import hudiidx.table.FileSlice
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.expressions.filter.Predicate
import org.apache.spark.sql.connector.expressions.NamedReference
import org.apache.spark.sql.connector.metric.{CustomMetric, CustomTaskMetric}
import org.apache.spark.sql.connector.read._
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream
import org.apache.spark.sql.connector.read.partitioning.{Partitioning, UnknownPartitioning}
import org.apache.spark.sql.sources.{And, Filter, GreaterThanOrEqual, In, LessThanOrEqual}
import org.apache.spark.sql.types.StructType

/** One read of a table's rows. Files are planned once, when first asked for; again when a join has found values of
  * partition columns while it runs.
  *
  * @param given the reader's options
  */
final case class HudiIdxScan(
    spark: SparkSession,
    table: PinnedTable,
    spec: ScanSpec,
    given: Map[String, String] = Map.empty
) extends Scan
    with Batch
    with SupportsReportStatistics
    with SupportsReportPartitioning
    with SupportsRuntimeV2Filtering {
  private val columns = ScanColumns.of(spec.required, table)

  @transient private lazy val planned: FilePlan = FilePlan.of(table, spec)
  @transient private lazy val statistics: ScanStatistics = ScanStatistics.of(spark, table, spec, planned, readSchema())
  @transient private lazy val grouping: Option[PartitionGrouping] =
    PartitionGrouping.of(spark, table, spec, planned, readSchema())
  @transient private lazy val isRecorded = new AtomicBoolean
  @transient private var runtime: RuntimeFilter = RuntimeFilter.None

  @transient private var filtered: Option[FilePlan] = None

  // Of a stream Spark asks the same of this scan, which then plans nothing: each batch has a scan of its own.
  @transient private var isStream = false

  private def plan: FilePlan = filtered.getOrElse(planned)

  def facts: PlanFacts = plan.facts

  /** Looks at all partitions. */
  def stages: FileStages = FileStages.of(table, spec, plan)

  /** File slices to be read. */
  def slices: Vector[FileSlice] = plan.slices

  override def readSchema(): StructType = columns.output

  override def toBatch: Batch = {
    table.options.requireBegin()
    this
  }

  override def toMicroBatchStream(checkpoint: String): MicroBatchStream = {
    isStream = true
    RowStream.open(spark, table, given, checkpoint, readSchema())
  }

  override def description(): String = if (isStream) Texts.shown(s"hudiidx stream of ${table.path}")
  else {
    val filters = spec.fileFilters.mkString("[", ", ", "]")
    Texts.shown(s"hudiidx ${table.path} ${table.instantText}, pushed filters $filters, ${plan.facts.text}")
  }

  override def supportedCustomMetrics(): Array[CustomMetric] = ScanMetrics.All

  override def reportDriverMetrics(): Array[CustomTaskMetric] = plan.facts.metrics

  override def estimateStatistics(): Statistics = if (isStream) UnknownStatistics else statistics

  /** Where Spark asks for it: a task for each value of the partition columns, that joins and groupings need no shuffle. */
  override def outputPartitioning(): Partitioning =
    grouping.filterNot(_ => isStream).fold[Partitioning](new UnknownPartitioning(0))(_.partitioning)

  /** Columns of the scan by whose values the record index finds rows. */
  def keyColumns: Vector[String] =
    if (!table.pushdowns.recordKeys || !table.hasRecordIndex) Vector.empty
    else RecordKeyFilter.keyColumns(table.config, table.schema.struct).filter(readSchema().fieldNames.contains(_))

  override def filterAttributes(): Array[NamedReference] =
    if (!table.pushdowns.runtimeFilters) Array.empty
    else {
      val shown = readSchema().fieldNames.toSet
      val indexed = table.columns.fold(_ => Vector.empty[String], _.names(readSchema()))
      (table.schema.partitionColumns.map(_.name).filter(shown) ++ keyColumns ++ indexed).distinct
        .map(ColumnName.of)
        .toArray
    }

  override def filter(predicates: Array[Predicate]): Unit = {
    runtime = RuntimeFilter.of(predicates, table, keyColumns)
    filtered = if (runtime.isEmpty) None else Some(planned.where(runtime))
  }

  override def planInputPartitions(): Array[InputPartition] = {
    table.requireUnchanged()
    // Spark plans again where values are found at run time.
    if (!isRecorded.getAndSet(true)) ScanRecords.add(table, spec, plan.facts)
    val keys = storedKeys
    val whole = for {
      slice <- plan.slices
      piece <- FileSliceSplit.whole(slice, table, columns.data, columns.constants)
    } yield slice.partitionPath -> keys.fold(piece) { groups =>
      FileSliceSplit.askedFor(piece, groups.keysIn(slice.partitionPath, slice.fileId), slice, table)
    }
    grouping match {
      case Some(g) => g.keyed(spark, whole)
      case None    =>
        val pieces = whole.map(_._2)
        FilePlan.packed(spark, spec.limit.fold(pieces)(n => LimitedFiles.enough(pieces, n, readers)))
    }
  }

  /** The keys whose rows are wanted, where rows bear them. */
  private def storedKeys: Option[KeyGroups] = plan.facts.keys.groups.filter(_ => table.config.populateMetaFields)

  private def readers: BaseFileReaderFactory = FileSliceSplit.readers(
    spark,
    table,
    ParquetReaders.of(spark, columns.data, columns.constants, (spec.fileFilters ++ commitTimeFilter).toArray)
  )

  override def createReaderFactory(): PartitionReaderFactory =
    table.increment.fold(ShownColumns.factory(readers, columns)) { increment =>
      val commitTime = columns.data.fieldIndex(ScanColumns.CommitTime)
      new CommitTimeReaderFactory(readers, increment.found.times, columns.all, commitTime, columns.shown.toArray)
    }

  /** Parquet skips row groups and pages by it; rows are looked at one by one. */
  private def commitTimeFilter: Option[Filter] = table.increment.map(_.found.times match {
    case CommitTimes.OneOf(times)       => In(ScanColumns.CommitTime, times.toArray[Any])
    case CommitTimes.Range(from, _, to) =>
      And(GreaterThanOrEqual(ScanColumns.CommitTime, from), LessThanOrEqual(ScanColumns.CommitTime, to))
  })

  override def equals(other: Any): Boolean = other match {
    case o: HudiIdxScan => (o.table eq table) && o.spec == spec && o.runtime == runtime
    case _              => false
  }

  override def hashCode: Int = spec.hashCode
}
