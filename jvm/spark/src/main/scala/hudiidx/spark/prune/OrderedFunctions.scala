package hudiidx.spark.prune

import java.time.{LocalDate, ZoneOffset}

import hudiidx.column.{ColumnType, ValueOrder}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/** The functions of Spark that keep or turn round the order of one argument, with the bounds in which they do. One that is not
  * here is one of which that is not certain. `OrderedFunctionsSuite` holds each against plain evaluation.
  */
private[prune] object OrderedFunctions {

  /** None where the order of results is not known. All other arguments are constants, and not null. */
  def of(e: Expression): Option[OrderedFunction] = e.children.partition(_.foldable) match {
    case (constants, Seq(x))
        if byLongs(x.dataType) && ValueCode.order(e.dataType).isDefined && constants.forall(_.eval(null) != null) =>
      val plain = OrderedFunction.of(e, x)
      ofCast(e, plain)
        .orElse(ofNumbers(e, x, plain))
        .orElse(ofDates(e, x, plain))
        .orElse(ofInstants(e, x, plain))
        .orElse(ofTexts(e, plain))
        .orElse(ofChoices(e, plain))
    case _ => None
  }

  private def byLongs(t: DataType): Boolean = ValueCode.order(t).contains(ValueOrder.Longs)

  // ---- casts

  private def ofCast(e: Expression, f: OrderedFunction): Option[OrderedFunction] = e match {
    case c: Cast => castOf(c.child.dataType, c.dataType, c, f)
    case _       => None
  }

  private def castOf(from: DataType, to: DataType, c: Cast, f: OrderedFunction): Option[OrderedFunction] =
    (from, to) match {
      case (BooleanType, Integral())                        => Some(f)
      case (Integral(), Integral())                         => Some(withinDomain(f, to))
      case (Integral(), FloatType | DoubleType)             => Some(f)
      case (Integral(), d: DecimalType)                     => Some(withinWhole(f, d, scale = 0))
      case (FloatType | DoubleType, FloatType | DoubleType) => Some(f)
      case (FloatType | DoubleType, Integral())             => Some(withinFloats(f, greatestOf(to)))
      case (FloatType | DoubleType, d: DecimalType)         => Some(withinFloats(f, wholeOf(d)))
      case (d: DecimalType, Integral())                     => Some(withinScaled(f, greatestOf(to), d.scale))
      case (d: DecimalType, to: DecimalType)                => Some(withinWhole(f, to, d.scale))
      case (_: DecimalType, FloatType | DoubleType)         => Some(f)
      case (DateType, TimestampType | TimestampNTZType)     => Some(years(f, Day))
      case (TimestampType, DateType | TimestampNTZType)     => Some(zoned(years(f, 1), c))
      case (TimestampNTZType, TimestampType)                => Some(zoned(years(f, 1), c))
      case (TimestampNTZType, DateType)                     => Some(years(f, 1))
      case (TimestampType, LongType | DoubleType)           => Some(years(f, 1))
      case (ByteType | ShortType | IntegerType | LongType, TimestampType) => Some(years(f, Second))
      case (DateType, StringType)                                         => Some(years(f, Day, FirstOfFourDigits))
      case (TimestampType, StringType)    => Some(zoned(years(f, 1, FirstOfFourDigits), c))
      case (TimestampNTZType, StringType) => Some(years(f, 1, FirstOfFourDigits))
      case _                              => None
    }

  private def withinDomain(f: OrderedFunction, t: DataType): OrderedFunction = {
    val (least, greatest) = ValueCode.domain(t)
    f.within(least, greatest)
  }

  private def greatestOf(integral: DataType): BigInt = BigInt(ValueCode.domain(integral)._2)

  /** Numbers up to this one fit, rounded up too. */
  private def wholeOf(d: DecimalType): BigInt = BigInt(10).pow(d.precision - d.scale) - 1

  private def withinWhole(f: OrderedFunction, to: DecimalType, scale: Int): OrderedFunction =
    withinScaled(f, wholeOf(to), scale)

  private def withinScaled(f: OrderedFunction, most: BigInt, scale: Int): OrderedFunction = {
    val bound = most * BigInt(10).pow(scale)
    f.within(-bound, bound)
  }

  /** Floats within +-`most`, with room for what the float itself cannot tell. */
  private def withinFloats(f: OrderedFunction, most: BigInt): OrderedFunction = {
    val bound = most.toDouble * (1 - 1e-6)
    f.within(ColumnType.ofDouble(-bound), ColumnType.ofDouble(bound))
  }

  // ---- numbers

  private def ofNumbers(e: Expression, x: Expression, f: OrderedFunction): Option[OrderedFunction] = e match {
    case a: Add      => constant(a.left, a.right, x).flatMap(c => sum(f, c, x.dataType))
    case s: Subtract =>
      if (s.left eq x) constant(s.left, s.right, x).flatMap(c => sum(f, negated(c), x.dataType))
      else constant(s.left, s.right, x).flatMap(c => difference(f, c, x.dataType))
    case m: Multiply                => constant(m.left, m.right, x).flatMap(c => product(f, c, x.dataType))
    case d: Divide if (d.left eq x) => constant(d.left, d.right, x).flatMap(c => quotient(f, c, x.dataType))
    case d: IntegralDivide if (d.left eq x) && ValueCode.isInteger(x.dataType) =>
      constant(d.left, d.right, x).collect {
        case c if c.signum != 0 =>
          f.within(BigInt(ValueCode.domain(x.dataType)._1) + 1, greatestOf(x.dataType)).copy(isRising = c.signum > 0)
      }
    case _: UnaryMinus => difference(f, java.math.BigDecimal.ZERO, x.dataType)
    case _: Round | _: BRound if !ValueCode.isInteger(x.dataType) => Some(f.copy(isTotal = false))
    case _: Floor | _: Ceil if !ValueCode.isInteger(x.dataType)   =>
      Some(if (ValueCode.isFloating(x.dataType)) withinFloats(f, greatestOf(LongType)) else f.copy(isTotal = false))
    case _ => None
  }

  /** The other argument of two, a finite number. */
  private def constant(left: Expression, right: Expression, x: Expression): Option[java.math.BigDecimal] =
    (if (left eq x) right else left).eval(null) match {
      case n: Byte                                => Some(java.math.BigDecimal.valueOf(n.toLong))
      case n: Short                               => Some(java.math.BigDecimal.valueOf(n.toLong))
      case n: Int                                 => Some(java.math.BigDecimal.valueOf(n.toLong))
      case n: Long                                => Some(java.math.BigDecimal.valueOf(n))
      case n: Float if !n.isNaN && !n.isInfinite  => Some(new java.math.BigDecimal(n.toDouble))
      case n: Double if !n.isNaN && !n.isInfinite => Some(new java.math.BigDecimal(n))
      case n: Decimal                             => Some(n.toJavaBigDecimal)
      case _                                      => None
    }

  private def negated(c: java.math.BigDecimal) = c.negate

  /** x + c. Integers wrap round where the sum does not fit. */
  private def sum(f: OrderedFunction, c: java.math.BigDecimal, t: DataType): Option[OrderedFunction] = t match {
    case Integral() =>
      val (least, greatest) = ValueCode.domain(t)
      Some(f.within(BigInt(least) - c.toBigIntegerExact, BigInt(greatest) - c.toBigIntegerExact))
    case FloatType | DoubleType => Some(f)
    case _: DecimalType         => Some(f.copy(isTotal = false))
    case _                      => None
  }

  /** c - x */
  private def difference(f: OrderedFunction, c: java.math.BigDecimal, t: DataType): Option[OrderedFunction] = t match {
    case Integral() =>
      val (least, greatest) = ValueCode.domain(t)
      Some(f.within(BigInt(c.toBigIntegerExact) - greatest, BigInt(c.toBigIntegerExact) - least).copy(isRising = false))
    case FloatType | DoubleType => Some(f.copy(isRising = false))
    case _: DecimalType         => Some(f.copy(isRising = false, isTotal = false))
    case _                      => None
  }

  private def product(f: OrderedFunction, c: java.math.BigDecimal, t: DataType): Option[OrderedFunction] = t match {
    case _ if c.signum == 0 => None
    case Integral()         =>
      // Symmetric, so one factor fewer than might fit at the lower end.
      val bound = greatestOf(t) / BigInt(c.toBigIntegerExact).abs
      Some(f.within(-bound, bound).copy(isRising = c.signum > 0))
    case FloatType | DoubleType => Some(f.copy(isRising = c.signum > 0))
    case _: DecimalType         => Some(f.copy(isRising = c.signum > 0, isTotal = false))
    case _                      => None
  }

  private def quotient(f: OrderedFunction, c: java.math.BigDecimal, t: DataType): Option[OrderedFunction] = t match {
    case _ if c.signum == 0     => None
    case FloatType | DoubleType => Some(f.copy(isRising = c.signum > 0))
    case _: DecimalType         => Some(f.copy(isRising = c.signum > 0, isTotal = false))
    case _                      => None
  }

  // ---- dates, which no zone moves

  private def ofDates(e: Expression, x: Expression, f: OrderedFunction): Option[OrderedFunction] = e match {
    case _ if x.dataType != DateType                           => None
    case _: Year | _: LastDay | _: UnixDate                    => Some(years(f, Day))
    case t: TruncDate if t.date eq x                           => Some(years(f, Day).copy(isTotal = false))
    case a: DateAdd if isSmall(a.days)                         => Some(years(f, Day))
    case s: DateSub if isSmall(s.days)                         => Some(years(f, Day))
    case a: AddMonths if isSmall(a.numMonths)                  => Some(years(f, Day))
    case d: DateDiff if isDate(d.left) && isDate(d.right)      => Some(years(f, Day).copy(isRising = d.endDate eq x))
    case s: SubtractDates if isDate(s.left) && isDate(s.right) => Some(years(f, Day).copy(isRising = s.left eq x))
    case _                                                     => None
  }

  /** So many days or months from a date of four digits is still a date. */
  private def isSmall(count: Expression): Boolean = count.foldable && (count.eval(null) match {
    case n: Int   => math.abs(n.toLong) < 1000000
    case n: Short => true
    case n: Byte  => true
    case _        => false
  })

  private def isDate(e: Expression): Boolean = e.dataType == DateType && (!e.foldable || e.eval(null) != null)

  // ---- instants and local times

  private def ofInstants(e: Expression, x: Expression, f: OrderedFunction): Option[OrderedFunction] = e match {
    case t: TruncTimestamp if isInstant(x)         => Some(zoned(years(f, 1), t).copy(isTotal = false))
    case t: IntervalAdded if isInstant(x)          => Some(zoned(years(f, 1), t))
    case t: TimestampAddYMInterval if isInstant(x) => Some(zoned(years(f, 1), t))
    case s: SubtractTimestamps if isInstant(x) && isInstant(s.left) && isInstant(s.right) && !s.legacyInterval =>
      Some(zoned(years(f, 1), s).copy(isRising = s.left eq x))
    case _: UnixSeconds | _: UnixMillis | _: UnixMicros           => Some(years(f, 1))
    case u: UnixTime if isInstant(x)                              => Some(zoned(years(f, 1), u))
    case u: UnixTime if x.dataType == DateType                    => Some(years(f, Day))
    case _: SecondsToTimestamp if ValueCode.isInteger(x.dataType) => Some(years(f, Second))
    case _: MillisToTimestamp                                     => Some(years(f, Milli))
    case _: MicrosToTimestamp                                     => Some(years(f, 1))
    case _                                                        => None
  }

  private def isInstant(e: Expression): Boolean = e.dataType == TimestampType || e.dataType == TimestampNTZType

  // ---- times as texts

  private def ofTexts(e: Expression, f: OrderedFunction): Option[OrderedFunction] = e match {
    case d: DateFormatClass if isSortable(d.right) =>
      Some(zoned(years(f, 1, FirstOfFourDigits), d).copy(isTotal = false))
    case u: FromUnixTime if isSortable(u.right) =>
      Some(zonedSeconds(years(f, Second, FirstOfFourDigits), u).copy(isTotal = false))
    case _ => None
  }

  /** Patterns whose texts are ordered as the times are: fixed widths, the greater units first, none left out between. */
  private val Sortable =
    """yyyy([-/. ]?MM([-/. ]?dd(( |'T'|-)?HH(:?mm(:?ss(\.S{1,6})?)?)?)?)?)?""".r

  private def isSortable(pattern: Expression): Boolean = pattern.foldable && (pattern.eval(null) match {
    case s: UTF8String => Sortable.pattern.matcher(s.toString).matches
    case _             => false
  })

  // ---- the greater and the lesser of several

  private def ofChoices(e: Expression, f: OrderedFunction): Option[OrderedFunction] = e match {
    case _: Greatest | _: Least => Some(f)
    case _                      => None
  }

  // ---- bounds

  private val Second = 1000000L
  private val Milli = 1000L
  private val Day = 86400L * Second
  private val FirstOfFourDigits = LocalDate.of(1000, 1, 3)
  private val First = LocalDate.of(1, 1, 3)
  private val Last = LocalDate.of(9999, 12, 29)

  /** Times between the years 1, or `from`, and 9999, in codes of `unit` microseconds. */
  private def years(f: OrderedFunction, unit: Long, from: LocalDate = First): OrderedFunction =
    f.within(
      BigInt(from.atStartOfDay(ZoneOffset.UTC).toEpochSecond) * Second / unit,
      BigInt(Last.atStartOfDay(ZoneOffset.UTC).toEpochSecond) * Second / unit
    )

  private def zoned(f: OrderedFunction, e: TimeZoneAwareExpression): OrderedFunction =
    f.copy(clock = Some(Clock(e.zoneId, 1L)))

  private def zonedSeconds(f: OrderedFunction, e: TimeZoneAwareExpression): OrderedFunction =
    f.copy(clock = Some(Clock(e.zoneId, Second)))
}
