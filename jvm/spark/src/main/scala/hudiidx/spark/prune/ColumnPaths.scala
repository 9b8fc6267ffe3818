package hudiidx.spark.prune

import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Expression, GetStructField}
import org.apache.spark.sql.types.StructType

/** Columns, nested ones too, as `IndexedColumn.path` names them. */
private[spark] object ColumnPaths {

  /** The names from the outermost on; None for anything but a column or a field of structs. */
  def parts(e: Expression): Option[Vector[String]] = e match {
    case a: AttributeReference             => Some(Vector(a.name))
    case GetStructField(child, ordinal, _) =>
      child.dataType match {
        case s: StructType => parts(child).map(_ :+ s(ordinal).name)
        case _             => None
      }
    case _ => None
  }
}
