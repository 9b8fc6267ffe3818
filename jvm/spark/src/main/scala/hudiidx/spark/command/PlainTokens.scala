package hudiidx.spark.command

import java.util.regex.{Matcher, Pattern}

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
  private val Form: Pattern =
    ("""\s*(?:([A-Za-z_][A-Za-z0-9_]*)|`([^`]+)`(?!`)|'([^'\\]*)'(?!\s*['"])|"([^"\\]*)"(?!\s*['"])|""" +
      """(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)(?![\w.])|(<=(?!>)|>=|<>|!=|==|[=<>(),.](?![=<>])))""").r.pattern

  /** Of which the last is [[Unknown]] where the text has something else. */
  def of(text: String): Vector[Token] = {
    val found = Vector.newBuilder[Token]
    val matcher = Form.matcher(text)
    val end = text.lastIndexWhere(_ > ' ') + 1
    var at = 0
    while (at < end)
      if (matcher.region(at, text.length).lookingAt()) {
        found += token(matcher)
        at = matcher.end
      } else {
        found += Unknown
        at = end
      }
    found.result()
  }

  private case object Unknown extends Token

  private def token(m: Matcher): Token =
    (1 to 6).find(m.group(_) != null) match {
      case Some(1) => Word(m.group(1))
      case Some(2) => Quoted(m.group(2))
      case Some(3) => Text(m.group(3))
      case Some(4) => Text(m.group(4))
      case Some(5) => number(m.group(5))
      case _       => Sign(m.group(6))
    }

  private def number(text: String): Token =
    if (text.exists(c => c == '.' || c == 'e' || c == 'E')) Fraction(text)
    else if (text.length > MostDigits) Unknown
    else Whole(BigInt(text))

  /** Longer ones fit into no type, and take time by the square of their length. */
  private val MostDigits = 100
}
