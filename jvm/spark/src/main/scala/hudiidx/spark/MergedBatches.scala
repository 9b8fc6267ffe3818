package hudiidx.spark

import java.util.BitSet

import hudiidx.hadoop.MergedSlice
import org.apache.spark.sql.execution.vectorized.WritableColumnVector
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.connector.read.PartitionReader
import org.apache.spark.sql.vectorized.ColumnarBatch

/** The rows of a merged file slice: those of its base file, batch by batch as they remain and then as they are mixed with
  * the log, then those of the log.
  *
  * @param base    the base file's rows, all of them in their order; None for a slice without one
  * @param logRows batches of the log's rows that are kept as they are
  * @param mixed   makes the mixed rows
  */
final class MergedBatches(
    slice: MergedSlice,
    base: Option[PartitionReader[ColumnarBatch]],
    logRows: PartitionReader[ColumnarBatch],
    mixed: MixedRows
) extends PartitionReader[ColumnarBatch] {
  private val dropped = slice.rows.droppedBase
  private val selection = new Selection(dropped)
  private var batch: ColumnarBatch = _
  private var read: ColumnarBatch = _ // the base file's last batch
  private var from = 0 // number of its first row
  private var inBase = base.isDefined

  override def next(): Boolean = {
    batch = null
    while (batch == null && inBase) advanceInBase()
    if (batch == null && logRows.next()) batch = logRows.get()
    if (batch == null) batch = mixed.next(null, 0)
    batch != null
  }

  /** The base file's next rows, as they remain or mixed; both may be none. */
  private def advanceInBase(): Unit = {
    if (read != null) batch = mixed.next(read, from)
    if (batch == null) {
      if (read != null) from += read.numRows
      inBase = base.exists(_.next())
      read = if (inBase) base.get.get() else null
      if (inBase) batch = selection.remaining(read, from)
    }
  }

  override def get(): ColumnarBatch = batch

  override def close(): Unit =
    try base.foreach(_.close())
    finally
      try logRows.close()
      finally mixed.close()
}

/** The rows of batches but for some. */
final private class Selection(dropped: BitSet) {
  private var rows = Array.emptyIntArray

  /** Null if no row remains.
    *
    * @param from number of the batch's first row
    */
  def remaining(all: ColumnarBatch, from: Int): ColumnarBatch = {
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

/** The rows of a slice that are mixed of several, in batches.
  *
  * @param mixer    None if there are none
  * @param complete makes a batch of the columns made and the number of rows
  */
final class MixedRows(
    slice: MergedSlice,
    columns: StructType,
    mixer: Option[RowMixer],
    batchRows: Int,
    complete: (Array[WritableColumnVector], Int) => ColumnarBatch
) extends AutoCloseable {
  private val recipes = slice.rows.recipes
  private var recipe = 0
  private lazy val vectors = Shims.vectors(batchRows, columns)

  /** Rows with parts in a batch of the base file; null if there are none (any more).
    *
    * @param base null: behind the base file, rows without a part in it
    * @param from number of the batch's first row
    */
  def next(base: ColumnarBatch, from: Int): ColumnarBatch = {
    val until = if (base == null) Long.MaxValue else from.toLong + base.numRows
    var count = 0
    while (count < batchRows && recipe < recipes.size && recipes.baseRow(recipe) < until) {
      if (count == 0) vectors.foreach(_.reset())
      mixer.foreach(_.append(recipe, base, recipes.baseRow(recipe) - from, vectors))
      recipe += 1
      count += 1
    }
    if (count == 0) null else complete(vectors, count)
  }

  override def close(): Unit = mixer.foreach { m =>
    m.close()
    vectors.foreach(_.close())
  }
}
