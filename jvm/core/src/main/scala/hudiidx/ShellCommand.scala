package hudiidx

import java.nio.charset.StandardCharsets.UTF_8

/** A call of the command `hudiidx` for people to copy into a shell: whatever names hold, it means the same there. As `_shell.py`
  * has it.
  *
  *  @param words   the table, and what stands behind it
  *  @param options with their values
  */
final case class ShellCommand(name: String, words: Vector[String], options: Vector[(String, String)] = Vector.empty) {
  import ShellCommand._

  /** Left tells why there is none. */
  def line: Either[String, String] = (words ++ options.map(_._2)).find(word(_).isEmpty) match {
    case Some(bad) => Left(s"no command line can hold '${Texts.shown(bad)}': call hudiidx from Python")
    case None      => Right(parts.mkString("hudiidx " + name + " ", " ", ""))
  }

  /** For a sentence. */
  def quoted: String = line.fold(why => s"`hudiidx $name` ($why)", text => s"`$text`")

  private def parts: Vector[String] = {
    val quotedWords = words.flatMap(word)
    val given = options.flatMap { case (option, value) => word(value).map(option -> _) }
    // What begins with a dash would be taken for an option.
    if (words.exists(_.startsWith("-"))) given.map { case (o, v) => s"$o=$v" } ++ ("--" +: quotedWords)
    else quotedWords ++ given.map { case (o, v) => if (v.startsWith("-")) s"$o=$v" else s"$o $v" }
  }
}

object ShellCommand {

  /** One argument. Control characters stand as `$'…'`, which bash, zsh and ksh read. None for what no argument can be, or what
    * would be shown otherwise than it is.
    */
  private[hudiidx] def word(text: String): Option[String] = {
    val quoted =
      if (isBare(text)) text
      else if (Texts.shown(text) == text) "'" + text.replace("'", """'\''""") + "'"
      else "$'" + text.codePoints.toArray.map(escaped).mkString + "'"
    Some(quoted).filter(q => text.indexOf(0) < 0 && !hasHalfPair(text) && Texts.shown(q) == q)
  }

  private def escaped(code: Int): String = {
    val text = new String(Character.toChars(code))
    if (text == "'" || text == "\\") "\\" + text
    else if (Texts.shown(text) == text) text
    else text.getBytes(UTF_8).map(b => f"\\${b & 0xff}%03o").mkString
  }

  private def hasHalfPair(text: String): Boolean =
    text.codePoints.anyMatch(c => c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE)

  private def isBare(text: String): Boolean =
    text.nonEmpty && text.charAt(0) != '=' && text.forall { c =>
      (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || "_@%+=:,./-".indexOf(c.toInt) >= 0
    }
}
