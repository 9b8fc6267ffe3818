package hudiidx.spark.rows

import hudiidx.InvalidOption
import hudiidx.bytes.PackedOutput
import hudiidx.log.AvroRowFields
import hudiidx.table.HudiType
import org.apache.avro.Schema
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/** Writes one value of a row, or of an array, as an Avro datum. For one thread. */
abstract class AvroEncoder {

  /** @param at place in the row or array */
  def write(from: SpecializedGetters, at: Int, out: PackedOutput): Unit
}

/** Avro specification 1.11, binary encoding, of values as Spark holds them inside. */
object AvroEncoder {

  /** Of all fields of a record, from rows that have them in their order.
    *
    * @param schema of the record; InvalidOption for one that a column's type does not fit
    */
  def record(schema: Schema, struct: StructType, where: String): (SpecializedGetters, PackedOutput) => Unit = {
    val fields = fieldsOf(schema, struct, where)
    (row, out) => {
      var i = 0
      while (i < fields.length) {
        fields(i).write(row, i, out)
        i += 1
      }
    }
  }

  private def fieldsOf(schema: Schema, struct: StructType, where: String): Array[AvroEncoder] = {
    if (schema.getFields.size != struct.length)
      throw new InvalidOption(s"$where: ${struct.length} columns for ${schema.getFields.size} fields of the table")
    struct.fields.zipWithIndex.map { case (f, i) =>
      of(schema.getFields.get(i).schema, f.dataType, s"$where.${f.name}")
    }
  }

  /** Of one value.
    *
    * @param where name of the column, for messages
    */
  def of(schema: Schema, dataType: DataType, where: String): AvroEncoder = schema.getType match {
    case Schema.Type.UNION => optional(schema, dataType, where)
    case _                 => new Required(plain(schema, dataType, where), where)
  }

  private def optional(schema: Schema, dataType: DataType, where: String): AvroEncoder = {
    val types = schema.getTypes
    val nullAt = (0 until types.size).find(i => types.get(i).getType == Schema.Type.NULL)
    val others = (0 until types.size).filterNot(nullAt.contains)
    if (others.size != 1) unfit(schema, dataType, where)
    else new Optional(nullAt, others.head, plain(types.get(others.head), dataType, where), where)
  }

  private[rows] def unfit(schema: Schema, dataType: DataType, where: String): Nothing =
    throw new InvalidOption(
      s"$where: ${dataType.simpleString} cannot be written as the table's ${schema.getType.getName}"
    )

  private def plain(schema: Schema, dataType: DataType, where: String): AvroEncoder = (schema.getType, dataType) match {
    case (Schema.Type.BOOLEAN, BooleanType)                   => Bool
    case (Schema.Type.INT, IntegerType | DateType)            => Int32
    case (Schema.Type.INT, ShortType)                         => Int16
    case (Schema.Type.INT, ByteType)                          => Int8
    case (Schema.Type.LONG, LongType)                         => Int64
    case (Schema.Type.LONG, TimestampType | TimestampNTZType) => if (isMillis(schema)) Millis else Int64
    case (Schema.Type.FLOAT, FloatType)                       => Float32
    case (Schema.Type.DOUBLE, DoubleType)                     => Float64
    case (Schema.Type.STRING, StringType)                     => Text
    case (Schema.Type.ENUM, StringType)                       => new Symbols(schema, where)
    case (Schema.Type.BYTES, BinaryType)                      => Bytes
    case (Schema.Type.FIXED, BinaryType)                      => new FixedBytes(schema.getFixedSize, where)
    case (Schema.Type.FIXED, ArrayType(element, _))           =>
      VectorBytes.of(schema, element, where).fold(unfit(schema, dataType, where))(new Numbers(_, where))
    case (Schema.Type.BYTES | Schema.Type.FIXED, d: DecimalType) => new Decimals(schema, d)
    case (Schema.Type.ARRAY, ArrayType(element, _)) => new Arrays(of(schema.getElementType, element, s"$where.element"))
    case (Schema.Type.MAP, MapType(StringType, value, _)) => new Maps(of(schema.getValueType, value, s"$where.value"))
    case (Schema.Type.RECORD, v) if VariantShims.isVariant(v) => new Variants(schema, where)
    case (Schema.Type.RECORD, struct: StructType) => new Records(fieldsOf(schema, struct, where), struct.length)
    case _                                        => unfit(schema, dataType, where)
  }

  private def isMillis(schema: Schema): Boolean = AvroRowFields.isMillis(schema.getLogicalType)

  final private class Required(value: AvroEncoder, where: String) extends AvroEncoder {
    override def write(from: SpecializedGetters, at: Int, out: PackedOutput): Unit =
      if (from.isNullAt(at))
        throw new InvalidOption(s"$where: a value is null, which the table's schema does not allow")
      else value.write(from, at, out)
  }

  final private class Optional(nullAt: Option[Int], valueAt: Int, value: AvroEncoder, where: String)
      extends AvroEncoder {
    override def write(from: SpecializedGetters, at: Int, out: PackedOutput): Unit =
      if (!from.isNullAt(at)) {
        out.zigzag(valueAt.toLong)
        value.write(from, at, out)
      } else
        nullAt match {
          case Some(n) => out.zigzag(n.toLong)
          case None    => throw new InvalidOption(s"$where: a value is null, which the table's schema does not allow")
        }
  }

  private object Bool extends AvroEncoder {
    override def write(from: SpecializedGetters, at: Int, out: PackedOutput): Unit =
      out.byte(if (from.getBoolean(at)) 1 else 0)
  }

  private object Int8 extends AvroEncoder {
    override def write(from: SpecializedGetters, at: Int, out: PackedOutput): Unit = out.zigzag(from.getByte(at).toLong)
  }

