package hudiidx.spark.read

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, UnsafeProjection}
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReader, PartitionReaderFactory}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.vectorized.ColumnarBatch

/** Columns of a scan in the order that was asked for, of readers that give those of paths behind those of files. */
object ShownColumns {

  /** The readers themselves where there is nothing to do. */
  def factory(readers: PartitionReaderFactory, columns: ScanColumns): PartitionReaderFactory =
    if (columns.isAsRead) readers else new ShownColumnsFactory(readers, columns.all, columns.shown.toArray)

  def projection(read: StructType, shown: Array[Int]): UnsafeProjection =
    UnsafeProjection.create(shown.map(i => BoundReference(i, read(i).dataType, read(i).nullable)).toSeq)
}

final private class ShownColumnsFactory(readers: PartitionReaderFactory, read: StructType, shown: Array[Int])
    extends PartitionReaderFactory {

  override def supportColumnarReads(partition: InputPartition): Boolean = readers.supportColumnarReads(partition)

  override def createReader(partition: InputPartition): PartitionReader[InternalRow] = {
    val projection = ShownColumns.projection(read, shown)
    new ShownOf(readers.createReader(partition), projection(_: InternalRow))
  }

  override def createColumnarReader(partition: InputPartition): PartitionReader[ColumnarBatch] =
    new ShownOf[ColumnarBatch](
      readers.createColumnarReader(partition),
      batch => new ColumnarBatch(shown.map(batch.column), batch.numRows)
    )
}

final private class ShownOf[A](under: PartitionReader[A], show: A => A) extends PartitionReader[A] {
  override def next(): Boolean = under.next()
  override def get(): A = show(under.get())
  override def close(): Unit = under.close()
}
