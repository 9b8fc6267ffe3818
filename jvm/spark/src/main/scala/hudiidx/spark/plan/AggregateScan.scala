package hudiidx.spark.plan

import hudiidx.Texts
import hudiidx.spark.pinned.PinnedTable
import hudiidx.spark.read.{BaseFileReaderFactory, FileSliceSplit, ParquetReaders, SliceReading}
import hudiidx.spark.shims.Shims
import hudiidx.spark.views.IteratorReader
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.connector.metric.{CustomMetric, CustomTaskMetric}
import org.apache.spark.sql.connector.read._
import org.apache.spark.sql.execution.datasources.PartitionedFile
import org.apache.spark.sql.types.StructType

/** Aggregates in place of rows, one row a file slice or more of them together; Spark adds them up. Slices are those that a scan
  * of the rows would read. What a column index does not tell of them footers tell; those with logs are read.
  */
final case class AggregateScan(spark: SparkSession, table: PinnedTable, spec: ScanSpec, aggregates: FileAggregates)
    extends Scan
    with Batch
    with SupportsReportStatistics {
  @transient private lazy val plan: FilePlan = FilePlan.of(table, spec)

  @transient private lazy val indexed: IndexedAggregates = IndexedAggregates.of(table, plan.slices, aggregates)

  def facts: PlanFacts = plan.facts

  def stages: FileStages = FileStages.of(table, spec, plan)

  /** Rows that the index gives. */
  def known: Vector[InternalRow] = indexed.rows

  /** No file needs to be opened. */
  def isKnown: Boolean = indexed.left.isEmpty

  override def estimateStatistics(): Statistics = {
    val rows = indexed.rows.length.toLong + indexed.left.length
    ScanStatistics(rows * readSchema().defaultSize, Some(rows))
  }

  override def readSchema(): StructType = aggregates.output

  override def toBatch: Batch = this

  override def description(): String =
    Texts.shown(
      s"hudiidx ${table.path} ${table.instantText}, ${aggregates.wanted.map(_.field.name).mkString(", ")} from " +
        s"${if (isKnown) "the index" else "file footers"}, ${plan.facts.text}"
    )

  override def supportedCustomMetrics(): Array[CustomMetric] = ScanMetrics.All

  override def reportDriverMetrics(): Array[CustomTaskMetric] = plan.facts.metrics

  override def planInputPartitions(): Array[InputPartition] = {
    table.requireUnchanged()
    // Of a file without logs no more than its footer is read, so it counts with what opening it costs.
    val pieces = indexed.left.flatMap(FileSliceSplit.whole(_, table, aggregates.columns, aggregates.groups)).map { p =>
      if (SliceReading.hasLogs(p)) p else p.copy(length = 0L)
    }
    val ofIndex =
      if (indexed.rows.isEmpty) Array.empty[InputPartition] else Array[InputPartition](KnownRows(indexed.rows))
    ofIndex ++ Shims.pack(spark, pieces.toArray, FilePlan.maxSplitBytes(spark, pieces))
  }

  override def createReaderFactory(): PartitionReaderFactory = {
    val parquet = ParquetReaders.of(spark, aggregates.columns, aggregates.groups, Array.empty)
    new AggregateReaderFactory(FileSliceSplit.readers(spark, table, parquet), parquet, aggregates)
  }

  override def equals(other: Any): Boolean = other match {
    case o: AggregateScan => (o.table eq table) && o.spec == spec && o.aggregates == aggregates
    case _                => false
  }

  override def hashCode: Int = (spec, aggregates).hashCode
}

final private class AggregateReaderFactory(
    files: BaseFileReaderFactory,
    parquet: ParquetReaders,
    aggregates: FileAggregates
) extends PartitionReaderFactory {

  override def createReader(partition: InputPartition): PartitionReader[InternalRow] = {
    val toUnsafe = UnsafeProjection.create(aggregates.output)
    val rows = partition match {
      case KnownRows(known) => known.iterator
      case pieces           => Shims.piecesOf(pieces).iterator.flatMap(row(_))
    }
    new IteratorReader(rows.map(r => toUnsafe(r): InternalRow))
  }

  private def row(piece: PartitionedFile): Option[InternalRow] = {
    val whole = piece.copy(length = piece.fileSize)
    val values = if (SliceReading.hasLogs(whole)) fromRows(whole) else fromFooter(whole).getOrElse(fromRows(whole))
    aggregates.row(whole.partitionValues.toSeq(aggregates.groups), values)
  }

  private def fromFooter(file: PartitionedFile): Option[Vector[Any]] = {
    val footer = files.repaired(files.footerOf(file)(parquet.footer(file)))
    val known = new FooterAggregates(footer, parquet.columnsOf(footer), files.fixedOf(file), files.sameName)
    known.values(aggregates.found)
  }

  private def fromRows(file: PartitionedFile): Vector[Any] = {
    val reader = files.buildReader(file)
    try {
      val found = new RowAggregates(aggregates.columns, aggregates.found)
      while (reader.next()) found.take(reader.get())
      found.values
    } finally reader.close()
  }
}
