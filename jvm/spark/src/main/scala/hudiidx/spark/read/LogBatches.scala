package hudiidx.spark.read

import hudiidx.slice.{KeptRecords, MergedSlice}
import hudiidx.spark.rows.BlockRowsReader
import hudiidx.spark.shims.Shims
import org.apache.spark.sql.connector.read.PartitionReader
import org.apache.spark.sql.execution.vectorized.WritableColumnVector
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.vectorized.ColumnarBatch

/** The log's rows that a merged slice has, in log order.
  *
  * @param blocks    opens data blocks as rows of `columns`
  * @param batchRows rows to a batch
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
  private var vectors: Array[WritableColumnVector] = _
  private var batch: ColumnarBatch = _

  override def next(): Boolean = {
    if (vectors == null) vectors = Shims.vectors(batchRows, columns)
    vectors.foreach(_.reset())
    var count = 0
    while (count < batchRows && records.next()) {
      records.rows.append(vectors)
      count += 1
    }
    batch = if (count == 0) null else complete(vectors, count)
    batch != null
  }

  override def get(): ColumnarBatch = batch

  override def close(): Unit =
    try records.close()
    finally
      if (vectors != null) {
        vectors.foreach(_.close())
        vectors = null
      }
}
