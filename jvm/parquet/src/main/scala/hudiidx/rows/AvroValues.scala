package hudiidx.rows

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.util.{Arrays, Collection => JCollection, Map => JMap}

import scala.collection.JavaConverters._

import hudiidx.{AvroSchemas, DecimalText, UnsupportedTable}
import hudiidx.table.HudiType
import org.apache.avro.generic.{GenericData, GenericFixed, IndexedRecord}
import org.apache.avro.util.Utf8
import org.apache.avro.{LogicalTypes, Schema}

/** A type of Avro's, and what makes plain values of those that Avro's generic reader gives. Null stays null. */
private[hudiidx] final case class AvroValue(valueType: ValueType, plain: Any => Any)

/** Avro's types and values as those of [[ValueType]], as stock Hudi's reader shows them.
  *
  * @param where    the table or file, for messages
  * @param defaults fields of records get their defaults
  */
private[hudiidx] final class AvroValues(where: String, defaults: Boolean = false) {

  /** UnsupportedTable for a record that contains itself.
    *
    * @param table the table's schema of the value; null if it is not known
    */
  def of(schema: Schema, table: Schema = null): AvroValue = convert(schema, table, Set.empty)

  private def convert(schema: Schema, table: Schema, open: Set[String]): AvroValue = schema.getType match {
    case Schema.Type.NULL                      => AvroValue(ValueType.Nothing, _ => null)
    case Schema.Type.BOOLEAN                   => as(ValueType.Bool)(identity)
    case Schema.Type.INT                       => as(if (isDate(schema)) ValueType.Date else ValueType.Int32)(identity)
    case Schema.Type.LONG                      => long(schema, table)
    case Schema.Type.FLOAT                     => as(ValueType.Float32)(identity)
    case Schema.Type.DOUBLE                    => as(ValueType.Float64)(identity)
    case Schema.Type.STRING | Schema.Type.ENUM => as(ValueType.Text)(AvroValues.text)
    case Schema.Type.BYTES | Schema.Type.FIXED => binary(schema)
    case Schema.Type.RECORD                    => record(schema, AvroSchemas.typeOf(table, Schema.Type.RECORD), open)
    case Schema.Type.ARRAY                     =>
      val known = AvroSchemas.typeOf(table, Schema.Type.ARRAY)
      val item = convert(schema.getElementType, if (known == null) null else known.getElementType, open)
      as(ValueType.Items(item.valueType)) { v =>
        v.asInstanceOf[JCollection[Any]].asScala.iterator.map(item.plain).toArray[Any]
      }
    case Schema.Type.MAP =>
      val known = AvroSchemas.typeOf(table, Schema.Type.MAP)
      val value = convert(schema.getValueType, if (known == null) null else known.getValueType, open)
      as(ValueType.Entries(ValueType.Text, value.valueType)) { v =>
        v.asInstanceOf[JMap[Any, Any]]
          .asScala
          .iterator
          .map { case (k, own) => Array[Any](AvroValues.text(k), value.plain(own)): Any }
          .toArray[Any]
      }
    case Schema.Type.UNION => union(schema, table, open)
  }

  private def as(valueType: ValueType)(plain: Any => Any): AvroValue =
    AvroValue(valueType, v => if (v == null) null else plain(v))

  private def isDate(schema: Schema): Boolean = schema.getLogicalType.isInstanceOf[LogicalTypes.Date]

  private def long(schema: Schema, table: Schema): AvroValue = AvroSchemas.unitOf(schema, table) match {
    case _: LogicalTypes.TimestampMicros      => as(ValueType.Timestamp(millis = false, local = false))(identity)
    case _: LogicalTypes.LocalTimestampMicros => as(ValueType.Timestamp(millis = false, local = true))(identity)
    case _: LogicalTypes.TimestampMillis => as(ValueType.Timestamp(millis = true, local = false))(AvroValues.micros)
    case _: LogicalTypes.LocalTimestampMillis => as(ValueType.Timestamp(millis = true, local = true))(AvroValues.micros)
    case _                                    => as(ValueType.Int64)(identity)
  }

  private def binary(schema: Schema): AvroValue = schema.getLogicalType match {
    case d: LogicalTypes.Decimal =>
      as(ValueType.Decimal(d.getPrecision, d.getScale))(v =>
        DecimalText.unscaled(AvroValues.bytes(v), d.getPrecision, d.getScale)
      )
    case _ =>
      HudiType.of(schema, where) match {
        case Some(v: HudiType.Vector) =>
          as(ValueType.Numbers(v.element))(value => NumberBytes.numbers(AvroValues.bytes(value), v.element, where))
        case _ => as(ValueType.Binary)(AvroValues.bytes)
      }
  }

  private def record(schema: Schema, table: Schema, open: Set[String]): AvroValue = {
    val name = schema.getFullName
    if (open(name)) throw new UnsupportedTable(s"$where: record $name contains itself; there is no type for that")
    val fields = schema.getFields.asScala.toVector.map { f =>
      val known = if (table == null || table.getField(f.name) == null) null else table.getField(f.name).schema
      f -> convert(f.schema, known, open + name)
    }
    val places = fields.map(_._1.pos).toArray
    val plain = fields.map(_._2.plain).toArray
    as(ValueType.Struct(fields.map { case (f, v) => ValueType.Field(f.name, v.valueType, default(f, v)) })) { v =>
      val own = v.asInstanceOf[IndexedRecord]
      Array.tabulate[Any](places.length)(i => plain(i)(own.get(places(i))))
    }
  }

  private def default(field: Schema.Field, value: AvroValue): Any =
    if (defaults) AvroSchemas.defaultOf(field, where).map(value.plain).orNull else null

  /** A union of one type and null is that type; several numbers are the wider one; any others a struct of a field each. */
  private def union(schema: Schema, table: Schema, open: Set[String]): AvroValue = {
    val members = schema.getTypes.asScala.toVector.filter(_.getType != Schema.Type.NULL)
    val kinds = members.map(_.getType).toSet
    if (members.isEmpty) AvroValue(ValueType.Nothing, _ => null)
    else if (members.length == 1) convert(members.head, table, open)
    else if (kinds == Set(Schema.Type.INT, Schema.Type.LONG))
      as(ValueType.Int64)(v => Long.box(v.asInstanceOf[Number].longValue))
    else if (kinds == Set(Schema.Type.FLOAT, Schema.Type.DOUBLE))
      as(ValueType.Float64)(v => Double.box(v.asInstanceOf[Number].doubleValue))
    else {
      val own = members.map(convert(_, null, open))
      val branches = Schema.createUnion(members.asJava)
      val fields = own.zipWithIndex.map { case (v, i) => ValueType.Field(s"member$i", v.valueType) }
      as(ValueType.Struct(fields)) { v =>
        val at = GenericData.get.resolveUnion(branches, v)
        val made = new Array[Any](own.length)
        made(at) = own(at).plain(v)
        made
      }
    }
  }

}

private object AvroValues {

  private def text(value: Any): Any = value match {
    case utf8: Utf8 => Arrays.copyOf(utf8.getBytes, utf8.getByteLength)
    case other      => other.toString.getBytes(UTF_8)
  }

  private def bytes(value: Any): Array[Byte] = value match {
    case fixed: GenericFixed => fixed.bytes.clone
    case buffer: ByteBuffer  =>
      val bytes = new Array[Byte](buffer.remaining)
      buffer.duplicate.get(bytes)
      bytes
  }

  private def micros(millis: Any): Any = Long.box(Math.multiplyExact(millis.asInstanceOf[Long], 1000L))
}
