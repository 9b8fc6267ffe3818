package hudiidx.engine.column

import hudiidx.column.{ColumnStats, ColumnType}

/** A column of a file with the type that it has there. */
final case class TypedStats(columnType: ColumnType, stats: ColumnStats)

/** What a base file, or a block of a log file, tells of its columns.
  *
  *  @param columns   by path, those whose values can be ordered: top-level ones and those in structs, none in lists or maps
  *  @param schema    the fields that there are, whatever their types
  *  @param isPartial rows have the columns that are there and keep the others: they have no value for those, not even null
  */
final case class SourceStats(
    rows: Long,
    columns: Map[String, TypedStats],
    schema: FieldNames,
    isPartial: Boolean = false
)

/** Names of a schema's fields and of those in its structs, in lower case: Spark may read columns whatever their case.
  *
  *  @param below fields of fields; None below what is no struct
  */
final class FieldNames(fields: Map[String, Option[FieldNames]]) {

  /** How many leading parts of a path are there. All of them: the column, or something else under its name, is there. */
  def present(parts: Vector[String]): Int = parts match {
    case head +: tail =>
      fields.get(head.toLowerCase) match {
        case None              => 0
        case Some(None)        => parts.size
        case Some(Some(below)) => 1 + below.present(tail)
      }
    case _ => 0
  }
}
