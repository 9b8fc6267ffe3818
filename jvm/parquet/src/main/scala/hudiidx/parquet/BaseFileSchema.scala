package hudiidx.parquet

import hudiidx.UnsupportedTable
import org.apache.avro.{LogicalTypes, Schema}
import org.apache.parquet.schema.LogicalTypeAnnotation.{TimeUnit, _}
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._
import org.apache.parquet.schema.Type.Repetition
import org.apache.parquet.schema.{ConversionPatterns, GroupType, LogicalTypeAnnotation, MessageType, Type, Types}
import scala.collection.JavaConverters._

/** The Parquet schema of base files with records of an Avro schema, as stock Hudi's Avro writers make it (parquet-avro's
  * mapping). Lists have the three levels of the Parquet specification, which can hold nulls; stock writes the two of old where
  * `parquet.avro.write-old-list-structure` is not false, and reads both.
  */
object BaseFileSchema {
  private val Element = "element"
  private val Value = "value"

  /** UnsupportedTable for a type without a form that stock Hudi reads.
    *
    * @param record with meta columns
    * @param where  the table, for messages
    */
  def of(record: Schema, where: String): MessageType =
    new MessageType(record.getFullName, fieldsOf(record, where).asJava)

  private def fieldsOf(record: Schema, where: String): Seq[Type] =
    record.getFields.asScala.toVector.map(f => field(f.name, f.schema, s"$where.${f.name}"))

  private def field(name: String, schema: Schema, where: String): Type = optional(schema) match {
    case Some(Some(value)) => plain(name, value, Repetition.OPTIONAL, where)
    case Some(None)        => unfit(schema, where)
    case None              => plain(name, schema, Repetition.REQUIRED, where)
  }

  /** Of a union with null the other type, if there is one other; None for what is no union. */
  private def optional(schema: Schema): Option[Option[Schema]] =
    if (schema.getType != Schema.Type.UNION) None
    else {
      val (nulls, others) = schema.getTypes.asScala.partition(_.getType == Schema.Type.NULL)
      Some(if (nulls.nonEmpty && others.size == 1) others.headOption else None)
    }

  private def unfit(schema: Schema, where: String): Nothing = throw new UnsupportedTable(
    s"$where: base files cannot hold ${schema.getType.getName} $schema; compact with stock Hudi"
  )

  private def plain(name: String, schema: Schema, repetition: Repetition, where: String): Type = {
    def primitive(kind: PrimitiveTypeName, as: LogicalTypeAnnotation = null): Type = {
      val built = Types.primitive(kind, repetition)
      (if (as == null) built else built.as(as)).named(name)
    }
    schema.getType match {
      case Schema.Type.BOOLEAN => primitive(BOOLEAN)
      case Schema.Type.INT     => primitive(INT32, numberAs(schema))
      case Schema.Type.LONG    => primitive(INT64, numberAs(schema))
      case Schema.Type.FLOAT   => primitive(FLOAT)
      case Schema.Type.DOUBLE  => primitive(DOUBLE)
      case Schema.Type.STRING  => primitive(BINARY, stringType())
      case Schema.Type.ENUM    => primitive(BINARY, enumType())
      case Schema.Type.BYTES   => primitive(BINARY, numberAs(schema))
      case Schema.Type.FIXED   =>
        val built = Types.primitive(FIXED_LEN_BYTE_ARRAY, repetition).length(schema.getFixedSize)
        Option(numberAs(schema)).fold(built)(built.as).named(name)
      case Schema.Type.RECORD => new GroupType(repetition, name, fieldsOf(schema, where).asJava)
      case Schema.Type.ARRAY  =>
        ConversionPatterns.listOfElements(repetition, name, field(Element, schema.getElementType, s"$where.$Element"))
      case Schema.Type.MAP =>
        ConversionPatterns.stringKeyMapType(repetition, name, field(Value, schema.getValueType, s"$where.$Value"))
      case _ => unfit(schema, where)
    }
  }

  /** Null for a plain number or bytes. */
  private def numberAs(schema: Schema): LogicalTypeAnnotation = schema.getLogicalType match {
    case d: LogicalTypes.Decimal              => decimalType(d.getScale, d.getPrecision)
    case _: LogicalTypes.Date                 => dateType()
    case _: LogicalTypes.TimeMillis           => timeType(true, TimeUnit.MILLIS)
    case _: LogicalTypes.TimeMicros           => timeType(true, TimeUnit.MICROS)
    case _: LogicalTypes.TimestampMillis      => timestampType(true, TimeUnit.MILLIS)
    case _: LogicalTypes.TimestampMicros      => timestampType(true, TimeUnit.MICROS)
    case _: LogicalTypes.LocalTimestampMillis => timestampType(false, TimeUnit.MILLIS)
    case _: LogicalTypes.LocalTimestampMicros => timestampType(false, TimeUnit.MICROS)
    case _                                    => null
  }
}
