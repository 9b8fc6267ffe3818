package hudiidx.parquet

import scala.collection.JavaConverters._

import org.apache.avro.{LogicalTypes, Schema}
import org.apache.parquet.schema.LogicalTypeAnnotation.{TimeUnit, TimestampLogicalTypeAnnotation}
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName
import org.apache.parquet.schema.{GroupType, LogicalTypeAnnotation, MessageType, PrimitiveType, Type, Types}

/** Units of timestamps in base files that do not have the right label: streamers of Hudi 0.14.1 to 1.0 wrote milliseconds under
  * the label of microseconds, and local times under none. Hudi 1.1 and later take the unit from the table's schema then,
  * and so does this, on tables of all versions.
  */
object TimestampLabels {

  /** The file's schema with the labels that its timestamps should have; itself where they are right.
    *
    * @param table the table's schema
    */
  def repaired(file: MessageType, table: Schema): MessageType = {
    val fields = fieldsOf(file, table)
    if (fields.zip(file.getFields.asScala).forall { case (a, b) => a eq b }) file
    else new MessageType(file.getName, fields.asJava)
  }

  /** Columns for which files may bear another label than the table's: what footers tell of them need not be so. */
  def unsure(table: Schema): Set[String] =
    if (table.getType != Schema.Type.RECORD) Set.empty
    else table.getFields.asScala.filter(f => isUnsure(f.schema, Set.empty)).map(_.name).toSet

  /** `open` holds the records that enclose this one. */
  private def isUnsure(schema: Schema, open: Set[String]): Boolean = schema.getType match {
    case Schema.Type.UNION  => schema.getTypes.asScala.exists(isUnsure(_, open))
    case Schema.Type.ARRAY  => isUnsure(schema.getElementType, open)
    case Schema.Type.MAP    => isUnsure(schema.getValueType, open)
    case Schema.Type.RECORD =>
      !open(schema.getFullName) && schema.getFields.asScala.exists(f => isUnsure(f.schema, open + schema.getFullName))
    case Schema.Type.LONG =>
      schema.getLogicalType match {
        case _: LogicalTypes.TimestampMillis | _: LogicalTypes.LocalTimestampMillis |
            _: LogicalTypes.LocalTimestampMicros =>
          true
        case _ => false
      }
    case _ => false
  }

  private def fieldsOf(group: GroupType, record: Schema): Seq[Type] = group.getFields.asScala.toSeq.map { f =>
    val field = record.getField(f.getName)
    if (field == null) f else of(f, field.schema)
  }

  private def of(file: Type, table: Schema): Type = {
    val members =
      if (table.getType == Schema.Type.UNION) table.getTypes.asScala.filter(_.getType != Schema.Type.NULL).toSeq
      else Seq(table)
    if (members.length != 1) file
    else if (file.isPrimitive) primitive(file.asPrimitiveType, members.head)
    else ofGroup(file.asGroupType, members.head)
  }

  private def ofGroup(file: GroupType, table: Schema): Type = table.getType match {
    case Schema.Type.RECORD                           => withFields(file, fieldsOf(file, table))
    case Schema.Type.ARRAY if file.getFieldCount == 1 =>
      val inner = file.getType(0)
      val isElement = inner.isPrimitive || inner.asGroupType.getFieldCount > 1 || inner.getName == "array" ||
        inner.getName == file.getName + "_tuple"
      val made =
        if (isElement) of(inner, table.getElementType)
        else withFields(inner.asGroupType, Seq(of(inner.asGroupType.getType(0), table.getElementType)))
      withFields(file, Seq(made))
    case Schema.Type.MAP if file.getFieldCount == 1 && !file.getType(0).isPrimitive =>
      val entry = file.getType(0).asGroupType
      if (entry.getFieldCount != 2) file
      else withFields(file, Seq(withFields(entry, Seq(entry.getType(0), of(entry.getType(1), table.getValueType)))))
    case _ => file
  }

  private def withFields(group: GroupType, fields: Seq[Type]): GroupType =
    if (fields.zip(group.getFields.asScala).forall { case (a, b) => a eq b }) group
    else group.withNewFields(fields.asJava)

  private def primitive(file: PrimitiveType, table: Schema): PrimitiveType =
    if (file.getPrimitiveTypeName != PrimitiveTypeName.INT64) file
    else
      (file.getLogicalTypeAnnotation, table.getLogicalType) match {
        case (t: TimestampLogicalTypeAnnotation, _: LogicalTypes.TimestampMillis)
            if t.getUnit == TimeUnit.MICROS && t.isAdjustedToUTC =>
          labelled(file, isUtc = true, TimeUnit.MILLIS)
        case (null, _: LogicalTypes.LocalTimestampMillis) => labelled(file, isUtc = false, TimeUnit.MILLIS)
        case (null, _: LogicalTypes.LocalTimestampMicros) => labelled(file, isUtc = false, TimeUnit.MICROS)
        case _                                            => file
      }

  private def labelled(file: PrimitiveType, isUtc: Boolean, unit: TimeUnit): PrimitiveType = {
    val builder = Types.primitive(PrimitiveTypeName.INT64, file.getRepetition)
    val id = file.getId
    val made = builder.as(LogicalTypeAnnotation.timestampType(isUtc, unit))
    (if (id == null) made else made.id(id.intValue)).named(file.getName)
  }
}
