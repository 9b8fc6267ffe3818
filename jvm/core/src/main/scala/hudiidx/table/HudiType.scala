package hudiidx.table

import hudiidx.{InvalidOption, UnsupportedTable}
import org.apache.avro.{LogicalType, Schema}
import scala.collection.JavaConverters._

/** A type that Hudi 1.2 has beside Avro's: a logical type on one of these. docs/format.md, "Vectors, variants and blobs".
  *
  * @param name of the logical type
  */
sealed abstract class HudiType(val name: String) extends Product with Serializable {

  /** What Spark's columns of the type bear under [[HudiType.MetadataKey]]. */
  def descriptor: String
}

object HudiType {

  /** In the metadata of Spark's columns; stock Hudi makes a column of the type from it. */
  val MetadataKey = "hudi_type"

  private val VectorName = "vector"

  /** So many numbers in a row, as bytes of a fixed, the least first. */
  final case class Vector(dimension: Int, element: VectorElement) extends HudiType(VectorName) {
    def bytes: Int = dimension * element.bytes
    override def descriptor: String =
      if (element == VectorElement.Float32) s"VECTOR($dimension)" else s"VECTOR($dimension, ${element.text})"
  }

  /** A record of bytes `metadata` and `value`. */
  case object Variant extends HudiType("variant") {
    override val descriptor: String = "VARIANT"

    val Metadata = "metadata"
    val Value = "value"

    /** What a shredded one has besides. */
    val Shredded = "typed_value"
    private val ShreddedFields = Set(Metadata, Value, Shredded)

    /** By the names of its fields; `value` may be left out where typed columns have all. */
    def isShredded(fields: Iterable[String]): Boolean = {
      val names = fields.toSet
      names(Metadata) && names(Shredded) && names.subsetOf(ShreddedFields)
    }

    /** @param where the file or table
      * @param by    who would have to put them together
      */
    def refused(where: String, column: String, by: String): UnsupportedTable = new UnsupportedTable(
      s"$where: column $column has variants that are shredded ($Shredded), which $by does not put together; leave the column " +
        "out, or read the table with stock Hudi on Spark 4"
    )
  }

  /** A record of the bytes themselves, or of where they lie. */
  case object Blob extends HudiType("blob") {
    override val descriptor: String = "BLOB"
  }

  /** None for Avro's own types, a union with null among them. UnsupportedTable for a vector of an unknown form.
    *
    * @param where the table or file, for messages
    */
  def of(schema: Schema, where: String): Option[HudiType] = nameOf(schema).map {
    case Variant.name => Variant
    case Blob.name    => Blob
    case _            => vector(TableSchema.value(schema), where)
  }

  /** The name alone. */
  def nameOf(schema: Schema): Option[String] = {
    val own = TableSchema.value(schema)
    (own.getType, own.getObjectProp(LogicalType.LOGICAL_TYPE_PROP)) match {
      case (Schema.Type.FIXED, VectorName)                         => Some(VectorName)
      case (Schema.Type.RECORD, name @ (Variant.name | Blob.name)) => Some(name.toString)
      case _                                                       => None
    }
  }

  /** Columns of such types, and fields of structs, with the types' names; none in lists and maps. */
  def columns(record: Schema): scala.Vector[(scala.Vector[String], String)] =
    columns(record, scala.Vector.empty, Set(record.getFullName))

  private def columns(
      record: Schema,
      path: scala.Vector[String],
      open: Set[String]
  ): scala.Vector[(scala.Vector[String], String)] = record.getFields.asScala.toVector.flatMap { f =>
    val own = TableSchema.value(f.schema)
    nameOf(own) match {
      case Some(name)                                                          => scala.Vector((path :+ f.name) -> name)
      case None if own.getType == Schema.Type.RECORD && !open(own.getFullName) =>
        columns(own, path :+ f.name, open + own.getFullName)
      case None => scala.Vector.empty
    }
  }

  private def vector(schema: Schema, where: String): Vector = {
    val found = for {
      dimension <- Option(schema.getObjectProp("dimension")).collect { case n: Number => n.intValue }
      element <- VectorElement.All.find(_.text == schema.getProp("elementType"))
      if Option(schema.getProp("storageBacking")).forall(_ == Backing)
      if dimension > 0 && dimension.toLong * element.bytes == schema.getFixedSize
    } yield Vector(dimension, element)
    found.getOrElse(
      throw new UnsupportedTable(
        s"$where: $schema is a vector of a form that is not known here; read the table with stock Hudi, or leave the column out there"
      )
    )
  }

