package hudiidx.spark.prune

import scala.util.control.NonFatal

import hudiidx.{CpuClock, Figures}
import hudiidx.TestSettings.{isLong, seed}
import hudiidx.column.ColumnCondition
import hudiidx.spark.SparkSuite
import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BindReferences, Expression, InterpretedPredicate, PredicateHelper}
import org.apache.spark.sql.catalyst.plans.logical.Filter
import org.apache.spark.sql.types._
import org.scalacheck.Gen
import org.scalacheck.rng.Seed

/** Conditions made of filters against Spark's own evaluation of these filters. */
final class ConditionSuite extends SparkSuite with PredicateHelper {
  private val MadeSlices = 300
  private val SlicesEach = 40

  private lazy val table = spark.createDataFrame(spark.sparkContext.emptyRDD[Row], ColumnValues.Columns)

  /** The filters of a query as a scan is handed them, and the test of whole rows. */
  private def filtersOf(where: String): Seq[Expression] =
    table
      .where(where)
      .queryExecution
      .optimizedPlan
      .collect { case f: Filter => f }
      .flatMap(f => splitConjunctivePredicates(f.condition))

  private def filters(where: String): (Seq[Expression], InterpretedPredicate) = {
    val plan = table.where(where).queryExecution.optimizedPlan
    val found = plan.collect { case f: Filter => f }
    val split = found.flatMap(f => splitConjunctivePredicates(f.condition))
    val whole = found.map(_.condition).reduceOption(org.apache.spark.sql.catalyst.expressions.And)
    val bound = whole.map(w => BindReferences.bindReference(w, found.head.child.output))
    (
      split,
      InterpretedPredicate(bound.getOrElse(org.apache.spark.sql.catalyst.expressions.Literal(isNothing(plan) == false)))
    )
  }

  /** The optimizer found out that no row satisfies it. */
  private def isNothing(plan: org.apache.spark.sql.catalyst.plans.logical.LogicalPlan): Boolean =
    plan.collectLeaves().forall {
      case l: org.apache.spark.sql.catalyst.plans.logical.LocalRelation => l.data.isEmpty
      case _                                                            => false
    }

  private def condition(where: String): ColumnCondition = new ConditionOf(_ => None)(filters(where)._1)

  test("whatever the rows and the filter: no file is left out that has a wanted row") {
    val cases = if (isLong) 8000 else 400
    info(s"HUDIIDX_TEST_SEED=$seed")
    val made = Vector.tabulate(MadeSlices)(s => sample(MadeSlice.any, seed - s))
    var (slices, wanted, kept) = (0, 0, 0)
    (0 until cases).foreach { n =>
      val (where, zone) = sample(Gen.zip(PredicateGen.predicate, Gen.oneOf(ColumnValues.Zones)), seed + n)
      inZone(zone) {
        val (split, test) = filters(where)
        val found = new ConditionOf(_ => None)(split)
        (0 until SlicesEach).foreach { s =>
          val slice = made((n * 7 + s) % MadeSlices)
          val matching = slice.rows.filter(evaluates(test, _))
          val might = MadeSlice.holds(found, slice)
          slices += 1
          if (matching.nonEmpty) wanted += 1
          if (might) kept += 1
          if (matching.nonEmpty && !might)
            fail(
              s"HUDIIDX_TEST_SEED=$seed, filter $n, slice $s, zone $zone: $where\nmade of $split\nis $found\nrow " +
                s"${matching.head}\nin $slice"
            )
        }
      }
    }
    Figures.add("random filters held against rows", cases.toLong)
    Figures.add("file slices held against them", slices.toLong)
    info(s"$cases filters on $slices slices: $wanted had wanted rows, $kept were kept")
    assert(wanted > slices / 20 && kept < slices * 19 / 20)
  }

  private def evaluates(test: InterpretedPredicate, row: InternalRow): Boolean =
    try test.eval(row)
    catch { case NonFatal(_) => false }

  private def sample[A](gen: Gen[A], seed: Long): A = gen.pureApply(Gen.Parameters.default, Seed(seed))

  /** Of a file with these values in one column, and of the others nothing known. */
  private def mightMatch(where: String, path: String, values: Any*): Boolean = {
    val t =
      path.split('.').foldLeft(ColumnValues.Columns: DataType)((s, name) => s.asInstanceOf[StructType](name).dataType)
    val codes = values.map(ColumnValues.inner(_, t))
    val exact = path -> (ValueCode.columnType(t).get -> ColumnValues.exactStats(codes, t))
    MadeSlice.holds(condition(where), MadeSlice(Vector.empty, Vector(Map(exact))))
  }

  MustSkip.All.foreach { case (path, values, cases) =>
    cases.foreach { where =>
      test(s"a file with $path ${values.mkString(", ")} is left out: $where") {
        assert(!mightMatch(where, path, values: _*), condition(where))
      }
    }
  }

  test("functions that tell no range of a column keep the file and say so") {
    Vector("length(name) > 90", "abs(i) = 900", "CAST(name AS INT) = 900", "i = l", "i + l = 5").foreach { where =>
      assert(hudiidx.column.Conditions.reasons(condition(where)).exists(_.contains("tells no range")), where)
    }
  }

  test("columns that files do not hold as rows have them are never judged") {
    val unfit = new ConditionOf(name => if (name == "i") Some("it is taken from the path") else None)
    val made = unfit(filters("i = 5 AND d > 2")._1)
    assert(hudiidx.column.Conditions.paths(made) === Vector("d"))
    assert(hudiidx.column.Conditions.reasons(made).exists(_.contains("it is taken from the path")))
  }

  Seq("if(" -> ", l > 2, i > 3)", "coalesce(" -> ", i > 3)", "CASE WHEN " -> " THEN l > 2 ELSE i > 3 END").foreach {
    case (begin, end) =>
      test(s"choices in one another take time by the filter's length, and what is beside them counts: $begin…$end") {
        val test = begin * 60 + "i > 1" + end * 60
        val split = filtersOf(s"d > 2 AND $test")
        var found: ColumnCondition = null
        val millis = CpuClock.millis { found = new ConditionOf(_ => None)(split) }
        assert(millis < 5000)
        assert(hudiidx.column.Conditions.paths(found).contains("d"))
      }
  }

  test("large lists of values are quick, and leave out what lies between them") {
    val list = (0 until 20000).map(_ * 10).mkString(", ")
    assert(!mightMatch(s"i IN ($list)", "i", 41, 49) && mightMatch(s"i IN ($list)", "i", 41, 50))
    val texts = (0 until 5000).map(n => s"'PARIS $n'").mkString(", ")
    assert(
      !mightMatch(s"upper(name) IN ($texts)", "name", "oslo") && mightMatch(
        s"upper(name) IN ($texts)",
        "name",
        "Paris 7"
      )
    )
    assert(!mightMatch(s"i + 1 IN ($list)", "i", -30, -20) && mightMatch(s"i + 1 IN ($list)", "i", 49))
  }
}
