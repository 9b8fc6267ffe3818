package hudiidx.spark.views

import hudiidx.Texts
import hudiidx.spark.options.{ReadOptions, ViewCall}
import hudiidx.spark.pinned.{SharedRecords, SharedTable}
import hudiidx.timeline.ActiveTimeline
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.read._
import org.apache.spark.sql.types.{StringType, StructField, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.apache.spark.unsafe.types.UTF8String

/** What a table's timeline or files look like, as rows: the `view` option. */
final class ViewTable(title: String, struct: StructType, newScan: () => Scan) extends BatchTable(title, struct) {
  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = new ScanBuilder {
    override def build(): Scan = newScan()
  }
}

object ViewTable {
  private val partitionsSchema = StructType(Seq(StructField("partition_path", StringType, nullable = false)))
  private val timelineSchema = StructType(
    Seq(
      StructField("requested_time", StringType, nullable = false),
      StructField("action", StringType, nullable = false),
      StructField("state", StringType, nullable = false),
      StructField("completion_time", StringType, nullable = true),
      StructField("file_name", StringType, nullable = false)
    )
  )

  /** So many partitions go to one task at most: answering for one takes about a millisecond. */
  private val PartitionsPerTask = 500

  def open(spark: SparkSession, path: String, options: ReadOptions): ViewTable = {
    val shared = SharedTable.open(spark, path, options.index)
    val title = s"${ReadOptions.SourceName} ${options.view} of ${shared.path}"
    val asOf = options.asOf
    options.view match {
      case ReadOptions.PartitionsView =>
        val rows = shared.view.partitions.iterator.map(p => InternalRow(text(p)))
        new ViewTable(title, partitionsSchema, () => new RowsScan(title, partitionsSchema, rows.toArray))
      case ReadOptions.TimelineView =>
        val rows = timelineRows(shared.timeline)
        new ViewTable(title, timelineSchema, () => new RowsScan(title, timelineSchema, rows))
      case RecordIndexView.Name =>
        val records = SharedRecords.of(shared, options.index, options.asOf).checked()
        new ViewTable(title, RecordIndexView.Schema, () => new RecordIndexView(spark, title, records))
      case LogBlocksView.Name =>
        byPartition(spark, title, shared, LogBlocksView.Schema)(LogBlocksView.rows(_, _, asOf))
      case name if ColumnIndexView.Names.contains(name) =>
        def scan = new ColumnIndexView(spark, title, shared, options.index, name)
        new ViewTable(title, ColumnIndexView.schemaOf(name), () => scan)
      case name =>
        byPartition(spark, title, shared, ViewCall.of(name).schema)((t, p) => ViewCall.of(name).rows(t.view, p, asOf))
    }
  }

  private def byPartition(spark: SparkSession, title: String, table: SharedTable, struct: StructType)(
      rows: (SharedTable, String) => Iterator[InternalRow]
  ): ViewTable = new ViewTable(title, struct, () => new ViewScan(spark, title, table, struct, rows))

  private def timelineRows(timeline: ActiveTimeline): Array[InternalRow] = timeline.instants.map { i =>
    InternalRow(
      text(i.requestedTime),
      text(i.action),
      text(i.state.name),
      i.completionTime.map(text).orNull,
      text(i.fileName)
    )
  }.toArray

  private def text(value: String): UTF8String = UTF8String.fromString(value)

  /** Consecutive partitions, at most `PartitionsPerTask` together, and work for every core. */
  private[spark] def chunks(partitions: Vector[String], cores: Int): Vector[Vector[String]] = {
    val size = math.min(PartitionsPerTask, (partitions.length + cores - 1) / cores.max(1)).max(1)
    partitions.grouped(size).toVector
  }
}

/** Rows that are known on the driver. */
final private class RowsScan(title: String, struct: StructType, rows: Array[InternalRow]) extends Scan with LocalScan {
  override def readSchema(): StructType = struct
  override def description(): String = Texts.shown(title)
  override def rows(): Array[InternalRow] = rows
}

/** Rows of every partition, answered by tasks.
  *
  * @param rows of one partition; sent to tasks
  */
final private class ViewScan(
    spark: SparkSession,
    title: String,
    table: SharedTable,
    struct: StructType,
    rows: (SharedTable, String) => Iterator[InternalRow]
) extends Scan
    with Batch {
  override def readSchema(): StructType = struct
  override def description(): String = Texts.shown(title)
  override def toBatch: Batch = this

  override def planInputPartitions(): Array[InputPartition] =
    ViewTable
      .chunks(table.requireUnchanged().view.partitions, spark.sparkContext.defaultParallelism)
      .map(PartitionChunk)
      .toArray

  override def createReaderFactory(): PartitionReaderFactory =
    new ViewReaderFactory(spark.sparkContext.broadcast(table), rows)
}

final private case class PartitionChunk(partitions: Vector[String]) extends InputPartition

final private class ViewReaderFactory(
    table: Broadcast[SharedTable],
    rows: (SharedTable, String) => Iterator[InternalRow]
) extends PartitionReaderFactory {
  override def createReader(input: InputPartition): PartitionReader[InternalRow] = {
    val partitions = input match { case PartitionChunk(paths) => paths }
    new IteratorReader(partitions.iterator.flatMap(rows(table.value, _)))
  }
}

private[spark] class IteratorReader(rows: Iterator[InternalRow]) extends PartitionReader[InternalRow] {
  private var row: InternalRow = _

  override def next(): Boolean = {
    val more = rows.hasNext
    if (more) row = rows.next()
    more
  }

  override def get(): InternalRow = row

  override def close(): Unit = ()
}
