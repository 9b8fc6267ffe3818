package hudiidx.log

import hudiidx.{DecimalText, Widening}
import hudiidx.bytes.Bytes
import java.lang.Number
import java.math.BigDecimal
import java.nio.charset.StandardCharsets.UTF_8

/** The value by which event time orders versions of a record. Format notes §7.4.
  *
  * `value` is a Boolean, Int, Long, Float, Double, Array[Byte] (UTF-8 of a string too), BigDecimal, or a Vector of ordering
  * values, as `kind` says; null for Default.
  */
final case class OrderingValue private (kind: OrderingKind, value: Any) {

  /** True for what stands for "no ordering value": null, and the Int 0 that Hudi's delete operation writes. */
  def isDefault: Boolean = kind == OrderingKind.Default || (kind == OrderingKind.IntKind && value == 0)

  /** True if both are of one type, or of one that is wider than the other, so that `compare` means something. */
  def comparesWith(other: OrderingValue): Boolean = OrderingValue.order(this, other) != OrderingValue.Incomparable

  /** Negative, zero or positive; only for values that `comparesWith` each other. */
  def compare(other: OrderingValue): Int = OrderingValue.order(this, other)

  /** True if this compares with `other` and is greater. */
  def isAbove(other: OrderingValue): Boolean = {
    val order = OrderingValue.order(this, other)
    order != OrderingValue.Incomparable && order > 0
  }
}

/** Types of ordering values. Micros and Millis are Longs with a unit, so that a column in milliseconds can be held against
  * the microseconds of Hudi's timestamp wrapper.
  */
sealed abstract class OrderingKind(val code: Int) extends Product with Serializable {

  /** True if values fit into the bits of a Long. */
  private[hudiidx] def isNumber: Boolean = code <= OrderingKind.DoubleKind.code
}

object OrderingKind {
  case object Default extends OrderingKind(0)
  case object BooleanKind extends OrderingKind(1)

  /** Ints, and dates as days since 1970. */
  case object IntKind extends OrderingKind(2)
  case object DateKind extends OrderingKind(3)
  case object LongKind extends OrderingKind(4)
  case object MicrosKind extends OrderingKind(5)
  case object MillisKind extends OrderingKind(6)
  case object FloatKind extends OrderingKind(7)
  case object DoubleKind extends OrderingKind(8)
  case object BytesKind extends OrderingKind(9)
  case object TextKind extends OrderingKind(10)
  case object DecimalKind extends OrderingKind(11)
  case object SeveralKind extends OrderingKind(12)

  private[hudiidx] val All: Vector[OrderingKind] = Vector(
    Default,
    BooleanKind,
    IntKind,
    DateKind,
    LongKind,
    MicrosKind,
    MillisKind,
    FloatKind,
    DoubleKind,
    BytesKind,
    TextKind,
    DecimalKind,
    SeveralKind
  )
}

object OrderingValue {
  import OrderingKind._

  /** What `order` gives for values of types of which neither becomes the other. */
  private val Incomparable = Int.MinValue

  /** Scale of decimals in Hudi's wrapper, decimal(30,15). */
  private val WrapperScale = 15

  val Default: OrderingValue = new OrderingValue(OrderingKind.Default, null)
  def ofBoolean(v: Boolean): OrderingValue = new OrderingValue(BooleanKind, v)
  def ofInt(v: Int): OrderingValue = new OrderingValue(IntKind, v)
  def ofDate(days: Int): OrderingValue = new OrderingValue(DateKind, days)
  def ofLong(v: Long): OrderingValue = new OrderingValue(LongKind, v)
  def ofMicros(v: Long): OrderingValue = new OrderingValue(MicrosKind, v)
  def ofMillis(v: Long): OrderingValue = new OrderingValue(MillisKind, v)
  def ofFloat(v: Float): OrderingValue = new OrderingValue(FloatKind, v)
  def ofDouble(v: Double): OrderingValue = new OrderingValue(DoubleKind, v)
  def ofBytes(v: Array[Byte]): OrderingValue = new OrderingValue(BytesKind, v)
  def ofUtf8(v: Array[Byte]): OrderingValue = new OrderingValue(TextKind, v)
  def ofDecimal(v: BigDecimal): OrderingValue = new OrderingValue(DecimalKind, v)

  /** Values of several ordering fields, compared from left to right; of a single field its own value. */
  def ofSeveral(values: Vector[OrderingValue]): OrderingValue =
    if (values.size == 1) values.head
    else if (values.isEmpty) Default
    else new OrderingValue(SeveralKind, values)

