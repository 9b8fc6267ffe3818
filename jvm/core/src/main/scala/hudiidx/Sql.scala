package hudiidx

import java.util.Locale

/** Names and texts in Spark's SQL, such that its parser gives them back. */
object Sql {

  /** A name of one or more parts, each in backquotes where it needs them. */
  def name(parts: Seq[String]): String = parts.map(identifier).mkString(".")

  def identifier(part: String): String =
    if (isPlain(part) && !Words(part.toLowerCase(Locale.ROOT))) part else quoted(part)

  /** In backquotes whatever it is. */
  def quoted(part: String): String = "`" + part.replace("`", "``") + "`"

  /** A text. What it holds that is not to be seen stands as escapes, and so does what Spark would put variables for. Read otherwise
    * under `spark.sql.parser.escapedStringLiterals` where [[hasEscapes]].
    */
  def literal(text: String): String = {
    val out = new StringBuilder("'")
    for (i <- text.indices) text.charAt(i) match {
      case c @ ('\'' | '\\')                  => out.append('\\').append(c)
      case '$' if text.startsWith("{", i + 1) => out.append("\\u0024")
      case c if Texts.isHidden(text, i)       => out.append("\\u%04x".format(c.toInt))
      case c                                  => out.append(c)
    }
    out.append('\'').toString
  }

  /** Does the literal of this text hold escapes? */
  def hasEscapes(text: String): Boolean = literal(text).contains('\\')

  private def isPlain(part: String): Boolean = part.nonEmpty && !isDigit(part.charAt(0)) && part.forall { c =>
    (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || isDigit(c) || c == '_'
  }

  private def isDigit(c: Char): Boolean = c >= '0' && c <= '9'

  /** Words that mean something else where a column may stand, in one way to read SQL or another (`spark.sql.ansi.enabled`), of any Spark
    * that we run on.
    */
  private val Words: Set[String] =
    """all and any as authorization both call case cast check collate collation column constraint create cross current_date
      |current_path current_time current_timestamp current_user distinct else end escape except execute false fetch filter for foreign from
      |full grant group having in inner intersect into is join lateral leading left natural not null offset on only or order outer
      |overlaps percentile_cont percentile_disc primary recursive references right select session_user some sql table then time to
      |trailing true union unique unknown user using values when where with within""".stripMargin
      .replace('\n', ' ')
      .split(' ')
      .toSet
}
