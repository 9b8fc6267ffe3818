package hudiidx.spark.stream

import scala.collection.JavaConverters._

import hudiidx.spark.options.{ChangeOptions, ReadOptions, StreamOptions}
import hudiidx.spark.pinned.{PinnedTable, RowSchema, SharedTable}
import hudiidx.spark.read.{FileSliceSplit, ParquetReaders}
import hudiidx.spark.views.{BatchTable, IteratorReader}
import hudiidx.{Texts, UnsupportedTable}
import hudiidx.table._
import hudiidx.table.query.{Change, ChangeLogging, ChangeQuery, GroupChanges, MicroBatch}
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.read._
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream
import org.apache.spark.sql.types.{StringType, StructField, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** What the commits of a range changed, a row for each change of a record, in the columns of stock Hudi's change-data queries. */
final class ChangeData private (
    spark: SparkSession,
    table: PinnedTable,
    found: Vector[GroupChanges],
    read: ReadOptions
) extends BatchTable(s"${ReadOptions.SourceName} changes of ${table.path}", ChangeData.Columns, streams = true) {

  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = {
    table.requireUnchanged()
    new ScanBuilder {
      override def build(): Scan = new ChangeScan(spark, name(), table, found) {
        override def toBatch: Batch = {
          read.requireBegin()
          this
        }

        override def toMicroBatchStream(checkpoint: String): MicroBatchStream = {
          val asked = StreamOptions.of(options.asCaseSensitiveMap.asScala.toMap, spark.conf.getAll, read)
          StreamOptions.check(asked, table.config)
          new ChangeStream(spark, table.path, read, asked, checkpoint)
        }
      }
    }
  }
}

/** The changes that commits made. */
final private class ChangeStream(
    spark: SparkSession,
    path: String,
    read: ReadOptions,
    asked: StreamOptions,
    checkpoint: String
) extends TableStream(spark, path, read, asked, checkpoint) {

  override protected def query(table: SharedTable, batch: MicroBatch): Batch = {
    val (pinned, found) = ChangeData.find(spark, table, read, ChangeOptions("", None, Some(batch.commits)))
    new ChangeScan(spark, s"${ReadOptions.SourceName} changes of $path", pinned, found)
  }
}

object ChangeData {

  /** `op` is `i`, `u` or `d`, `ts_ms` the requested time of the commit, the images are JSON. */
  val Columns: StructType = StructType(Seq("op", "ts_ms", "before", "after").map(StructField(_, StringType)))

  /** Errors as `PinnedTable.open` and `ChangeQuery.between`. */
  private[spark] def open(spark: SparkSession, path: String, options: ReadOptions, asked: ChangeOptions): ChangeData = {
    val (table, found) = find(spark, SharedTable.open(spark, path, options.index), options, asked)
    new ChangeData(spark, table, found, options)
  }

  private[spark] def find(
      spark: SparkSession,
      opened: => SharedTable,
      options: ReadOptions,
      asked: ChangeOptions
  ): (PinnedTable, Vector[GroupChanges]) = {
    val table = PinnedTable.at(spark, opened, options.copy(changes = None))
    val shared = table.shared
    val query = new ChangeQuery(table.config, shared.timeline, shared.contents, shared.context.history, shared.view)
    val found = asked.commits.fold(query.between(asked.begin, asked.end))(query.of)
    ChangeText.check(table.path, table.schema.struct)
    check(table, found.flatMap(_.changes))
    (table, found)
  }

  /** UnsupportedTable for files that cannot be read as the table's rows. */
  private def check(table: PinnedTable, changes: Vector[Change]): Unit = {
    val bases = changes.flatMap(slicesOf).flatMap(_.baseFile)
    bases.find(!_.fileName.endsWith(FileKind.Parquet.extension)).foreach { f =>
      throw new UnsupportedTable(
        s"${table.path}: ${f.fileName}: only Parquet base files can be read; read the table's changes with Hudi"
      )
    }
    val hasImages = ChangeLogging.of(table.config).keepsBefore && changes.exists(_.isInstanceOf[Change.Recorded])
    if (table.names.isDefined && hasImages)
      throw new UnsupportedTable(
        s"${table.path}: columns were renamed, or dropped and added again, and images in .cdc files are known by the names that columns " +
          s"had; begin after that change, or set ${ReadOptions.SchemaOnRead} to false to read files by the names of their columns"
      )
  }

  private def slicesOf(change: Change): Vector[FileSlice] = change match {
    case Change.Compared(_, before, after)    => (before ++ after).map(_.slice).toVector
    case Change.Recorded(_, _, before, after) => (before ++ after).map(_.slice).toVector
  }
}

private class ChangeScan(spark: SparkSession, title: String, table: PinnedTable, found: Vector[GroupChanges])
    extends Scan
    with Batch {
  override def readSchema(): StructType = ChangeData.Columns
  override def description(): String = Texts.shown(title)
  override def toBatch: Batch = this

  override def planInputPartitions(): Array[InputPartition] = {
    val tasks = ChangeScan.TasksPerCore * spark.sparkContext.defaultParallelism
    val groups = found.map(g => GroupWork(g, valuesOf(g.group.partitionPath)))
    groups.grouped((groups.length + tasks - 1) / tasks.max(1) max 1).map(ChangeChunk).toArray
  }

  /** Of the columns that files do not hold. */
  private def valuesOf(partitionPath: String): Map[String, Any] = {
    val absent = table.schema.partitionColumns.map(_.name).filter(table.schema.fromPath)
    if (absent.isEmpty) Map.empty
    else table.schema.values.named(partitionPath).filter { case (name, _) => absent.contains(name) }
  }

  override def createReaderFactory(): PartitionReaderFactory = {
    val columns = ChangeScan.inOrder(table.schema)
    val parquet = ParquetReaders.of(spark, columns, new StructType, Array.empty)
    val reading = ChangeReading(
      table.shared,
      table.timeline.withoutHistory,
      table.mergesAs11,
      columns,
      TableSchema.withMetaColumns(table.schema.avroJson, populated = false, table.path),
      ChangeLogging.of(table.config),
      FileSliceSplit.readers(spark, table, parquet)
    )
    new ChangeReaderFactory(spark.sparkContext.broadcast(reading))
  }
}

private object ChangeScan {
  val TasksPerCore = 8

  /** The table's columns as its schema has them, wherever the snapshot query of its version shows partition columns. */
  def inOrder(schema: RowSchema): StructType = {
    val byName = schema.struct.map(f => f.name -> f).toMap
    val named = schema.avro.getFields.asScala.map(_.name).toVector
    StructType(named.flatMap(byName.get) ++ schema.struct.filterNot(f => named.contains(f.name)))
  }
}

final private case class ChangeChunk(groups: Vector[GroupWork]) extends InputPartition

final private class ChangeReaderFactory(reading: Broadcast[ChangeReading]) extends PartitionReaderFactory {
  override def createReader(input: InputPartition): PartitionReader[InternalRow] = {
    val groups = input match { case ChangeChunk(work) => work }
    new IteratorReader(groups.iterator.flatMap(reading.value.rows))
  }
}
