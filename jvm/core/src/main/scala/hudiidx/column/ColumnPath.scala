package hudiidx.column

/** Names of columns, those in structs with dots between the parts. A part that holds a dot, or another character that has a
  * meaning in lists of columns, stands in backquotes, its own backquotes doubled.
  */
object ColumnPath {

  def of(parts: Seq[String]): String = parts.map(quoted).mkString(".")

  /** The parts of a name; a backquote that is not closed stands for itself. */
  def parts(path: String): Vector[String] = split(path, '.').map(unquoted)

  /** The names in a list with commas between them; empty ones do not count. */
  def list(text: String): Vector[String] = split(text, ',').map(_.trim).filter(_.nonEmpty)

  private def quoted(part: String): String =
    if (part.exists(c => "`.,;=()*".indexOf(c.toInt) >= 0) || part.trim != part) "`" + part.replace("`", "``") + "`"
    else part

  private def unquoted(part: String): String =
    if (part.length >= 2 && part.startsWith("`") && part.endsWith("`"))
      part.substring(1, part.length - 1).replace("``", "`")
    else part

  /** Splits where no backquotes are open. */
  private[column] def split(text: String, at: Char): Vector[String] = {
    val out = Vector.newBuilder[String]
    var from = 0
    var open = false
    var i = 0
    while (i < text.length) {
      val c = text.charAt(i)
      if (c == '`') open = !open
      else if (c == at && !open) {
        out += text.substring(from, i)
        from = i + 1
      }
      i += 1
    }
    out += text.substring(from)
    out.result()
  }
}
