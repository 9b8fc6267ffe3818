package hudiidx.spark.read

import hudiidx.slice.{KeptRecords, MergedSlice}
import hudiidx.spark.rows.BlockRowsReader
import org.apache.spark.sql.connector.read.PartitionReader
import org.apache.spark.sql.execution.vectorized.WritableColumnVector
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.vectorized.ColumnarBatch

/** The log's rows that a merged slice has, in log order.
  *
  * @param blocks    opens data blocks as rows of `columns`
  * @param batchRows rows to a batch at most
  * @param complete  makes a batch of the columns read and the number of rows
  */
final class LogBatches(
    slice: MergedSlice,
    columns: StructType,
    blocks: BlockRowsReader,
    batchRows: Int,
    complete: (Array[WritableColumnVector], Int) => ColumnarBatch
) extends PartitionReader[ColumnarBatch] {
  private val records = new KeptRecords(slice, slice.rows.keptLog, blocks)
  private var made: BatchVectors = _
  private var batch: ColumnarBatch = _

  override def next(): Boolean = {
    if (made == null) made = new BatchVectors(batchRows, columns)
    made.clear()
    while (!made.isFull && records.next()) {
      records.rows.append(made.vectors)
      made.endRow()
    }
    batch = if (made.rows == 0) null else complete(made.vectors, made.rows)
    batch != null
  }

  override def get(): ColumnarBatch = batch

  override def close(): Unit =
    try records.close()
    finally
      if (made != null) {
        made.close()
        made = null
      }
}
