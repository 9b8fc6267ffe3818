package hudiidx

import org.apache.avro.generic.GenericData
import org.apache.avro.{LogicalType, LogicalTypes, Schema, SchemaParseException}
import scala.collection.JavaConverters._
import scala.collection.mutable

/** Avro schemas that files hold. A name stands for all that its type holds, so that few letters may be types without end, which
  * Spark's types, rows and columns have one by one.
  */
object AvroSchemas {

  /** Types of a schema however few it spells out. */
  private val FewTypes = 1000

  /** Types for each that a schema spells out. */
  private val MostUses = 16

  /** Types of any schema: more columns than Spark plans in a minute. */
  private val MostTypes = 250000

  /** Fields that each row has without any byte of it. */
  private val MostEmpty = 100

  /** SchemaParseException for a text that is no schema, or one of too many types. Defaults are not looked at. */
  def parse(json: String): Schema = {
    val schema =
      try new Schema.Parser().setValidateDefaults(false).parse(json)
      catch {
        case e: SchemaParseException => throw e
        case e: RuntimeException     => throw new SchemaParseException(e) // sizes that no array has
      }
    val most = math.min(MostTypes, FewTypes + MostUses * spelledOut(schema))
    val bounds = new SchemaBounds(most)
    if (!bounds.hold(schema))
      throw new SchemaParseException(
        s"the schema is too large: more than $most types (each use of a named type counts), types nested deeper than ${SchemaBounds.MostDepth}, " +
          s"a column path longer than ${NameBounds.Longest} characters, or paths of more than ${NameBounds.MostOfAll} characters together"
      )
    schema
  }

  /** A union with null is the other type; any other union stays. */
  def value(schema: Schema): Schema =
    if (schema.getType != Schema.Type.UNION) schema
    else
      schema.getTypes.asScala.filter(_.getType != Schema.Type.NULL).toVector match {
        case Vector(one) => one
        case _           => schema
      }

  /** A union of null and a type. */
  def optional(value: Schema): Schema = Schema.createUnion(Schema.create(Schema.Type.NULL), value)

  /** What of a schema lets a few bytes be data of any depth or length; None for the schema of a table. */
  def unbounded(schema: Schema): Option[String] = {
    var empty = 0
    def in(schema: Schema, open: Set[String]): Option[String] = schema.getType match {
      case Schema.Type.RECORD if open(schema.getFullName) =>
        Some(
          s"record ${schema.getFullName} contains itself; its data may be of any depth, and Spark has no type for that"
        )
      case Schema.Type.ARRAY if !takesBytes(schema.getElementType) =>
        Some(
          "an array has items that take no bytes; its data may be of any length, and base files have no type for that"
        )
      case Schema.Type.RECORD =>
        empty += schema.getFields.asScala.count(f => !takesBytes(f.schema))
        if (empty > MostEmpty) Some(s"more than $MostEmpty fields that take no bytes; base files have no type for them")
        else parts(schema, open + schema.getFullName)
      case _ => parts(schema, open)
    }
    def parts(schema: Schema, open: Set[String]) =
      partsOf(schema).map(in(_, open)).collectFirst { case Some(what) => what }
    in(schema, Set.empty)
  }

  /** False for types whose values may have no bytes: nulls, fixed of size 0, and records of nothing else. A record right in itself
    * has no values.
    */
  def takesBytes(schema: Schema): Boolean = takesBytes(schema, Set.empty)

  private def takesBytes(schema: Schema, open: Set[String]): Boolean = schema.getType match {
    case Schema.Type.NULL   => false
    case Schema.Type.FIXED  => schema.getFixedSize > 0
    case Schema.Type.RECORD =>
      val name = schema.getFullName
      !open(name) && schema.getFields.asScala.exists(f => takesBytes(f.schema, open + name))
    case _ => true
  }

  /** The schema or the one branch of its union that is of the type; null if there is none. */
  def typeOf(schema: Schema, kind: Schema.Type): Schema =
    if (schema == null) null
    else if (schema.getType == Schema.Type.UNION) schema.getTypes.asScala.find(_.getType == kind).orNull
    else if (schema.getType == kind) schema
    else null

  /** What the writer says of a long's unit, unless it is known to have been wrong.
    *
    * @param table the type of the table, or null
    */
  def unitOf(writer: Schema, table: Schema): LogicalType = {
    val own = writer.getLogicalType
    val tables = typeOf(table, Schema.Type.LONG) match {
      case null  => null
      case known => known.getLogicalType
    }
    (own, tables) match {
      case (null, _: LogicalTypes.LocalTimestampMillis)                       => tables
      case (_: LogicalTypes.TimestampMicros, _: LogicalTypes.TimestampMillis) => tables
      case _                                                                  => own
    }
  }

  /** What rows have whose writer did not know the field; None: they have null. DamagedTable if that is no value of its type.
    *
    * @param where the file that has the schema
    */
  def defaultOf(field: Schema.Field, where: String): Option[Any] =
    try if (field.hasDefaultValue) Option(GenericData.get.getDefaultValue(field)) else None
    catch {
      case e: RuntimeException =>
        throw new DamagedTable(
          s"$where: the default of field ${field.name} in the Avro schema is not a value of its type (${e.getMessage}); correct the schema",
          e
        )
    }

  /** The name of a type that another type of the schema has too. A text of it would be read as one of them twice: Avro until 1.11 refuses to
    * write it, later releases write it.
    */
  def nameOfTwo(schema: Schema): Option[String] = {
    val known = mutable.HashMap.empty[String, Schema]
    def in(schema: Schema): Option[String] =
      if (!Named(schema.getType)) inParts(schema)
      else
        known.get(schema.getFullName) match {
          case Some(other) => if (other == schema) None else Some(schema.getFullName)
          case None        =>
            known += schema.getFullName -> schema
            inParts(schema)
        }
    def inParts(schema: Schema) = partsOf(schema).map(in).collectFirst { case Some(name) => name }
    in(schema)
  }

  private val Named = Set(Schema.Type.RECORD, Schema.Type.ENUM, Schema.Type.FIXED)

  /** Types that stand in the schema's text, names of types among them. */
  private def spelledOut(schema: Schema): Long = {
    val seen = mutable.HashSet.empty[String]
    def in(schema: Schema, depth: Int): Long = {
      val isNameAlone = schema.getType == Schema.Type.RECORD && !seen.add(schema.getFullName)
      if (isNameAlone || depth > SchemaBounds.MostDepth) 1
      else 1 + partsOf(schema).map(in(_, depthBelow(schema, depth))).sum
    }
    in(schema, 0)
  }

  /** The types right below one. */
  private[hudiidx] def partsOf(schema: Schema): Iterator[Schema] = schema.getType match {
    case Schema.Type.RECORD => schema.getFields.asScala.iterator.map(_.schema)
    case Schema.Type.ARRAY  => Iterator(schema.getElementType)
    case Schema.Type.MAP    => Iterator(schema.getValueType)
    case Schema.Type.UNION  => schema.getTypes.asScala.iterator
    case _                  => Iterator.empty
  }

  /** Branches of a union are as deep as it is. */
  private[hudiidx] def depthBelow(schema: Schema, depth: Int): Int =
    if (schema.getType == Schema.Type.UNION) depth else depth + 1
}
