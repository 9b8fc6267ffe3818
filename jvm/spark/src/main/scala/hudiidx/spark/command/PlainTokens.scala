package hudiidx.spark.command

import scala.util.matching.Regex

/** A word, sign or constant of a filter. */
private[command] sealed trait Token {
  def isWord(text: String): Boolean = false
}

private[command] final case class Word(text: String) extends Token {
  override def isWord(other: String): Boolean = text.equalsIgnoreCase(other)
}

/** A name in backticks. */
private[command] final case class Quoted(text: String) extends Token
private[command] final case class Sign(text: String) extends Token

private[command] sealed trait Constant extends Token
private[command] final case class Text(text: String) extends Constant
private[command] final case class Whole(value: BigInt) extends Constant

/** A number with a fraction, or an exponent. */
private[command] final case class Fraction(text: String) extends Constant

private[command] object PlainTokens {
  // Texts with a backslash, or beside another text, are left to Spark, and so are numbers with a letter behind them.
  private val Token: Regex =
    ("""\s*(?:([A-Za-z_][A-Za-z0-9_]*)|`([^`]+)`(?!`)|'([^'\\]*)'(?!\s*['"])|"([^"\\]*)"(?!\s*['"])|""" +
      """(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)(?![\w.])|(<=(?!>)|>=|<>|!=|==|[=<>(),.](?![=<>])))""").r

  /** Of which the last is [[Unknown]] where the text has something else. */
  def of(text: String): Vector[Token] = {
    val found = Vector.newBuilder[Token]
    var at = 0
    while (at < text.length && !text.substring(at).trim.isEmpty) {
      Token.findPrefixMatchOf(text.substring(at)) match {
        case Some(m) =>
          found += token(m)
          at += m.end
        case None =>
          found += Unknown
          at = text.length
      }
    }
    found.result()
  }

  private case object Unknown extends Token

  private def token(m: Regex.Match): Token =
    (1 to 6).find(m.group(_) != null) match {
      case Some(1) => Word(m.group(1))
      case Some(2) => Quoted(m.group(2))
      case Some(3) => Text(m.group(3))
      case Some(4) => Text(m.group(4))
      case Some(5) => number(m.group(5))
      case _       => Sign(m.group(6))
    }

  private def number(text: String): Token =
    if (text.exists(c => c == '.' || c == 'e' || c == 'E')) Fraction(text) else Whole(BigInt(text))
}
