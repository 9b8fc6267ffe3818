package hudiidx.column

import hudiidx.Sql

/** Names of columns, those in structs with dots between the parts. A part that holds a dot, or another character that has a
  * meaning in lists of columns, stands in backquotes, its own backquotes doubled.
  */
object ColumnPath {

  def of(parts: Seq[String]): String = parts.map(quoted).mkString(".")

  /** The parts of a name; a backquote that is not closed stands for itself. */
  def parts(path: String): Vector[String] = split(path, '.').map(unquoted)

  /** The names in a list with commas between them; empty ones do not count. */
  def list(text: String): Vector[String] = split(text, ',').map(_.trim).filter(_.nonEmpty)

  /** Columns, and expressions of columns, in a list with commas between them. */
  def asked(text: String): Vector[String] =
    outside(text, ',').map(_.trim).filter(_.nonEmpty).map(ColumnExpression.asked)

  /** A path as somebody types it where expressions may stand too: whatever is no word stands in backquotes, also what commands
    * have another meaning for.
    */
  def typed(path: String): String = {
    val found = parts(path)
    val isCommand = found.size == 1 && Commands(found.head)
    found.map(p => if (p.nonEmpty && p.forall(isOfWord) && !isCommand) p else Sql.quoted(p)).mkString(".")
  }

  /** Parts of an index that commands take where columns may stand. */
  private val Commands = Set("record", "logs")

  private def isOfWord(c: Char): Boolean = c == '_' || Character.isLetterOrDigit(c)

  private def quoted(part: String): String =
    if (part.exists(c => "`.,;=()*".indexOf(c.toInt) >= 0) || part.trim != part) Sql.quoted(part) else part

  private def unquoted(part: String): String =
    if (part.length >= 2 && part.startsWith("`") && part.endsWith("`"))
      part.substring(1, part.length - 1).replace("``", "`")
    else part

  /** Splits where no backquotes are open. */
  private[column] def split(text: String, at: Char): Vector[String] = split(text, at, "`", "")

  /** Splits where neither quotes nor parentheses are open. */
  private[column] def outside(text: String, at: Char): Vector[String] = split(text, at, "`'\"", "()")

  /** @param quotes  between two of a kind nothing counts
    * @param enclose a character that opens and one that closes; none: empty
    */
  private def split(text: String, at: Char, quotes: String, enclose: String): Vector[String] = {
    val out = Vector.newBuilder[String]
    var (from, i, depth) = (0, 0, 0)
    var open = 0.toChar
    while (i < text.length) {
      val c = text.charAt(i)
      if (open != 0) { if (c == open) open = 0 else if (c == '\\' && open != '`') i += 1 }
      else if (quotes.indexOf(c.toInt) >= 0) open = c
      else if (enclose.nonEmpty && c == enclose(0)) depth += 1
      else if (enclose.nonEmpty && c == enclose(1)) depth -= 1
      else if (c == at && depth == 0) {
        out += text.substring(from, i)
        from = i + 1
      }
      i += 1
    }
    out += text.substring(from)
    out.result()
  }
}
