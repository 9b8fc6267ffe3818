package hudiidx.spark.read

import hudiidx.spark.rows.VariantShims
import org.apache.spark.sql.connector.read.PartitionReader
import org.apache.spark.sql.types._
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarArray, ColumnarBatch, ColumnarMap}
import org.apache.spark.unsafe.types.UTF8String

/** Some rows of a batch as a batch: its vectors seen through a list of row numbers, nothing is copied. */
object SelectedRows {

  /** @param rows numbers of the rows, ascending, in the first `count` elements */
  def of(batch: ColumnarBatch, rows: Array[Int], count: Int): ColumnarBatch = {
    val columns = Array.tabulate[ColumnVector](batch.numCols)(i => new SelectedVector(batch.column(i), rows))
    new ColumnarBatch(columns, count)
  }
}

/** Does not own `base`: closing is its reader's business. */
final private class SelectedVector(base: ColumnVector, rows: Array[Int]) extends ColumnVector(base.dataType) {

  // Only structs, intervals and variants are read through their children.
  private lazy val children: Array[ColumnVector] = {
    val count = base.dataType match {
      case s: StructType                  => s.length
      case _: CalendarIntervalType        => SelectedVector.IntervalParts
      case v if VariantShims.isVariant(v) => SelectedVector.VariantParts
      case _                              => 0
    }
    Array.tabulate(count)(i => new SelectedVector(base.getChild(i), rows))
  }

  override def close(): Unit = ()
  override def hasNull: Boolean = base.hasNull
  override def numNulls: Int = base.numNulls
  override def isNullAt(row: Int): Boolean = base.isNullAt(rows(row))
  override def getBoolean(row: Int): Boolean = base.getBoolean(rows(row))
  override def getByte(row: Int): Byte = base.getByte(rows(row))
  override def getShort(row: Int): Short = base.getShort(rows(row))
  override def getInt(row: Int): Int = base.getInt(rows(row))
  override def getLong(row: Int): Long = base.getLong(rows(row))
  override def getFloat(row: Int): Float = base.getFloat(rows(row))
  override def getDouble(row: Int): Double = base.getDouble(rows(row))
  override def getArray(row: Int): ColumnarArray = base.getArray(rows(row))
  override def getMap(row: Int): ColumnarMap = base.getMap(rows(row))
  override def getDecimal(row: Int, precision: Int, scale: Int): Decimal =
    base.getDecimal(rows(row), precision, scale)
  override def getUTF8String(row: Int): UTF8String = base.getUTF8String(rows(row))
  override def getBinary(row: Int): Array[Byte] = base.getBinary(rows(row))
  override def getChild(ordinal: Int): ColumnVector = children(ordinal)
}

private object SelectedVector {
  private val IntervalParts = 3
  private val VariantParts = 2
}

/** The rows with these numbers out of all rows of a file.
  *
  *  @param numbers ascending
  */
final private[spark] class RowsByNumber(all: PartitionReader[ColumnarBatch], numbers: Array[Int])
    extends PartitionReader[ColumnarBatch] {
  private var from = 0L // number of the next batch's first row
  private var given = 0
  private var batch: ColumnarBatch = _

  override def next(): Boolean = {
    batch = null
    while (batch == null && given < numbers.length && all.next()) {
      val read = all.get()
      var count = 0
      val until = from + read.numRows
      while (given + count < numbers.length && numbers(given + count) < until) count += 1
      if (count > 0) {
        val rows = Array.tabulate(count)(i => (numbers(given + i) - from).toInt)
        batch = SelectedRows.of(read, rows, count)
      }
      given += count
      from = until
    }
    batch != null
  }

  override def get(): ColumnarBatch = batch

  override def close(): Unit = all.close()
}
