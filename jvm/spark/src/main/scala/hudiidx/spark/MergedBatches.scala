package hudiidx.spark

import java.util.BitSet

import hudiidx.hadoop.MergedSlice
import org.apache.spark.sql.connector.read.PartitionReader
import org.apache.spark.sql.vectorized.ColumnarBatch

/** The rows of a merged file slice: those of its base file that the log leaves alone, then those of the log.
  *
  * @param base    the base file's rows, all of them in their order; None for a slice without one
  * @param logRows makes batches of the log's rows that are kept
  */
final class MergedBatches(
    slice: MergedSlice,
    base: Option[PartitionReader[ColumnarBatch]],
    logRows: PartitionReader[ColumnarBatch]
) extends PartitionReader[ColumnarBatch] {
  private val remaining = base.map(new RemainingRows(_, slice.rows.droppedBase))
  private var inBase = base.isDefined

  override def next(): Boolean = {
    if (inBase) inBase = remaining.exists(_.next())
    inBase || logRows.next()
  }

  override def get(): ColumnarBatch = if (inBase) remaining.get.get() else logRows.get()

  override def close(): Unit =
    try base.foreach(_.close())
    finally logRows.close()
}

/** The rows of a whole file but for some; batches without any are passed over. */
final private class RemainingRows(batches: PartitionReader[ColumnarBatch], dropped: BitSet) {
  private var from = 0 // number of the next batch's first row
  private var batch: ColumnarBatch = _
  private var rows = Array.emptyIntArray

  def next(): Boolean = {
    batch = null
    while (batch == null && batches.next()) {
      val all = batches.get()
      batch = remaining(all)
      from += all.numRows
    }
    batch != null
  }

  def get(): ColumnarBatch = batch

  /** Null if no row remains. */
  private def remaining(all: ColumnarBatch): ColumnarBatch = {
    val until = from + all.numRows
    val first = dropped.nextSetBit(from)
    if (first < 0 || first >= until) if (all.numRows > 0) all else null
    else {
      if (rows.length < all.numRows) rows = new Array[Int](all.numRows)
      var count = 0
      var row = dropped.nextClearBit(from)
      while (row < until) {
        rows(count) = row - from
        count += 1
        row = dropped.nextClearBit(row + 1)
      }
      if (count > 0) SelectedRows.of(all, rows, count) else null
    }
  }
}
