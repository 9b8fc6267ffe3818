package hudiidx.column.expression

import scala.annotation.tailrec

import hudiidx.WholeNumber
import hudiidx.column.expression.ExpressionTree.{Call, Column, Constant}

/** What of an expression may take very long: patterns, and parts that Spark evaluates once, where a query is planned. A pattern that is
  * taken looks at each letter of a text no more than some [[MostLooks]] times. docs/format.md, "Expressions".
  */
private[column] object PatternRules {

  /** How often a letter of a text is looked at. */
  val MostLooks = 1000L

  /** Of patterns, in characters. */
  val MostPattern = 256

  def refusal(tree: ExpressionTree): Option[String] =
    ownRefusal(tree).orElse(tree.children.iterator.map(refusal).collectFirst { case Some(why) => why })

  private def ownRefusal(tree: ExpressionTree): Option[String] = tree match {
    case c: Call if !ExpressionFunctions.isQuick(c.function) && !hasColumn(c) =>
      Some(s"${c.function} in it uses no column; write the value that it gives")
    case Call(f @ ("like" | "ilike"), args) => inCall(f, args.drop(1).headOption)(like(_, escape(args)))
    case Call("str_to_map", args)     => args.drop(1).flatMap(a => inCall("str_to_map", Some(a))(regex)).headOption
    case Call(f, args) if Searches(f) => inCall(f, args.lift(1))(regex)
    case Call(f, args) if OfUrls(f)   => args.lift(2).flatMap(a => inCall(f, Some(a))(name))
    case Call(f, args) if Products(f) => ofOneText(f, args)
    case _                            => None
  }

  private val Searches =
    "rlike regexp regexp_like regexp_count regexp_extract regexp_extract_all regexp_instr regexp_replace regexp_substr split"
      .split(' ')
      .toSet
  private val OfUrls = Set("parse_url", "try_parse_url")

  private def hasColumn(tree: ExpressionTree): Boolean = tree match {
    case _: Column => true
    case other     => other.children.exists(hasColumn)
  }

  private def inCall(function: String, pattern: Option[ExpressionTree])(
      rule: String => Option[String]
  ): Option[String] =
    (pattern match {
      case Some(Constant(_, None))                                            => None
      case Some(Constant("string", Some(text))) if text.length <= MostPattern => rule(text)
      case Some(Constant("string", _)) => Some(s"its pattern must have at most $MostPattern characters")
      case _                           => Some("its pattern must be a constant text")
    }).map(why => s"$function: $why")

  private def escape(args: Vector[ExpressionTree]): Char = args.lift(2) match {
    case Some(Constant(_, Some(one))) if one.length == 1 => one.head
    case _                                               => '\\'
  }

  /** Each `%` before the last part of the text is tried at each place where the one before it may end. */
  private def like(pattern: String, escape: Char): Option[String] = {
    @tailrec def places(at: Int, open: Int, ending: Int): Int =
      if (at >= pattern.length) open
      else
        pattern.charAt(at) match {
          case c if c == escape => places(at + 2, open + ending, 0)
          case '%'              => places(at + 1, open, ending + 1)
          case _                => places(at + 1, open + ending, 0)
        }
    if (places(0, 0, 0) <= 1) None else Some("its pattern may have one % beside those at its end")
  }

  /** It becomes part of a pattern. */
  private def name(key: String): Option[String] =
    if (key.forall(c => c == '_' || c == '-' || Character.isLetterOrDigit(c))) None
    else Some("the key must be of letters, digits, _ and -")

  /** They take the product of the lengths of both texts: those that look for the one do so at each place of the other. */
  private val Products =
    "levenshtein contains instr locate position replace split_part substring_index trim btrim ltrim rtrim"
      .split(' ')
      .toSet

  private def ofOneText(function: String, args: Vector[ExpressionTree]): Option[String] =
    if (
      args.size < 2 || args.take(2).exists { case Constant(_, v) => v.forall(_.length <= MostPattern); case _ => false }
    ) None
    else Some(s"$function: one of its texts must be a constant of at most $MostPattern characters")

  private def regex(pattern: String): Option[String] =
    try new RegexReader(pattern).refusal()
    catch { case e: RegexReader.Refused => Some(e.getMessage) }
}

/** What part of a pattern may take.
  *
  *  @param length letters that it takes at most, of `*` and the like one
  *  @param ways   in how many ways it may take a text
  *  @param open   parts of any length after which something may fail
  */
final private case class PatternCost(length: Long, ways: Long, open: Int) {
  def followedBy(other: PatternCost): PatternCost =
    PatternCost(length + other.length, PatternCost.capped(ways * other.ways), open + other.open)

  def or(other: PatternCost): PatternCost =
    PatternCost(length + other.length, PatternCost.capped(ways + other.ways), open + other.open)
}

private object PatternCost {
  val Nothing: PatternCost = PatternCost(0, 1, 0)
  private def capped(n: Long): Long = math.min(n, Int.MaxValue.toLong)
}

