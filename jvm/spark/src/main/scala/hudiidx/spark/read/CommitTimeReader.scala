package hudiidx.spark.read

import hudiidx.table.query.CommitTimes
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.catalyst.FileSourceOptions
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReader}
import org.apache.spark.sql.execution.datasources.PartitionedFile
import org.apache.spark.sql.execution.datasources.v2.FilePartitionReaderFactory
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarBatch}
import org.apache.spark.unsafe.types.UTF8String

/** Of the rows of files those whose commit time counts.
  *
  *  @param read the columns that the reader gives, the commit time among them at `commitTime`
  *  @param shown which of them go on
  */
final class CommitTimeReaderFactory(
    reader: BaseFileReaderFactory,
    times: CommitTimes,
    read: StructType,
    commitTime: Int,
    shown: Array[Int]
) extends FilePartitionReaderFactory {

  override def options: FileSourceOptions = reader.options
  override def supportColumnarReads(partition: InputPartition): Boolean = reader.supportColumnarReads(partition)

  override def buildReader(file: PartitionedFile): PartitionReader[InternalRow] =
    new CommitTimeRows(reader.buildReader(file), testOf(file), commitTime, ShownColumns.projection(read, shown))

  override def buildColumnarReader(file: PartitionedFile): PartitionReader[ColumnarBatch] =
    new CommitTimeBatches(reader.buildColumnarReader(file), testOf(file), commitTime, shown)

  private def testOf(file: PartitionedFile): CommitTimeTest =
    new CommitTimeTest(times, FileSliceSplit.sliceOf(file).mergesWhole.getOrElse(Set.empty))
}

/** Rows that one commit wrote often lie together, so the answer for the last time is kept. */
final private class CommitTimeTest(times: CommitTimes, more: Set[String]) {
  private var last: UTF8String = UTF8String.EMPTY_UTF8
  private var counts: Boolean = isCounted("")

  def apply(commitTime: UTF8String): Boolean = {
    if (commitTime != last) {
      last = commitTime.copy()
      counts = isCounted(last.toString)
    }
    counts
  }

  private def isCounted(commitTime: String): Boolean = times.contains(commitTime) || more(commitTime)
}

final private class CommitTimeRows(
    rows: PartitionReader[InternalRow],
    test: CommitTimeTest,
    commitTime: Int,
    shown: UnsafeProjection
) extends PartitionReader[InternalRow] {

  override def next(): Boolean = {
    var found = false
    while (!found && rows.next()) found = counts(rows.get())
    found
  }

  private def counts(row: InternalRow): Boolean =
    !row.isNullAt(commitTime) && test(row.getUTF8String(commitTime))

  override def get(): InternalRow = shown(rows.get())

  override def close(): Unit = rows.close()
}

final private class CommitTimeBatches(
    batches: PartitionReader[ColumnarBatch],
    test: CommitTimeTest,
    commitTime: Int,
    shown: Array[Int]
) extends PartitionReader[ColumnarBatch] {
  private var batch: ColumnarBatch = _
  private var rows = Array.emptyIntArray

  override def next(): Boolean = {
    batch = null
    while (batch == null && batches.next()) batch = selected(batches.get())
    batch != null
  }

  /** Null if no row counts. */
  private def selected(from: ColumnarBatch): ColumnarBatch = {
    val count = counting(from.column(commitTime), from.numRows)
    val all = new ColumnarBatch(shown.map(from.column), from.numRows)
    if (count == 0) null else if (count == from.numRows) all else SelectedRows.of(all, rows, count)
  }

  /** Puts the numbers of the rows that count into `rows`. */
  private def counting(column: ColumnVector, all: Int): Int = {
    if (rows.length < all) rows = new Array[Int](all)
    var found = 0
    var i = 0
    while (i < all) {
      if (!column.isNullAt(i) && test(column.getUTF8String(i))) {
        rows(found) = i
        found += 1
      }
      i += 1
    }
    found
  }

  override def get(): ColumnarBatch = batch

  override def close(): Unit = batches.close()
}
