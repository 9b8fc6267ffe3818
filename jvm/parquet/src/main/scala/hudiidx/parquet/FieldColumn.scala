package hudiidx.parquet

import java.math.{BigDecimal, BigInteger}
import java.nio.{ByteBuffer, ByteOrder}

import hudiidx.DecimalText
import hudiidx.bytes.ByteSlice
import hudiidx.log.{OrderingValue, RecordKeyBuilder}
import org.apache.parquet.column.{ColumnDescriptor, ColumnReader}
import org.apache.parquet.io.ParquetDecodingException
import org.apache.parquet.io.api.Binary
import org.apache.parquet.schema.LogicalTypeAnnotation._
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName

/** A column whose values go into record keys or are compared as ordering values: any primitive type, in a struct too. */
private[hudiidx] final class FieldColumn(reader: ColumnReader, descriptor: ColumnDescriptor) {
  private val primitive = descriptor.getPrimitiveType
  private val annotation = primitive.getLogicalTypeAnnotation
  private val name = primitive.getPrimitiveTypeName
  private var started = false

  /** Moves to the next row. */
  def next(): Unit = {
    if (started) {
      // A value that nobody asked for stands in the way of the next one.
      if (!isNull) reader.skip()
      reader.consume()
    }
    started = true
  }

  def isNull: Boolean = reader.getCurrentDefinitionLevel < descriptor.getMaxDefinitionLevel

  /** The bytes of a string or binary value that is there. */
  def utf8(into: ByteSlice): Unit = into.set(reader.getBinary.getBytes)

  /** False for null and for other types than boolean. */
  def boolean: Boolean = name == PrimitiveTypeName.BOOLEAN && !isNull && reader.getBoolean

  /** Adds the current value to a key. */
  def put(key: RecordKeyBuilder): Unit =
    if (isNull) key.nullValue()
    else
      annotation match {
        case d: DecimalLogicalTypeAnnotation   => key.decimal(unscaled, d.getScale)
        case _: DateLogicalTypeAnnotation      => key.date(reader.getInteger.toLong)
        case t: TimestampLogicalTypeAnnotation => putTimestamp(key, t)
        case i: IntLogicalTypeAnnotation       => key.long(integer(i.isSigned))
        case _: StringLogicalTypeAnnotation | _: EnumLogicalTypeAnnotation | _: JsonLogicalTypeAnnotation =>
          val bytes = reader.getBinary.getBytesUnsafe
          key.utf8(bytes, 0, bytes.length)
        case _ => putPlain(key)
      }

  private def putTimestamp(key: RecordKeyBuilder, t: TimestampLogicalTypeAnnotation): Unit = t.getUnit match {
    case _ if !t.isAdjustedToUTC => key.long(reader.getLong)
    case TimeUnit.MILLIS         => key.timestampMillis(reader.getLong)
    case TimeUnit.MICROS         => key.timestampMicros(reader.getLong)
    case TimeUnit.NANOS          => key.long(reader.getLong)
  }

  private def putPlain(key: RecordKeyBuilder): Unit = name match {
    case PrimitiveTypeName.INT32                => key.long(reader.getInteger.toLong)
    case PrimitiveTypeName.INT64                => key.long(reader.getLong)
    case PrimitiveTypeName.FLOAT                => key.float(reader.getFloat)
    case PrimitiveTypeName.DOUBLE               => key.double(reader.getDouble)
    case PrimitiveTypeName.BOOLEAN              => key.boolean(reader.getBoolean)
    case PrimitiveTypeName.INT96                => key.timestampMicros(FieldColumn.microsOfInt96(reader.getBinary))
    case PrimitiveTypeName.BINARY               => putBytes(key)
    case PrimitiveTypeName.FIXED_LEN_BYTE_ARRAY => putBytes(key)
  }

  private def putBytes(key: RecordKeyBuilder): Unit = {
    val bytes = reader.getBinary.getBytesUnsafe
    key.binary(bytes, 0, bytes.length)
  }

  private def integer(signed: Boolean): Long =
    if (name == PrimitiveTypeName.INT64) reader.getLong
    else if (signed) reader.getInteger.toLong
    else Integer.toUnsignedLong(reader.getInteger)

  private def unscaled: BigInteger = name match {
    case PrimitiveTypeName.INT32 => BigInteger.valueOf(reader.getInteger.toLong)
    case PrimitiveTypeName.INT64 => BigInteger.valueOf(reader.getLong)
    case _                       =>
      try DecimalText.whole(reader.getBinary.getBytes)
      catch {
        case e: ArithmeticException =>
          throw new ParquetDecodingException(s"column ${descriptor.getPath.mkString(".")} has ${e.getMessage}", e)
      }
  }

  /** The current value as an ordering value; Default for null. */
  def ordering: OrderingValue =
    if (isNull) OrderingValue.Default
    else
      annotation match {
        case d: DecimalLogicalTypeAnnotation => OrderingValue.ofDecimal(new BigDecimal(unscaled, d.getScale))
        case _: DateLogicalTypeAnnotation    => OrderingValue.ofDate(reader.getInteger)
        case t: TimestampLogicalTypeAnnotation if t.getUnit == TimeUnit.MILLIS => OrderingValue.ofMillis(reader.getLong)
        case t: TimestampLogicalTypeAnnotation if t.getUnit == TimeUnit.MICROS => OrderingValue.ofMicros(reader.getLong)
        case _: StringLogicalTypeAnnotation => OrderingValue.ofUtf8(reader.getBinary.getBytes)
        case _                              => plainOrdering
      }

  private def plainOrdering: OrderingValue = name match {
    case PrimitiveTypeName.INT32   => OrderingValue.ofInt(reader.getInteger)
    case PrimitiveTypeName.INT64   => OrderingValue.ofLong(reader.getLong)
    case PrimitiveTypeName.FLOAT   => OrderingValue.ofFloat(reader.getFloat)
    case PrimitiveTypeName.DOUBLE  => OrderingValue.ofDouble(reader.getDouble)
    case PrimitiveTypeName.BOOLEAN => OrderingValue.ofBoolean(reader.getBoolean)
    case _                         => OrderingValue.ofBytes(reader.getBinary.getBytes)
  }
}

private object FieldColumn {
  private val JulianEpochDay = 2440588L

  /** Nanoseconds of the day and Julian day, little-endian. */
  def microsOfInt96(value: Binary): Long = {
    val buffer = ByteBuffer.wrap(value.getBytes).order(ByteOrder.LITTLE_ENDIAN)
    val nanos = buffer.getLong()
    (buffer.getInt() - JulianEpochDay) * 86400000000L + nanos / 1000
  }
}