/** Reads those regular expressions of Java whose time is known: of letters, classes of them, groups and alternatives, in which letters
  * and classes alone are repeated.
  */
final private class RegexReader(pattern: String) {
  import RegexReader._
  private var at = 0

  def refusal(): Option[String] = {
    var all = branch()
    while (take('|')) all = all.or(branch())
    if (at < pattern.length) refuse(s"${pattern.charAt(at)} at ${at + 1}")
    if (all.length * all.ways > PatternRules.MostLooks) Some("its pattern may take a text in too many ways") else None
  }

  /** One of the alternatives of the whole. */
  private def branch(): PatternCost = {
    val isAnchored = take('^')
    val parts = items()
    val cost = ofAll(parts, isLast = !take('$'))
    if (cost.open > 1) refuse("more than one part of any length before its end")
    if (cost.open == 1 && !isAnchored) refuse("a part of any length before its end, and no ^ at its begin")
    cost
  }

  /** What they cost, by whether something follows that may fail. */
  private def items(): Vector[Boolean => PatternCost] = {
    val parts = Vector.newBuilder[Boolean => PatternCost]
    while (at < pattern.length && "|)$".indexOf(peek.toInt) < 0) parts += item()
    parts.result()
  }

  private def ofAll(parts: Vector[Boolean => PatternCost], isLast: Boolean): PatternCost =
    parts.zipWithIndex
      .map { case (part, i) => part(isLast && i == parts.size - 1) }
      .foldLeft(PatternCost.Nothing)(
        _ followedBy _
      )

  private def item(): Boolean => PatternCost = peek match {
    case '(' => group()
    case _   =>
      letter()
      repeated()
  }

  private def group(): Boolean => PatternCost = {
    at += 1
    if (take('?') && !take(':')) refuse("a group with ?")
    val branches = Vector.newBuilder[Vector[Boolean => PatternCost]]
    branches += items()
    while (take('|')) branches += items()
    if (!take(')')) refuse("a group without an end, or with $ in it")
    if (at < pattern.length && "*+?{".indexOf(peek.toInt) >= 0) refuse("a group that is repeated")
    val all = branches.result()
    isLast => all.map(ofAll(_, isLast)).reduce(_ or _)
  }

  /** A letter or a class of letters. */
  private def letter(): Unit = peek match {
    case '['                                 => letters()
    case '\\'                                => escaped()
    case c if "^$*+?{".indexOf(c.toInt) >= 0 => refuse(s"$c at ${at + 1}")
    case _                                   => at += 1
  }

  private def escaped(): Unit = {
    at += 1
    if (at == pattern.length) refuse("\\ at its end")
    val c = peek
    if (c >= 128 || (Character.isLetterOrDigit(c) && Escapes.indexOf(c.toInt) < 0)) refuse(s"\\$c")
    at += 1
  }

  private def letters(): Unit = {
    at += 1
    take('^'): Unit
    if (at < pattern.length && peek == ']') refuse("a class of letters that begins with ]")
    while (at < pattern.length && peek != ']')
      if (peek == '[' || pattern.startsWith("&&", at)) refuse("a class of letters in another")
      else if (peek == '\\') escaped()
      else at += 1
    if (!take(']')) refuse("a class of letters without an end")
  }

  private def repeated(): Boolean => PatternCost = {
    val found: Option[(Long, Option[Long])] =
      if (take('*')) Some((0, None))
      else if (take('+')) Some((1, None))
      else if (take('?')) Some((0, Some(1)))
      else if (take('{')) Some(counts())
      else None
    if (found.isDefined && !take('?')) take('+'): Unit
    found match {
      case None                      => _ => PatternCost(1, 1, 0)
      case Some((least, Some(most))) => _ => PatternCost(most, most - least + 1, 0)
      case Some((least, None))       => isLast => PatternCost(least + 1, 1, if (isLast) 0 else 1)
    }
  }

  private def counts(): (Long, Option[Long]) = {
    val least = number()
    val most = if (!take(',')) Some(least) else if (peek == '}') None else Some(number())
    if (!take('}') || most.exists(_ < least)) refuse("a number of times that is none")
    (least, most)
  }

  private def number(): Long = {
    val digits = pattern.drop(at).takeWhile(c => c >= '0' && c <= '9')
    at += digits.length
    WholeNumber.of(digits, PatternRules.MostLooks).getOrElse(refuse("a number of times that is none, or too large"))
  }

  private def peek: Char = if (at < pattern.length) pattern.charAt(at) else refuse("an end too early")

  private def take(c: Char): Boolean = {
    val isHere = at < pattern.length && pattern.charAt(at) == c
    if (isHere) at += 1
    isHere
  }

  private def refuse(what: String): Nothing = throw new Refused(
    s"its pattern has $what, which patterns of indexes may not"
  )
}

private object RegexReader {
  private val Escapes = "dDwWsStnrf"
  final class Refused(message: String) extends Exception(message, null, false, false)
}
