package hudiidx.spark

import hudiidx.column.NeverColumns
import hudiidx.spark.plan.ScanText
import org.apache.spark.sql.catalyst.expressions.{Expression, PredicateHelper}
import org.apache.spark.sql.catalyst.plans.logical.Filter

final class ScanTextSuite extends SparkSuite with PredicateHelper {
  private val never = NeverColumns.parse("name,s.a")

  private def rows = {
    import spark.implicits._
    Seq(("a", 1L, "p")).toDF("name", "n", "p").selectExpr("*", "named_struct('a', name, 'b', p) s").cache()
  }

  private def filters(where: String): Seq[Expression] =
    rows.where(where).queryExecution.analyzed.collect { case f: Filter => f.condition }

  /** As a scan gets them. */
  private def scanFilters(where: String): Seq[Expression] = rows
    .where(where)
    .queryExecution
    .optimizedPlan
    .collect { case f: Filter =>
      splitConjunctivePredicates(f.condition)
    }
    .flatten

  test("constants of filters on forbidden columns are in no text, whatever holds them") {
    val wheres = Seq(
      "name = 'zq7'",
      "s.a > 'zq7' or n = 5",
      "name in ('zq7', 'b')",
      s"name in (${(1 to 40).map(i => s"'zq7$i'").mkString(", ")})",
      "name like 'zq7%'",
      "name like all ('zq7%', '%b')",
      "name rlike 'zq7.*'",
      "concat(name, 'zq7') = 'x'",
      "named_struct('x', name, 'y', 'zq7').y = 'a'",
      "s = named_struct('a', 'zq7', 'b', 'c')",
      "case when name = 'zq7' then true else n > 3 end",
      "upper(name) = upper('zq7')",
      "not (name <=> 'zq7') and n < 3"
    )
    wheres.foreach { w =>
      filters(w).foreach { f =>
        // Spark itself does not write down what "like all" holds.
        assert(ScanText.of(Seq(f), NeverColumns.None).head.contains("zq7") || w.contains("like all"), w)
        val text = ScanText.of(Seq(f), never).head
        assert(!text.contains("zq7"), w)
        assert(text.contains("name") || text.contains("s"), w)
        spark.sessionState.sqlParser.parseExpression(text): Unit
      }
    }
  }

  test("other filters keep theirs, those on another field of the struct too") {
    filters("n = 77 and p = 'x'").foreach(f => assert(ScanText.of(Seq(f), never).head.contains("77")))
    filters("s.b = 'open7'").foreach(f => assert(ScanText.of(Seq(f), never).head.contains("open7")))
  }

  test("constants that Spark puts from a filter on a forbidden column into others are left out of these too") {
    Seq("name = 'zq7' and p = name", "name <=> 'zq7' and p = name", "p = concat(name, 'x') and name = 'zq7'").foreach {
      w =>
        val pushed = scanFilters(w)
        assert(pushed.exists(f => !f.references.exists(_.name == "name") && f.sql.contains("zq7")), w)
        assert(!ScanText.of(pushed, never).exists(_.contains("zq7")), w)
    }
  }
}
