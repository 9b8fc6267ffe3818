package hudiidx.spark.write

import hudiidx.{AvroSchemas, InvalidOption}
import hudiidx.spark.rows.{AvroSchemaConverter, VariantShims}
import hudiidx.table.HudiType
import hudiidx.write.StockWriter
import org.apache.avro.{LogicalTypes, Schema}
import org.apache.spark.sql.types._
import scala.collection.JavaConverters._

/** The columns of a table after a write, without meta columns.
  *
  * @param avro   what the commit says, and with meta columns the log blocks
  * @param struct the same as Spark has it
  */
final case class WriteSchema(avro: Schema, struct: StructType)

object WriteSchema {

  /** Of a table that is to be made, as stock Hudi names it. */
  def ofNew(struct: StructType, tableName: String): WriteSchema = {
    val name = tableName.replaceAll("[^A-Za-z0-9_]", "_")
    val clean = if (name.headOption.forall(_.isDigit)) s"_$name" else name
    requireMark(struct, tableName, Unmarked)
    val avro = record(struct, s"${clean}_record", s"hoodie.$clean", within = "")
    WriteSchema(avro, AvroSchemaConverter.structType(avro, tableName))
  }

  /** Of a table that is there, as it is.
    *
    * @param table without meta columns
    */
  def ofTable(table: Schema, where: String): WriteSchema =
    WriteSchema(table, AvroSchemaConverter.structType(table, where))

  /** Of a table that is there, with what the rows add to it at the end. InvalidOption for rows that lack a column of it, or
    * have one of a type that it cannot take.
    *
    * @param table  without meta columns
    * @param remedy what else may be done, behind what is said
    */
  def merged(table: Schema, rows: StructType, where: String, remedy: String): WriteSchema = {
    val struct = AvroSchemaConverter.structType(table, where)
    requireMark(struct, where, s"the table has it so: ${StockWriter.Remedy}$remedy")
    requireMark(StructType(rows.filterNot(_.dataType == NullType)), where, Unmarked)
    val byName = rows.map(f => f.name -> f).toMap
    val missing = struct.filterNot(f => byName.contains(f.name)).map(_.name)
    if (missing.nonEmpty)
      throw new InvalidOption(
        s"$where: the rows lack columns of the table: ${missing.mkString(", ")}; rows are written whole, so give them all$remedy"
      )
    struct.foreach(f => requireFits(byName(f.name), f, where, remedy))
    val added = rows.filterNot(f => struct.exists(_.name == f.name))
    if (added.isEmpty) WriteSchema(table, struct)
    else {
      val fields =
        table.getFields.asScala.map(copyOf) ++ added.map(f => field(f.copy(nullable = true), table.getFullName, ""))
      val avro = Schema.createRecord(table.getName, table.getDoc, table.getNamespace, false, fields.asJava)
      AvroSchemas.nameOfTwo(avro).foreach { name =>
        throw new InvalidOption(
          s"$where: the type of a new column would be named $name, as that of another column is; give the column another name$remedy"
        )
      }
      WriteSchema(avro, AvroSchemaConverter.structType(avro, where))
    }
  }

  /** With the meta columns in front. */
  def withMeta(data: Schema, metaColumns: Vector[String]): Schema = {
    val text = Schema.createUnion(Schema.create(Schema.Type.NULL), Schema.create(Schema.Type.STRING))
    val meta = metaColumns.map(n => new Schema.Field(n, text, "", Schema.Field.NULL_DEFAULT_VALUE))
    val fields = meta ++ data.getFields.asScala.map(copyOf)
    Schema.createRecord(data.getName, data.getDoc, data.getNamespace, false, fields.asJava)
  }

  private val Unmarked = "cast it to boolean before the write, or give it another name"

  /** InvalidOption for a column that would say which rows are deletes, and has another type than such values. */
  private def requireMark(columns: StructType, where: String, remedy: String): Unit =
    columns.find(f => f.name == PartitionMoves.Deleted && f.dataType != BooleanType).foreach { f =>
      throw new InvalidOption(
        s"$where: column ${f.name} is ${f.dataType.simpleString}: rows in which it is true are deletes, so it must be boolean; $remedy"
      )
    }

  private def copyOf(f: Schema.Field): Schema.Field = new Schema.Field(f, f.schema)

  private def requireFits(given: StructField, wanted: StructField, where: String, remedy: String): Unit =
    if (!fits(given.dataType, wanted.dataType))
      throw new InvalidOption(
        s"$where: column ${given.name} is ${given.dataType.simpleString}, in the table it is ${wanted.dataType.simpleString}; " +
          s"cast it before the write$remedy"
      )

  /** Can every value be cast without loss? */
  private def fits(given: DataType, wanted: DataType): Boolean = (given, wanted) match {
    case (a, b) if DataType.equalsIgnoreNullability(a, b)  => true
    case (ByteType | ShortType, IntegerType | LongType)    => true
    case (IntegerType, LongType) | (FloatType, DoubleType) => true
    case (NullType, _)                                     => true
    case (a: DecimalType, b: DecimalType)                  =>
      b.scale >= a.scale && b.precision - b.scale >= a.precision - a.scale
    case _ => false
  }

