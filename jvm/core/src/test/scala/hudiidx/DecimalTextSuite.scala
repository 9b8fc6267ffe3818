package hudiidx

import hudiidx.DecimalText.rounded
import java.math.{BigDecimal, RoundingMode}
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

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

  test("no digits are worked out of an exponent that is far off") {
    val zero = new BigDecimal("0.00")
    assert(rounded("1E-2000000000", 10, 2) === Some(zero))
    assert(rounded("-7.5E-300000000", 10, 2) === Some(zero))
    assert(rounded("0E2000000000", 10, 2) === Some(zero))
    assert(rounded("1E2000000000", 10, 2) === None)
    assert(rounded("NaN", 10, 2) === None)
  }
}
