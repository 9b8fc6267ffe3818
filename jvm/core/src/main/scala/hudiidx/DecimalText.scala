package hudiidx

import java.math.{BigDecimal, RoundingMode}
import scala.util.Try

/** Decimals of texts, whatever their exponents are: `1E-300000000` is short, and has 300 million digits when it is written out. */
object DecimalText {

  /** Rounded half up to `scale`; None for a text of no number, and for a number of more than `precision` digits. */
  def rounded(text: String, precision: Int, scale: Int): Option[BigDecimal] =
    Try(new BigDecimal(text)).toOption.flatMap { number =>
      val wholeDigits = number.precision.toLong - number.scale
      if (number.signum == 0 || wholeDigits < -scale) Some(BigDecimal.ZERO.setScale(scale))
      else if (wholeDigits > precision - scale) None
      else Some(number.setScale(scale, RoundingMode.HALF_UP)).filter(_.precision <= precision)
    }
}
