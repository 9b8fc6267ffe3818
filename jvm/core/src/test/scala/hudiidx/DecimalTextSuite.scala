package hudiidx

import hudiidx.DecimalText.rounded
import java.math.{BigDecimal, BigInteger, RoundingMode}
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks
import scala.util.Try

class DecimalTextSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private def fits(number: BigDecimal, precision: Int): Option[BigDecimal] =
    Some(number).filter(_.precision <= precision)

  test("a text of few digits becomes what rounding all of them gives") {
    val texts =
      for (mantissa <- Gen.choose(-99999L, 99999L); exponent <- Gen.choose(-45, 45)) yield s"${mantissa}E$exponent"
    forAll(texts, Gen.choose(1, 38), Gen.choose(0, 38)) { (text, precision, scale) =>
      whenever(scale <= precision) {
        assert(
          rounded(text, precision, scale) === fits(
            new BigDecimal(text).setScale(scale, RoundingMode.HALF_UP),
            precision
          )
        )
      }
    }
  }

  test("an unscaled number is a decimal of as many digits as its type has, and of no more") {
    forAll(Gen.choose(1, 38), Gen.choose(0, 38), Gen.choose(0, 40)) { (precision, scale, digits) =>
      for (number <- Seq("9" * digits, s"-1${"0" * digits}"); if number.nonEmpty) {
        val value = new BigInteger(number)
        val isIn = new BigDecimal(value).precision <= precision
        val read = Try(DecimalText.unscaled(value.toByteArray, precision, scale))
        assert(read.toOption === (if (isIn) Some(new BigDecimal(value, scale)) else None))
      }
    }
    assert(DecimalText.unscaled(new Array[Byte](1000), 3, 1) === new BigDecimal("0.0"))
    for (bytes <- Seq(Array.emptyByteArray, Array.fill[Byte](4 << 20)(1)))
      intercept[ArithmeticException](DecimalText.unscaled(bytes, 1000000000, 0))
  }

  test("no digits are worked out of an exponent that is far off") {
    val zero = new BigDecimal("0.00")
    assert(rounded("1E-2000000000", 10, 2) === Some(zero))
    assert(rounded("-7.5E-300000000", 10, 2) === Some(zero))
    assert(rounded("0E2000000000", 10, 2) === Some(zero))
    assert(rounded("1E2000000000", 10, 2) === None)
    assert(rounded("NaN", 10, 2) === None)
  }
}
