package hudiidx.column

import hudiidx.TestSettings.seed
import hudiidx.column.expression.ExpressionTree.{Call, Cast, Column, Constant}
import hudiidx.column.expression.{ExpressionGrowth, ExpressionLimits, ExpressionText, ExpressionTree}
import org.scalacheck.Gen
import org.scalacheck.rng.Seed
import org.scalatest.funsuite.AnyFunSuite

/** The text of expressions, and what trees may hold. */
class ExpressionTextSuite extends AnyFunSuite {
  private val text: Gen[String] =
    Gen.listOf(Gen.oneOf("ab\"\\'`{}[](),. =;\n\t\u0000\u2028\ud83d\ude00é/$".toSeq)).map(_.mkString)
  private val leaf: Gen[ExpressionTree] = Gen.oneOf(
    Gen.nonEmptyListOf(text).map(p => Column(p.take(3).toVector)),
    Gen.zip(Gen.oneOf("string", "int", "interval day to second"), Gen.option(text)).map { case (t, v) =>
      Constant(t, v)
    }
  )
  private def tree(depth: Int): Gen[ExpressionTree] =
    if (depth == 0) leaf
    else
      Gen.oneOf(
        leaf,
        Gen.zip(tree(depth - 1), Gen.oneOf("int", "decimal(5,2)"), Gen.oneOf(true, false)).map { case (c, t, b) =>
          Cast(c, t, b)
        },
        Gen
          .zip(
            Gen.oneOf("concat", "[]", "+", "<=>", "in", "when", "upper"),
            Gen.choose(0, 3).flatMap(Gen.listOfN(_, tree(depth - 1)))
          )
          .map { case (f, all) =>
            Call(f, all.toVector)
          }
      )

  private def sample[A](gen: Gen[A], n: Long): A = gen.pureApply(Gen.Parameters.default, Seed(n))

  test("every tree has one text, and no other text is read") {
    info(s"HUDIIDX_TEST_SEED=$seed")
    (0 until 2000).foreach { n =>
      val made = sample(tree(4), seed + n)
      val written = ExpressionText.of(made)
      assert(!written.exists(c => Character.isISOControl(c)), written)
      assert(ExpressionText.parse(written) === ExpressionTree.refusal(made).toLeft(made))
      val at = (Math.floorMod(seed, 7919L) * (n + 1) % written.length).toInt
      Vector(written.patch(at, "", 1), written.patch(at, " ", 0), written.patch(at, "(", 1), written + ")").foreach {
        other =>
          ExpressionText.parse(other).foreach(found => assert(ExpressionText.of(found) === other))
      }
    }
  }

  test("a path is read as it was written, and shown as SQL") {
    val made =
      Call("+", Vector(Column(Vector("st", "b c")), Cast(Constant("string", Some("it's {1}")), "bigint", isTry = true)))
    val path = ColumnExpression(ExpressionText.of(made), Vector("v" -> "2", "types" -> "bigint")).path
    val found = ColumnExpression.of(path).get
    assert(found.tree === Some(Right(made)) && found.path === path)
    assert(ColumnExpression.shown(path) === "(st.`b c` + TRY_CAST('it\\'s {1}' AS BIGINT))")
    assert(
      ColumnPath.list(path) === Vector(path) && IndexSpec
        .parseAll(s"range(a,$path);bloom($path)")
        .map(_.columns.last) === Vector(path, path)
    )
  }

  test("texts that are too long, too deep or of too many parts are refused, however deep") {
    def nested(n: Int) = "trim(" * n + "\"a\"" + ")" * n
    assert(ExpressionText.parse(nested(63)).isRight)
    Vector(64, 2000, 1000000).foreach(n => assert(ExpressionText.parse(nested(n)).isLeft, n))
    Vector("(" * 1000, "[" * 1000, "\"" * 1000, "upper(" * 100, "cast[int](" * 100, "").foreach(t =>
      assert(ExpressionText.parse(t).isLeft, t.take(9))
    )
    val wide = (n: Int) => s"in(${Vector.fill(n)("\"a\"").mkString(", ")})"
    assert(ExpressionText.parse(wide(999)).isRight && ExpressionText.parse(wide(1000)).isLeft)
    assert(ExpressionText.parse("concat(\"a\", [string]\"" + "x" * 4097 + "\")").isLeft)
  }

  private def growth(tree: String): Either[String, ExpressionGrowth] =
    ExpressionText.parse(tree).flatMap(ExpressionGrowth.of(_))

  test("the memory that an expression may take is known from its tree") {
    assert(growth("upper(\"a\")").exists(_.allows(1 << 20)))
    assert(growth("repeat(\"a\", [int]\"1000\")").exists(g => g.allows(1 << 15) && !g.allows(1 << 17)))
    Vector(
      "repeat(\"a\", [int]\"1001\")",
      "repeat(\"a\", \"n\")",
      "repeat(\"a\", [int]\"-200000000\")",
      "repeat(repeat(\"a\", [int]\"900\"), [int]\"900\")",
      "length(repeat(repeat(\"a\", [int]\"900\"), [int]\"900\"))",
      "space([int]\"2000000000\")",
      "lpad(\"a\", \"n\", \"a\")",
      "rpad(\"a\", [bigint]\"9223372036854775807\", \"a\")",
      "round(\"n\", [int]\"2000000000\")",
      "format_number(\"n\", [int]\"2000000000\")",
      "format_string([string]\"%2000000000s\", \"a\")",
      "format_string(\"a\", \"a\")",
      "replace(\"a\", [string]\"b\", \"a\")",
      "regexp_replace(\"a\", [string]\"b\", \"a\")",
      "concat_ws(\"a\", \"a\", \"a\")",
      "array_join(split(\"a\", [string]\"\"), \"a\")",
      "replace(replace(\"a\", [string]\"b\", [string]\"" + "x" * 100 + "\"), [string]\"x\", [string]\"" + "y" * 100 + "\")",
      "sequence([int]\"0\", [int]\"2000000000\")",
      "array_repeat(\"a\", [int]\"2000000000\")",
      "reflect(\"a\")"
    ).foreach(t => assert(growth(t).isLeft, t))
  }

  test("SQL is looked at for its length, its brackets and its comments before a parser is") {
    assert(ExpressionLimits.refusal("(" * 64 + ")" * 64).isEmpty)
    Vector("(" * 65, "/*" * 65, "/**/" * 65 + "a", "[" * 65 + "a", "array<" * 6000, "a" * 16385).foreach(t =>
      assert(ExpressionLimits.refusal(t).isDefined)
    )
  }
}
