package hudiidx.spark.read

import hudiidx.spark.shims.Shims
import org.apache.spark.sql.connector.read.PartitionReader
import org.apache.spark.sql.types.{StringType, StructField, StructType}
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarBatch}

/** Batches with one more column.
  *
  * @param places where it stands, ascending: it may do so more than once
  * @param keys   its values in the order of the rows
  */
final private[spark] class KeyedBatches(
    others: PartitionReader[ColumnarBatch],
    places: Seq[Int],
    keys: Array[Array[Byte]]
) extends PartitionReader[ColumnarBatch] {
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
      batch = KeyedBatches.inserted(read, key, places)
    }
    more
  }

  override def get(): ColumnarBatch = batch

  override def close(): Unit =
    try others.close()
    finally vectors.foreach(_.close())
}

private[spark] object KeyedBatches {

  /** The batch with a column between its others. */
  def inserted(batch: ColumnarBatch, column: ColumnVector, places: Seq[Int]): ColumnarBatch = {
    val others = (0 until batch.numCols).iterator.map(batch.column)
    val all = Array.tabulate(batch.numCols + places.size)(i => if (places.contains(i)) column else others.next())
    new ColumnarBatch(all, batch.numRows)
  }
}

/** Batches that show one of their columns in one more place.
  *
  * @param from its own
  */
final private[spark] class RepeatedColumn(others: PartitionReader[ColumnarBatch], from: Int, at: Int)
    extends PartitionReader[ColumnarBatch] {
  private var read: ColumnarBatch = _
  private var batch: ColumnarBatch = _

  override def next(): Boolean = others.next()

  // Spark's reader hands out one batch again and again.
  override def get(): ColumnarBatch = {
    val now = others.get()
    if (now ne read) {
      read = now
      batch = KeyedBatches.inserted(now, now.column(from), Seq(at))
    }
    batch.setNumRows(now.numRows)
    batch
  }

  override def close(): Unit = others.close()
}

final private[spark] class NoBatches extends PartitionReader[ColumnarBatch] {
  override def next(): Boolean = false
  override def get(): ColumnarBatch = throw new NoSuchElementException
  override def close(): Unit = ()
}
