package hudiidx

/** Texts for people: errors, log lines, plans, descriptions of jobs. All that names, paths and values come into goes through here:
  * whoever chooses a name shall not write to a terminal, or into a log, what is not his. Documents for programs (JSON) stay exact.
  */
object Texts {

  /** In one line, control characters as escapes, secrets masked. Twice is as once. */
  def shown(text: String): String = Secrets.masked(escaped(text))

  /** The same of an error's message, which may have a value in it as long as its writer liked: of a long one the beginning and the
    * end.
    */
  def ofError(message: String): String = {
    val whole = shown(message)
    if (whole == null || whole.length <= MostOfError) whole
    else escaped(s"${whole.take(EndsOfError)} … (${whole.length} letters) … ${whole.takeRight(EndsOfError)}")
  }

  private val MostOfError = 16000
  private val EndsOfError = 4000

  /** The same for places that read HTML, as Spark's page of jobs does. */
  def inHtml(text: String): String = shown(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

  private def escaped(text: String): String =
    if (text == null || !text.indices.exists(isHidden(text, _))) text
    else {
      val out = new StringBuilder
      for (i <- text.indices) if (isHidden(text, i)) escape(text.charAt(i), out) else out.append(text.charAt(i))
      out.toString
    }

  private def escape(c: Char, out: StringBuilder): Unit = c match {
    case '\n' => out.append("\\n"): Unit
    case '\r' => out.append("\\r"): Unit
    case '\t' => out.append("\\t"): Unit
    case _    => out.append("\\u%04x".format(c.toInt)): Unit
  }

  /** C0, C1 and DEL; ends of lines and paragraphs; what turns the direction of writing; halves of a pair. As `_text.py` has it. */
  private[hudiidx] def isHidden(text: String, at: Int): Boolean = {
    val c = text.charAt(at)
    if (c < 0x20 || (c >= 0x7f && c <= 0x9f)) true
    else if (c < 0x61c) false
    else if (Character.isHighSurrogate(c)) at + 1 == text.length || !Character.isLowSurrogate(text.charAt(at + 1))
    else if (Character.isLowSurrogate(c)) at == 0 || !Character.isHighSurrogate(text.charAt(at - 1))
    else Turning.indexOf(c.toInt) >= 0
  }

  private val Turning = "\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
}
