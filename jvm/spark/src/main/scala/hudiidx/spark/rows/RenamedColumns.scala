package hudiidx.spark.rows

import hudiidx.table.ColumnNames
import org.apache.spark.sql.types._

/** Columns of files by the table's names, and back. */
object RenamedColumns {

  /** A file's columns as the table calls them; those that it does not have get a name that no column has. */
  def toTable(own: StructType, names: ColumnNames): StructType = StructType(own.map { f =>
    names.fields.get(f.name) match {
      case Some((Some(name), below)) => f.copy(name = name, dataType = toTable(f.dataType, below))
      case Some(_)                   => f.copy(name = ColumnNames.hidden(f.name))
      case None                      => f
    }
  })

  private def toTable(own: DataType, names: ColumnNames): DataType = own match {
    case s: StructType => toTable(s, names)
    case a: ArrayType  => a.copy(elementType = names.element.fold(a.elementType)(toTable(a.elementType, _)))
    case m: MapType    => m.copy(valueType = names.value.fold(m.valueType)(toTable(m.valueType, _)))
    case other         => other
  }

  /** Columns of the table, or parts of them, as a file calls them. Those that it lacks get a name that it does not have.
    *
    * @param file all of the file's
    */
  def toFile(columns: StructType, file: StructType, names: ColumnNames): StructType = StructType(columns.map { f =>
    names.ofTable(f.name) match {
      case Some((own, below)) =>
        val of = file.find(_.name == own).map(_.dataType)
        f.copy(name = own, dataType = of.fold(f.dataType)(toFile(f.dataType, _, below)))
      case None => if (names.ofFile(f.name)) f.copy(name = ColumnNames.hidden(f.name)) else f
    }
  })

  private def toFile(column: DataType, file: DataType, names: ColumnNames): DataType = (column, file) match {
    case (s: StructType, own: StructType) => toFile(s, own, names)
    case (a: ArrayType, own: ArrayType)   =>
      a.copy(elementType = names.element.fold(a.elementType)(toFile(a.elementType, own.elementType, _)))
    case (m: MapType, own: MapType) =>
      m.copy(valueType = names.value.fold(m.valueType)(toFile(m.valueType, own.valueType, _)))
    case _ => column
  }
}
