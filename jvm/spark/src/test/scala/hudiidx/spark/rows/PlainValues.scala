package hudiidx.spark.rows

import java.nio.ByteBuffer
import org.apache.avro.generic.{GenericFixed, IndexedRecord}
import org.apache.avro.{LogicalTypes, Schema}
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters
import org.apache.spark.sql.execution.vectorized.{OnHeapColumnVector, WritableColumnVector}
import org.apache.spark.sql.types._
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarBatch}
import scala.collection.JavaConverters._

/** Values that can be compared, whichever way they came: of Spark's rows and vectors, and of Avro's generic records. Structs
  * are maps of name to value without nulls, binaries and strings are hexadecimal and text, floats their bits.
  */
object PlainValues {

  def vectors(columns: StructType): Array[WritableColumnVector] =
    OnHeapColumnVector.allocateColumns(16, columns).toArray[WritableColumnVector]

  def rows(vectors: Array[WritableColumnVector], count: Int, columns: StructType): Vector[Map[String, Any]] = {
    val batch = new ColumnarBatch(vectors.toArray[ColumnVector], count)
    Vector.tabulate(count)(i => struct(batch.getRow(i), columns))
  }

  def struct(row: SpecializedGetters, columns: StructType): Map[String, Any] =
    columns.zipWithIndex.map { case (f, i) => f.name -> spark(row, i, f.dataType) }.filter(_._2 != null).toMap

  private def spark(from: SpecializedGetters, at: Int, dataType: DataType): Any =
    if (from.isNullAt(at)) null
    else
      dataType match {
        case BooleanType                      => from.getBoolean(at)
        case IntegerType | DateType           => from.getInt(at)
        case LongType                         => from.getLong(at)
        case TimestampType | TimestampNTZType => from.getLong(at)
        case FloatType                        => "float " + java.lang.Float.floatToRawIntBits(from.getFloat(at))
        case DoubleType                       => "double " + java.lang.Double.doubleToRawLongBits(from.getDouble(at))
        case StringType                       => from.getUTF8String(at).toString
        case BinaryType                       => hex(from.getBinary(at))
        case d: DecimalType                   => from.getDecimal(at, d.precision, d.scale).toJavaBigDecimal
        case s: StructType                    => struct(from.getStruct(at, s.length), s)
        case a: ArrayType                     =>
          val array = from.getArray(at)
          Vector.tabulate(array.numElements())(spark(array, _, a.elementType))
        case m: MapType =>
          val map = from.getMap(at)
          Vector
            .tabulate(map.numElements()) { i =>
              spark(map.keyArray(), i, m.keyType) -> spark(map.valueArray(), i, m.valueType)
            }
            .toMap
      }

  /** A value of Avro's generic reader, as a column of the schema's own type shows it. */
  def avro(value: Any, schema: Schema): Any = (value, schema.getType) match {
    case (null, _)                           => null
    case (_, Schema.Type.UNION)              => union(value, schema)
    case (r: IndexedRecord, _)               => record(r)
    case (items: java.util.Collection[_], _) => items.asScala.toVector.map(avro(_, schema.getElementType))
    case (map: java.util.Map[_, _], _)       =>
      map.asScala.toMap.map { case (k, v) => k.toString -> avro(v, schema.getValueType) }
    case (b: ByteBuffer, _)   => binary(b.duplicate.array.slice(b.position(), b.limit()), schema)
    case (f: GenericFixed, _) => binary(f.bytes, schema)
    case (l: Long, _)         =>
      schema.getLogicalType match {
        case _: LogicalTypes.TimestampMillis | _: LogicalTypes.LocalTimestampMillis => l * 1000
        case _                                                                      => l
      }
    case (f: Float, _)                                 => "float " + java.lang.Float.floatToRawIntBits(f)
    case (d: Double, _)                                => "double " + java.lang.Double.doubleToRawLongBits(d)
    case (text, Schema.Type.STRING | Schema.Type.ENUM) => text.toString
    case (other, _)                                    => other
  }

  def record(r: IndexedRecord): Map[String, Any] =
    r.getSchema.getFields.asScala.map(f => f.name -> avro(r.get(f.pos), f.schema)).filter(_._2 != null).toMap

  private def union(value: Any, schema: Schema): Any = {
    val members = schema.getTypes.asScala.toVector.filter(_.getType != Schema.Type.NULL)
    val at = org.apache.avro.generic.GenericData.get.resolveUnion(Schema.createUnion(members.asJava), value)
    (value, members.map(_.getType).toSet) match {
      case (_, _) if members.size == 1                                               => avro(value, members(at))
      case (i: Int, kinds) if kinds == Set(Schema.Type.INT, Schema.Type.LONG)        => i.toLong
      case (l: Long, kinds) if kinds == Set(Schema.Type.INT, Schema.Type.LONG)       => l
      case (f: Float, kinds) if kinds == Set(Schema.Type.FLOAT, Schema.Type.DOUBLE)  => avro(f.toDouble, members(at))
      case (d: Double, kinds) if kinds == Set(Schema.Type.FLOAT, Schema.Type.DOUBLE) => avro(d, members(at))
      case _ => Map(s"member$at" -> avro(value, members(at)))
    }
  }

  private def binary(bytes: Array[Byte], schema: Schema): Any = schema.getLogicalType match {
    case d: LogicalTypes.Decimal => new java.math.BigDecimal(new java.math.BigInteger(bytes), d.getScale)
    case _                       => hex(bytes)
  }

  private def hex(bytes: Array[Byte]): String = bytes.map("%02x".format(_)).mkString
}
