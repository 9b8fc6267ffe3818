package hudiidx.spark.prune

import org.antlr.v4.runtime.{CharStreams, Token}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.expressions.{Cast, Expression, Literal, UnaryExpression}
import org.apache.spark.sql.catalyst.parser.SqlBaseLexer
import org.apache.spark.sql.types.{DataType, DecimalType, StringType}
import org.apache.spark.unsafe.types.UTF8String

/** Texts that become decimals: `1E-300000000` is a short text, and Spark works out all its digits. */
private[spark] object NumberTexts {

  /** An exponent has at most three digits. */
  def isShort(text: String): Boolean = {
    val e = text.indexWhere(c => c == 'e' || c == 'E')
    e < 0 || text.drop(e + 1).trim.dropWhile(c => c == '+' || c == '-').length <= 3
  }

  /** Why Spark's parser may not be given this SQL: it works out all digits of `1E300000000BD`. */
  def refusalOf(sql: String): Option[String] = {
    val lexer = new SqlBaseLexer(CharStreams.fromString(sql.map(_.toUpper)))
    lexer.removeErrorListeners()
    val tokens = Iterator.continually(lexer.nextToken()).takeWhile(_.getType != Token.EOF).map(_.getText)
    if (tokens.exists(t => startsNumber(t) && !isShort(t.reverse.dropWhile(_.isLetter).reverse)))
      Some("a number must be written out, with at most three digits of an exponent")
    else None
  }

  private def startsNumber(token: String): Boolean = token.head == '.' || (token.head >= '0' && token.head <= '9')

  /** Why a part may take very long where a query is planned. */
  def refusal(part: Expression): Option[String] = part match {
    case c: Cast if isOfText(c) && c.child.references.isEmpty && !isShort(c.child) =>
      Some("a constant text that becomes a decimal must be written out, with at most three digits of an exponent")
    case _ => None
  }

  /** With rows' texts that become decimals looked at before. */
  def guarded(e: Expression): Expression = e.transformUp {
    case c: Cast if isOfText(c) => c.copy(child = ShortNumberText(c.child))
  }

  private def isOfText(c: Cast): Boolean =
    c.dataType.isInstanceOf[DecimalType] && c.child.dataType.isInstanceOf[StringType]

  private def isShort(e: Expression): Boolean = e match {
    case Literal(null, _)             => true
    case Literal(text: UTF8String, _) => isShort(text.toString)
    case _                            => false
  }
}

/** The text, if a decimal can be made of it in no time. What is thrown else is no exception, as [[DatedText]] has it. */
final private[spark] case class ShortNumberText(child: Expression) extends UnaryExpression with CodegenFallback {
  override def dataType: DataType = child.dataType

  override def eval(row: InternalRow): Any = {
    val text = child.eval(row).asInstanceOf[UTF8String]
    if (text != null && !NumberTexts.isShort(text.toString)) throw new ShortNumberText.TooLong
    text
  }

  override protected def withNewChildInternal(newChild: Expression): Expression = copy(child = newChild)
}

private object ShortNumberText {
  final class TooLong extends Error("a number with an exponent of many digits", null, false, false)
}
