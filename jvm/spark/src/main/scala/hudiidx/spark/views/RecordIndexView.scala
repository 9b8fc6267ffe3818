package hudiidx.spark.views

import hudiidx.Texts
import hudiidx.engine.record.{SliceInput, SliceKeyChunks}
import hudiidx.record.VisibleGroup
import hudiidx.spark.options.ReadOptions
import hudiidx.spark.pinned.SharedRecords
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.read._
import org.apache.spark.sql.types.{StringType, StructField, StructType}
import org.apache.spark.unsafe.types.UTF8String

/** The whole mapping of a table at one moment, a row for each key and location: the view `record_index`. */
final class RecordIndexView(spark: SparkSession, title: String, records: SharedRecords) extends Scan with Batch {
  override def readSchema(): StructType = RecordIndexView.Schema

  override def description(): String = {
    val index = records.moment.version.fold("no record index")(v => s"index version ${v.number}")
    val window = records.moment.windowDays.fold("")(d => s", a window of $d days")
    Texts.shown(s"$title, $index, ${records.moment.slices.size} file slices read beside it$window")
  }

  override def toBatch: Batch = this

  /** One for each hash group, and one for each file slice that the index does not know. */
  override def planInputPartitions(): Array[InputPartition] = {
    val groups = records.index.fold(0)(_.index.groups.size)
    val slices = SliceKeyChunks.wholeSlices(records.moment)
    (Vector.tabulate(groups)(HashGroupPart) ++ slices.map(SlicePart)).toArray
  }

  override def createReaderFactory(): PartitionReaderFactory =
    new RecordIndexReaders(spark.sparkContext.broadcast(records))
}

object RecordIndexView {
  val Name: String = ReadOptions.RecordIndexView

  val Schema: StructType = StructType(
    Vector("record_key", "partition_path", "file_id", "instant_time")
      .map(StructField(_, StringType, nullable = false))
  )
}

final private case class HashGroupPart(group: Int) extends InputPartition

final private case class SlicePart(input: SliceInput) extends InputPartition

final private class RecordIndexReaders(shared: Broadcast[SharedRecords]) extends PartitionReaderFactory {
  override def createReader(part: InputPartition): PartitionReader[InternalRow] = part match {
    case HashGroupPart(group) => new HashGroupRows(shared.value, group)
    case SlicePart(input)     => new SliceRows(shared.value, input)
    case other                => throw new IllegalArgumentException(s"input partition $other")
  }
}

/** Rows of one hash group. Holds the shared records, whose files close when nobody does. */
final private class HashGroupRows(records: SharedRecords, group: Int) extends PartitionReader[InternalRow] {
  private val mappings = records.mappings(group)

  override def next(): Boolean = mappings.next()
  override def get(): InternalRow = MappingRow.of(mappings.key, mappings.location)
  override def close(): Unit = mappings.close()
}

final private class SliceRows(records: SharedRecords, input: SliceInput) extends PartitionReader[InternalRow] {
  private val keys = SliceKeyChunks.distinctKeys(records.moment, records.access, input)
  private val location = records.moment.sliceGroups(input.ordinal)

  override def next(): Boolean = keys.hasNext
  override def get(): InternalRow = MappingRow.of(keys.next(), location)
  override def close(): Unit = ()
}

private object MappingRow {
  def of(key: Array[Byte], location: VisibleGroup): InternalRow =
    InternalRow(
      UTF8String.fromBytes(key),
      text(location.partitionPath),
      text(location.fileId),
      text(location.instantTime)
    )

  private def text(value: String): UTF8String = UTF8String.fromString(value)
}
