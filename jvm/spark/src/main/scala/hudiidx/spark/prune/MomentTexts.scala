package hudiidx.spark.prune

import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.expressions.{Cast, Expression, Literal, ToTimestamp, UnaryExpression}
import org.apache.spark.sql.types.{DataType, StringType, TimestampType}
import org.apache.spark.unsafe.types.UTF8String

/** Texts that Spark takes for another day or time as time goes on: `today`, or `12:30`, which is of the day on which it is read. */
private[spark] object MomentTexts {

  /** It begins with its year, and so is no such text. */
  def isDated(text: String): Boolean = {
    val bare = text.dropWhile(c => c.isWhitespace || c == '+' || c == '-')
    val behind = bare.dropWhile(c => c >= '0' && c <= '9')
    bare.length - behind.length >= 4 && (behind.trim.isEmpty || behind.head == '-')
  }

  /** Why a part may become another day or time. Spark puts in the moment for any constant text, also for one that it computes. */
  def refusal(part: Expression): Option[String] = part match {
    case c: Cast if isTime(c.dataType) && isText(c.child.dataType) && c.child.references.isEmpty && !isDated(c.child) =>
      Some(s"a constant text that becomes a ${c.dataType.simpleString} $Must")
    case _ => None
  }

  /** Of a constant with its type before it, as `DATE'today'`: the parser puts in the moment. */
  def refusal(constant: Literal): Option[String] =
    if (!isTime(constant.dataType) || constant.value == null) None
    else {
      val written = for {
        sql <- constant.origin.sqlText
        from <- constant.origin.startIndex
        to <- constant.origin.stopIndex
      } yield sql.slice(from, to + 1)
      val text = written.map(_.dropWhile(c => c.isLetter || c == '_' || c.isWhitespace))
      if (text.exists(t => t.nonEmpty && "'\"".contains(t.head) && isDated(t.slice(1, t.length - 1)))) None
      else Some(s"a constant of type ${constant.dataType.simpleString} $Must")
    }

  /** Why a part puts rows' texts into the hundred years around the moment, as Spark's time parser of before 3.0 does with years of two
    * digits.
    */
  def ofCentury(part: Expression): Option[String] = part match {
    case t: ToTimestamp if isText(t.children.head.dataType) =>
      t.children(1) match {
        case Literal(null, _)                                                 => None
        case Literal(format: UTF8String, _) if !hasShortYear(format.toString) => None
        case _                                                                =>
          Some(
            "with spark.sql.legacy.timeParserPolicy=LEGACY a format must be a constant and have its years in four digits, as 'yyyy': of two they " +
              "are of the century of the moment"
          )
      }
    case _ => None
  }

  /** Letters of a year, or of a year of weeks, fewer than three of them; not what stands in quotes. */
  private def hasShortYear(format: String): Boolean = {
    var (at, isQuoted, found) = (0, false, false)
    while (at < format.length) {
      val c = format.charAt(at)
      val end = format.indexWhere(_ != c, at) match { case -1 => format.length; case n => n }
      if (c == '\'') isQuoted = isQuoted != ((end - at) % 2 == 1)
      else if (!isQuoted && (c == 'y' || c == 'Y') && end - at < 3) found = true
      at = end
    }
    found
  }

  private val Must = "must begin with its year, as '2024-01-31': others, as 'today', are of the moment"

  private def isDated(e: Expression): Boolean = e match {
    case Literal(null, _)             => true
    case Literal(text: UTF8String, _) => isDated(text.toString)
    case _                            => false
  }

  private def isTime(t: DataType): Boolean = t.typeName == "date" || t.typeName.startsWith("time")

  private def isText(t: DataType): Boolean = t.isInstanceOf[StringType]

  /** With rows' texts that are cast to times looked at before. */
  def guarded(e: Expression): Expression = e.transformUp {
    case c: Cast if c.dataType == TimestampType && isText(c.child.dataType) => c.copy(child = DatedText(c.child))
  }
}

/** The text, if no day has to be put into it for it to be a time. What is thrown else is no exception: `try_` functions take these for
  * nulls.
  */
final private[spark] case class DatedText(child: Expression) extends UnaryExpression with CodegenFallback {
  override def dataType: DataType = child.dataType

  override def eval(row: org.apache.spark.sql.catalyst.InternalRow): Any = {
    val text = child.eval(row).asInstanceOf[UTF8String]
    if (text != null && lacksDay(text.toString)) throw new DatedText.LacksDay
    text
  }

  /** Takes some for such that are no times at all. */
  private def lacksDay(text: String): Boolean = {
    val hours = text.indexOf(':')
    text.startsWith("T") || (hours >= 0 && text.lastIndexOf('-', hours) < 0)
  }

  override protected def withNewChildInternal(newChild: Expression): Expression = copy(child = newChild)
}

private object DatedText {
  final class LacksDay extends Error("a time without its day", null, false, false)
}
