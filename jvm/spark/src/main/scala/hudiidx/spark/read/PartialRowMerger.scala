package hudiidx.spark.read

import hudiidx.slice.{MergedSlice, PartialMergeRecords, RecordHolder}
import hudiidx.UnsupportedTable
import hudiidx.merge.{ColumnMerge, MergeRules}
import hudiidx.spark.options.ReadOptions
import hudiidx.spark.rows.{BlockRows, BlockRowsReader, VectorCopy}
import hudiidx.spark.shims.Shims
import hudiidx.table.TableSchema
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
  private val yielding =
    columns.fields.indices.map(i => FieldMergeRule.of(rules.mixing, columns(i), () => defaults(i))).toArray
  private val ofNewest = columns.fieldNames.map(n => rules.newestMeta && TableSchema.MetaColumns.contains(n))
  private val vectors = Shims.vectors(PartialRowMerger.FirstRows, columns)
  private val holder = new RecordHolder[BlockRows] {
    override def begin(records: Int): Unit = vectors.foreach(_.reset())
    override def add(walk: BlockRows): Unit = walk.append(vectors)
  }
  private val records = new PartialMergeRecords(slice, blocks, window, columns.length, holder)

  /** Appends a row.
    *
    * @param base    batch with the base file's row; null if it has none
    * @param baseRow number of the row in the batch
    */
  def append(recipe: Int, base: ColumnarBatch, baseRow: Int, into: Array[WritableColumnVector]): Unit = {
    val places = records.places(recipe)
    val newest = records.newest(recipe)
    var column = 0
    while (column < copies.length) {
      var i = if (ofNewest(column)) newest else places.length - 1
      while (i > 0 && !ofNewest(column) && givesWay(places(i), column, base, baseRow)) i -= 1
      if (places(i) < 0) copies(column).append(base.column(column), baseRow, into(column))
      else copies(column).append(vectors(column), places(i), into(column))
      column += 1
    }
  }

  private def givesWay(place: Int, column: Int, base: ColumnarBatch, baseRow: Int): Boolean =
    if (place < 0) yielding(column)(base.column(column), baseRow)
    else !records.has(place, column) || yielding(column)(vectors(column), place)

  override def close(): Unit = vectors.foreach(_.close())
}

private object PartialRowMerger {
  private val FirstRows = 256
}

/** Whether a column's value in a row that wins gives way. */
abstract private class FieldMergeRule {
  def apply(vector: ColumnVector, row: Int): Boolean
}

private object FieldMergeRule {

  private object Never extends FieldMergeRule {
    override def apply(vector: ColumnVector, row: Int): Boolean = false
  }

  private object IfNull extends FieldMergeRule {
    override def apply(vector: ColumnVector, row: Int): Boolean = vector.isNullAt(row)
  }

  /** UnsupportedTable for a default that only Hudi's own code compares. */
  def of(mixing: ColumnMerge, column: StructField, default: () => ColumnVector): FieldMergeRule =
    (mixing, column.dataType) match {
      case (ColumnMerge.Never, _)                                   => Never
      case (ColumnMerge.Nulls, _)                                   => IfNull
      case (ColumnMerge.Unavailable(text), StringType | BinaryType) => new IfText(text, column.dataType)
      case (ColumnMerge.Unavailable(_), _)                          => Never
      case (_, _) if default().isNullAt(0)                          => IfNull
      case (ColumnMerge.EqualDefaults, _)                           => equalDefault(column, default())
      case (ColumnMerge.Defaults, BooleanType)                      => new IfEqual(default(), _.getBoolean(_))
      case (ColumnMerge.Defaults, IntegerType) if isOneObject(default().getInt(0).toLong) =>
        new IfEqual(default(), _.getInt(_))
      case (ColumnMerge.Defaults, LongType) if isOneObject(default().getLong(0)) => new IfEqual(default(), _.getLong(_))
      case (ColumnMerge.Defaults, _)                                             => Never
    }

  private def equalDefault(column: StructField, default: ColumnVector): FieldMergeRule = column.dataType match {
    case BooleanType => new IfEqual(default, _.getBoolean(_))
    case IntegerType => new IfEqual(default, _.getInt(_))
    case LongType    => new IfEqual(default, _.getLong(_))
    case FloatType   => new IfEqual(default, (v, row) => java.lang.Float.floatToIntBits(v.getFloat(row)))
    case DoubleType  => new IfEqual(default, (v, row) => java.lang.Double.doubleToLongBits(v.getDouble(row)))
    case other       =>
      throw new UnsupportedTable(
        s"column ${column.name} of type ${other.simpleString} has a default other than null, which the table's payload class " +
          s"compares; read the base files alone with ${ReadOptions.QueryType}=${ReadOptions.ReadOptimized}, or the table with Hudi"
      )
  }

  /** Java keeps one object of each such number. */
  private def isOneObject(value: Long): Boolean = value >= Byte.MinValue && value <= Byte.MaxValue

  final private class IfEqual(default: ColumnVector, value: (ColumnVector, Int) => Any) extends FieldMergeRule {
    private val wanted = value(default, 0)
    override def apply(vector: ColumnVector, row: Int): Boolean = !vector.isNullAt(row) && value(vector, row) == wanted
  }

  final private class IfText(text: String, dataType: DataType) extends FieldMergeRule {
    private val wanted = UTF8String.fromString(text)
    override def apply(vector: ColumnVector, row: Int): Boolean = !vector.isNullAt(row) && {
      val value = if (dataType == StringType) vector.getUTF8String(row) else UTF8String.fromBytes(vector.getBinary(row))
      value == wanted
    }
  }
}
