package hudiidx.engine.column

import java.math.BigInteger
import java.nio.charset.StandardCharsets.UTF_8

import scala.collection.JavaConverters._

import hudiidx.bytes.Varint
import hudiidx.column._
import hudiidx.log.{AvroRow, AvroRowFields}
import hudiidx.table.HudiType
import hudiidx.table.TableSchema.value
import org.apache.avro.{LogicalTypes, Schema}

/** Avro's types as column types. docs/format.md, "Column types". */
private[column] object AvroTypes {

  /** None for a type without an order that is certain: unions of several types, times, and logical types that are not known.
    * Vectors are the bytes that they are kept as, as in Parquet files.
    */
  def columnType(schema: Schema): Option[ColumnType] = {
    val own = value(schema)
    val logical = own.getLogicalType
    (own.getType, logical) match {
      case (Schema.Type.FIXED, _) if HudiType.nameOf(own).isDefined => Some(ColumnType.Binary)
      case (_, null) if own.getObjectProp("logicalType") != null && own.getType != Schema.Type.STRING => None
      case (Schema.Type.BOOLEAN, _)                => Some(ColumnType.Bool)
      case (Schema.Type.INT, null)                 => Some(ColumnType.Int32)
      case (Schema.Type.INT, _: LogicalTypes.Date) => Some(ColumnType.Date)
      case (Schema.Type.LONG, null)                => Some(ColumnType.Int64)
      case (Schema.Type.LONG, _: LogicalTypes.TimestampMillis | _: LogicalTypes.TimestampMicros) =>
        Some(ColumnType.Timestamp)
      case (Schema.Type.LONG, _: LogicalTypes.LocalTimestampMillis | _: LogicalTypes.LocalTimestampMicros) =>
        Some(ColumnType.LocalTimestamp)
      case (Schema.Type.FLOAT, _)                                           => Some(ColumnType.Float32)
      case (Schema.Type.DOUBLE, _)                                          => Some(ColumnType.Float64)
      case (Schema.Type.STRING | Schema.Type.ENUM, _)                       => Some(ColumnType.Text)
      case (Schema.Type.BYTES | Schema.Type.FIXED, d: LogicalTypes.Decimal) =>
        ColumnType.decimal(d.getPrecision, d.getScale)
      case (Schema.Type.BYTES | Schema.Type.FIXED, null) => Some(ColumnType.Binary)
      case _                                             => None
    }
  }

  def isMillis(schema: Schema): Boolean = AvroRowFields.isMillis(value(schema).getLogicalType)

  /** Parts of the paths of all fields that are no records, with their schemas, in order. A record in itself ends the way. */
  def leaves(record: Schema): Vector[(Vector[String], Schema)] = leaves(record, Vector.empty, Set(record.getFullName))

  private def leaves(record: Schema, path: Vector[String], above: Set[String]): Vector[(Vector[String], Schema)] =
    record.getFields.asScala.toVector.flatMap { f =>
      val own = value(f.schema)
      if (own.getType != Schema.Type.RECORD) Vector((path :+ f.name) -> f.schema)
      else if (above(own.getFullName)) Vector.empty
      else leaves(own, path :+ f.name, above + own.getFullName)
    }

  def names(record: Schema): FieldNames = names(record, Set(record.getFullName))

  private def names(record: Schema, above: Set[String]): FieldNames = new FieldNames(
    record.getFields.asScala.map { f =>
      val own = value(f.schema)
      val isStruct = own.getType == Schema.Type.RECORD && !above(own.getFullName)
      f.name.toLowerCase -> (if (isStruct) Some(names(own, above + own.getFullName)) else None)
    }.toMap
  )
}

/** Takes the values of one field of Avro rows.
  *
  *  @param field the field's place in the row
  */
private[column] final class AvroColumn(field: Int, columnType: ColumnType, isMillis: Boolean) {

  def addTo(sink: ValueSink, row: AvroRow): Unit = {
    val schema = row.schema(field)
    if (schema == null) sink.addNull()
    else
      columnType match {
        case ColumnType.Bool                     => sink.add(if (row.bytes(row.from(field)) != 0) 1L else 0L)
        case ColumnType.Float32                  => sink.add(ColumnType.ofDouble(float(row).toDouble))
        case ColumnType.Float64                  => sink.add(ColumnType.ofDouble(double(row)))
        case d: ColumnType.Decimal               => addDecimal(sink, row, d)
        case ColumnType.Text | ColumnType.Binary => addBytes(sink, row, schema)
        case _ if isMillis                       => Millis.add(sink, number(row))
        case _                                   => sink.add(number(row))
      }
  }

  private def addBytes(sink: ValueSink, row: AvroRow, schema: Schema): Unit =
    if (schema.getType != Schema.Type.ENUM) sink.add(row.bytes, row.from(field), row.length(field))
    else {
      val symbol = number(row)
      if (symbol < 0 || symbol >= schema.getEnumSymbols.size) sink.addUnknown()
      else {
        val text = schema.getEnumSymbols.get(symbol.toInt).getBytes(UTF_8)
        sink.add(text, 0, text.length)
      }
    }

  private def addDecimal(sink: ValueSink, row: AvroRow, to: ColumnType.Decimal): Unit =
    if (row.length(field) == 0) sink.addUnknown()
    else {
      val from = row.from(field)
      val unscaled = new BigInteger(row.bytes, from, row.length(field))
      Decimals.add(sink, unscaled, to)
    }

  private def number(row: AvroRow): Long = {
    var value = 0L
    var i = 0
    while (i < row.length(field)) {
      value |= (row.bytes(row.from(field) + i) & 0x7fL) << (7 * i)
      i += 1
    }
    Varint.unZigZag(value)
  }

  private def float(row: AvroRow): Float = java.lang.Float.intBitsToFloat(littleEndian(row, 4).toInt)

  private def double(row: AvroRow): Double = java.lang.Double.longBitsToDouble(littleEndian(row, 8))

  private def littleEndian(row: AvroRow, size: Int): Long = {
    var value = 0L
    var i = size - 1
    while (i >= 0) {
      value = (value << 8) | (row.bytes(row.from(field) + i) & 0xff)
      i -= 1
    }
    value
  }
}