  /** The ordering value of a delete block's key. ArithmeticException for a decimal of too many digits. */
  def ofDeleted(key: DeletedKey): OrderingValue = (key.orderingBranch, key.ordering) match {
    case (_, null)                => Default
    case (8, days: Int)           => ofDate(days)
    case (11, micros: Long)       => ofMicros(micros)
    case (9, unscaled: Array[_])  => ofWrappedDecimal(unscaled.asInstanceOf[Array[Byte]])
    case (_, values: Vector[Any]) => ofSeveral(values.map(ofPlain))
    case (_, value)               => ofPlain(value)
  }

  private def ofWrappedDecimal(unscaled: Array[Byte]): OrderingValue =
    if (unscaled.isEmpty) Default else ofDecimal(new BigDecimal(DecimalText.whole(unscaled), WrapperScale))

  /** None for bytes that are no number. */
  private def asDecimal(v: OrderingValue): Option[OrderingValue] =
    Some(bytes(v)).filter(_.length <= DecimalText.MostBytes).map(ofWrappedDecimal)

  private def ofPlain(value: Any): OrderingValue = value match {
    case v: Boolean  => ofBoolean(v)
    case v: Int      => ofInt(v)
    case v: Long     => ofLong(v)
    case v: Float    => ofFloat(v)
    case v: Double   => ofDouble(v)
    case v: String   => ofUtf8(v.getBytes(UTF_8))
    case v: Array[_] => ofBytes(v.asInstanceOf[Array[Byte]])
    case _           => Default
  }

  private def order(a: OrderingValue, b: OrderingValue): Int = (a.kind, b.kind) match {
    case (OrderingKind.Default | IntKind, OrderingKind.Default | IntKind)         => Integer.compare(int(a), int(b))
    case (IntKind | DateKind, IntKind | DateKind)                                 => Integer.compare(int(a), int(b))
    case (MillisKind, LongKind | MicrosKind) if isMicros(long(b))                 => millisToMicros(long(a), long(b))
    case (LongKind | MicrosKind, MillisKind) if isMicros(long(a))                 => -millisToMicros(long(b), long(a))
    case (LongKind | MicrosKind | MillisKind, LongKind | MicrosKind | MillisKind) =>
      java.lang.Long.compare(long(a), long(b))
    case (BytesKind, DecimalKind) => asDecimal(a).fold(Incomparable)(order(_, b))
    case (DecimalKind, BytesKind) => asDecimal(b).fold(Incomparable)(order(a, _))
    case (x, y) if x == y         => sameKind(a, b)
    case _                        => widened(a, b)
  }

  /** Of a column that has another type now than files have which were written before: both as the one of them that is wider. */
  private def widened(a: OrderingValue, b: OrderingValue): Int = (a.kind, b.kind) match {
    case (IntKind, LongKind) | (LongKind, IntKind)                         => java.lang.Long.compare(whole(a), whole(b))
    case (IntKind | LongKind, FloatKind) | (FloatKind, IntKind | LongKind) =>
      java.lang.Float.compare(float(a), float(b))
    case (Plain(_), DoubleKind) | (DoubleKind, Plain(_))   => java.lang.Double.compare(double(a), double(b))
    case (Plain(_), DecimalKind) | (DecimalKind, Plain(_)) => compareDecimals(a, b)
    case (Plain(_) | DateKind | DecimalKind, TextKind) | (TextKind, Plain(_) | DateKind | DecimalKind) =>
      Integer.signum(Bytes.compare(text(a), text(b)))
    case _ => Incomparable
  }

  private object Plain {
    def unapply(kind: OrderingKind): Option[OrderingKind] =
      Some(kind).filter(k => k == IntKind || k == LongKind || k == FloatKind || k == DoubleKind)
  }

  private def whole(v: OrderingValue): Long = v.value.asInstanceOf[Number].longValue
  private def float(v: OrderingValue): Float = v.value.asInstanceOf[Number].floatValue

  private def double(v: OrderingValue): Double = v.value match {
    case f: Float  => Widening.float64(f, byText = true)
    case n: Number => n.doubleValue
  }

  /** NaN and the infinities are above all numbers, and below them, as they are among their own. */
  private def compareDecimals(a: OrderingValue, b: OrderingValue): Int = {
    def decimal(v: OrderingValue): Option[BigDecimal] = v.value match {
      case d: BigDecimal        => Some(d)
      case _: Float | _: Double => Some(double(v)).filter(d => !d.isNaN && !d.isInfinite).map(BigDecimal.valueOf)
      case n: Number            => Some(BigDecimal.valueOf(n.longValue))
    }
    def far(v: OrderingValue): Double = if (decimal(v).isDefined) 0.0 else double(v)
    (decimal(a), decimal(b)) match {
      case (Some(x), Some(y)) => x.compareTo(y)
      case _                  => java.lang.Double.compare(far(a), far(b))
    }
  }

