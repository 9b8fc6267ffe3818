package hudiidx

/** A type without parts, as far as a table may change it into another: files that were written before have the older one. */
sealed abstract class PlainType

object PlainType {
  case object Bool extends PlainType
  case object Int32 extends PlainType
  case object Int64 extends PlainType
  case object Float32 extends PlainType
  case object Float64 extends PlainType
  case object Date extends PlainType

  /** Of any unit and zone. */
  case object Timestamp extends PlainType
  case object Text extends PlainType
  case object Binary extends PlainType
  final case class Decimal(precision: Int, scale: Int) extends PlainType

  def isNumber(t: PlainType): Boolean = t match {
    case Int32 | Int64 | Float32 | Float64 => true
    case _                                 => false
  }
}

/** What becomes of values whose column has another type now, in every reader, as stock Hudi has it. */
object Widening {
  import PlainType._

  /** True if values of the one type become those of the other. */
  def isPossible(from: PlainType, to: PlainType): Boolean = (from, to) match {
    case (Int32, Int64)                                         => true
    case (Int32 | Int64, Float32)                               => true
    case (Int32 | Int64 | Float32, Float64)                     => true
    case (_, Text) if isNumber(from) || from == Date            => true
    case (_: Decimal, Text)                                     => true
    case (_, _: Decimal) if isNumber(from)                      => true
    case (Decimal(ownDigits, ownScale), Decimal(digits, scale)) =>
      from != to && scale >= ownScale && digits - scale >= ownDigits - ownScale
    case _ => false
  }

  /** True if texts become values of the other type, null where they are none: a column whose type was changed by `ALTER TABLE`, with a
    * history of schemas. Writers that overlap do not change types so.
    */
  def isParsed(from: PlainType, to: PlainType): Boolean = (from, to) match {
    case (Text, Date | _: Decimal) => true
    case _                         => false
  }

  /** True if values of the one type are those of the other: the same number, or the same bytes. */
  def isSame(a: PlainType, b: PlainType): Boolean = a == b || SameValues.exists(types => types(a) && types(b))

  private val SameValues =
    Vector(Set[PlainType](Int32, Date), Set[PlainType](Int64, Timestamp), Set[PlainType](Text, Binary))

  /** @param byText the double of the float's shortest text (170.06f is 170.06), not of its bits
    */
  def float64(value: Float, byText: Boolean): Double =
    if (byText) java.lang.Double.parseDouble(java.lang.Float.toString(value)) else value.toDouble

  /** @param days since 1970-01-01
    */
  def dateText(days: Int): String = java.time.LocalDate.ofEpochDay(days.toLong).toString

  /** A number that its text stands for; UnsupportedTable if it has more digits.
    *
    * @param what the column, for the message
    */
  def decimal(text: String, precision: Int, scale: Int, what: => String): java.math.BigDecimal =
    DecimalText
      .rounded(text, precision, scale)
      .getOrElse(
        throw new UnsupportedTable(
          s"$what became decimal($precision,$scale), and an older value does not fit; widen the column"
        )
      )
}
