package hudiidx.spark

import org.apache.spark.sql.connector.read.PartitionReader
import org.apache.spark.sql.types.{StringType, StructField, StructType}
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarBatch}

/** Batches with one more column.
  *
  * @param at   its place
  * @param keys its values in the order of the rows
  */
final private[spark] class KeyedBatches(others: PartitionReader[ColumnarBatch], at: Int, keys: Array[Array[Byte]])
    extends PartitionReader[ColumnarBatch] {
  private val vectors = Shims.vectors(math.max(1, keys.length), StructType(Seq(StructField("key", StringType))))
  private var given = 0
  private var batch: ColumnarBatch = _

  override def next(): Boolean = {
    val more = others.next()
    if (more) {
      val read = others.get()
      val key = vectors.head
      key.reset()
      (given until given + read.numRows).foreach(i => key.appendByteArray(keys(i), 0, keys(i).length))
      given += read.numRows
      val (before, behind) = (0 until read.numCols).map(read.column).splitAt(at)
      batch = new ColumnarBatch((before ++ (key +: behind)).toArray[ColumnVector], read.numRows)
    }
    more
  }

  override def get(): ColumnarBatch = batch

  override def close(): Unit =
    try others.close()
    finally vectors.foreach(_.close())
}

final private[spark] class NoBatches extends PartitionReader[ColumnarBatch] {
  override def next(): Boolean = false
  override def get(): ColumnarBatch = throw new NoSuchElementException
  override def close(): Unit = ()
}
