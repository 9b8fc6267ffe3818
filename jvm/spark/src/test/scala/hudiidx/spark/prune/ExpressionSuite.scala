package hudiidx.spark.prune

import scala.util.control.NonFatal

import hudiidx.InvalidOption
import hudiidx.TestSettings.{isLong, seed}
import hudiidx.column.ColumnCondition.Anything
import hudiidx.column.{Bounds, ColumnExpression, ColumnStats, Conditions}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.InterpretedPredicate
import org.apache.spark.sql.types.{BooleanType, StringType}
import org.scalacheck.Gen
import org.scalacheck.rng.Seed

/** Expressions of columns: which are one, which filters they judge, and what tasks make of rows, as Spark has it. */
final class ExpressionSuite extends KeptExpressions {
  private def sample[A](gen: Gen[A], n: Long): A = gen.pureApply(Gen.Parameters.default, Seed(n))

  test("whatever the expression, the rows and the filter: no file is left out that has a wanted row") {
    val cases = if (isLong) 4000 else 120
    info(s"HUDIIDX_TEST_SEED=$seed")
    val slices = Vector.tabulate(60)(s => sample(MadeSlice.any, seed - s))
    var (asked, wanted, left, judged) = (0, 0, 0, 0)
    (0 until cases).foreach { n =>
      val zone = sample(Gen.oneOf(ColumnValues.Zones), seed + n)
      withConf("spark.sql.session.timeZone" -> zone) {
        val (sql, t) = sample(PredicateGen.computed, seed + n)
        val where = sample(PredicateGen.of(sql, t), seed + n)
        val indexable =
          try Some(path(sql))
          catch { case _: InvalidOption => None }
        indexable.foreach { at =>
          asked += 1
          val (split, test) = filters(where)
          val (expression, parts) = evaluator(at)
          val made = condition(where, at)
          if (Conditions.paths(made).nonEmpty) judged += 1
          test.foreach { t =>
            (0 until 12).foreach { s =>
              val slice = slices((n * 7 + s) % slices.size)
              val stats = values(expression, slice.rows, parts)
              val matching = slice.rows.filter(evaluates(t, _))
              val might = MadeSlice.holds(made, MadeSlice(slice.rows, Vector(Map(at -> (expression.result -> stats)))))
              if (matching.nonEmpty) wanted += 1
              if (!might) left += 1
              if (matching.nonEmpty && !might)
                fail(
                  s"HUDIIDX_TEST_SEED=$seed, $n, zone $zone: $where\nmade of $split\nis $made\nrow ${matching.head}\nin $stats\nof $at"
                )
            }
          }
        }
      }
    }
    info(s"$asked expressions, $judged filters judged by them; $wanted files had wanted rows, $left were left out")
    assert(asked > cases / 3 && judged > asked / 2 && wanted > asked && left > asked)
  }

  private def evaluates(test: InterpretedPredicate, row: InternalRow): Boolean =
    try test.eval(row)
    catch { case NonFatal(_) => false }

  Vector(
    "date_format(ts, 'yyyy-MM')" -> Vector("DATE_FORMAT( TS,'yyyy-MM' )", "date_format(`ts`, \"yyyy-MM\")"),
    "year(ts)" -> Vector("extract(year from ts)", "date_part('YEAR', ts)", "YEAR(`Ts`)", "extract(YEARS FROM ts)"),
    "year(day)" -> Vector("extract(year from day)", "year(CAST(day AS DATE))"),
    "i + l" -> Vector("l + i", "CAST(i AS BIGINT) + l", "(l+i)"),
    "i * 2 + 1" -> Vector("1 + 2 * i", "(i*2)+1"),
    "date_format(day, 'yyyy')" -> Vector("date_format(CAST(day AS TIMESTAMP), 'yyyy')"),
    "s.i % 7" -> Vector("mod(s.i, 7)", "S.I % 7"),
    "upper(name)" -> Vector("ucase(name)", "UPPER(name)"),
    "coalesce(name, 'x')" -> Vector("ifnull(name, 'x')", "nvl(name, 'x')"),
    "length(name)" -> Vector("char_length(name)", "len(name)"),
    "concat(name, '-', name)" -> Vector("name || '-' || name"),
    "i > l" -> Vector("l < i", "CAST(i AS BIGINT) > l")
  ).foreach { case (sql, others) =>
    test(s"$sql is known however it is spelled") {
      val made = path(sql)
      others.foreach { other =>
        assert(resolver.asked(other, conf).meaning === resolver.asked(sql, conf).meaning, other)
        val boolean = resolver.asked(sql, conf).optimized.dataType == BooleanType
        val where =
          if (boolean) other else s"($other) IS NOT NULL AND ($other) IN (($other), NULL) AND ${valued(sql, other)}"
        assert(Conditions.paths(condition(where, made)).contains(made), other)
      }
    }
  }