  private def text(v: OrderingValue): Array[Byte] = v.kind match {
    case TextKind => bytes(v)
    case DateKind => Widening.dateText(int(v)).getBytes(UTF_8)
    case _        =>
      (v.value match {
        // Written out a decimal has a letter for each of its places, of which a schema may say that it has 2,000 million.
        case d: BigDecimal => if (math.abs(d.scale) > MostPlaces) d.toString else d.toPlainString
        case n             => n.toString
      }).getBytes(UTF_8)
  }

  /** Of a number beside a time in milliseconds. Delete blocks have numbers without a unit: Spark's writers and readers of such a column go by
    * microseconds, others by what files have. And files of 0.14.1 to 1.0.x may call milliseconds microseconds. As milliseconds this one
    * would be in the year 5138 or later, as microseconds any other in the years 1966 to 1973.
    */
  private def isMicros(number: Long): Boolean = number >= FirstMicros || number <= -FirstMicros

  private val FirstMicros = 100000000000000L

  /** Decimals of Spark have 38. */
  private val MostPlaces = 1000

  /** Without multiplying, which may overflow. */
  private def millisToMicros(millis: Long, micros: Long): Int = {
    val whole = java.lang.Long.compare(millis, Math.floorDiv(micros, 1000L))
    if (whole != 0 || Math.floorMod(micros, 1000L) == 0) whole else -1
  }

  private def sameKind(a: OrderingValue, b: OrderingValue): Int = a.kind match {
    case BooleanKind => a.value.asInstanceOf[Boolean].compareTo(b.value.asInstanceOf[Boolean])
    case FloatKind   => java.lang.Float.compare(a.value.asInstanceOf[Float], b.value.asInstanceOf[Float])
    case DoubleKind  => java.lang.Double.compare(a.value.asInstanceOf[Double], b.value.asInstanceOf[Double])
    case DecimalKind => a.value.asInstanceOf[BigDecimal].compareTo(b.value.asInstanceOf[BigDecimal])
    case SeveralKind => several(values(a), values(b))
    case _           => Integer.signum(Bytes.compare(bytes(a), bytes(b)))
  }

  private def several(a: Vector[OrderingValue], b: Vector[OrderingValue]): Int =
    if (a.size != b.size) Incomparable
    else a.iterator.zip(b.iterator).map { case (x, y) => order(x, y) }.find(_ != 0).getOrElse(0)

  private[hudiidx] def int(v: OrderingValue): Int = if (v.value == null) 0 else v.value.asInstanceOf[Int]
  private[hudiidx] def long(v: OrderingValue): Long = v.value.asInstanceOf[Long]
  private[hudiidx] def bytes(v: OrderingValue): Array[Byte] = v.value.asInstanceOf[Array[Byte]]
  private[hudiidx] def values(v: OrderingValue): Vector[OrderingValue] = v.value.asInstanceOf[Vector[OrderingValue]]

  private[hudiidx] def of(kind: OrderingKind, value: Any): OrderingValue = new OrderingValue(kind, value)

  /** A value of a kind that `isNumber` as the bits of a Long. */
  private[hudiidx] def bits(v: OrderingValue): Long = v.kind match {
    case OrderingKind.Default => 0L
    case BooleanKind          => if (v.value.asInstanceOf[Boolean]) 1L else 0L
    case IntKind | DateKind   => int(v).toLong
    case FloatKind            => java.lang.Float.floatToRawIntBits(v.value.asInstanceOf[Float]).toLong
    case DoubleKind           => java.lang.Double.doubleToRawLongBits(v.value.asInstanceOf[Double])
    case _                    => long(v)
  }

  private[hudiidx] def ofBits(kind: OrderingKind, bits: Long): OrderingValue = kind match {
    case OrderingKind.Default => Default
    case BooleanKind          => ofBoolean(bits != 0)
    case IntKind | DateKind   => of(kind, bits.toInt)
    case FloatKind            => ofFloat(java.lang.Float.intBitsToFloat(bits.toInt))
    case DoubleKind           => ofDouble(java.lang.Double.longBitsToDouble(bits))
    case _                    => of(kind, bits)
  }
}
