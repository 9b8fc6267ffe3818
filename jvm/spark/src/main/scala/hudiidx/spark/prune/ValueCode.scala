package hudiidx.spark.prune

import hudiidx.column.{ColumnType, ValueOrder, ValueSet, ValueSets}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/** Values of Spark's types in the order of an index, as `ColumnType` has it. */
private[spark] object ValueCode {

  /** The type of a file that holds such a column as it is; None where no index orders it. Strings are ordered by their bytes,
    * so a string with a collation has none.
    */
  def columnType(t: DataType): Option[ColumnType] = t match {
    case BooleanType                         => Some(ColumnType.Bool)
    case ByteType | ShortType | IntegerType  => Some(ColumnType.Int32)
    case LongType                            => Some(ColumnType.Int64)
    case DateType                            => Some(ColumnType.Date)
    case TimestampType                       => Some(ColumnType.Timestamp)
    case TimestampNTZType                    => Some(ColumnType.LocalTimestamp)
    case FloatType                           => Some(ColumnType.Float32)
    case DoubleType                          => Some(ColumnType.Float64)
    case BinaryType                          => Some(ColumnType.Binary)
    case d: DecimalType                      => Some(ColumnType.Decimal(d.precision, d.scale))
    case other if other == (StringType: Any) => Some(ColumnType.Text)
    case _                                   => None
  }

  /** None for types without an order here. Intervals have one, though no index holds them. */
  def order(t: DataType): Option[ValueOrder] = t match {
    case _: DayTimeIntervalType | _: YearMonthIntervalType => Some(ValueOrder.Longs)
    case other                                             => columnType(other).map(_.order)
  }

  /** A value in Spark's inner form, not null, of a type ordered as longs. */
  def long(value: Any, t: DataType): Long = value match {
    case b: Boolean => if (b) 1L else 0L
    case n: Byte    => n.toLong
    case n: Short   => n.toLong
    case n: Int     => n.toLong
    case n: Long    => n
    case f: Float   => ColumnType.ofDouble(f.toDouble)
    case d: Double  => ColumnType.ofDouble(d)
    case d: Decimal => unscaled(d, t).longValueExact
    case other      => throw new IllegalArgumentException(s"$other of ${t.simpleString}")
  }

  /** The same of a type ordered as texts. */
  def text(value: Any, t: DataType): Array[Byte] = value match {
    case s: UTF8String  => s.getBytes
    case b: Array[Byte] => b
    case d: Decimal     => ColumnType.ofDecimal(unscaled(d, t))
    case other          => throw new IllegalArgumentException(s"$other of ${t.simpleString}")
  }

  /** A decimal of more than 18 digits of its text: the other way of `ColumnType.ofDecimal`. */
  def decimal(text: Array[Byte], t: DecimalType): Decimal = {
    val bytes = text.clone()
    bytes(0) = (bytes(0) ^ 0x80).toByte
    val unscaled = new java.math.BigInteger(bytes)
    Decimal(new java.math.BigDecimal(unscaled, t.scale), t.precision, t.scale)
  }

  private def unscaled(d: Decimal, t: DataType): java.math.BigInteger =
    d.toJavaBigDecimal.setScale(t.asInstanceOf[DecimalType].scale).unscaledValue

  /** The value of a code, for types ordered as longs. Codes between floats are the nearest float. */
  def value(code: Long, t: DataType): Any = t match {
    case BooleanType                                       => code != 0
    case ByteType                                          => code.toByte
    case ShortType                                         => code.toShort
    case IntegerType | DateType | _: YearMonthIntervalType => code.toInt
    case FloatType                                         => toDouble(code).toFloat
    case DoubleType                                        => toDouble(code)
    case d: DecimalType                                    => Decimal(code, d.precision, d.scale)
    case _                                                 => code
  }

  /** The other way of `ColumnType.ofDouble`. */
  def toDouble(code: Long): Double =
    if (code == ColumnType.NaN) Double.NaN
    else java.lang.Double.longBitsToDouble(code ^ ((code >> 63) & Long.MaxValue))

  /** Least and greatest code of a type ordered as longs, NaN left aside. */
  def domain(t: DataType): (Long, Long) = t match {
    case BooleanType                                       => (0L, 1L)
    case ByteType                                          => (Byte.MinValue.toLong, Byte.MaxValue.toLong)
    case ShortType                                         => (Short.MinValue.toLong, Short.MaxValue.toLong)
    case IntegerType | DateType | _: YearMonthIntervalType => (Int.MinValue.toLong, Int.MaxValue.toLong)
    case FloatType | DoubleType                            =>
      (ColumnType.ofDouble(Double.NegativeInfinity), ColumnType.ofDouble(Double.PositiveInfinity))
    case d: DecimalType =>
      val most = BigInt(10).pow(d.precision).toLong - 1
      (-most, most)
    case _ => (Long.MinValue, Long.MaxValue)
  }

  def isInteger(t: DataType): Boolean = t == ByteType || t == ShortType || t == IntegerType || t == LongType

  def isFloating(t: DataType): Boolean = t == FloatType || t == DoubleType

  /** Is the value, in Spark's inner form and not null, in the set? */
  def isIn(value: Any, t: DataType, set: ValueSet): Boolean = set match {
    case s: ValueSet.Longs =>
      val code = long(value, t)
      s.meets(code, code)
    case s: ValueSet.Texts =>
      val code = text(value, t)
      s.meets(code, code)
  }

  /** Nothing but these values. */
  def oneOf(values: Seq[Any], t: DataType, order: ValueOrder): ValueSet = order match {
    case ValueOrder.Longs => ValueSets.oneOf(values.iterator.map(long(_, t)).toArray)
    case ValueOrder.Texts => ValueSets.oneOf(values.iterator.map(text(_, t)).toArray)
  }

  /** All values below `value`. */
  def below(value: Any, t: DataType, order: ValueOrder): ValueSet = order match {
    case ValueOrder.Longs =>
      val code = long(value, t)
      if (code == Long.MinValue) ValueSets.NoLongs else ValueSets.range(Long.MinValue, code - 1)
    case ValueOrder.Texts => ValueSets.textRange(Array.emptyByteArray, text(value, t))
  }
}