  private object Int16 extends AvroEncoder {
    override def write(from: SpecializedGetters, at: Int, out: PackedOutput): Unit =
      out.zigzag(from.getShort(at).toLong)
  }

  private object Int32 extends AvroEncoder {
    override def write(from: SpecializedGetters, at: Int, out: PackedOutput): Unit = out.zigzag(from.getInt(at).toLong)
  }

  private object Int64 extends AvroEncoder {
    override def write(from: SpecializedGetters, at: Int, out: PackedOutput): Unit = out.zigzag(from.getLong(at))
  }

  private object Millis extends AvroEncoder {
    override def write(from: SpecializedGetters, at: Int, out: PackedOutput): Unit =
      out.zigzag(Math.floorDiv(from.getLong(at), 1000L))
  }

  private object Float32 extends AvroEncoder {
    override def write(from: SpecializedGetters, at: Int, out: PackedOutput): Unit =
      bits(out, java.lang.Float.floatToIntBits(from.getFloat(at)).toLong, 4)
  }

  private object Float64 extends AvroEncoder {
    override def write(from: SpecializedGetters, at: Int, out: PackedOutput): Unit =
      bits(out, java.lang.Double.doubleToLongBits(from.getDouble(at)), 8)
  }

  private def bits(out: PackedOutput, value: Long, bytes: Int): Unit = {
    var i = 0
    while (i < bytes) {
      out.byte((value >>> (8 * i)).toInt & 0xff)
      i += 1
    }
  }

  /** As an Avro string or bytes. */
  def sized(out: PackedOutput, bytes: Array[Byte]): Unit = {
    out.zigzag(bytes.length.toLong)
    out.raw(bytes, 0, bytes.length)
  }

  private object Text extends AvroEncoder {
    override def write(from: SpecializedGetters, at: Int, out: PackedOutput): Unit =
      sized(out, from.getUTF8String(at).getBytes)
  }

  private object Bytes extends AvroEncoder {
    override def write(from: SpecializedGetters, at: Int, out: PackedOutput): Unit = sized(out, from.getBinary(at))
  }

  final private class FixedBytes(size: Int, where: String) extends AvroEncoder {
    override def write(from: SpecializedGetters, at: Int, out: PackedOutput): Unit = {
      val bytes = from.getBinary(at)
      if (bytes.length != size)
        throw new InvalidOption(s"$where: a value has ${bytes.length} bytes, the table's type has $size")
      out.raw(bytes, 0, size)
    }
  }

  final private class Numbers(of: HudiType.Vector, where: String) extends AvroEncoder {
    override def write(from: SpecializedGetters, at: Int, out: PackedOutput): Unit =
      out.raw(VectorBytes.of(from.getArray(at), of, where), 0, of.bytes)
  }

  /** The fields of the record in its order. */
  final private class Variants(schema: Schema, where: String) extends AvroEncoder {
    private val fields = VariantFields.of(schema, where)

    override def write(from: SpecializedGetters, at: Int, out: PackedOutput): Unit =
      fields.foreach(f => sized(out, f.bytes(from, at)))
  }

  final private class Symbols(schema: Schema, where: String) extends AvroEncoder {
    private val places = {
      val all = new java.util.HashMap[UTF8String, Integer]
      schema.getEnumSymbols.forEach(s => all.put(UTF8String.fromString(s), schema.getEnumOrdinal(s)): Unit)
      all
    }

    override def write(from: SpecializedGetters, at: Int, out: PackedOutput): Unit = {
      val place = places.get(from.getUTF8String(at))
      if (place == null) throw new InvalidOption(s"$where: '${from.getUTF8String(at)}' is not a symbol of the enum")
      out.zigzag(place.toLong)
    }
  }

  final private class Decimals(schema: Schema, dataType: DecimalType) extends AvroEncoder {
    private val size = if (schema.getType == Schema.Type.FIXED) schema.getFixedSize else -1

    override def write(from: SpecializedGetters, at: Int, out: PackedOutput): Unit = {
      val value = from.getDecimal(at, dataType.precision, dataType.scale)
      val bytes = value.toJavaBigDecimal.setScale(dataType.scale).unscaledValue.toByteArray
      if (size < 0) sized(out, bytes)
      else {
        val sign = if (bytes(0) < 0) 0xff else 0
        (bytes.length until size).foreach(_ => out.byte(sign))
        out.raw(bytes, 0, bytes.length)
      }
    }
  }

  final private class Arrays(element: AvroEncoder) extends AvroEncoder {
    override def write(from: SpecializedGetters, at: Int, out: PackedOutput): Unit = {
      val values = from.getArray(at)
      val count = values.numElements()
      if (count > 0) out.zigzag(count.toLong)
      var i = 0
      while (i < count) {
        element.write(values, i, out)
        i += 1
      }
      out.zigzag(0L)
    }
  }

  final private class Maps(value: AvroEncoder) extends AvroEncoder {
    override def write(from: SpecializedGetters, at: Int, out: PackedOutput): Unit = {
      val map = from.getMap(at)
      val count = map.numElements()
      val keys = map.keyArray()
      val values = map.valueArray()
      if (count > 0) out.zigzag(count.toLong)
      var i = 0
      while (i < count) {
        sized(out, keys.getUTF8String(i).getBytes)
        value.write(values, i, out)
        i += 1
      }
      out.zigzag(0L)
    }
  }

  final private class Records(fields: Array[AvroEncoder], count: Int) extends AvroEncoder {
    override def write(from: SpecializedGetters, at: Int, out: PackedOutput): Unit = {
      val row = from.getStruct(at, count)
      var i = 0
      while (i < fields.length) {
        fields(i).write(row, i, out)
        i += 1
      }
    }
  }
}
