package hudiidx

import java.time.DateTimeException
import java.time.format.{DateTimeFormatter, DateTimeFormatterBuilder, ResolverStyle, SignStyle}
import java.time.temporal.ChronoField.{DAY_OF_MONTH, MONTH_OF_YEAR, YEAR}
import java.util.Locale

import scala.util.Try

/** Values of texts as Spark's cast takes them when it is not ANSI's: partition paths, and columns whose type was changed. */
object TextCast {

  /** A boxed value, a string, days since 1970-01-01, or a `java.math.BigDecimal`; null for a text that is not one of the type's. None for
    * types whose values depend on more than the text.
    */
  def of(text: String, to: PlainType): Option[Any] = to match {
    case PlainType.Text                   => Some(text)
    case PlainType.Bool                   => Some(bool(text).map(Boolean.box).orNull)
    case PlainType.Int32                  => Some(whole(text).filter(_.isValidInt).map(n => Int.box(n.toInt)).orNull)
    case PlainType.Int64                  => Some(whole(text).filter(_.isValidLong).map(n => Long.box(n.toLong)).orNull)
    case PlainType.Float32                => Some(floating(text)(_.toFloat).map(Float.box).orNull)
    case PlainType.Float64                => Some(floating(text)(_.toDouble).map(Double.box).orNull)
    case PlainType.Date                   => Some(date(text).map(Int.box).orNull)
    case PlainType.Decimal(digits, scale) => Some(decimal(text, digits, scale).orNull)
    case PlainType.Timestamp | PlainType.Binary => None
  }

  private val True = Set("t", "true", "y", "yes", "1")
  private val False = Set("f", "false", "n", "no", "0")

  private def bool(text: String): Option[Boolean] = {
    val own = trimmed(text).toLowerCase(Locale.ROOT)
    if (True(own)) Some(true) else if (False(own)) Some(false) else None
  }

  /** What follows a point is left out, and so may be what stands before it. */
  private def whole(text: String): Option[BigInt] = {
    val own = trimmed(text)
    val unsigned = if (own.startsWith("-") || own.startsWith("+")) own.substring(1) else own
    val (digits, more) = unsigned.span(_ != '.')
    val isNumber = unsigned.nonEmpty && (digits + more.drop(1)).forall(c => c >= '0' && c <= '9')
    val significant = digits.dropWhile(_ == '0')
    if (!isNumber || significant.length > MostDigits) None
    else Some(BigInt(if (significant.isEmpty) "0" else significant)).map(n => if (own.startsWith("-")) -n else n)
  }

  private val MostDigits = 19

  private def floating[A](text: String)(parse: String => A): Option[A] =
    Try(parse(text)).toOption.orElse(text.trim.toLowerCase(Locale.ROOT) match {
      case "inf" | "+inf" | "infinity" | "+infinity" => Some(parse("Infinity"))
      case "-inf" | "-infinity"                      => Some(parse("-Infinity"))
      case "nan"                                     => Some(parse("NaN"))
      case _                                         => None
    })

  /** Of Spark's bytes: a blank beyond ASCII is none. */
  private def trimmed(text: String): String = {
    def isBlank(c: Char) = c < 128 && (c.isWhitespace || c.isControl)
    text.dropWhile(isBlank).reverse.dropWhile(isBlank).reverse
  }

  /** Rounded half up; None for a text that is no number, or has more digits. */
  def decimal(text: String, precision: Int, scale: Int): Option[java.math.BigDecimal] =
    DecimalText.rounded(text.trim, precision, scale)

  /** Days since 1970-01-01 of a text as Spark's cast takes it: a year, and perhaps a month, and perhaps a day, after which there may be a
    * blank or a T and anything. None if it is none.
    */
  def date(text: String): Option[Int] = {
    val own = trimmed(text)
    val year = own.drop(1).takeWhile(_.isDigit)
    val isZero = own.startsWith("-") && year.nonEmpty && year.forall(_ == '0')
    val unsigned = if (isZero || (own.startsWith("+") && !own.startsWith("+-"))) own.substring(1) else own
    val (date, more) = unsigned.span(c => c != ' ' && c != 'T')
    try Some(Math.toIntExact(java.time.LocalDate.parse(date, if (more.isEmpty) Dates else WholeDates).toEpochDay))
    catch { case _: DateTimeException | _: ArithmeticException => None }
  }

  private def years = new DateTimeFormatterBuilder().appendValue(YEAR, 4, 7, SignStyle.NORMAL)

  private val WholeDates = months(years).append(days).toFormatter.withResolverStyle(ResolverStyle.STRICT)

  private val Dates = months(years.optionalStart())
    .optionalStart()
    .append(days)
    .optionalEnd()
    .optionalEnd()
    .parseDefaulting(MONTH_OF_YEAR, 1)
    .parseDefaulting(DAY_OF_MONTH, 1)
    .toFormatter
    .withResolverStyle(ResolverStyle.STRICT)

  private def months(behind: DateTimeFormatterBuilder): DateTimeFormatterBuilder =
    behind.appendLiteral('-').appendValue(MONTH_OF_YEAR, 1, 2, SignStyle.NOT_NEGATIVE)

  private def days: DateTimeFormatter =
    new DateTimeFormatterBuilder()
      .appendLiteral('-')
      .appendValue(DAY_OF_MONTH, 1, 2, SignStyle.NOT_NEGATIVE)
      .toFormatter
}
