package hudiidx.spark.rows

import hudiidx.TextCast
import org.apache.spark.sql.catalyst.expressions.{Cast, Literal}
import org.apache.spark.sql.execution.vectorized.OnHeapColumnVector
import org.apache.spark.sql.types._
import org.apache.spark.sql.vectorized.ColumnarArray
import org.apache.spark.unsafe.types.UTF8String
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** Values of a column whose type was changed: what Spark's own cast makes of them, which is how stock Hudi reads base files. */
class ChangedTypesSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val digits = Gen.choose(0, 5).flatMap(n => Gen.listOfN(n, Gen.numChar).map(_.mkString))
  private val dates: Gen[String] = for {
    year <- Gen.oneOf(Gen.choose(0, 12000).map(_.toString), Gen.choose(1000, 9999).map(_.toString), digits)
    month <- Gen.oneOf(Gen.const(""), Gen.choose(0, 13).map(m => s"-$m"), Gen.choose(1, 12).map(m => f"-$m%02d"))
    day <- Gen.oneOf(Gen.const(""), Gen.choose(0, 32).map(d => s"-$d"), Gen.choose(1, 28).map(d => f"-$d%02d"))
    more <- Gen.oneOf("", "", " 12:00", "T", " x", "x")
    space <- Gen.oneOf("", " ", "\t", "\u0001", "\u2003", "\u0085")
    sign <- Gen.oneOf("", "", "-", "+", "+-")
  } yield s"$space$sign$year$month$day$more$space"
  private val numbers: Gen[String] = for {
    sign <- Gen.oneOf("", "-", "+")
    whole <- digits
    point <- Gen.oneOf("", ".", ".5", ".125", "e2", "e-3", "x")
    space <- Gen.oneOf("", "", " ", "\u3000", "\u2028", "\u007f", "\u0000")
  } yield s"$space$sign$whole$point$space"
  private val words =
    Seq(
      "true",
      " Yes",
      "n",
      "0",
      "T",
      "FALSE\t",
      "NaN",
      "nan",
      "inf ",
      "-Infinity",
      "+INF",
      "1d",
      "0x1p3",
      "2147483648",
      "-9223372036854775808",
      "",
      " ",
      ".",
      "+",
      "-.",
      "\u0663"
    )
  private val texts: Gen[UTF8String] =
    Gen.oneOf(dates, numbers, Gen.alphaStr, Gen.oneOf(words)).map(UTF8String.fromString)

  private def valuesOf(t: DataType): Gen[Any] = t match {
    case StringType  => texts
    case BooleanType => Gen.oneOf(true, false)
    case IntegerType => Gen.oneOf(Gen.choose(-5, 5), Gen.choose(Int.MinValue, Int.MaxValue))
    case LongType    => Gen.oneOf(Gen.choose(-5L, 5L), Gen.choose(Long.MinValue, Long.MaxValue))
    case DoubleType  => Gen.oneOf(Gen.choose(-5.0, 5.0), Gen.choose(-1e300, 1e300), Gen.const(Double.NaN))
    case DateType    => Gen.choose(-800000, 2000000)
    case _           => Gen.choose(-99999999L, 99999999L).map(Decimal(_, 10, 2))
  }

  private def vectorOf(value: Any, t: DataType): OnHeapColumnVector = {
    val vector = new OnHeapColumnVector(4, t)
    value match {
      case b: Boolean    => vector.appendBoolean(b)
      case i: Int        => vector.appendInt(i)
      case l: Long       => vector.appendLong(l)
      case d: Double     => vector.appendDouble(d)
      case s: UTF8String => vector.appendByteArray(s.getBytes, 0, s.numBytes)
      case d: Decimal    => vector.appendLong(d.toUnscaledLong)
      case _             => vector.appendNull()
    }
    vector
  }

  private val pairs = Seq[(DataType, DataType)](
    StringType -> DateType,
    StringType -> DecimalType(10, 2),
    StringType -> DecimalType(5, 0),
    StringType -> IntegerType,
    StringType -> LongType,
    StringType -> DoubleType,
    StringType -> BooleanType,
    DoubleType -> IntegerType,
    DoubleType -> FloatType,
    LongType -> IntegerType,
    BooleanType -> IntegerType,
    BooleanType -> StringType,
    IntegerType -> BooleanType,
    DecimalType(10, 2) -> DecimalType(5, 1),
    DecimalType(10, 2) -> LongType,
    DecimalType(10, 2) -> DoubleType
  )

  for ((from, to) <- pairs)
    test(s"${from.sql} becomes ${to.sql} as by Spark's cast, and null where that has no value") {
      forAll(valuesOf(from), minSuccessful(2000)) { value =>
        val wanted = Cast(Literal(value, from), to, Some("UTC"), ansiEnabled = false).eval()
        val seen = ColumnAdapter.adapt(vectorOf(value, from), from, to, floatsByText = true)
        val found = if (seen.isNullAt(0)) null else new ColumnarArray(seen, 0, 1).get(0, to)
        assert(java.util.Objects.equals(found, wanted), s"$value: $found, $wanted")
        assert(ColumnAdapter.readType(to, from, _ == _) === from)
        assert(ColumnAdapter.adapt(vectorOf(null, from), from, to, floatsByText = true).isNullAt(0))
      }
    }

  test("texts are the values outside Spark that its cast has") {
    forAll(texts, minSuccessful(4000)) { text =>
      def cast(to: DataType): Any = Cast(Literal(text, StringType), to, Some("UTC"), ansiEnabled = false).eval()
      val types = Seq(
        StringType,
        BooleanType,
        IntegerType,
        LongType,
        FloatType,
        DoubleType,
        DateType,
        DecimalType(10, 2),
        DecimalType(5, 0)
      )
      for (t <- types; plain <- ColumnAdapter.plainOf(t)) {
        val wanted = cast(t) match {
          case d: Decimal    => d.toJavaBigDecimal
          case s: UTF8String => s.toString
          case other         => other
        }
        // NaN is not itself, but as a Java object.
        assert(TextCast.of(text.toString, plain).exists(java.util.Objects.equals(_, wanted)), (text, t))
      }
    }
  }
}
