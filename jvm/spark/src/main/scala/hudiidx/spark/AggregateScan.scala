package hudiidx.spark

import java.io.FileNotFoundException

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.connector.metric.{CustomMetric, CustomTaskMetric}
import org.apache.spark.sql.connector.read._
import org.apache.spark.sql.execution.datasources.PartitionedFile
import org.apache.spark.sql.types.StructType

/** Aggregates in place of rows, one row a file slice; Spark adds them up. Slices are those that a scan of the rows would read;
  * those with logs are read, of others the footers.
  */
final case class AggregateScan(spark: SparkSession, table: PinnedTable, spec: ScanSpec, aggregates: FileAggregates)
    extends Scan
    with Batch {
  @transient private lazy val plan: FilePlan = FilePlan.of(table, spec)

  def facts: PlanFacts = plan.facts

  override def readSchema(): StructType = aggregates.output

  override def toBatch: Batch = this

  override def description(): String =
    s"hudiidx ${table.path} ${table.instantText}, ${aggregates.wanted.map(_.field.name).mkString(", ")} from file " +
      s"footers, ${plan.facts.text}"

  override def supportedCustomMetrics(): Array[CustomMetric] = ScanMetrics.All

  override def reportDriverMetrics(): Array[CustomTaskMetric] = plan.facts.metrics

  override def planInputPartitions(): Array[InputPartition] = {
    // Of a file without logs no more than its footer is read, so it counts with what opening it costs.
    val pieces = plan.slices.flatMap(PieceOfFile.whole(_, table, aggregates.groups)).map { p =>
      if (SliceReading.hasLogs(p)) p else p.copy(length = 0L)
    }
    Shims.pack(spark, pieces.toArray, FilePlan.maxSplitBytes(spark, pieces))
  }

  override def createReaderFactory(): PartitionReaderFactory = {
    val parquet = Shims.parquetReaders(spark, aggregates.columns, aggregates.groups, Array.empty)
    new AggregateReaderFactory(PieceOfFile.readers(spark, table, parquet), parquet, aggregates)
  }

  override def equals(other: Any): Boolean = other match {
    case o: AggregateScan => (o.table eq table) && o.spec == spec && o.aggregates == aggregates
    case _                => false
  }

  override def hashCode: Int = (spec, aggregates).hashCode
}

final private class AggregateReaderFactory(
    files: BaseFileReaderFactory,
    parquet: Shims.ParquetReaders,
    aggregates: FileAggregates
) extends PartitionReaderFactory {

  override def createReader(partition: InputPartition): PartitionReader[InternalRow] = {
    val toUnsafe = UnsafeProjection.create(aggregates.output)
    val rows = Shims.piecesOf(partition).iterator.flatMap { piece =>
      val whole = piece.copy(length = piece.fileSize)
      valuesOf(whole).map { values =>
        val groups = whole.partitionValues.toSeq(aggregates.groups)
        toUnsafe(InternalRow.fromSeq(groups ++ values)): InternalRow
      }
    }
    new IteratorReader(rows)
  }

  /** None for a file that is gone where Spark is set to pass over such. */
  private def valuesOf(file: PartitionedFile): Option[Vector[Any]] =
    try Some(if (SliceReading.hasLogs(file)) fromRows(file) else fromFooter(file).getOrElse(fromRows(file)))
    catch { case _: FileNotFoundException if parquet.options.ignoreMissingFiles => None }

  private def fromFooter(file: PartitionedFile): Option[Vector[Any]] = {
    val footer = files.footerOf(file)(parquet.footer(file))
    val known = new FooterAggregates(footer, parquet.columnsOf(footer), files.nullsOf(file).toSet, files.sameName)
    known.values(aggregates.wanted)
  }

  private def fromRows(file: PartitionedFile): Vector[Any] = {
    val reader = files.buildReader(file)
    try {
      val found = new RowAggregates(aggregates.columns, aggregates.wanted)
      while (reader.next()) found.take(reader.get())
      found.values
    } finally reader.close()
  }
}
