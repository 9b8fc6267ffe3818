package hudiidx.spark.rows

import hudiidx.UnsupportedTable
import org.apache.spark.sql.types._

/** Columns that have no nulls by the table's schema. Where a file lacks one Spark takes what stands in its place for values: zeros, or
  * what ends the query with an error that names neither.
  */
private[spark] object RequiredColumns {

  /** Most tables have none. */
  def of(columns: StructType): StructType = StructType(columns.filter(f => !f.nullable || isIn(f.dataType)))

  private def isIn(t: DataType): Boolean = t match {
    case s: StructType => s.exists(f => !f.nullable || isIn(f.dataType))
    case a: ArrayType  => isIn(a.elementType)
    case m: MapType    => isIn(m.valueType)
    case _             => false
  }

  /** UnsupportedTable for a file that lacks one.
    *
    * @param required those of the table
    * @param own      the file's columns
    * @param sameName decides what is found by name
    */
  def requireIn(file: String, required: StructType, own: StructType, sameName: (String, String) => Boolean): Unit =
    missing(required, own, sameName).foreach { column =>
      throw new UnsupportedTable(
        s"$file: the table's schema has column $column without nulls, and this file, written before, lacks it; leave the column out of the " +
          "query, or have it made nullable by a write with Hudi"
      )
    }

  private def missing(want: StructType, have: StructType, sameName: (String, String) => Boolean): Option[String] =
    want.iterator
      .flatMap { column =>
        have.find(h => sameName(column.name, h.name)) match {
          case None        => if (column.nullable) None else Some(column.name)
          case Some(found) => within(column.dataType, found.dataType, sameName).map(f => s"${column.name}.$f")
        }
      }
      .take(1)
      .toVector
      .headOption

  private def within(want: DataType, have: DataType, sameName: (String, String) => Boolean): Option[String] =
    (want, have) match {
      case (w: StructType, h: StructType) => missing(w, h, sameName)
      case (w: ArrayType, h: ArrayType)   => within(w.elementType, h.elementType, sameName)
      case (w: MapType, h: MapType)       => within(w.valueType, h.valueType, sameName)
      case _                              => None
    }
}
