package hudiidx.column

import hudiidx.InvalidOption
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** How expressions of columns are told from columns, and kept among them. */
class ColumnExpressionSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  test("lists of columns and expressions come apart at commas between them") {
    assert(
      ColumnPath.asked("ts, addr.city,date_format(ts,'yyyy-MM'), `x,y`, concat(a, \"),\"), a > 'it\\'s, so',*") ===
        Vector(
          "ts",
          "addr.city",
          "`=date_format(ts,'yyyy-MM')`",
          "`x,y`",
          "`=concat(a, \"),\")`",
          "`=a > 'it\\'s, so'`",
          "*"
        )
    )
  }

  test("what is asked for is an index in full if its kind is known, else an expression") {
    def asked(text: String) = IndexSpec.asked(text, IndexKind.Range)
    assert(asked("year(ts)") === Vector(IndexSpec("range", Vector("`=year(ts)`"))))
    assert(
      asked("bloom(lower(rider), fpp=0.001)") === Vector(
        IndexSpec("bloom", Vector("`=lower(rider)`"), Map("fpp" -> "0.001"))
      )
    )
    assert(
      asked("range(a,b.c);year(ts);values(`=a = b`,most=3)") === Vector(
        IndexSpec("range", Vector("a", "b.c")),
        IndexSpec("range", Vector("`=year(ts)`")),
        IndexSpec("values", Vector("`=a = b`"), Map("most" -> "3"))
      )
    )
    assert(asked("range((a = b))") === Vector(IndexSpec("range", Vector("`=(a = b)`"))))
    intercept[InvalidOption](asked("range()"))
  }

  test("an expression with what it depends on is a path, and is read from it; so are lists of them") {
    val sql = Gen
      .oneOf(Gen.asciiPrintableStr, Gen.oneOf("`a b` + 1", "concat(x, '`,;=')", "a\\'b", "x {y}"))
      .map(_.trim)
      .suchThat(_.nonEmpty)
    val value = Gen.oneOf("UTC", "Europe/Berlin#1f", "true", "decimal(5,2) int", "")
    forAll(sql, Gen.listOfN(3, value)) { (text, values) =>
      val e = ColumnExpression(text, Vector("v", "zone", "spark.sql.ansi.enabled").zip(values))
      assert(
        ColumnExpression.of(e.path) === Some(e) && ColumnExpression.isOne(e.path) && ColumnExpression.shown(
          e.path
        ) === text
      )
      val specs =
        Vector(IndexSpec("range", Vector("a", e.path, "b")), IndexSpec("bloom", Vector(e.path), Map("fpp" -> "0.1")))
      assert(IndexSpec.parseAll(specs.map(_.text).mkString(";")) === specs)
      assert(ColumnPath.list(Vector("a", e.path).mkString(", ")) === Vector("a", e.path))
    }
  }

  test("names of columns are no expressions") {
    Vector("a", "a.b", "`a=b`", "`=`.x", "*", "_hoodie_record_key").foreach { path =>
      assert(
        ColumnExpression.asked(path) === path && ColumnExpression.of(path).isEmpty && ColumnExpression.shown(
          path
        ) === path
      )
    }
  }

  test("all columns and expressions stand side by side") {
    val all = IndexSpec.merged(
      Vector(IndexSpec("range", Vector("*"))),
      IndexSpec.asked("a;year(ts)".replace("a;", "range(a);"), "range")
    )
    assert(all === Vector(IndexSpec("range", Vector("*", "`=year(ts)`"))))
  }
}
