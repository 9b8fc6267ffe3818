package hudiidx.spark.prune

import java.math.{BigDecimal => JavaDecimal}

import scala.util.Try

import hudiidx.column.expression.ExpressionTree.Constant
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.{CalendarInterval, UTF8String}

/** Types and constants of expressions as an index keeps them: docs/format.md, "Expressions". */
private[spark] object ExpressionTypes {
  private val intervals: Vector[DataType] =
    (for (from <- 0 to 3; to <- from to 3) yield DayTimeIntervalType(from.toByte, to.toByte): DataType).toVector ++
      (for (from <- 0 to 1; to <- from to 1) yield YearMonthIntervalType(from.toByte, to.toByte): DataType)

  private val named: Map[String, DataType] = (Vector[DataType](
    BooleanType,
    ByteType,
    ShortType,
    IntegerType,
    LongType,
    FloatType,
    DoubleType,
    StringType,
    BinaryType,
    DateType,
    TimestampType,
    TimestampNTZType,
    CalendarIntervalType,
    NullType
  ) ++ intervals).map(t => t.catalogString -> t).toMap

  private val DecimalForm = """decimal\((\d{1,2}),(\d{1,2})\)""".r

  /** None for a name that is of no simple type. */
  def of(name: String): Option[DataType] = name match {
    case DecimalForm(p, s) =>
      Try(DecimalType(p.toInt, s.toInt)).toOption.filter(d => d.precision > 0 && d.catalogString == name)
    case _ => named.get(name)
  }

  /** None for a type that no expression may have in its text. */
  def name(t: DataType): Option[String] = {
    val text = t.catalogString
    of(text).filter(_ == t).map(_ => text)
  }

  /** None for a value of a type that is not one of the simple ones. */
  def constant(literal: Literal): Option[Constant] =
    name(literal.dataType).map(t => Constant(t, Option(literal.value).map(text(_, literal.dataType))))

  /** None for a text that is no value of its type, or not written as such. */
  def literal(constant: Constant): Option[Literal] = for {
    t <- of(constant.dataType)
    made <- constant.value match {
      case None       => Some(Literal(null, t))
      case Some(text) => Try(value(text, t)).toOption.map(Literal(_, t))
    }
    if this.constant(made).contains(constant)
  } yield made

  private def text(value: Any, t: DataType): String = value match {
    case b: Array[Byte]      => b.map(x => f"$x%02X").mkString
    case i: CalendarInterval => s"${i.months},${i.days},${i.microseconds}"
    case d: Decimal          => d.toJavaBigDecimal.setScale(t.asInstanceOf[DecimalType].scale).toString
    case other               => other.toString
  }

  private def value(text: String, t: DataType): Any = t match {
    case BooleanType                                                          => text.toBoolean
    case ByteType                                                             => text.toByte
    case ShortType                                                            => text.toShort
    case IntegerType | DateType | _: YearMonthIntervalType                    => text.toInt
    case LongType | TimestampType | TimestampNTZType | _: DayTimeIntervalType => text.toLong
    case FloatType                                                            => text.toFloat
    case DoubleType                                                           => text.toDouble
    case d: DecimalType       => Decimal(decimal(text), d.precision, d.scale)
    case BinaryType           => text.grouped(2).map(Integer.parseInt(_, 16).toByte).toArray
    case CalendarIntervalType =>
      val Array(months, days, micros) = text.split(',')
      new CalendarInterval(months.toInt, days.toInt, micros.toLong)
    case _ => UTF8String.fromString(text)
  }

  /** Texts such as 1E999999999 are numbers of any length when they are worked with. */
  private def decimal(text: String): JavaDecimal = {
    require(text.length <= 48 && text.matches("-?[0-9.]+(E-?[0-9]{1,2})?"))
    new JavaDecimal(text)
  }
}
