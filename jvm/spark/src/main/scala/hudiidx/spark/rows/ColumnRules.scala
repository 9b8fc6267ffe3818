package hudiidx.spark.rows

/** How the columns of a file become those of the table.
  *
  * @param floatsByText a float becomes the double of its shortest text (170.06f is 170.06), not of its bits
  */
final case class ColumnRules(caseSensitive: Boolean, floatsByText: Boolean) {
  def sameName(a: String, b: String): Boolean = if (caseSensitive) a == b else a.equalsIgnoreCase(b)
}

object ColumnRules {

  /** The rules of the stock release that reads this table version: 0.15 version 6, 1.0 version 8, 1.1 version 9. */
  def of(tableVersion: Int, caseSensitive: Boolean): ColumnRules =
    ColumnRules(caseSensitive, floatsByText = tableVersion >= 8)
}
