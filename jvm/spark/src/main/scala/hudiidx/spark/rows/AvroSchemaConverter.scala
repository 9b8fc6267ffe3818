package hudiidx.spark.rows

import hudiidx.UnsupportedTable
import hudiidx.table.HudiType
import org.apache.avro.{LogicalTypes, Schema}
import org.apache.spark.sql.types._

/** The Spark type of a table's Avro schema, as stock Hudi's reader gives it. Fields of Hudi's own types bear their names as
  * metadata, by which stock makes columns of these types again.
  */
object AvroSchemaConverter {

  /** @param where the table, for messages */
  def structType(schema: Schema, where: String): StructType = dataType(schema, where) match {
    case struct: StructType => struct
    case other              =>
      throw new UnsupportedTable(
        s"$where: the table's schema is ${other.simpleString}, not a record; it cannot be read"
      )
  }

  /** The type of values of any Avro schema. */
  def dataType(schema: Schema, where: String): DataType = convert(schema, where, Set.empty)._1

  /** The type with nulls wherever a value stands in another: casts of Spark go to no other where a value may be null. */
  def nullable(dataType: DataType): DataType = dataType match {
    case ArrayType(element, _)  => ArrayType(nullable(element))
    case MapType(key, value, _) => MapType(key, nullable(value))
    case StructType(fields)     => StructType(fields.map(f => f.copy(dataType = nullable(f.dataType), nullable = true)))
    case other                  => other
  }

  /** The type and whether a value may be null. `open` holds the records that enclose this one. */
  private def convert(schema: Schema, where: String, open: Set[String]): (DataType, Boolean) = schema.getType match {
    case Schema.Type.INT =>
      (if (schema.getLogicalType.isInstanceOf[LogicalTypes.Date]) DateType else IntegerType, false)
    case Schema.Type.LONG                      => (longType(schema), false)
    case Schema.Type.STRING | Schema.Type.ENUM => (StringType, false)
    case Schema.Type.BOOLEAN                   => (BooleanType, false)
    case Schema.Type.FLOAT                     => (FloatType, false)
    case Schema.Type.DOUBLE                    => (DoubleType, false)
    case Schema.Type.BYTES | Schema.Type.FIXED => (binaryType(schema, where), false)
    case Schema.Type.NULL                      => (NullType, true)
    case Schema.Type.RECORD                    =>
      val struct = variantType(schema, where).getOrElse(recordType(schema, where, open))
      // Stock's struct of a blob has nulls in every field, whatever the table's schema says.
      (if (HudiType.of(schema, where).contains(HudiType.Blob)) nullable(struct) else struct, false)
    case Schema.Type.ARRAY =>
      val (element, nullable) = convert(schema.getElementType, where, open)
      (ArrayType(element, nullable), false)
    case Schema.Type.MAP =>
      val (value, nullable) = convert(schema.getValueType, where, open)
      (MapType(StringType, value, nullable), false)
    case Schema.Type.UNION => unionType(schema, where, open)
  }

  private def longType(schema: Schema): DataType = schema.getLogicalType match {
    case _: LogicalTypes.TimestampMillis | _: LogicalTypes.TimestampMicros           => TimestampType
    case _: LogicalTypes.LocalTimestampMillis | _: LogicalTypes.LocalTimestampMicros => TimestampNTZType
    case _                                                                           => LongType
  }

  private def binaryType(schema: Schema, where: String): DataType = schema.getLogicalType match {
    case d: LogicalTypes.Decimal if d.getPrecision > DecimalType.MAX_PRECISION =>
      throw new UnsupportedTable(
        s"$where: a column is a decimal of ${d.getPrecision} digits; Spark has no type for more than ${DecimalType.MAX_PRECISION}"
      )
    case d: LogicalTypes.Decimal => DecimalType(d.getPrecision, d.getScale)
    case _                       =>
      HudiType.of(schema, where) match {
        case Some(v: HudiType.Vector) => ArrayType(VectorBytes.typeOf(v.element), containsNull = false)
        case _                        => BinaryType
      }
  }

  /** None for other records, and where Spark has no variants. */
  private def variantType(schema: Schema, where: String): Option[DataType] =
    if (!HudiType.of(schema, where).contains(HudiType.Variant)) None
    else if (schema.getField(HudiType.Variant.Shredded) != null)
      throw HudiType.Variant.refused(where, schema.getFullName, "hudiidx")
    else VariantShims.dataType

  private def recordType(schema: Schema, where: String, open: Set[String]): StructType = {
    val name = schema.getFullName
    if (open(name))
      throw new UnsupportedTable(s"$where: record $name contains itself; Spark has no type for that")
    var struct = new StructType
    schema.getFields.forEach { f =>
      val (fieldType, nullable) = convert(f.schema, where, open + name)
      struct = struct.add(StructField(f.name, fieldType, nullable, metadata(f.schema, where)))
    }
    struct
  }

  private def metadata(schema: Schema, where: String): Metadata =
    HudiType.of(schema, where).fold(Metadata.empty) { own =>
      new MetadataBuilder().putString(HudiType.MetadataKey, own.descriptor).build()
    }

  private def unionType(schema: Schema, where: String, open: Set[String]): (DataType, Boolean) = {
    var members = Vector.empty[Schema]
    schema.getTypes.forEach(t => if (t.getType != Schema.Type.NULL) members :+= t)
    val nullable = members.length < schema.getTypes.size
    val kinds = members.map(_.getType).toSet
    if (members.isEmpty) (NullType, true)
    else if (members.length == 1) {
      val (member, inner) = convert(members.head, where, open)
      (member, nullable || inner)
    } else if (kinds == Set(Schema.Type.INT, Schema.Type.LONG)) (LongType, nullable)
    else if (kinds == Set(Schema.Type.FLOAT, Schema.Type.DOUBLE)) (DoubleType, nullable)
    else {
      val fields = members.zipWithIndex.map { case (m, i) =>
        StructField(s"member$i", convert(m, where, open)._1, nullable = true)
      }
      (StructType(fields), nullable)
    }
  }
}
