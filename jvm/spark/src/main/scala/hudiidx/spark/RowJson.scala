package hudiidx.spark

import scala.collection.immutable.ListMap

import hudiidx.answer.JsonEncoder
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types._

/** Rows as JSON objects under their column names; for structs, arrays of structs, texts and whole numbers. */
object RowJson {

  def array(rows: Iterator[InternalRow], schema: StructType): String =
    JsonEncoder.text(rows.map(valuesOf(_, schema)))

  private def valuesOf(row: InternalRow, schema: StructType): ListMap[String, Any] =
    ListMap(schema.fields.zipWithIndex.map { case (f, i) =>
      f.name -> (if (row.isNullAt(i)) null else valueOf(row, i, f))
    }: _*)

  private def valueOf(row: InternalRow, i: Int, field: StructField): Any = field.dataType match {
    case StringType                  => row.getUTF8String(i).toString
    case LongType                    => row.getLong(i)
    case IntegerType                 => row.getInt(i)
    case s: StructType               => valuesOf(row.getStruct(i, s.length), s)
    case ArrayType(s: StructType, _) =>
      val items = row.getArray(i)
      Vector.tabulate(items.numElements())(k => valuesOf(items.getStruct(k, s.length), s))
    case other => throw new IllegalArgumentException(s"${field.name}: no JSON form for ${other.simpleString}")
  }
}
