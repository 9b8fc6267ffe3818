package hudiidx.parquet

import org.apache.parquet.column.impl.ColumnReadStoreImpl
import org.apache.parquet.column.page.PageReadStore
import org.apache.parquet.io.api.{Converter, GroupConverter, PrimitiveConverter}
import org.apache.parquet.schema.{GroupType, MessageType, Type}

/** Columns of one row group, read value by value. A column in a struct is named with dots.
  *
  * @param schema what the row group was read with, see `FieldColumns.projection`
  */
private[hudiidx] final class FieldColumns(pages: PageReadStore, schema: MessageType, createdBy: String) {
  private lazy val readers =
    new ColumnReadStoreImpl(pages, new FieldColumns.NoConverter(schema), schema, createdBy)

  /** Null if the file has no such column. */
  def of(field: String): FieldColumn =
    if (!FieldColumns.has(schema, field)) null
    else {
      val descriptor = schema.getColumnDescription(field.split('.'))
      new FieldColumn(readers.getColumnReader(descriptor), descriptor)
    }
}

private[hudiidx] object FieldColumns {

  /** True if the schema has this column, a primitive one in at most structs. */
  def has(schema: GroupType, field: String): Boolean = hasPath(schema, field.split('.').toList)

  private def hasPath(group: GroupType, names: List[String]): Boolean = names match {
    case name :: rest if group.containsField(name) =>
      val child = group.getType(name)
      if (child.isRepetition(Type.Repetition.REPEATED)) false
      else if (rest.isEmpty) child.isPrimitive
      else !child.isPrimitive && hasPath(child.asGroupType, rest)
    case _ => false
  }

  /** The schema with those of these columns that it has. */
  def projection(schema: MessageType, fields: Vector[String]): MessageType =
    ofPaths(schema, fields.filter(has(schema, _)).map(_.split('.').toList))

  /** The schema with these columns alone, which it has. */
  def ofPaths(schema: MessageType, columns: Vector[List[String]]): MessageType =
    new MessageType(schema.getName, pruned(schema, columns.distinct): _*)

  private def pruned(group: GroupType, fields: Vector[List[String]]): Array[Type] =
    fields.map(_.head).distinct.toArray.map { name =>
      val child = group.getType(name)
      if (child.isPrimitive) child
      else {
        val below = pruned(child.asGroupType, fields.collect { case `name` :: rest => rest })
        child.asGroupType.withNewFields(below: _*): Type
      }
    }

  /** Values are asked for one by one, so none is converted. */
  final class NoConverter(group: GroupType) extends GroupConverter {
    override def getConverter(field: Int): Converter =
      if (group.getType(field).isPrimitive) NoValue else new NoConverter(group.getType(field).asGroupType)
    override def start(): Unit = ()
    override def end(): Unit = ()
  }

  private object NoValue extends PrimitiveConverter
}
