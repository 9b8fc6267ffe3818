package hudiidx.spark.rows

import hudiidx.{AvroSchemas, UnsupportedTable}
import hudiidx.log.{AvroRowFields, AvroSkips}
import hudiidx.table.HudiType
import java.io.ByteArrayOutputStream
import java.nio.charset.StandardCharsets.UTF_8
import org.apache.avro.generic.GenericDatumWriter
import org.apache.avro.io.EncoderFactory
import org.apache.avro.{LogicalType, Schema}
import org.apache.spark.sql.types._
import scala.collection.JavaConverters._

/** Finds out how values of a writer's schema become columns: by name, with the conversions of ColumnAdapter. Fields that
  * the writer lacks get the default that the table's schema gives them, else null.
  *
  * UnsupportedTable for a column that was of a type from which no way leads to the table's.
  */
private[rows] final class AvroResolver(rules: ColumnRules, where: String) {
  private val skips = new AvroSkips

  /** Reads the fields of a record that are wanted as `columns`.
    *
    * @param table the table's schema of the record, null if not known
    * @param toEnd goes to the record's end, though the fields behind the last wanted one are of no use
    */
  def fields(writer: Schema, columns: StructType, table: Schema, path: String, toEnd: Boolean): ResolvedFields = {
    val all = writer.getFields.asScala.toVector
    val targets = all.map(f => target(f.name, all, columns))
    val present = columns.indices.map(i => targets.contains(i)).toArray
    val used = if (toEnd) all.length else targets.lastIndexWhere(_ >= 0) + 1
    val values = all.zip(targets).take(used).map {
      case (_, -1) => null
      case (f, to) =>
        value(f.schema, columns(to).dataType, fieldSchema(table, columns(to).name), s"$path${columns(to).name}")
    }
    val missing = columns.indices.filterNot(present(_)).toArray
    val read = new AvroFields(
      values.toArray,
      all.take(used).map(f => skips.of(f.schema)).toArray,
      targets.take(used).toArray,
      missing.map(i => absent(columns(i), table, s"$path${columns(i).name}")),
      missing
    )
    ResolvedFields(read, present, used == all.length)
  }

  /** The column that a field of the writer becomes, -1 for none. A field of exactly the column's name goes first. */
  private def target(name: String, all: Vector[Schema.Field], columns: StructType): Int = {
    val exact = columns.fieldNames.indexOf(name)
    if (exact >= 0) exact
    else
      columns.fieldNames.indexWhere { column =>
        rules.sameName(name, column) && all.find(f => rules.sameName(f.name, column)).exists(_.name == name) &&
        !all.exists(_.name == column)
      }
  }

  private def value(writer: Schema, wanted: DataType, table: Schema, path: String): AvroValue =
    (writer.getType, wanted) match {
      case (Schema.Type.RECORD, _) if VariantFields.areShredded(writer, wanted) =>
        throw HudiType.Variant.refused(where, path, "hudiidx")
      case (Schema.Type.UNION, _)                                           => union(writer, wanted, table, path)
      case (Schema.Type.NULL, _)                                            => AvroValue.Null
      case (Schema.Type.RECORD, variant) if VariantShims.isVariant(variant) =>
        new AvroValue.Record(fields(writer, AvroResolver.OfVariant, null, path + ".", toEnd = true).read, 2)
      case (Schema.Type.RECORD, struct: StructType) =>
        val read = fields(writer, struct, AvroSchemas.typeOf(table, Schema.Type.RECORD), path + ".", toEnd = true).read
        new AvroValue.Record(read, struct.length)
      case (Schema.Type.ARRAY, array: ArrayType) =>
        val item = AvroSchemas.typeOf(table, Schema.Type.ARRAY) match {
          case null  => value(writer.getElementType, array.elementType, null, path + ".element")
          case known => value(writer.getElementType, array.elementType, known.getElementType, path + ".element")
        }
        new AvroValue.Items(item)
      case (Schema.Type.MAP, map: MapType) if map.keyType == StringType =>
        val mapped = AvroSchemas.typeOf(table, Schema.Type.MAP) match {
          case null  => value(writer.getValueType, map.valueType, null, path + ".value")
          case known => value(writer.getValueType, map.valueType, known.getValueType, path + ".value")
        }
        new AvroValue.Entries(new AvroValue.Sized(-1), mapped)
      case _ => leaf(writer, wanted, table, path)
    }

  private def union(writer: Schema, wanted: DataType, table: Schema, path: String): AvroValue = {
    val branches = writer.getTypes.asScala.toVector
    val members = branches.filter(_.getType != Schema.Type.NULL)
    val values =
      if (members.size <= 1) branches.map(value(_, wanted, table, path))
      else
        (AvroSchemaConverter.dataType(writer, where), wanted) match {
          case (DoubleType, DoubleType) =>
            branches.map(b =>
              if (b.getType == Schema.Type.FLOAT) AvroValue.Float32AsDouble else value(b, wanted, table, path)
            )
          case (LongType | DoubleType, _: NumericType | StringType) => branches.map(value(_, wanted, table, path))
          case (_: StructType, struct: StructType)                  =>
            branches.map { b =>
              if (b.getType == Schema.Type.NULL) AvroValue.Null else member(b, members.indexOf(b), struct, path)
            }
          case (own, _) => throw refused(own, wanted, path)
        }
    new AvroValue.Branches(values.toArray)
  }

  private def member(branch: Schema, number: Int, struct: StructType, path: String): AvroValue = {
    val name = s"member$number"
    val at = struct.fieldNames.indexOf(name)
    val read = if (at < 0) null else value(branch, struct(at).dataType, null, s"$path.$name")
    new AvroValue.Member(at, read, skips.of(branch), struct.length)
  }

  private def leaf(writer: Schema, wanted: DataType, table: Schema, path: String): AvroValue = {
    val own = AvroSchemaConverter.dataType(writer, where)
    val logical = AvroSchemas.unitOf(writer, table)
    if (ColumnAdapter.sameShape(own, wanted) || ColumnAdapter.sameBits(own, wanted)) plain(writer, wanted, logical)
    else if (own == IntegerType && wanted == LongType) AvroValue.Int32AsLong
    else if (ColumnAdapter.widens(own, wanted))
      new AvroValue.Converted(plain(writer, own, logical), new ValueConverter(own, wanted, rules.floatsByText))
    else throw refused(own, wanted, path)
  }

  private def plain(writer: Schema, wanted: DataType, logical: LogicalType): AvroValue =
    (writer.getType, wanted) match {
      case (Schema.Type.FIXED, _: ArrayType)                        => new AvroValue.Numbers(vectorOf(writer))
      case (Schema.Type.BOOLEAN, _)                                 => AvroValue.Bool
      case (Schema.Type.INT, _)                                     => AvroValue.Int32
      case (Schema.Type.LONG, LongType)                             => AvroValue.Int64
      case (Schema.Type.LONG, _) if AvroRowFields.isMillis(logical) => AvroValue.MillisAsMicros
      case (Schema.Type.LONG, _)                                    => AvroValue.Int64
      case (Schema.Type.FLOAT, _)                                   => AvroValue.Float32
      case (Schema.Type.DOUBLE, _)                                  => AvroValue.Float64
      case (Schema.Type.BYTES, d: DecimalType)                      => new AvroValue.DecimalOf(-1, d.precision)
      case (Schema.Type.FIXED, d: DecimalType) => new AvroValue.DecimalOf(writer.getFixedSize, d.precision)
      case (Schema.Type.FIXED, _)              => new AvroValue.Sized(writer.getFixedSize)
      case (Schema.Type.ENUM, _) => new AvroValue.Symbol(writer.getEnumSymbols.asScala.map(_.getBytes(UTF_8)).toArray)
      case _                     => new AvroValue.Sized(-1)
    }

  private def vectorOf(writer: Schema): HudiType.Vector = HudiType.of(writer, where) match {
    case Some(v: HudiType.Vector) => v
    case other                    => throw new IllegalStateException(s"$where: $other of an array of numbers")
  }

  private def absent(column: StructField, table: Schema, path: String): AvroValue =
    AvroResolver.defaultOf(table, column.name, where) match {
      case None        => AvroValue.Null
      case Some(field) =>
        val bytes = AvroResolver.encodedDefault(field, where)
        new AvroValue.Constant(bytes, value(field.schema, column.dataType, field.schema, path))
    }

  private def fieldSchema(table: Schema, name: String): Schema =
    if (table == null || table.getField(name) == null) null else table.getField(name).schema

  private def refused(own: DataType, wanted: DataType, path: String) = new UnsupportedTable(
    s"$where: column $path is of type ${own.simpleString} here and ${wanted.simpleString} in the table; " +
      "no rule turns one into the other, leave the column out or compact the table with Hudi"
  )
}

/** @param present which of the wanted columns the writer has
  * @param toEnd   all of the writer's fields are read
  */
private[rows] final case class ResolvedFields(read: AvroFields, present: Array[Boolean], toEnd: Boolean)

private[rows] object AvroResolver {

  /** In the order in which Spark's vectors of variants have them. */
  val OfVariant: StructType = StructType(
    Seq(HudiType.Variant.Value, HudiType.Variant.Metadata).map(StructField(_, BinaryType))
  )

  /** The field of this name if it has a default other than null. */
  def defaultOf(table: Schema, name: String, where: String): Option[Schema.Field] =
    Option(table).flatMap(t => Option(t.getField(name))).filter(AvroSchemas.defaultOf(_, where).nonEmpty)

  def encodedDefault(field: Schema.Field, where: String): Array[Byte] = {
    val out = new ByteArrayOutputStream
    val encoder = EncoderFactory.get.binaryEncoder(out, null)
    new GenericDatumWriter[Any](field.schema).write(AvroSchemas.defaultOf(field, where).orNull, encoder)
    encoder.flush()
    out.toByteArray
  }
}
