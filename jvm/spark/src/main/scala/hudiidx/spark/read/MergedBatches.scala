package hudiidx.spark.read

import java.util.BitSet

import hudiidx.slice.MergedSlice
import org.apache.spark.sql.execution.vectorized.WritableColumnVector
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.connector.read.PartitionReader
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarBatch}

/** The rows of a merged file slice: those of the log that are kept as they are, then those of the base file, batch by batch
  * as they remain and then as they are mixed with the log, then those mixed of the log alone. What is held of the log is let
  * go as soon as no row needs it any more, before the base file is read if it can be.
  *
  * @param base    opens the base file's rows, all of them where some are mixed; None for a slice without one
  * @param logRows batches of the log's rows that are kept as they are
  * @param mixed   makes the mixed rows
  */
final class MergedBatches(
    val slice: MergedSlice,
    base: Option[() => BaseBatches],
    logRows: PartitionReader[ColumnarBatch],
    mixed: MixedRows
) extends PartitionReader[ColumnarBatch] {
  private val selection = new Selection(slice.rows.droppedBase)
  private var batch: ColumnarBatch = _
  private var opened: BaseBatches = _
  private var read: ColumnarBatch = _ // the base file's last batch
  private var inLog = true
  private var inBase = base.isDefined

  override def next(): Boolean = {
    batch = null
    if (inLog) fromLog()
    while (batch == null && inBase) advance()
    if (batch == null) batch = mixed.next(null, 0)
    batch != null
  }

  private def fromLog(): Unit = {
    inLog = logRows.next()
    if (inLog) batch = logRows.get()
    else {
      logRows.close()
      if (slice.rows.mixedRows.size == 0) slice.release()
    }
  }

  /** The base file's next rows, as they remain or mixed; both may be none. */
  private def advance(): Unit = {
    if (opened == null) opened = base.get()
    if (read != null && opened.numbers == null) batch = mixed.next(read, opened.from)
    if (batch == null) {
      inBase = opened.next()
      read = if (inBase) opened.batch else null
      if (inBase) batch = selection.remaining(read, opened.numbers, opened.from)
    }
  }

  override def get(): ColumnarBatch = batch

  override def close(): Unit =
    try if (opened != null) opened.close()
    finally
      try logRows.close()
      finally mixed.close()
}

/** A base file's rows with their numbers in it. */
abstract class BaseBatches(under: PartitionReader[ColumnarBatch]) extends AutoCloseable {

  /** Moves to the next batch; false behind the last. */
  def next(): Boolean = under.next()

  def batch: ColumnarBatch

  /** The numbers of the batch's rows, ascending; null: they follow each other. */
  def numbers: ColumnVector

  /** The number of its first row; only where `numbers` is null. */
  def from: Int

  override def close(): Unit = under.close()
}

object BaseBatches {

  /** A file read from its first row on, without filters. */
  def inOrder(batches: PartitionReader[ColumnarBatch]): BaseBatches = new BaseBatches(batches) {
    private var current: ColumnarBatch = _
    private var first = 0

    override def next(): Boolean = {
      if (current != null) first += current.numRows
      val more = super.next()
      current = if (more) batches.get() else null
      more
    }

    override def batch: ColumnarBatch = current
    override def numbers: ColumnVector = null
    override def from: Int = first
  }

  /** The rows with these numbers, ascending: a row to a batch, so that they can be mixed. */
  def at(batches: PartitionReader[ColumnarBatch], numbersOfRows: Array[Int]): BaseBatches = new BaseBatches(batches) {
    private var read: ColumnarBatch = _
    private var row = 0 // of the batch read
    private var given = 0
    private var current: ColumnarBatch = _

    override def next(): Boolean = {
      if (read == null || row == read.numRows) {
        read = if (super.next()) batches.get() else null
        row = 0
      }
      if (read != null) {
        current = SelectedRows.of(read, Array(row), 1)
        row += 1
        given += 1
      }
      read != null
    }

    override def batch: ColumnarBatch = current
    override def numbers: ColumnVector = null
    override def from: Int = numbersOfRows(given - 1)
  }

  /** Batches whose column number `at` holds the numbers of rows, and is to be left out. */
  def numbered(batches: PartitionReader[ColumnarBatch], at: Int): BaseBatches = new BaseBatches(batches) {
    private var held: ColumnVector = _
    private var current: ColumnarBatch = _

    override def next(): Boolean = {
      val more = super.next()
      if (more) {
        val all = batches.get()
        held = all.column(at)
        val others = (0 until all.numCols).filter(_ != at).map(all.column).toArray
        current = new ColumnarBatch(others, all.numRows)
      }
      more
    }

    override def batch: ColumnarBatch = current
    override def numbers: ColumnVector = held
    override def from: Int = throw new IllegalStateException("rows may be left out")
  }
}

/** The rows of batches but for some. */
final private class Selection(dropped: BitSet) {
  private var rows = Array.emptyIntArray

  /** Null if no row remains.
    *
    * @param numbers of the rows; null: from `from` on
    */
  def remaining(all: ColumnarBatch, numbers: ColumnVector, from: => Int): ColumnarBatch = {
    if (rows.length < all.numRows) rows = new Array[Int](all.numRows)
    val count =
      if (all.numRows == 0) 0 else if (numbers == null) inOrder(from, all.numRows) else numbered(numbers, all.numRows)
    if (count == 0) null else if (count == all.numRows) all else SelectedRows.of(all, rows, count)
  }

  /** Puts the rows that remain into `rows`, unless all do. */
  private def inOrder(from: Int, length: Int): Int = {
    val until = from + length
    val first = dropped.nextSetBit(from)
    if (first < 0 || first >= until) length
    else {
      var count = 0
      var row = dropped.nextClearBit(from)
      while (row < until) {
        rows(count) = row - from
        count += 1
        row = dropped.nextClearBit(row + 1)
      }
      count
    }
  }

  private def numbered(numbers: ColumnVector, length: Int): Int = {
    var count = 0
    var row = 0
    while (row < length) {
      if (!dropped.get(numbers.getLong(row).toInt)) {
        rows(count) = row
        count += 1
      }
      row += 1
    }
    count
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
    mixer: Option[PartialRowMerger],
    batchRows: Int,
    complete: (Array[WritableColumnVector], Int) => ColumnarBatch
) extends AutoCloseable {
  private val mixedRows = slice.rows.mixedRows
  private var mixedRow = 0
  private lazy val made = new BatchVectors(batchRows, columns)

  /** Rows with parts in a batch of the base file; null if there are none (any more).
    *
    * @param base null: behind the base file, rows without a part in it
    * @param from number of the batch's first row
    */
  def next(base: ColumnarBatch, from: Int): ColumnarBatch = {
    val until = if (base == null) Long.MaxValue else from.toLong + base.numRows
    def isIn = mixedRow < mixedRows.size && mixedRows.baseRow(mixedRow) < until
    if (!isIn) null
    else {
      made.clear()
      while (!made.isFull && isIn) {
        mixer.foreach(_.append(mixedRow, base, mixedRows.baseRow(mixedRow) - from, made.vectors))
        mixedRow += 1
        made.endRow()
      }
      complete(made.vectors, made.rows)
    }
  }

  override def close(): Unit = mixer.foreach { m =>
    m.close()
    made.close()
  }
}
