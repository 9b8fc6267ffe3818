package hudiidx

import hudiidx.PlainType._
import org.scalatest.funsuite.AnyFunSuite

final class WideningSuite extends AnyFunSuite {
  private val types =
    Vector(Int32, Int64, Float32, Float64, Date, Timestamp, Text, Binary, Decimal(5, 2), Decimal(7, 2), Decimal(7, 4))

  test("each type widens to those to which stock Hudi widens it, and to no other") {
    val decimals = types.collect { case d: Decimal => d: PlainType }.toSet
    val to = Map[PlainType, Set[PlainType]](
      Int32 -> (Set[PlainType](Int64, Float32, Float64, Text) ++ decimals),
      Int64 -> (Set[PlainType](Float32, Float64, Text) ++ decimals),
      Float32 -> (Set[PlainType](Float64, Text) ++ decimals),
      Float64 -> (Set[PlainType](Text) ++ decimals),
      Date -> Set(Text),
      Decimal(5, 2) -> Set(Text, Decimal(7, 2), Decimal(7, 4)),
      Decimal(7, 2) -> Set(Text),
      Decimal(7, 4) -> Set(Text)
    )
    for (from <- types; wanted <- types)
      assert(Widening.isPossible(from, wanted) === to.getOrElse(from, Set.empty)(wanted), s"$from to $wanted")
  }

  test("values are the same of whole numbers and their dates and timestamps, and of texts and bytes") {
    val same = for (a <- types; b <- types if a != b && Widening.isSame(a, b)) yield (a, b)
    val pairs = Vector[(PlainType, PlainType)](Int32 -> Date, Int64 -> Timestamp, Text -> Binary)
    assert(same.toSet === (pairs ++ pairs.map(_.swap)).toSet)
    assert(types.forall(t => Widening.isSame(t, t) && !Widening.isPossible(t, t)))
  }

  test("a float is the double of its text or of its bits") {
    assert(Widening.float64(170.06f, byText = true) === 170.06)
    assert(Widening.float64(170.06f, byText = false) === 170.05999755859375)
    assert(Widening.float64(Float.NaN, byText = true).isNaN)
    assert(Widening.float64(Float.NegativeInfinity, byText = true) === Double.NegativeInfinity)
    assert(1 / Widening.float64(-0.0f, byText = true) === Double.NegativeInfinity)
  }

  test("a number that a decimal has no room for is told with the column") {
    assert(Widening.decimal("12.345", 5, 2, "x") === new java.math.BigDecimal("12.35"))
    val e = intercept[UnsupportedTable](Widening.decimal("12345", 5, 2, "f.parquet: column a.b"))
    assert(
      e.getMessage === "f.parquet: column a.b became decimal(5,2), and an older value does not fit; widen the column"
    )
  }

  test("dates have texts, before the year 1 and behind 9999 too") {
    assert(Widening.dateText(0) === "1970-01-01")
    assert(Widening.dateText(-719529) === "-0001-12-31")
    assert(Widening.dateText(2932897) === "+10000-01-01")
  }
}
