package hudiidx.spark.read

import hudiidx.merge.{ColumnMerge, FieldMergeRule, MergeRules}
import hudiidx.slice.{ColumnSources, MergedSlice, PartialMergeRecords, RecordHolder}
import hudiidx.spark.rows.{BlockRows, BlockRowsReader, VectorCopy}
import hudiidx.spark.shims.Shims
import org.apache.spark.sql.execution.vectorized.WritableColumnVector
import org.apache.spark.sql.types._
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarBatch}
import org.apache.spark.unsafe.types.UTF8String

/** Makes the rows of a slice that take their columns from several versions.
  *
  * @param defaults one row: what each column's field has as its default
  * @param window   log records held at a time; a pass over the log for each window of them
  */
final private class PartialRowMerger(
    slice: MergedSlice,
    columns: StructType,
    blocks: BlockRowsReader,
    rules: MergeRules,
    defaults: => Array[WritableColumnVector],
    window: Int
) extends AutoCloseable {
  private val copies = columns.fields.map(f => VectorCopy.of(f.dataType))
  private val replaceable =
    columns.fields.indices.map(i => Replaceable.of(rules.mixing, columns(i), () => defaults(i))).toArray
  private val vectors = Shims.vectors(PartialRowMerger.FirstRows, columns)
  private val holder = new RecordHolder[BlockRows] {
    override def begin(records: Int): Unit = vectors.foreach(_.reset())
    override def add(walk: BlockRows): Unit = walk.append(vectors)
  }
  private var base: ColumnarBatch = _
  private var baseRow = 0
  private val records = new PartialMergeRecords(slice, blocks, window, columns.length, holder)
  private val sources = new ColumnSources(records, columns.fieldNames.toVector, rules) {
    override protected def yieldsBase(column: Int): Boolean = replaceable(column)(base.column(column), baseRow)
    override protected def yieldsHeld(column: Int, place: Int): Boolean = replaceable(column)(vectors(column), place)
  }

  /** Appends a mixed row.
    *
    * @param from batch with the base file's row; null if it has no part in it
    * @param row  number of the row in the batch
    */
  def append(mixedRow: Int, from: ColumnarBatch, row: Int, into: Array[WritableColumnVector]): Unit = {
    base = from
    baseRow = row
    sources.startRow(mixedRow)
    var column = 0
    while (column < copies.length) {
      val place = sources.of(column)
      if (place < 0) copies(column).append(base.column(column), baseRow, into(column))
      else copies(column).append(vectors(column), place, into(column))
      column += 1
    }
  }

  override def close(): Unit = vectors.foreach(_.close())
}

private object PartialRowMerger {
  private val FirstRows = 256
}

/** Whether an older version's value takes the place of a column's value. */
private trait Replaceable {
  def apply(vector: ColumnVector, row: Int): Boolean
}

private object Replaceable {

  /** UnsupportedTable for a default that only Hudi's own code compares.
    *
    * @param default one row with the field's default
    */
  def of(mixing: ColumnMerge, column: StructField, default: () => ColumnVector): Replaceable = {
    val kind = kindOf(column.dataType)
    val value = reader(column.dataType)
    FieldMergeRule.of(mixing, column.name, kind, column.dataType.simpleString, value(default(), 0)) match {
      case FieldMergeRule.Never        => (_, _) => false
      case FieldMergeRule.IfNull       => _.isNullAt(_)
      case e: FieldMergeRule.IfEqual   => (vector, row) => e.isEqual(value(vector, row))
      case text: FieldMergeRule.IfText =>
        val wanted = UTF8String.fromBytes(text.bytes)
        (vector, row) => value(vector, row) == wanted
    }
  }

  private def kindOf(dataType: DataType): FieldMergeRule.Kind = dataType match {
    case StringType | BinaryType => FieldMergeRule.Text
    case BooleanType             => FieldMergeRule.Bool
    case IntegerType | LongType  => FieldMergeRule.Whole
    case FloatType | DoubleType  => FieldMergeRule.Floating
    case _                       => FieldMergeRule.Other
  }

  /** A value, boxed; null for null. Of types whose values no rule compares something else than null. */
  private def reader(dataType: DataType): (ColumnVector, Int) => Any = {
    val plain: (ColumnVector, Int) => Any = dataType match {
      case StringType  => _.getUTF8String(_)
      case BinaryType  => (vector, row) => UTF8String.fromBytes(vector.getBinary(row))
      case BooleanType => _.getBoolean(_)
      case IntegerType => _.getInt(_)
      case LongType    => _.getLong(_)
      case FloatType   => _.getFloat(_)
      case DoubleType  => _.getDouble(_)
      case _           => (_, _) => ()
    }
    (vector, row) => if (vector.isNullAt(row)) null else plain(vector, row)
  }
}
