package hudiidx.spark.rows

import hudiidx.InvalidOption
import hudiidx.table.HudiType
import hudiidx.table.HudiType.Variant.{Metadata, Value}
import org.apache.avro.Schema
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters
import org.apache.spark.sql.types._

import scala.collection.JavaConverters._

/** @param bytes of the variant at a place of a row or an array */
final private[rows] case class VariantField(name: String, bytes: (SpecializedGetters, Int) => Array[Byte])

/** The records that variants are in files and schemas. */
private[spark] object VariantFields {

  /** The fields of a record in its order, and how each is taken from rows. InvalidOption for a record of another form. */
  private[rows] def of(schema: Schema, where: String): Vector[VariantField] = {
    val fields = schema.getFields.asScala.toVector
    if (fields.map(_.name).sorted != Names || fields.exists(_.schema.getType != Schema.Type.BYTES))
      throw new InvalidOption(
        s"$where: the table has it as $schema, not as a variant of bytes metadata and value; write it with stock Hudi"
      )
    fields.map(f => VariantField(f.name, if (f.name == Value) VariantShims.value else VariantShims.metadata))
  }

  private val Names = Vector(Metadata, Value)

  /** The struct is a variant of bytes. */
  private[rows] def areIn(struct: StructType): Boolean =
    struct.fieldNames.sorted.sameElements(Names) && struct.forall(_.dataType == BinaryType)

  /** Where the fields of a vector of variants stand in such a struct. */
  private[rows] def places(struct: StructType): Array[Int] =
    AvroResolver.OfVariant.fieldNames.map(struct.fieldIndex)

  /** UnsupportedTable for a file whose variants are shredded: what stands in typed columns would be missing.
    *
    * @param file its path
    */
  def requireWhole(columns: StructType, own: StructType, file: String): Unit =
    // Most files have none, and tables may have thousands of columns.
    if (own.exists(f => holdsShredded(f.dataType)))
      for (want <- columns; have <- own.find(_.name.equalsIgnoreCase(want.name)))
        requireWhole(want.dataType, have.dataType, want.name, file)

  /** Does a record of a log block have more than the parts that are wanted of its variants? Its field names tell, whose
    * order and nulls writers choose.
    */
  private[rows] def areShredded(record: Schema, wanted: DataType): Boolean =
    HudiType.Variant.isShredded(record.getFields.asScala.map(_.name)) && isVariant(wanted)

  private def holdsShredded(t: DataType): Boolean = t match {
    case s: StructType => isShredded(s) || s.exists(f => holdsShredded(f.dataType))
    case a: ArrayType  => holdsShredded(a.elementType)
    case m: MapType    => holdsShredded(m.valueType)
    case _             => false
  }

  private def requireWhole(want: DataType, have: DataType, path: String, file: String): Unit = (want, have) match {
    case (w, h: StructType) if isShredded(h) && isVariant(w) =>
      throw HudiType.Variant.refused(file, path, "hudiidx")
    case (w: StructType, h: StructType) =>
      for (inner <- w; own <- h.find(_.name.equalsIgnoreCase(inner.name)))
        requireWhole(inner.dataType, own.dataType, s"$path.${inner.name}", file)
    case (w: ArrayType, h: ArrayType) => requireWhole(w.elementType, h.elementType, s"$path.element", file)
    case (w: MapType, h: MapType)     => requireWhole(w.valueType, h.valueType, s"$path.value", file)
    case _                            => ()
  }

  /** Or the parts of one that a query takes. */
  private def isVariant(want: DataType): Boolean = want match {
    case s: StructType => s.fieldNames.forall(Names.contains)
    case other         => VariantShims.isVariant(other)
  }

  private def isShredded(struct: StructType): Boolean =
    HudiType.Variant.isShredded(struct.fieldNames) &&
      struct.forall(f => !Names.contains(f.name) || f.dataType == BinaryType)
}
