package hudiidx.spark.read

import hudiidx.spark.rows.ColumnAdapter
import hudiidx.spark.shims.Shims
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.read.PartitionReader
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarBatch}

/** Batches of type `from` (and more columns behind) as batches of type `to` (and the same columns behind).
  *
  * @param fixed values of columns that have one in all rows
  */
final private[spark] class ConvertedBatches(
    batches: PartitionReader[ColumnarBatch],
    from: StructType,
    to: StructType,
    fixed: Map[String, Any]
) extends PartitionReader[ColumnarBatch] {

  override def next(): Boolean = batches.next()

  override def get(): ColumnarBatch = {
    val batch = batches.get()
    val columns = Array.tabulate[ColumnVector](batch.numCols) { i =>
      if (i >= to.length) batch.column(i)
      else if (fixed.contains(to(i).name)) Shims.constant(fixed(to(i).name), to(i).dataType, batch.numRows)
      else ColumnAdapter.adapt(batch.column(i), from(i).dataType, to(i).dataType, floatsByText = true)
    }
    new ColumnarBatch(columns, batch.numRows)
  }

  override def close(): Unit = batches.close()
}

final private[spark] class RowsOfBatches(batches: PartitionReader[ColumnarBatch], toUnsafe: InternalRow => InternalRow)
    extends PartitionReader[InternalRow] {
  private var rows: java.util.Iterator[InternalRow] = java.util.Collections.emptyIterator()
  private var row: InternalRow = _

  override def next(): Boolean = {
    while (!rows.hasNext && batches.next()) rows = batches.get().rowIterator()
    val more = rows.hasNext
    if (more) row = toUnsafe(rows.next())
    more
  }

  /** The same row until `next`. */
  override def get(): InternalRow = row

  override def close(): Unit = batches.close()
}
