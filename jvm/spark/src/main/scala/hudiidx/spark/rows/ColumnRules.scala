package hudiidx.spark.rows

import hudiidx.TableFormat

/** How the columns of a file become those of the table.
  *
  * @param floatsByText a float becomes the double of its shortest text (170.06f is 170.06), not of its bits
  */
final case class ColumnRules(caseSensitive: Boolean, floatsByText: Boolean) {
  def sameName(a: String, b: String): Boolean = if (caseSensitive) a == b else a.equalsIgnoreCase(b)
}

object ColumnRules {

  /** The rules of the stock release that reads tables of this format.
    *
    * @param byHistory columns go by the history that the table keeps of them
    */
  def of(format: TableFormat, caseSensitive: Boolean, byHistory: Boolean = false): ColumnRules =
    ColumnRules(caseSensitive, format.floatsByText || byHistory)
}
