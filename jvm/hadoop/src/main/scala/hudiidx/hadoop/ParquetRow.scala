package hudiidx.hadoop

import java.math.{BigDecimal, BigInteger}

import hudiidx.bytes.ByteSlice
import hudiidx.log.{OrderingValue, RecordKeyBuilder, RowFields}
import org.apache.parquet.example.data.Group
import org.apache.parquet.schema.LogicalTypeAnnotation.{
  DateLogicalTypeAnnotation,
  DecimalLogicalTypeAnnotation,
  EnumLogicalTypeAnnotation,
  StringLogicalTypeAnnotation,
  TimeUnit,
  TimestampLogicalTypeAnnotation
}
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName
import org.apache.parquet.schema.{GroupType, MessageType, PrimitiveType, Type}

import scala.collection.JavaConverters._

/** Wanted columns of one row of a Parquet file. A column inside a group is named with dots. */
private[hadoop] final class ParquetRow(columns: Vector[String]) extends RowFields {
  private val paths = columns.map(_.split('.')).toArray
  private var row: Group = _

  def set(group: Group): Unit = row = group

  override def isNull(field: Int): Boolean = holder(field) == null

  override def utf8(field: Int, into: ByteSlice): Unit = into.set(binary(holder(field), field))

  override def boolean(field: Int): Boolean = {
    val at = holder(field)
    at != null && primitive(at, field) == PrimitiveTypeName.BOOLEAN && at.getBoolean(last(field), 0)
  }

  override def addTo(field: Int, key: RecordKeyBuilder): Unit = {
    val at = holder(field)
    if (at == null) key.nullValue()
    else
      (typeOf(at, field).getLogicalTypeAnnotation, primitive(at, field)) match {
        case (d: DecimalLogicalTypeAnnotation, _) =>
          val value = decimal(at, field, d)
          key.decimal(value.unscaledValue, value.scale)
        case (_: DateLogicalTypeAnnotation, _)                            => key.date(int(at, field).toLong)
        case (t: TimestampLogicalTypeAnnotation, PrimitiveTypeName.INT64) => addTimestamp(long(at, field), t, key)
        case (_, PrimitiveTypeName.INT32)                                 => key.long(int(at, field).toLong)
        case (_, PrimitiveTypeName.INT64)                                 => key.long(long(at, field))
        case (_, PrimitiveTypeName.BOOLEAN)                               => key.boolean(at.getBoolean(last(field), 0))
        case (_, PrimitiveTypeName.FLOAT)                                 => key.float(at.getFloat(last(field), 0))
        case (_, PrimitiveTypeName.DOUBLE)                                => key.double(at.getDouble(last(field), 0))
        case (_: StringLogicalTypeAnnotation | _: EnumLogicalTypeAnnotation, _) => addBytes(at, field, key.utf8)
        case _                                                                  => addBytes(at, field, key.binary)
      }
  }

  private def addTimestamp(value: Long, t: TimestampLogicalTypeAnnotation, key: RecordKeyBuilder): Unit =
    if (!t.isAdjustedToUTC || t.getUnit == TimeUnit.NANOS) key.long(value)
    else if (t.getUnit == TimeUnit.MILLIS) key.timestampMillis(value)
    else key.timestampMicros(value)

  private def addBytes(at: Group, field: Int, add: (Array[Byte], Int, Int) => Unit): Unit = {
    val bytes = binary(at, field)
    add(bytes, 0, bytes.length)
  }

  override def ordering(field: Int): OrderingValue = {
    val at = holder(field)
    if (at == null) OrderingValue.Default
    else
      (typeOf(at, field).getLogicalTypeAnnotation, primitive(at, field)) match {
        case (d: DecimalLogicalTypeAnnotation, _) => OrderingValue.ofDecimal(decimal(at, field, d))
        case (_: DateLogicalTypeAnnotation, _)    => OrderingValue.ofDate(int(at, field))
        case (t: TimestampLogicalTypeAnnotation, PrimitiveTypeName.INT64) => timestamp(long(at, field), t)
        case (_, PrimitiveTypeName.INT32)                                 => OrderingValue.ofInt(int(at, field))
        case (_, PrimitiveTypeName.INT64)                                 => OrderingValue.ofLong(long(at, field))
        case (_, PrimitiveTypeName.FLOAT)        => OrderingValue.ofFloat(at.getFloat(last(field), 0))
        case (_, PrimitiveTypeName.DOUBLE)       => OrderingValue.ofDouble(at.getDouble(last(field), 0))
        case (_, PrimitiveTypeName.BOOLEAN)      => OrderingValue.ofBoolean(at.getBoolean(last(field), 0))
        case (_: StringLogicalTypeAnnotation, _) => OrderingValue.ofUtf8(binary(at, field))
        case _                                   => OrderingValue.ofBytes(binary(at, field))
      }
  }

  private def timestamp(value: Long, t: TimestampLogicalTypeAnnotation): OrderingValue = t.getUnit match {
    case TimeUnit.MILLIS => OrderingValue.ofMillis(value)
    case TimeUnit.MICROS => OrderingValue.ofMicros(value)
    case TimeUnit.NANOS  => OrderingValue.ofLong(value)
  }

  private def decimal(at: Group, field: Int, t: DecimalLogicalTypeAnnotation): BigDecimal =
    primitive(at, field) match {
      case PrimitiveTypeName.INT32 => BigDecimal.valueOf(int(at, field).toLong, t.getScale)
      case PrimitiveTypeName.INT64 => BigDecimal.valueOf(long(at, field), t.getScale)
      case _                       => new BigDecimal(unscaled(binary(at, field)), t.getScale)
    }

  private def unscaled(bytes: Array[Byte]): BigInteger =
    if (bytes.isEmpty) BigInteger.ZERO else new BigInteger(bytes)

  private def binary(at: Group, field: Int): Array[Byte] =
    if (primitive(at, field) == PrimitiveTypeName.INT96) at.getInt96(last(field), 0).getBytes
    else at.getBinary(last(field), 0).getBytes

  private def int(at: Group, field: Int): Int = at.getInteger(last(field), 0)

  private def long(at: Group, field: Int): Long = at.getLong(last(field), 0)

  private def last(field: Int): String = paths(field)(paths(field).length - 1)

  /** The group that has the column; null if the column or a group above it is null or not in the file. */
  private def holder(field: Int): Group = {
    val path = paths(field)
    var at = row
    var i = 0
    while (at != null && i < path.length - 1) {
      at = if (has(at, path(i))) at.getGroup(path(i), 0) else null
      i += 1
    }
    if (at != null && has(at, path(i))) at else null
  }

  private def has(group: Group, name: String): Boolean =
    group.getType.containsField(name) && group.getFieldRepetitionCount(name) > 0

  private def typeOf(at: Group, field: Int): PrimitiveType = at.getType.getType(last(field)).asPrimitiveType

  private def primitive(at: Group, field: Int): PrimitiveTypeName = typeOf(at, field).getPrimitiveTypeName
}

private[hadoop] object ParquetRow {

  /** The part of a file's schema that holds the wanted columns. */
  def projection(schema: MessageType, columns: Vector[String]): MessageType =
    new MessageType(schema.getName, fields(schema, columns.map(_.split('.').toList)).asJava)

  private def fields(group: GroupType, paths: Vector[List[String]]): Vector[Type] =
    group.getFields.asScala.toVector.flatMap { field =>
      val here = paths.filter(_.headOption.contains(field.getName))
      if (here.isEmpty) None
      else if (field.isPrimitive || here.exists(_.size == 1)) Some(field)
      else {
        val inside = fields(field.asGroupType, here.map(_.tail))
        if (inside.isEmpty) None else Some(field.asGroupType.withNewFields(inside.asJava))
      }
    }
}