  private def record(struct: StructType, name: String, namespace: String, within: String): Schema = {
    val fields = struct.map(field(_, s"$namespace.$name", within))
    Schema.createRecord(name, null, namespace, false, fields.asJava)
  }

  /** @param parent full name of the record
    * @param within  names of the columns and fields that it is in, each with a dot behind it
    */
  private def field(f: StructField, parent: String, within: String): Schema.Field = {
    requireName(f.name, within)
    val schema = marked(f, within).getOrElse(of(f.dataType, f.name, s"$parent.${f.name}", parent, within))
    if (f.nullable) new Schema.Field(f.name, AvroSchemas.optional(schema), null, Schema.Field.NULL_DEFAULT_VALUE)
    else new Schema.Field(f.name, schema, null, null: Object)
  }

  /** The type of a column that is marked as one of Hudi's own, as stock Hudi takes the mark. InvalidOption for values that the type
    * does not have.
    */
  private def marked(f: StructField, within: String): Option[Schema] =
    if (!f.metadata.contains(HudiType.MetadataKey)) None
    else {
      val column = s"$within${f.name}"
      val descriptor =
        try String.valueOf(f.metadata.getString(HudiType.MetadataKey))
        catch {
          case _: ClassCastException =>
            throw new InvalidOption(
              s"column $column is marked ${HudiType.MetadataKey} by a value that is not a string; set a string, such as 'VECTOR(3)', or remove the mark"
            )
        }
      val schema = HudiType.schemaOf(descriptor, column)
      val wanted = AvroSchemaConverter.dataType(schema, column)
      if (!fits(f.dataType, wanted))
        throw new InvalidOption(
          s"column $column is ${f.dataType.simpleString}, and marked ${HudiType.MetadataKey}='$descriptor', whose values are " +
            s"${wanted.simpleString}; cast it, or take the mark away"
        )
      Some(schema)
    }

  /** InvalidOption for a name that Avro refuses, in which Hudi keeps the columns; stock Hudi fails as well. */
  private def requireName(name: String, within: String): Unit = {
    val isName = name.headOption.exists(c => Character.isLetter(c) || c == '_') &&
      name.forall(c => Character.isLetterOrDigit(c) || c == '_')
    if (!isName) {
      val remedy =
        if (within.isEmpty) s"rename it before the write, as with withColumnRenamed('$name', '${proposed(name)}')"
        else
          s"rename the field before the write, as by a cast of column ${within.takeWhile(_ != '.')} to a type that has '${proposed(name)}' in its place"
      throw new InvalidOption(
        s"column '$within$name': names of a Hudi table's columns and fields are letters, digits and '_', and begin with no digit; $remedy"
      )
    }
  }

  private def proposed(name: String): String = {
    val clean = name.map(c => if (Character.isLetterOrDigit(c)) c else '_')
    if (clean.headOption.forall(Character.isDigit)) s"_$clean" else clean
  }

  private def maybe(schema: Schema, nullable: Boolean): Schema = if (nullable) AvroSchemas.optional(schema) else schema

  private def of(
      dataType: DataType,
      name: String,
      path: String,
      namespace: String,
      within: String
  ): Schema = dataType match {
    case BooleanType                        => Schema.create(Schema.Type.BOOLEAN)
    case ByteType | ShortType | IntegerType => Schema.create(Schema.Type.INT)
    case LongType                           => Schema.create(Schema.Type.LONG)
    case FloatType                          => Schema.create(Schema.Type.FLOAT)
    case DoubleType                         => Schema.create(Schema.Type.DOUBLE)
    case StringType                         => Schema.create(Schema.Type.STRING)
    case BinaryType                         => Schema.create(Schema.Type.BYTES)
    case DateType                           => LogicalTypes.date().addToSchema(Schema.create(Schema.Type.INT))
    case TimestampType    => LogicalTypes.timestampMicros().addToSchema(Schema.create(Schema.Type.LONG))
    case TimestampNTZType => LogicalTypes.localTimestampMicros().addToSchema(Schema.create(Schema.Type.LONG))
    case d: DecimalType   =>
      val fixed = Schema.createFixed("fixed", null, path, bytesFor(d.precision))
      LogicalTypes.decimal(d.precision, d.scale).addToSchema(fixed)
    case ArrayType(element, nullable) => Schema.createArray(maybe(of(element, name, path, namespace, within), nullable))
    case MapType(StringType, value, nullable) =>
      Schema.createMap(maybe(of(value, name, path, namespace, within), nullable))
    case s: StructType                  => record(s, name, namespace, s"$within$name.")
    case v if VariantShims.isVariant(v) =>
      throw new InvalidOption(
        s"column $within$name is a variant, of which hudiidx makes no column; make the table, or add the column, with stock Hudi"
      )
    case other =>
      throw new InvalidOption(
        s"column $within$name is ${other.simpleString}, for which Hudi's tables have no type; cast it"
      )
  }

  /** Bytes of the largest unscaled number of so many digits, with its sign. */
  private def bytesFor(precision: Int): Int =
    java.math.BigInteger.TEN.pow(precision).subtract(java.math.BigInteger.ONE).bitLength / 8 + 1
}