  private def valued(sql: String, other: String): String = resolver.asked(sql, conf).optimized.dataType match {
    case StringType => s"($other) >= '0'"
    case _          => s"($other) = 5"
  }

  test("what differs is another expression") {
    Vector(
      "year(ts)" -> "month(ts)",
      "year(ts)" -> "year(local)",
      "date_format(ts, 'yyyy-MM')" -> "date_format(ts, 'yyyy-mm')",
      "i - l" -> "l - i",
      "i + 1" -> "i + 2",
      "s.i + 1" -> "i + 1",
      "CAST(d AS INT)" -> "CAST(d AS BIGINT)"
    ).foreach { case (a, b) =>
      assert(resolver.asked(a, conf).meaning !== resolver.asked(b, conf).meaning, s"$a, $b")
    }
  }

  test("expressions are resolved where a filter has one of their columns, and no others") {
    var asked = 0
    def counted: ExpressionResolver = {
      asked += 1
      resolver
    }
    val gone = path("upper(name)").replace("\"name\"", "\"gone\"")
    val paths = Vector(path("i + 1"), gone)
    val of = new IndexedExpressions(counted, conf.clone(), paths, mixes = false)
    def made(where: String) = new ConditionOf(_ => Some("it has no index"), Some(of), _ => None)(filters(where)._1)
    made("l = 3 AND length(name) > 2")
    assert(asked === 0 && of.unusable.isEmpty)
    assert(Conditions.paths(made("i + 1 = 3")) === paths.take(1) && asked === 1)
    assert(of.mayKnow("i") && !of.mayKnow("l") && !of.mayKnow("gone") && of.unusable.exists(_.contains("gone")))
  }

  test("expressions of a table that have too many parts together are not looked at, and say so") {
    val paths = Vector.tabulate(6)(n => path((0 until 900).map(i => s"'$n-$i'").mkString("name IN (", ", ", ")")))
    val of = new IndexedExpressions(resolver, conf.clone(), path("i + 1") +: paths, mixes = false)
    assert(
      of.unusable.size === 2 && of.unusable.forall(_.contains("more than 4000 parts")),
      of.unusable.map(_.takeRight(80))
    )
    assert(of.mayKnow("i") && of.mayKnow("name"))
  }

  test("SQL of stored expressions is not parsed beyond what they may have together") {
    // None can be parsed: those that were say so.
    val paths = Vector.tabulate(200)(n => ColumnExpression("(" * 30 + s"name$n, " * 400, Vector("v" -> "1")).path)
    val of = new IndexedExpressions(resolver, conf.clone(), paths, mixes = false)
    assert(!of.mayKnow("name1"))
    val (unparsed, parsed) = of.unusable.partition(_.contains("more than 4000 parts"))
    assert(unparsed.size + parsed.size === 200 && parsed.nonEmpty && parsed.size <= 5)
  }

  test("an error that a row raises makes what is known of its file nothing") {
    withConf("spark.sql.ansi.enabled" -> "true") {
      val (expression, parts) = evaluator(path("i + 1"))
      val row = InternalRow.fromSeq(ColumnValues.Columns.map(f => if (f.name == "i") Int.MaxValue else null))
      assert(values(expression, Seq(row), parts) === ColumnStats(1, -1, Bounds.Unknown))
    }
  }

  test("an expression of several columns is not judged where rows mix those of several files") {
    val (one, two) = (path("i + 1"), path("i + l"))
    val mixing = new IndexedExpressions(resolver, conf.clone(), Vector(one, two), mixes = true)
    val made =
      new ConditionOf(_ => Some("it has no index"), Some(mixing), _ => None)(filters("i + 1 = 3 AND i + l = 4")._1)
    assert(Conditions.paths(made) === Vector(one))
    assert(Conditions.reasons(made).exists(_.contains("log files")))
  }

  test("a column whose values files do not hold as rows have them leaves its expressions out") {
    val made = path("i + 1")
    val found =
      new ConditionOf(_ => None, Some(indexed(made)), _ => Some("it is taken from the path"))(filters("i + 1 = 3")._1)
    assert(!Conditions.paths(found).contains(made))
    assert(found.isInstanceOf[Anything] || Conditions.paths(found) === Vector("i"))
  }
}
