package hudiidx.hive

import hudiidx.InvalidOption
import hudiidx.rows.ValueType

/** Rows of the columns that settings name, in the order in which they name them; else of all, in the table's. */
private[hive] object ColumnChoice {

  /** InvalidOption for a column that the table does not have.
    *
    * @param where the table, for messages
    */
  def of(table: ValueType.Struct, settings: ReadSettings, where: String)(
      write: ValueType.Field => ColumnWriter
  ): RowLayout = {
    val names = settings.columns.getOrElse(table.fields.map(_.name))
    val slots = names.zipWithIndex.map { case (name, place) =>
      val at = table.indexOf(name)
      if (at < 0)
        throw new InvalidOption(
          s"${ReadSettings.Columns}: $where has no column '$name'; it has ${table.fields.map(_.name).mkString(", ")}"
        )
      Slot(place, table.fields(at), identity, write(table.fields(at)))
    }
    RowLayout(names.length, slots)
  }
}
