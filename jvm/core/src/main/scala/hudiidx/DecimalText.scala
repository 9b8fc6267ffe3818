package hudiidx

import java.math.{BigDecimal, BigInteger, RoundingMode}
import scala.util.Try

/** Decimals of texts, whatever their exponents are: `1E-300000000` is short, and has 300 million digits when it is written out. */
object DecimalText {

  /** What decimal columns have at most. */
  val MostDigits = 38

  /** What any number of a table may have: its text takes the square of them in time. */
  val MostBytes = 416

  /** Of two's complement, the highest byte first, of a number that columns need not be able to hold. ArithmeticException without bytes,
    * and for more than 1,000 digits.
    */
  def whole(bytes: Array[Byte]): BigInteger =
    if (bytes.isEmpty) throw new ArithmeticException("a decimal without bytes")
    else if (bytes.length > MostBytes) throw new ArithmeticException(s"a decimal of ${bytes.length} bytes")
    else new BigInteger(bytes)

  /** Of a number in two's complement, the highest byte first. ArithmeticException without bytes, and for more than `precision`
    * digits, or `MostDigits`: the time for their text is the square of the bytes'.
    */
  def unscaled(bytes: Array[Byte], precision: Int, scale: Int): BigDecimal = {
    if (bytes.isEmpty) throw new ArithmeticException("a decimal without bytes")
    val digits = math.min(precision, MostDigits)
    val number = new BigInteger(bytes)
    if (number.bitLength > 4 * digits || new BigDecimal(number).precision > digits)
      throw new ArithmeticException(s"a decimal of more than $digits digits")
    new BigDecimal(number, scale)
  }

  /** Rounded half up to `scale`; None for a text of no number, and for a number of more than `precision` digits. */
  def rounded(text: String, precision: Int, scale: Int): Option[BigDecimal] =
    Try(new BigDecimal(text)).toOption.flatMap { number =>
      val wholeDigits = number.precision.toLong - number.scale
      if (number.signum == 0 || wholeDigits < -scale) Some(BigDecimal.ZERO.setScale(scale))
      else if (wholeDigits > precision - scale) None
      else Some(number.setScale(scale, RoundingMode.HALF_UP)).filter(_.precision <= precision)
    }
}
