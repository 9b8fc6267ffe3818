package hudiidx.report

/** Filters of recorded scans, as texts. Their constants, and names of columns, may be of any length: no regular expressions,
  * whose groups take stack for each letter, and one look at each letter.
  */
private[report] object FilterTexts {

  /** Only asks that a column is not null. */
  def isNotNull(filter: String): Boolean =
    filter.startsWith("(") && filter.endsWith(NotNull) && {
      val name = filter.substring(1, math.max(1, filter.length - NotNull.length))
      name.nonEmpty && !name.exists(_.isWhitespace)
    }

  /** Values become `?`, and a list of them is as one. A constant that does not end was cut: it is one too. */
  def shape(filter: String): String = {
    val out = new StringBuilder
    var at = 0
    while (at < filter.length) {
      val c = filter.charAt(at)
      val end =
        if (c == '`') quotedEnd(filter, at)
        else if (c == '\'') constantEnd(filter, at)
        else if (isNumber(filter, at)) numberEnd(filter, at)
        else at + 1
      if (c != '`' && (c == '\'' || isNumber(filter, at))) addValue(out) else out.append(filter.substring(at, end))
      at = end
    }
    out.toString
  }

  private def addValue(out: StringBuilder): Unit =
    if (endsWith(out, ManyMore)) out.setLength(out.length - 2)
    else if (endsWith(out, OneMore)) out.append('…')
    else {
      Types.find(t => endsWith(out, t) && !isNamePart(out, out.length - t.length - 1)).foreach { t =>
        out.setLength(out.length - t.length)
      }
      out.append('?')
    }

  private def endsWith(out: StringBuilder, end: String): Boolean =
    out.length >= end.length && end.indices.forall(i => out.charAt(out.length - end.length + i) == end.charAt(i))

  private def quotedEnd(text: String, from: Int): Int = {
    val end = text.indexOf('`', from + 1)
    if (end < 0) text.length else end + 1
  }

  private def constantEnd(text: String, from: Int): Int = {
    var at = from + 1
    while (at < text.length && text.charAt(at) != '\'') at += (if (text.charAt(at) == '\\') 2 else 1)
    math.min(text.length, at + 1)
  }

  private def isNumber(text: String, at: Int): Boolean = {
    val digit = if (text.charAt(at) == '-') at + 1 else at
    digit < text.length && isDigit(text.charAt(digit)) && !isNamePart(text, at - 1) &&
    !(at > 0 && (text.charAt(at - 1) == '.' || text.charAt(at - 1) == '`'))
  }

  private def numberEnd(text: String, from: Int): Int = {
    var at = from + 1
    while (at < text.length && (isNamePart(text, at) || text.charAt(at) == '.')) at += 1
    at
  }

  /** Does the text name the column, as a whole word, in backticks or not? What a constant holds counts too. */
  def names(text: String, column: String): Boolean = {
    val isCut = column.length > LongestName
    val name = (if (isCut) column.substring(0, LongestName) else column).replace("`", "``")
    def nameEnds(at: Int): Boolean = {
      val end = if (at < text.length && text.charAt(at) == '`') at + 1 else at
      isCut || !isNamePart(text, end)
    }
    text.indices.exists { at =>
      !isNamePart(text, at - 1) && !(at > 0 && ".`".indexOf(text.charAt(at - 1).toInt) >= 0) && {
        val from = if (text.charAt(at) == '`') at + 1 else at
        text.startsWith(name, from) && nameEnds(from + name.length)
      }
    }
  }

  private def isNamePart(text: CharSequence, at: Int): Boolean =
    at >= 0 && at < text.length && (Character.isLetterOrDigit(text.charAt(at)) || text.charAt(at) == '_')

  private def isDigit(c: Char): Boolean = c >= '0' && c <= '9'

  private val NotNull = " IS NOT NULL)"
  private val Types = Vector("DATE ", "TIMESTAMP ", "TIMESTAMP_NTZ ")
  private val OneMore = "?, "
  private val ManyMore = "?, …, "

  /** Of longer names the beginning is looked for. */
  private val LongestName = 1000
}
