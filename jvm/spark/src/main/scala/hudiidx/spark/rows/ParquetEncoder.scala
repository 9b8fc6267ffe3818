package hudiidx.spark.rows

import hudiidx.InvalidOption
import hudiidx.log.AvroRowFields
import hudiidx.table.HudiType
import org.apache.avro.Schema
import org.apache.parquet.io.api.{Binary, RecordConsumer}
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters
import org.apache.spark.sql.types._

/** Hands one value of a row, or of an array, to Parquet's writer. For one thread. */
abstract class ParquetEncoder {

  /** @param at place in the row or array, not null there */
  def write(from: SpecializedGetters, at: Int, to: RecordConsumer): Unit
}

/** Values as Spark holds them inside, for files of the schema that `BaseFileSchema` makes of the same Avro schema. */
object ParquetEncoder {

  /** All columns of a record as its fields, in the schema's order, looked up by their names.
    *
    * InvalidOption for a schema that a column's type does not fit, and, when a row is written, for a null that it does not allow.
    *
    * @param fileName what stands in the column of the file's name; the row's own value is not looked at
    */
  def record(
      schema: Schema,
      struct: StructType,
      fileNameColumn: String,
      fileName: String,
      where: String
  ): (SpecializedGetters, RecordConsumer) => Unit = {
    val constant = Binary.fromString(fileName)
    val fields = fieldsOf(schema, struct, where).map {
      case f if f.name == fileNameColumn => f.copy(value = new Constant(constant), isConstant = true)
      case f                             => f
    }
    (row, to) => writeAll(fields, row, to)
  }

  /** @param at the column's place in rows */
  final private case class Field(
      name: String,
      at: Int,
      isRequired: Boolean,
      value: ParquetEncoder,
      isConstant: Boolean = false
  )

  private def fieldsOf(schema: Schema, struct: StructType, where: String): Array[Field] =
    Array.tabulate(schema.getFields.size) { i =>
      val f = schema.getFields.get(i)
      val at = struct.fieldNames.indexOf(f.name)
      if (at < 0) throw new InvalidOption(s"$where: no column ${f.name}, which the table has")
      val (value, isRequired) = valueOf(f.schema)
      Field(f.name, at, isRequired, plain(value, struct(at).dataType, s"$where.${f.name}"))
    }

  /** The schema of what is not null, and whether null is not allowed. */
  private def valueOf(schema: Schema): (Schema, Boolean) =
    if (schema.getType != Schema.Type.UNION) (schema, true)
    else {
      val types = schema.getTypes
      val at = (0 until types.size).find(i => types.get(i).getType != Schema.Type.NULL).getOrElse(0)
      (types.get(at), false)
    }

  private def writeAll(fields: Array[Field], row: SpecializedGetters, to: RecordConsumer): Unit = {
    var i = 0
    while (i < fields.length) {
      val f = fields(i)
      if (f.isConstant || !row.isNullAt(f.at)) {
        to.startField(f.name, i)
        f.value.write(row, f.at, to)
        to.endField(f.name, i)
      } else if (f.isRequired)
        throw new InvalidOption(s"${f.name}: a value is null, which the table's schema does not allow")
      i += 1
    }
  }

  private def plain(schema: Schema, dataType: DataType, where: String): ParquetEncoder =
    (schema.getType, dataType) match {
      case (Schema.Type.BOOLEAN, BooleanType)                   => Bool
      case (Schema.Type.INT, IntegerType | DateType)            => Int32
      case (Schema.Type.LONG, LongType)                         => Int64
      case (Schema.Type.LONG, TimestampType | TimestampNTZType) => if (isMillis(schema)) Millis else Int64
      case (Schema.Type.FLOAT, FloatType)                       => Float32
      case (Schema.Type.DOUBLE, DoubleType)                     => Float64
      case (Schema.Type.STRING | Schema.Type.ENUM, StringType)  => Text
      case (Schema.Type.BYTES | Schema.Type.FIXED, BinaryType)  => Bytes
      case (Schema.Type.FIXED, ArrayType(element, _))           =>
        VectorBytes.of(schema, element, where).fold(AvroEncoder.unfit(schema, dataType, where))(new Numbers(_, where))
      case (Schema.Type.BYTES, d: DecimalType)        => new Decimals(0, d)
      case (Schema.Type.FIXED, d: DecimalType)        => new Decimals(schema.getFixedSize, d)
      case (Schema.Type.ARRAY, ArrayType(element, _)) =>
        val (value, isRequired) = valueOf(schema.getElementType)
        new Arrays(plain(value, element, s"$where.element"), isRequired, where)
      case (Schema.Type.MAP, MapType(StringType, value, _)) =>
        val (of, isRequired) = valueOf(schema.getValueType)
        new Maps(plain(of, value, s"$where.value"), isRequired, where)
      case (Schema.Type.RECORD, v) if VariantShims.isVariant(v) => new Variants(schema, where)
      case (Schema.Type.RECORD, struct: StructType) => new Records(fieldsOf(schema, struct, where), struct.length)
      case _                                        => AvroEncoder.unfit(schema, dataType, where)
    }

  private def isMillis(schema: Schema): Boolean = AvroRowFields.isMillis(schema.getLogicalType)

  final private class Constant(value: Binary) extends ParquetEncoder {
    override def write(from: SpecializedGetters, at: Int, to: RecordConsumer): Unit = to.addBinary(value)
  }