  /** The only form in which vectors are kept so far. */
  private val Backing = "FIXED_BYTES"

  /** The Avro type of a column that is marked with `descriptor`, as stock Hudi makes it. InvalidOption for a descriptor of which
    * none can be made.
    *
    * @param column for messages
    */
  def schemaOf(descriptor: String, column: String): Schema = descriptor.trim match {
    case VectorForm(dimension, element, backing)
        if Option(backing).forall(_.trim.equalsIgnoreCase(Backing)) && elementOf(element).isDefined &&
          areFew(dimension.toInt.toLong * elementOf(element).get.bytes) =>
      vectorSchema(Vector(dimension.toInt, elementOf(element).get))
    case text if text.equalsIgnoreCase(Blob.descriptor) => new Schema.Parser().parse(BlobJson)
    case _                                              =>
      throw new InvalidOption(
        s"column $column is marked $MetadataKey='$descriptor', of which no column is made here; " +
          "VECTOR(dimension), VECTOR(dimension, FLOAT, DOUBLE or INT8) and BLOB are known: make the table with stock Hudi, or take the mark away"
      )
  }

  private val VectorForm = """(?i)VECTOR\(\s*(\d{1,9})\s*(?:,\s*(\w+)\s*)?(?:,\s*(\w+)\s*)?\)""".r

  private def areFew(bytes: Long): Boolean = bytes > 0 && bytes < (1 << 28)

  private def elementOf(text: String): Option[VectorElement] =
    if (text == null) Some(VectorElement.Float32) else VectorElement.All.find(_.text.equalsIgnoreCase(text))

  private def vectorSchema(of: Vector): Schema = {
    val schema = Schema.createFixed(s"vector_${of.element.text.toLowerCase}_${of.dimension}", null, "", of.bytes)
    schema.addProp(LogicalType.LOGICAL_TYPE_PROP, of.name)
    schema.addProp("dimension", Int.box(of.dimension): Object)
    schema.addProp("elementType", of.element.text)
    schema.addProp("storageBacking", Backing)
    schema
  }

  private val BlobJson =
    """{"type":"record","name":"blob","namespace":"","fields":[
      |{"name":"type","type":{"type":"enum","name":"blob_storage_type","symbols":["INLINE","OUT_OF_LINE"]}},
      |{"name":"data","type":["null","bytes"],"default":null},
      |{"name":"reference","type":["null",{"type":"record","name":"reference","fields":[
      |{"name":"external_path","type":"string"},{"name":"offset","type":["null","long"]},
      |{"name":"length","type":["null","long"]},{"name":"managed","type":"boolean"}]}],"default":null}],
      |"logicalType":"blob"}""".stripMargin

  /** Of a record's vectors, what stock Hudi writes into the footers of base files; empty if there are none. */
  def vectorColumns(record: Schema, where: String): String =
    record.getFields.asScala
      .flatMap(f => of(f.schema, where).collect { case v: Vector => s"${f.name}:${v.descriptor}" })
      .mkString(",")

  /** The footer's property for them. */
  val VectorColumnsKey = "hoodie.vector.columns"
}

/** @param text  in schemas
  * @param bytes of one
  */
sealed abstract class VectorElement(val text: String, val bytes: Int) extends Product with Serializable {

  /** How many there are in so many bytes. UnsupportedTable if that is no whole number.
    *
    * @param where for messages, with what parts it from them
    */
  def countIn(length: Int, where: String): Int =
    if (length % bytes == 0) length / bytes
    else
      throw new UnsupportedTable(
        s"${where}a vector of $text has $length bytes, which is not a multiple of $bytes; " +
          "leave the column out, or write it again with stock Hudi"
      )
}

object VectorElement {
  case object Float32 extends VectorElement("FLOAT", 4)
  case object Float64 extends VectorElement("DOUBLE", 8)
  case object Int8 extends VectorElement("INT8", 1)

  val All: scala.Vector[VectorElement] = scala.Vector(Float32, Float64, Int8)
}