/** Matches types of integers. */
private[prune] object Integral {
  def unapply(t: DataType): Boolean = ValueCode.isInteger(t)
}

/** What an expression must give: one of the values, or null where `nulls`. */
final private[prune] case class Wanted(values: ValueSet, nulls: Boolean) {
  def isNothing: Boolean = values.isEmpty && !nulls

  def isEverything: Boolean = nulls && ValueSets.isAll(values)

  def or(other: Wanted): Wanted = Wanted(ValueSets.union(values, other.values), nulls || other.nulls)

  /** Of a boolean expression. */
  def wantsTrue: Boolean = has(1L)
  def wantsFalse: Boolean = has(0L)

  private def has(code: Long): Boolean = values match {
    case s: ValueSet.Longs => s.meets(code, code)
    case _                 => true
  }

  /** A value in Spark's inner form. */
  def takes(value: Any, t: DataType): Boolean = if (value == null) nulls else ValueCode.isIn(value, t, values)
}

private[prune] object Wanted {
  val True: Wanted = of(yes = true, no = false, nulls = false)

  def of(yes: Boolean, no: Boolean, nulls: Boolean): Wanted =
    Wanted(ValueSets.oneOf(Array(if (yes) Some(1L) else None, if (no) Some(0L) else None).flatten), nulls)

  def nulls(order: ValueOrder): Wanted = Wanted(ValueSets.none(order), nulls = true)

  def values(order: ValueOrder): Wanted = Wanted(ValueSets.all(order), nulls = false)

  def everything(order: ValueOrder): Wanted = Wanted(ValueSets.all(order), nulls = true)
}
