package hudiidx.column

/** What orders a column's values in an index. */
sealed trait ValueOrder
object ValueOrder {

  /** As 64-bit signed numbers. */
  case object Longs extends ValueOrder

  /** As strings of unsigned bytes. */
  case object Texts extends ValueOrder
}

/** A column's type in the file that has it: statistics are kept under it, so that a column that was widened, or dropped and
  * added again, is never judged by bounds that mean something else. docs/format.md, "Column types".
  *
  *  @param text  how it is written in index files
  *  @param order how bounds are held: booleans as 0 and 1, numbers and days as they are, timestamps in microseconds,
  *               floats and doubles by [[ColumnType.ofDouble]], decimals of up to 18 digits unscaled, longer ones by
  *               [[ColumnType.ofDecimal]], strings in UTF-8
  */
sealed abstract class ColumnType(val text: String, val order: ValueOrder) extends Product with Serializable

object ColumnType {
  import ValueOrder._

  case object Bool extends ColumnType("boolean", Longs)
  case object Int32 extends ColumnType("int", Longs)
  case object Int64 extends ColumnType("long", Longs)
  case object Date extends ColumnType("date", Longs)
  case object Timestamp extends ColumnType("timestamp", Longs)
  case object LocalTimestamp extends ColumnType("timestamp_ntz", Longs)
  case object Float32 extends ColumnType("float", Longs)
  case object Float64 extends ColumnType("double", Longs)
  case object Text extends ColumnType("string", Texts)
  case object Binary extends ColumnType("binary", Texts)
  final case class Decimal(precision: Int, scale: Int)
      extends ColumnType(s"decimal($precision,$scale)", if (precision <= MaxLongDigits) Longs else Texts)

  /** Decimals have no more digits. */
  val MaxDigits = 38

  /** Unscaled decimals of so many digits fit 64 bits. */
  val MaxLongDigits = 18

  private val simple: Map[String, ColumnType] =
    Vector(Bool, Int32, Int64, Date, Timestamp, LocalTimestamp, Float32, Float64, Text, Binary)
      .map(t => t.text -> t)
      .toMap
  private val DecimalText = """decimal\((\d{1,2}),(\d{1,2})\)""".r

  /** None for a text that this version does not know. */
  def of(text: String): Option[ColumnType] = text match {
    case DecimalText(p, s) => decimal(p.toInt, s.toInt)
    case other             => simple.get(other)
  }

  /** None for decimals that no engine has. */
  def decimal(precision: Int, scale: Int): Option[ColumnType] =
    if (precision < 1 || precision > MaxDigits || scale < 0 || scale > precision) None
    else Some(Decimal(precision, scale))

  /** Above all numbers, as Spark orders it. */
  val NaN: Long = Long.MaxValue

  /** Order-preserving: −0.0 is 0.0, every NaN is the greatest. Floats are widened first. */
  def ofDouble(value: Double): Long =
    if (value.isNaN) NaN
    else if (value == 0.0) 0L
    else {
      val bits = java.lang.Double.doubleToRawLongBits(value)
      bits ^ ((bits >> 63) & Long.MaxValue)
    }

  /** The number that `ofDouble` gave `value` for: its inverse. */
  def toDouble(value: Long): Double =
    if (value == NaN) Double.NaN else java.lang.Double.longBitsToDouble(value ^ ((value >> 63) & Long.MaxValue))

  /** Bytes of an unscaled value of up to 38 digits: 16, big-endian, the sign bit turned over. */
  def ofDecimal(unscaled: java.math.BigInteger): Array[Byte] = {
    val bytes = unscaled.toByteArray
    val out = new Array[Byte](DecimalBytes)
    require(bytes.length <= DecimalBytes, s"$unscaled has more than 38 digits")
    java.util.Arrays.fill(out, (unscaled.signum >> 1).toByte)
    System.arraycopy(bytes, 0, out, DecimalBytes - bytes.length, bytes.length)
    out(0) = (out(0) ^ 0x80).toByte
    out
  }

  private val DecimalBytes = 16
}
