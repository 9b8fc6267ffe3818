package hudiidx.column

import hudiidx.column.ValueSet.{Longs, Texts}
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** Operations on sets of values against plain functions on a few values. */
final class ValueSetsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 500)

  private val edges =
    Vector(Long.MinValue, Long.MinValue + 1, -2L, -1L, 0L, 1L, 2L, 3L, Long.MaxValue - 1, Long.MaxValue)
  private val edge: Gen[Long] = Gen.oneOf(edges)
  private val longs: Gen[Longs] = Gen.listOf(Gen.zip(edge, edge)).map(ValueSets.longs)

  private val letters = Vector[Byte](0, 1, 'a', -1)
  private val text: Gen[Array[Byte]] = Gen.choose(0, 3).flatMap(Gen.listOfN(_, Gen.oneOf(letters))).map(_.toArray)
  private val texts: Gen[Texts] =
    Gen.listOf(Gen.zip(text, Gen.frequency(8 -> text, 1 -> Gen.const(null: Array[Byte])))).map(ValueSets.texts)
  private val someTexts: Vector[Array[Byte]] = {
    def longer(of: Vector[Array[Byte]]) = of.flatMap(t => letters.map(l => t :+ l))
    val one = longer(Vector(Array.emptyByteArray))
    (Array.emptyByteArray +: one) ++ longer(one) ++ longer(longer(one)) ++ longer(longer(longer(one)))
  }

  private def has(set: Longs, v: Long): Boolean = set.lows.indices.exists(i => set.lows(i) <= v && v <= set.highs(i))

  private def less(a: Array[Byte], b: Array[Byte]): Boolean = java.util.Arrays.compareUnsigned(a, b) < 0

  private def has(set: Texts, v: Array[Byte]): Boolean =
    set.lows.indices.exists(i => !less(v, set.lows(i)) && (set.highs(i) == null || less(v, set.highs(i))))

  /** Ascending, and with a gap between any two. */
  private def isPlain(set: ValueSet): Boolean = set match {
    case s: Longs =>
      s.lows.indices.forall(i => s.lows(i) <= s.highs(i) && (i == 0 || s.highs(i - 1) < s.lows(i) - 1))
    case s: Texts =>
      s.lows.indices.forall { i =>
        (s.highs(i) == null || less(s.lows(i), s.highs(i))) &&
        (i == 0 || (s.highs(i - 1) != null && less(s.highs(i - 1), s.lows(i))))
      }
  }

  test("sets of numbers joined, cut and turned round hold what plain logic says") {
    forAll(longs, longs) { (a, b) =>
      val (union, cut, rest) = (ValueSets.union(a, b), ValueSets.intersect(a, b), ValueSets.complement(a))
      assert(Seq(a, union, cut, rest).forall(isPlain))
      edges.foreach { v =>
        assert(has(union.asInstanceOf[Longs], v) === (has(a, v) || has(b, v)))
        assert(has(cut.asInstanceOf[Longs], v) === (has(a, v) && has(b, v)))
        assert(has(rest.asInstanceOf[Longs], v) === !has(a, v))
      }
      assert(ValueSets.same(ValueSets.complement(rest), a))
    }
  }

  test("sets of texts joined, cut and turned round hold what plain logic says") {
    forAll(texts, texts) { (a, b) =>
      val (union, cut, rest) = (ValueSets.union(a, b), ValueSets.intersect(a, b), ValueSets.complement(a))
      assert(Seq(a, union, cut, rest).forall(isPlain))
      someTexts.foreach { v =>
        assert(has(union.asInstanceOf[Texts], v) === (has(a, v) || has(b, v)))
        assert(has(cut.asInstanceOf[Texts], v) === (has(a, v) && has(b, v)))
        assert(has(rest.asInstanceOf[Texts], v) === !has(a, v))
      }
      assert(ValueSets.same(ValueSets.complement(rest), a))
    }
  }

  test("a set meets bounds if one of its values lies within") {
    forAll(longs, edge, edge) { (set, a, b) =>
      val (min, max) = (a.min(b), a.max(b))
      val meets = set.lows.indices.exists(i => set.lows(i) <= max && set.highs(i) >= min)
      assert(set.meets(min, max) === meets)
    }
    forAll(texts, text, text) { (set, a, b) =>
      val (min, max) = if (less(b, a)) (b, a) else (a, b)
      val within = set.lows.indices.exists { i =>
        !less(max, set.lows(i)) && (set.highs(i) == null || less(min, set.highs(i)))
      }
      assert(set.meets(min, max) === within)
      assert(set.meets(min, null) === set.lows.indices.exists(i => set.highs(i) == null || less(min, set.highs(i))))
    }
  }

  test("single values, beginnings and ends") {
    assert(ValueSets.intervals(ValueSets.oneOf(Array(3L, 1L, 2L, 9L, 9L))) === Vector((1L, 3L), (9L, 9L)))
    val some = ValueSets.oneOf(Array("b".getBytes, "a".getBytes, "a".getBytes))
    assert(some.lows.length === 2 && has(some, "a".getBytes) && !has(some, "ab".getBytes))
    val a = ValueSets.beginning("a".getBytes)
    assert(has(a, "a".getBytes) && has(a, "az".getBytes) && !has(a, "b".getBytes) && !has(a, "A".getBytes))
    assert(ValueSets.afterPrefix(Array[Byte](1, -1, -1)) === Array[Byte](2))
    assert(ValueSets.afterPrefix(Array[Byte](-1)) === null)
    assert(ValueSets.isAll(ValueSets.beginning(Array.emptyByteArray)))
    assert(ValueSets.isAll(ValueSets.complement(ValueSets.NoLongs)) && ValueSets.complement(ValueSets.AllLongs).isEmpty)
  }

  test("what is said of one column becomes one leaf, and reasons stay") {
    val low = Conditions.leaf("a", nulls = true)(_ => Some(ValueSets.range(Long.MinValue, 9)))
    val high = Conditions.leaf("a", nulls = false)(_ => Some(ValueSets.range(5, Long.MaxValue)))
    val other = Conditions.leaf("b", nulls = false)(_ => None)
    val doubt = ColumnCondition.Anything("in doubt")
    Conditions.and(Vector(low, other, doubt, high)) match {
      case ColumnCondition.And(Vector(a: ColumnCondition.In, `other`, `doubt`)) =>
        assert(!a.nulls && ValueSets.same(a.ofType(ColumnType.Int32).get, ValueSets.range(5, 9)))
      case wrong => fail(wrong.toString)
    }
    Conditions.or(Vector(low, high)) match {
      case a: ColumnCondition.In => assert(a.nulls && ValueSets.isAll(a.ofType(ColumnType.Int32).get))
      case wrong                 => fail(wrong.toString)
    }
    assert(Conditions.or(Vector(low, doubt)) === doubt)
    assert(Conditions.or(Vector(ColumnCondition.Nothing)) === ColumnCondition.Nothing)
    assert(Conditions.and(Vector(low, ColumnCondition.Nothing)) === ColumnCondition.Nothing)
    assert(Conditions.reasons(Conditions.and(Vector(low, doubt))) === Vector("in doubt"))
    assert(Conditions.paths(Conditions.and(Vector(low, other))) === Vector("a", "b"))
  }
}
