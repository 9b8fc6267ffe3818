package hudiidx.log

import hudiidx.DecimalText
import hudiidx.bytes.{ByteSlice, Varint}
import java.math.{BigDecimal, BigInteger}
import java.nio.charset.StandardCharsets.UTF_8
import org.apache.avro.{LogicalType, LogicalTypes, Schema}

/** Values of the fields that an AvroRow has found, by their type in the writer's schema. */
abstract class AvroRowFields extends RowFields {
  def bytes: Array[Byte]
  def from(field: Int): Int
  def length(field: Int): Int
  def schema(field: Int): Schema
  protected def damaged(what: String): Nothing

  override def isNull(field: Int): Boolean = schema(field) == null

  override def utf8(field: Int, into: ByteSlice): Unit = schema(field).getType match {
    case Schema.Type.STRING | Schema.Type.BYTES | Schema.Type.FIXED => into.set(bytes, from(field), length(field))
    case other => damaged(s"a value of Avro type $other, not a string,")
  }

  override def boolean(field: Int): Boolean =
    !isNull(field) && schema(field).getType == Schema.Type.BOOLEAN && bytes(from(field)) != 0

  override def addTo(field: Int, key: RecordKeyBuilder): Unit = if (isNull(field)) key.nullValue()
  else
    (schema(field).getType, logicalType(field)) match {
      case (_, d: LogicalTypes.Decimal)                        => key.decimal(unscaled(field), d.getScale)
      case (_, _: LogicalTypes.Date)                           => key.date(long(field))
      case (Schema.Type.LONG, _: LogicalTypes.TimestampMicros) => key.timestampMicros(long(field))
      case (Schema.Type.LONG, _: LogicalTypes.TimestampMillis) => key.timestampMillis(long(field))
      case (Schema.Type.STRING, _)                             => key.utf8(bytes, from(field), length(field))
      case (Schema.Type.INT | Schema.Type.LONG, _)             => key.long(long(field))
      case (Schema.Type.BOOLEAN, _)                            => key.boolean(boolean(field))
      case (Schema.Type.FLOAT, _)                              => key.float(float(field))
      case (Schema.Type.DOUBLE, _)                             => key.double(double(field))
      case (Schema.Type.ENUM, _)                               => key.text(symbol(field))
      case (Schema.Type.BYTES | Schema.Type.FIXED, _)          => key.binary(bytes, from(field), length(field))
      case (other, _)                                          => damaged(s"a key field of Avro type $other")
    }

  override def ordering(field: Int): OrderingValue = if (isNull(field)) OrderingValue.Default
  else
    (schema(field).getType, logicalType(field)) match {
      case (_, d: LogicalTypes.Decimal) =>
        OrderingValue.ofDecimal(new BigDecimal(unscaled(field), d.getScale))
      case (_, _: LogicalTypes.Date)                          => OrderingValue.ofDate(long(field).toInt)
      case (Schema.Type.LONG, t) if AvroRowFields.isMicros(t) => OrderingValue.ofMicros(long(field))
      case (Schema.Type.LONG, t) if AvroRowFields.isMillis(t) => OrderingValue.ofMillis(long(field))
      case (Schema.Type.LONG, _)                              => OrderingValue.ofLong(long(field))
      case (Schema.Type.INT, _)                               => OrderingValue.ofInt(long(field).toInt)
      case (Schema.Type.FLOAT, _)                             => OrderingValue.ofFloat(float(field))
      case (Schema.Type.DOUBLE, _)                            => OrderingValue.ofDouble(double(field))
      case (Schema.Type.BOOLEAN, _)                           => OrderingValue.ofBoolean(boolean(field))
      case (Schema.Type.BYTES | Schema.Type.FIXED, _)         => OrderingValue.ofBytes(copy(field))
      case (Schema.Type.STRING, _)                            => OrderingValue.ofUtf8(copy(field))
      case (Schema.Type.ENUM, _)                              => OrderingValue.ofUtf8(symbol(field).getBytes(UTF_8))
      case (other, _)                                         => damaged(s"an ordering value of Avro type $other")
    }

  private def unscaled(field: Int): BigInteger =
    try DecimalText.whole(copy(field))
    catch { case e: ArithmeticException => damaged(e.getMessage) }

  private def symbol(field: Int): String = {
    val symbols = schema(field).getEnumSymbols
    val number = long(field)
    if (number < 0 || number >= symbols.size) damaged(s"enum value $number of ${symbols.size}")
    symbols.get(number.toInt)
  }

  private def logicalType(field: Int): LogicalType = schema(field).getLogicalType

  private def copy(field: Int): Array[Byte] =
    java.util.Arrays.copyOfRange(bytes, from(field), from(field) + length(field))

  private def long(field: Int): Long = {
    var value = 0L
    var i = 0
    while (i < length(field)) {
      value |= (bytes(from(field) + i) & 0x7fL) << (7 * i)
      i += 1
    }
    Varint.unZigZag(value)
  }

  /** Little-endian. */
  private def fixed(field: Int, size: Int): Long = {
    var value = 0L
    var i = size - 1
    while (i >= 0) {
      value = (value << 8) | (bytes(from(field) + i) & 0xff)
      i -= 1
    }
    value
  }

  private def float(field: Int): Float = java.lang.Float.intBitsToFloat(fixed(field, 4).toInt)

  private def double(field: Int): Double = java.lang.Double.longBitsToDouble(fixed(field, 8))
}

private[hudiidx] object AvroRowFields {
  def isMicros(t: LogicalType): Boolean = t match {
    case _: LogicalTypes.TimestampMicros | _: LogicalTypes.LocalTimestampMicros => true
    case _                                                                      => false
  }

  def isMillis(t: LogicalType): Boolean = t match {
    case _: LogicalTypes.TimestampMillis | _: LogicalTypes.LocalTimestampMillis => true
    case _                                                                      => false
  }
}
