package hudiidx.hive

import java.math.{BigDecimal => JBigDecimal, BigInteger, RoundingMode}
import java.nio.charset.StandardCharsets.UTF_8
import java.sql.{Date => SqlDate, Timestamp => SqlTimestamp}
import java.util.Arrays

import hudiidx.column.{ColumnType, ValueOrder, ValueSet, ValueSets}
import hudiidx.rows.ValueType
import org.apache.hadoop.hive.common.`type`.HiveDecimal

/** Where a constant of Hive's stands among the values of a column, as bounds have them ([[ColumnType]]). Each set has at least the
  * values for which Hive says so; where its rounding, or its release, decides, a value is in several.
  */
private[hive] final case class ConstantPlace(below: ValueSet, equal: ValueSet, above: ValueSet) {
  import ConstantPlace._

  /** @param parts at least one */
  def of(parts: Set[Part]): ValueSet = parts.iterator
    .map[ValueSet] { case Below => below; case Equal => equal; case Above => above }
    .reduce(ValueSets.union(_, _))
}

private[hive] object ConstantPlace {
  sealed abstract class Part {

    /** With column and constant on the other sides. */
    def turned: Part = this match { case Below => Above; case Equal => Equal; case Above => Below }
  }
  case object Below extends Part
  case object Equal extends Part
  case object Above extends Part
  val Parts: Set[Part] = Set(Below, Equal, Above)

  /** None where it is not certain how Hive compares the two.
    *
    * @param column   the type that the Hudi table has it in
    * @param hiveType the type that the Hive table has it in, as Hive writes it
    * @param constant as of ExprNodeConstantDesc; null: None
    */
  def of(column: ValueType, hiveType: String, constant: Any): Option[ConstantPlace] =
    (column, hiveType, constant) match {
      case (ValueType.Int32 | ValueType.Int64, "tinyint" | "smallint" | "int" | "bigint", Numeric(n)) =>
        Some(ofNumber(n))
      case (d: ValueType.Decimal, hive, ExactNumber(n)) if hive == ValueType.show(d) => Some(ofDecimal(n, d))
      case (ValueType.Float32, "float", Floating(x))  => Some(near(Math.nextDown(x.toFloat), Math.nextUp(x.toFloat)))
      case (ValueType.Float64, "double", Floating(x)) => Some(near(Math.nextDown(x), Math.nextUp(x)))
      case (ValueType.Text, "string", text: String)   => Some(ofText(text))
      case (ValueType.Date, "date", d: SqlDate) if !d.before(FirstCertain) => Some(exactly(d.toLocalDate.toEpochDay))
      case (ValueType.Timestamp(_, false), "timestamp", t: SqlTimestamp) if !t.before(FirstCertain) =>
        Some(ofInstant(t))
      case _ => None
    }

  /** A file's bounds mean the same values as the table's type. */
  def isOrderedAlike(table: ValueType, file: ColumnType): Boolean = (table, file) match {
    case (ValueType.Int32, ColumnType.Int32)                             => true
    case (ValueType.Int64, ColumnType.Int32 | ColumnType.Int64)          => true
    case (ValueType.Float32, ColumnType.Float32)                         => true
    case (ValueType.Float64, ColumnType.Float64)                         => true
    case (ValueType.Text, ColumnType.Text)                               => true
    case (ValueType.Date, ColumnType.Date)                               => true
    case (ValueType.Timestamp(_, false), ColumnType.Timestamp)           => true
    case (ValueType.Decimal(p, s), ColumnType.Decimal(precision, scale)) => p == precision && s == scale
    case _                                                               => false
  }

  /** Before it java.sql's calendar, and offsets of its zones, are other ones than a table's. */
  private val FirstCertain = SqlTimestamp.valueOf("1900-01-02 00:00:00")

  private def exactly(code: Long): ConstantPlace = between(code, code)

  /** The constant is `low`, `high`, or between the two. Where they are the same it is that value. */
  private def between(low: Long, high: Long): ConstantPlace =
    if (low < high)
      ConstantPlace(
        ValueSets.range(Long.MinValue, high),
        ValueSets.range(low, high),
        ValueSets.range(low, Long.MaxValue)
      )
    else {
      val below = if (low == Long.MinValue) ValueSets.NoLongs else ValueSets.range(Long.MinValue, low - 1)
      val above = if (low == Long.MaxValue) ValueSets.NoLongs else ValueSets.range(low + 1, Long.MaxValue)
      ConstantPlace(below, ValueSets.range(low, low), above)
    }

  private def between(low: Array[Byte], high: Array[Byte]): ConstantPlace = {
    val isExact = Arrays.equals(low, high)
    ConstantPlace(
      ValueSets.textRange(Array.emptyByteArray, if (isExact) low else ValueSets.next(high)),
      ValueSets.textRange(low, ValueSets.next(high)),
      ValueSets.textRange(if (isExact) ValueSets.next(high) else low, null)
    )
  }

  private def ofText(text: String): ConstantPlace = {
    val bytes = text.getBytes(UTF_8)
    between(bytes, bytes)
  }

  private def ofNumber(n: JBigDecimal): ConstantPlace = {
    val (low, high) = (n.setScale(0, RoundingMode.FLOOR), n.setScale(0, RoundingMode.CEILING))
    if (low.compareTo(Longs._1) < 0) between(Long.MinValue, Long.MinValue + 1)
    else if (high.compareTo(Longs._2) > 0) between(Long.MaxValue - 1, Long.MaxValue)
    else between(low.longValueExact, high.longValueExact)
  }

  private val Longs = (new JBigDecimal(Long.MinValue), new JBigDecimal(Long.MaxValue))

  /** Unscaled, and never further out than what no value reaches. */
  private def ofDecimal(n: JBigDecimal, t: ValueType.Decimal): ConstantPlace = {
    val most = BigInteger.TEN.pow(t.precision)
    def unscaled(mode: RoundingMode) = n.setScale(t.scale, mode).unscaledValue.min(most).max(most.negate)
    val (low, high) = (unscaled(RoundingMode.FLOOR), unscaled(RoundingMode.CEILING))
    ColumnType.Decimal(t.precision, t.scale).order match {
      case ValueOrder.Longs => between(low.longValueExact, high.longValueExact)
      case ValueOrder.Texts => between(ColumnType.ofDecimal(low), ColumnType.ofDecimal(high))
    }
  }

  /** Sets of floating-point numbers end one number further than need be: releases differ in what of two numbers is made the
    * other's type, and in whether 0.0 is above -0.0. To some of them NaN is equal to everything.
    */
  private def near(below: Double, above: Double): ConstantPlace = {
    val exact = between(ColumnType.ofDouble(below), ColumnType.ofDouble(above))
    ConstantPlace(ValueSets.union(exact.below, NaN), ValueSets.union(exact.equal, NaN), exact.above)
  }

  private val NaN = ValueSets.range(ColumnType.NaN, ColumnType.NaN)

  private def ofInstant(t: SqlTimestamp): ConstantPlace = {
    val micros = Math.floorDiv(t.getTime, 1000L) * 1000000L + t.getNanos / 1000
    between(micros, if (t.getNanos % 1000 == 0) micros else micros + 1)
  }

  private object ExactNumber {
    def unapply(constant: Any): Option[JBigDecimal] = constant match {
      case WholeNumber(n) => Some(JBigDecimal.valueOf(n))
      case d: HiveDecimal => Some(d.bigDecimalValue)
      case _              => None
    }
  }

  /** A double that whole numbers are compared with without rounding. */
  private object Numeric {
    def unapply(constant: Any): Option[JBigDecimal] = constant match {
      case d: java.lang.Double if math.abs(d) < MostWhole => Some(new JBigDecimal(d))
      case other                                          => ExactNumber.unapply(other)
    }
  }

  private val MostWhole = (1L << 53).toDouble

  private object Floating {
    def unapply(constant: Any): Option[Double] = constant match {
      case WholeNumber(n)                       => Some(n.toDouble)
      case d: HiveDecimal                       => Some(d.doubleValue)
      case d: java.lang.Double if !d.isInfinite => Some(d.doubleValue).filterNot(_.isNaN)
      case _                                    => None
    }
  }
}
