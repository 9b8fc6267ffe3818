package hudiidx.sync

import hudiidx.InvalidOption

/** What values an option takes. */
sealed trait OptionKind {

  /** For docs. */
  def text: String
}

object OptionKind {

  /** true or false, in any case. */
  case object Flag extends OptionKind {
    override def text: String = "boolean"
  }

  final case class IntRange(least: Long, most: Long = Long.MaxValue) extends OptionKind {
    override def text: String = s"integer, $range"

    /** Sizes and times have no greatest value that anyone would meet. */
    def range: String = if (most >= Int.MaxValue) s"$least or more" else s"$least to $most"
    def holds(n: Long): Boolean = n >= least && n <= most
  }

  /** Names, in any case. */
  final case class OneOf(names: Vector[String]) extends OptionKind {
    override def text: String = names.map(n => s"`$n`").mkString(", ")
  }

  /** Whatever else: `what` says it. */
  final case class Text(what: String) extends OptionKind {
    override def text: String = what
  }
}

/** One option: code reads its value by this, docs/options.md is made of it.
  *
  *  @param default as a value is written, and the value that holds where none is given; of options without such a value words
  *                in brackets
  *  @param meaning one or two sentences in Markdown
  */
final case class OptionDoc(name: String, kind: OptionKind, default: String, meaning: String) {
  import OptionKind._

  /** The value given, else the default; InvalidOption for what is neither true nor false. */
  def flag(settings: Map[String, String]): Boolean = text(settings).toLowerCase match {
    case "true"  => true
    case "false" => false
    case _       => refuse(settings, "true or false")
  }

  /** The value given, else the default; InvalidOption for what is no number of the option's range. */
  def whole(settings: Map[String, String]): Long = kind match {
    case range: IntRange =>
      scala.util
        .Try(text(settings).toLong)
        .toOption
        .filter(range.holds)
        .getOrElse(refuse(settings, s"a whole number, ${range.range}"))
    case _ => throw new IllegalStateException(s"$name is not a number")
  }

  /** The name given, as the option's kind spells it, else the default; InvalidOption for another. */
  def choice(settings: Map[String, String]): String = kind match {
    case OneOf(names) =>
      names
        .find(_.equalsIgnoreCase(text(settings)))
        .getOrElse(refuse(settings, s"one of ${names.mkString(", ")}"))
    case _ => throw new IllegalStateException(s"$name takes no names")
  }

  /** The value given, else the default. */
  def text(settings: Map[String, String]): String = settings.getOrElse(name, default).trim

  private def refuse(settings: Map[String, String], wanted: String): Nothing =
    throw new InvalidOption(s"option $name is '${settings.getOrElse(name, default)}'; it takes $wanted")
}