  private object Bool extends ParquetEncoder {
    override def write(from: SpecializedGetters, at: Int, to: RecordConsumer): Unit = to.addBoolean(from.getBoolean(at))
  }

  private object Int32 extends ParquetEncoder {
    override def write(from: SpecializedGetters, at: Int, to: RecordConsumer): Unit = to.addInteger(from.getInt(at))
  }

  private object Int64 extends ParquetEncoder {
    override def write(from: SpecializedGetters, at: Int, to: RecordConsumer): Unit = to.addLong(from.getLong(at))
  }

  private object Millis extends ParquetEncoder {
    override def write(from: SpecializedGetters, at: Int, to: RecordConsumer): Unit =
      to.addLong(Math.floorDiv(from.getLong(at), 1000L))
  }

  private object Float32 extends ParquetEncoder {
    override def write(from: SpecializedGetters, at: Int, to: RecordConsumer): Unit = to.addFloat(from.getFloat(at))
  }

  private object Float64 extends ParquetEncoder {
    override def write(from: SpecializedGetters, at: Int, to: RecordConsumer): Unit = to.addDouble(from.getDouble(at))
  }

  // Parquet copies what it keeps of a value that may change.
  private object Text extends ParquetEncoder {
    override def write(from: SpecializedGetters, at: Int, to: RecordConsumer): Unit =
      to.addBinary(Binary.fromReusedByteArray(from.getUTF8String(at).getBytes))
  }

  private object Bytes extends ParquetEncoder {
    override def write(from: SpecializedGetters, at: Int, to: RecordConsumer): Unit =
      to.addBinary(Binary.fromReusedByteArray(from.getBinary(at)))
  }

  final private class Numbers(of: HudiType.Vector, where: String) extends ParquetEncoder {
    override def write(from: SpecializedGetters, at: Int, to: RecordConsumer): Unit =
      to.addBinary(Binary.fromConstantByteArray(VectorBytes.of(from.getArray(at), of, where)))
  }

  /** The fields of the record in its order. */
  final private class Variants(schema: Schema, where: String) extends ParquetEncoder {
    private val fields = VariantFields.of(schema, where).zipWithIndex

    override def write(from: SpecializedGetters, at: Int, to: RecordConsumer): Unit = {
      to.startGroup()
      fields.foreach { case (field, i) =>
        to.startField(field.name, i)
        to.addBinary(Binary.fromReusedByteArray(field.bytes(from, at)))
        to.endField(field.name, i)
      }
      to.endGroup()
    }
  }

  /** @param size of the fixed; 0: as many bytes as the number has */
  final private class Decimals(size: Int, dataType: DecimalType) extends ParquetEncoder {
    override def write(from: SpecializedGetters, at: Int, to: RecordConsumer): Unit = {
      val value = from.getDecimal(at, dataType.precision, dataType.scale)
      val bytes = value.toJavaBigDecimal.setScale(dataType.scale).unscaledValue.toByteArray
      to.addBinary(Binary.fromConstantByteArray(if (bytes.length < size) widened(bytes) else bytes))
    }

    private def widened(bytes: Array[Byte]): Array[Byte] = {
      val whole = new Array[Byte](size)
      if (bytes(0) < 0) java.util.Arrays.fill(whole, 0, size - bytes.length, -1.toByte)
      System.arraycopy(bytes, 0, whole, size - bytes.length, bytes.length)
      whole
    }
  }

  final private class Arrays(element: ParquetEncoder, isRequired: Boolean, where: String) extends ParquetEncoder {
    override def write(from: SpecializedGetters, at: Int, to: RecordConsumer): Unit = {
      val values = from.getArray(at)
      val count = values.numElements()
      to.startGroup()
      if (count > 0) {
        to.startField("list", 0)
        var i = 0
        while (i < count) {
          to.startGroup()
          if (!values.isNullAt(i)) {
            to.startField("element", 0)
            element.write(values, i, to)
            to.endField("element", 0)
          } else if (isRequired) throw new InvalidOption(s"$where: an element is null, which the table does not allow")
          to.endGroup()
          i += 1
        }
        to.endField("list", 0)
      }
      to.endGroup()
    }
  }

  final private class Maps(value: ParquetEncoder, isRequired: Boolean, where: String) extends ParquetEncoder {
    override def write(from: SpecializedGetters, at: Int, to: RecordConsumer): Unit = {
      val map = from.getMap(at)
      val (keys, values) = (map.keyArray(), map.valueArray())
      val count = map.numElements()
      to.startGroup()
      if (count > 0) {
        to.startField("key_value", 0)
        var i = 0
        while (i < count) {
          to.startGroup()
          to.startField("key", 0)
          Text.write(keys, i, to)
          to.endField("key", 0)
          if (!values.isNullAt(i)) {
            to.startField("value", 1)
            value.write(values, i, to)
            to.endField("value", 1)
          } else if (isRequired) throw new InvalidOption(s"$where: a value is null, which the table does not allow")
          to.endGroup()
          i += 1
        }
        to.endField("key_value", 0)
      }
      to.endGroup()
    }
  }

  final private class Records(fields: Array[Field], count: Int) extends ParquetEncoder {
    override def write(from: SpecializedGetters, at: Int, to: RecordConsumer): Unit = {
      to.startGroup()
      writeAll(fields, from.getStruct(at, count), to)
      to.endGroup()
    }
  }
}
