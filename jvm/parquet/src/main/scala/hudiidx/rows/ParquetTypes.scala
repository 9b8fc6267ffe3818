package hudiidx.rows

import java.math.{BigDecimal, BigInteger}

import scala.collection.JavaConverters._

import hudiidx.UnsupportedTable
import org.apache.parquet.schema.LogicalTypeAnnotation._
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName
import org.apache.parquet.schema.Type.Repetition
import org.apache.parquet.schema.{GroupType, LogicalTypeAnnotation, PrimitiveType, Type}

/** Parquet's types as those of [[ValueType]]. */
private[rows] object ParquetTypes {

  /** UnsupportedTable for types that Hudi does not write. */
  def struct(group: GroupType, path: String): ValueType.Struct =
    ValueType.Struct(group.getFields.asScala.toVector.map { f =>
      ValueType.Field(f.getName, once(f, path))
    })

  private def once(field: Type, path: String): ValueType = of(unrepeated(field, path), path)

  private def unrepeated(field: Type, path: String): Type =
    if (field.isRepetition(Repetition.REPEATED)) refuse(field, path) else field

  def of(field: Type, path: String): ValueType =
    if (field.isPrimitive) primitive(field.asPrimitiveType, path)
    else
      field.getLogicalTypeAnnotation match {
        case _: ListLogicalTypeAnnotation => ValueType.Items(of(element(field.asGroupType, path), path))
        case _: MapLogicalTypeAnnotation | _: MapKeyValueTypeAnnotation =>
          val entry = repeated(field.asGroupType, path)
          ValueType.Entries(once(entry.getType(0), path), once(entry.getType(1), path))
        case _ => struct(field.asGroupType, path)
      }

  private def primitive(field: PrimitiveType, path: String): ValueType = {
    val logical = field.getLogicalTypeAnnotation
    (field.getPrimitiveTypeName, logical) match {
      case (_, d: DecimalLogicalTypeAnnotation)                    => ValueType.Decimal(d.getPrecision, d.getScale)
      case (PrimitiveTypeName.BOOLEAN, _)                          => ValueType.Bool
      case (PrimitiveTypeName.INT32, _: DateLogicalTypeAnnotation) => ValueType.Date
      case (PrimitiveTypeName.INT32, _)                            => ValueType.Int32
      case (PrimitiveTypeName.INT64, t: TimestampLogicalTypeAnnotation) if t.getUnit != TimeUnit.NANOS =>
        ValueType.Timestamp(t.getUnit == TimeUnit.MILLIS, local = !t.isAdjustedToUTC)
      case (PrimitiveTypeName.INT64, _: TimestampLogicalTypeAnnotation) => refuse(field, path)
      case (PrimitiveTypeName.INT64, _)                                 => ValueType.Int64
      case (PrimitiveTypeName.INT96, _)  => ValueType.Timestamp(millis = false, local = false)
      case (PrimitiveTypeName.FLOAT, _)  => ValueType.Float32
      case (PrimitiveTypeName.DOUBLE, _) => ValueType.Float64
      case (_, _: StringLogicalTypeAnnotation | _: EnumLogicalTypeAnnotation | _: JsonLogicalTypeAnnotation) =>
        ValueType.Text
      case _ => ValueType.Binary
    }
  }

  /** The type of a list's elements: that of the field in its repeated group, or in older forms the repeated field itself. */
  def element(list: GroupType, path: String): Type = {
    val inner = list.getType(0)
    if (list.getFieldCount != 1 || !inner.isRepetition(Repetition.REPEATED)) refuse(list, path)
    if (isElement(list, inner)) inner else unrepeated(inner.asGroupType.getType(0), path)
  }

  /** Parquet's rules for lists of older writers (LogicalTypes.md, "Backward-compatibility rules"). */
  def isElement(list: GroupType, inner: Type): Boolean =
    inner.isPrimitive || inner.asGroupType.getFieldCount > 1 || inner.getName == "array" ||
      inner.getName == list.getName + "_tuple"

  def repeated(map: GroupType, path: String): GroupType = {
    val inner = map.getType(0)
    val isSound = map.getFieldCount == 1 && inner.isRepetition(Repetition.REPEATED) && !inner.isPrimitive &&
      inner.asGroupType.getFieldCount == 2
    if (!isSound) refuse(map, path)
    inner.asGroupType
  }

  private def refuse(field: Type, path: String): Nothing = {
    val annotation: LogicalTypeAnnotation = field.getLogicalTypeAnnotation
    val shown = if (annotation == null) "" else s" ($annotation)"
    throw new UnsupportedTable(
      s"$path: column ${field.getName} is ${field.getRepetition.name.toLowerCase}$shown in a form that is not read; read it with Hudi"
    )
  }

  /** Values of an INT96 are nanoseconds of the day, then the Julian day; little-endian. */
  def microsOfInt96(bytes: Array[Byte]): Long = {
    val in = java.nio.ByteBuffer.wrap(bytes).order(java.nio.ByteOrder.LITTLE_ENDIAN)
    val nanos = in.getLong
    (in.getInt - 2440588L) * 86400000000L + nanos / 1000
  }

  def decimal(bytes: Array[Byte], scale: Int): BigDecimal = new BigDecimal(new BigInteger(bytes), scale)
}
