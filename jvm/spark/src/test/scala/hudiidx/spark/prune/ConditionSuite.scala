package hudiidx.spark.prune

import scala.util.control.NonFatal

import hudiidx.Figures
import hudiidx.TestSettings.{isLong, seed}
import hudiidx.column.ColumnCondition._
import hudiidx.column.{ColumnCondition, ColumnStats, ColumnType, LeafTest}
import hudiidx.spark.SparkSuite
import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BindReferences, Expression, InterpretedPredicate, PredicateHelper}
import org.apache.spark.sql.catalyst.plans.logical.Filter
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._
import org.scalacheck.Gen
import org.scalacheck.rng.Seed

/** Conditions made of filters against Spark's own evaluation of these filters. */
final class ConditionSuite extends SparkSuite with PredicateHelper {
  import ConditionSuite._

  private lazy val table = spark.createDataFrame(spark.sparkContext.emptyRDD[Row], ColumnValues.Columns)

  /** The filters of a query as a scan is handed them, and the test of whole rows. */
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

  private def inZone[A](zone: String)(body: => A): A = {
    spark.conf.set("spark.sql.session.timeZone", zone)
    try body
    finally spark.conf.set("spark.sql.session.timeZone", "UTC")
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
          val might = holds(found, slice)
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
    holds(condition(where), MadeSlice(Vector.empty, Vector(Map(exact))))
  }

  MustSkip.foreach { case (path, values, cases) =>
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

object ConditionSuite {

  // With errors for what does not fit, as Spark 4 casts, a file with such a value must be read.
  private val cast = if (new SQLConf().ansiEnabled) "TRY_CAST" else "CAST"

  /** Column, its values in a file, and filters that no row of the file can satisfy. */
  private val MustSkip: Vector[(String, Vector[Any], Vector[String])] = Vector(
    (
      "i",
      Vector(10, 20),
      Vector(
        "i = 9",
        "9 = i",
        "i <=> 21",
        "i < 10",
        "i <= 9",
        "i > 20",
        "i >= 21",
        "20 < i",
        "i BETWEEN 21 AND 30",
        "i IN (1, 9, 21)",
        "i IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 21, 22, 23)",
        "i IS NULL",
        "i <=> NULL",
        "NOT (i >= 10)",
        "NOT (i <= 5 OR i > 9)",
        "i > 20 OR i < 10",
        "i > 20 AND name = 'x'",
        "i + 1 > 21",
        "i - 1 = 20",
        "5 - i = 0",
        "i * 2 = 19",
        "i * -1 > -10",
        "-i < -20",
        "i div 10 = 3",
        "CAST(i AS BIGINT) = 9",
        "CAST(i AS DOUBLE) > 20.5",
        "CAST(i AS FLOAT) < 9.5",
        "CAST(i AS DECIMAL(12,2)) > 20.01",
        "CAST(i AS STRING) = '9'",
        "greatest(i, 5) = 5",
        "least(i, 5) = 10",
        "coalesce(i, 1) = 1",
        "if(i > 5, i, 0) = 0",
        "CASE WHEN i < 10 THEN true ELSE false END",
        "i IN (9)",
        "i = 9.0",
        "i > 20.5",
        "timestamp_seconds(i) > TIMESTAMP'2024-01-01'",
        "from_unixtime(i) > '2024-01-01 00:00:00'",
        "i = 9 AND i > 5",
        "i + 2 * 3 = 9"
      )
    ),
    ("i", Vector(5, 5), Vector("i != 5", "NOT (i = 5)", "i NOT IN (5, 6)", "NOT (i <=> 5)")),
    (
      "i",
      Vector(null),
      Vector("i = 5", "i != 5", "i IS NOT NULL", "i > 0 OR i <= 0", "i NOT IN (1)", "i + 1 > 0", "abs(i) > 1", "i = l")
    ),
    ("i", Vector(5, null), Vector("i = 6", "NOT (i <=> 5 OR i IS NULL)", "coalesce(i, 7) = 6", "nullif(i, 5) = 5")),
    ("l", Vector(1L << 53, (1L << 53) + 2), Vector("l = 9007199254740991", "CAST(l AS DOUBLE) > 9007199254740996D")),
    (
      "f",
      Vector(1.5f, 2.5f),
      Vector("f > 2.5", "CAST(f AS DOUBLE) < 1.4999999", "isnan(f)", "f + 1 > 4", "round(f) = 5", "f = 'NaN'")
    ),
    (
      "d",
      Vector(-0.0, 89.9),
      Vector(
        "d > 90",
        "d < 0",
        "d = 'NaN'",
        "isnan(d)",
        "d / 2 > 45",
        "d * -2 > 0",
        "floor(d) = 90",
        "ceil(d) > 90",
        s"$cast(d AS INT) = 90",
        "10 - d > 10.5",
        "CAST(d AS DECIMAL(9,1)) > 90.0",
        "d = 'Infinity'"
      )
    ),
    ("d", Vector(Double.NaN), Vector("d < 1e308", "NOT isnan(d)", "d <= 'Infinity'", "d != 'NaN'")),
    (
      "dec5",
      Vector("1.25", "7.50"),
      Vector(
        "dec5 > 7.5",
        "dec5 = 1.2",
        "dec5 < 1.250",
        "dec5 + 1 > 8.5",
        "CAST(dec5 AS INT) = 8",
        "dec5 > 7.501",
        "dec5 * 2 < 2.5"
      )
    ),
    (
      "dec18",
      Vector("1.25", "7.50"),
      Vector("dec18 > 7.5", "dec18 = 8", "CAST(dec18 AS DOUBLE) > 7.51", "dec18 < 1.24999")
    ),
    (
      "dec38",
      Vector("-1.25", "7.50"),
      Vector("dec38 > 7.5", "dec38 = 8", "dec38 < -1.25", "dec38 IN (8, 9)", "dec38 BETWEEN 7.6 AND 8")
    ),
    (
      "name",
      Vector("bergen", "oslo"),
      Vector(
        "name = 'paris'",
        "name < 'bergen'",
        "name > 'oslo'",
        "name LIKE 'p%'",
        "name LIKE 'p_r%s'",
        "startswith(name, 'a')",
        "name NOT LIKE '%' ",
        "name IN ('a', 'z')",
        "upper(name) = 'PARIS'",
        "lower(name) = 'amsterdam'",
        "upper(name) LIKE 'PA%'",
        "substring(name, 1, 1) = 'p'",
        "left(name, 2) = 'pa'",
        "substring(name, 1, 2) > 'os'",
        "substr(name, 0, 3) < 'ber'",
        "CAST(name AS BINARY) > X'70'",
        "name LIKE 'Oslo'",
        "upper(substring(name, 1, 1)) = 'P'"
      )
    ),
    (
      "name",
      Vector("pa", "paris"),
      Vector("name NOT LIKE 'p%'", "NOT startswith(name, 'pa')", "NOT (name >= 'pa' AND name < 'pb')")
    ),
    ("name", Vector("p" * 70 + "a", "p" * 70 + "c"), Vector(s"name > '${"p" * 70}c'", s"name = '${"p" * 70}'")),
    (
      "name",
      Vector("a\uD83D\uDE00", "a\uD83D\uDE01"),
      Vector("name > 'a\uD83D\uDE02'", "name = 'a\uFFFD'", "name < 'a\uD83D\uDE00'")
    ),
    ("bytes", Vector(Array[Byte](1, -1)), Vector("bytes = X'01'", "bytes > X'01FF'", "bytes < X'01FF'")),
    ("flag", Vector(true), Vector("NOT flag", "flag = false", "flag IS NULL", "flag != true", "CAST(flag AS INT) = 0")),
    ("s.i", Vector(10, 20), Vector("s.i = 9", "s.i + 1 > 21", "s.i IS NULL")),
    (
      "day",
      Vector("2024-02-10", "2024-03-20"),
      Vector(
        "day > '2024-03-20'",
        "day = DATE'2024-02-09'",
        "year(day) = 2023",
        "month(day) = 4",
        "month(day) IN (1, 12)",
        "quarter(day) = 2",
        "trunc(day, 'MM') = DATE'2024-01-01'",
        "date_trunc('YEAR', day) = TIMESTAMP'2023-01-01'",
        "last_day(day) < DATE'2024-02-29'",
        "date_add(day, 1) = DATE'2024-02-10'",
        "add_months(day, -1) > DATE'2024-02-20'",
        "datediff(DATE'2024-03-21', day) = 0",
        "datediff(day, DATE'2024-01-01') > 100",
        "date_format(day, 'yyyy-MM') = '2024-04'",
        "CAST(day AS TIMESTAMP) > TIMESTAMP'2024-03-20 00:00:00'",
        "CAST(day AS STRING) LIKE '2023%'",
        "dayofyear(day) > 90",
        "weekofyear(day) = 1",
        "day + INTERVAL 1 MONTH < DATE'2024-03-10'",
        "month(day) = day(day) AND month(day) = 4",
        "unix_date(day) < 19000",
        "date_format(day, 'MM-dd') = '04-01'"
      )
    ),
    (
      "day",
      Vector("1581-12-31", "1582-10-04"),
      Vector("day > DATE'1582-10-04'", "year(day) = 1583", "day < DATE'1581-12-31'")
    ),
    (
      "ts",
      Vector("2024-02-10T05:00:00Z", "2024-02-10T06:30:00Z"),
      Vector(
        "ts > TIMESTAMP'2024-02-10 06:30:00Z'",
        "to_date(ts) = DATE'2024-02-11'",
        "date(ts) < '2024-02-10'",
        "year(ts) > 2024",
        "month(ts) = 3",
        "hour(ts) = 7",
        "hour(ts) BETWEEN 8 AND 20",
        "date_trunc('DAY', ts) = TIMESTAMP'2024-02-09'",
        "date_trunc('HOUR', ts) > TIMESTAMP'2024-02-10 06:00:00'",
        "date_trunc('MONTH', ts) < TIMESTAMP'2024-02-01'",
        "date_format(ts, 'yyyy-MM-dd') = '2024-02-11'",
        "date_format(ts, 'yyyyMMddHH') = '2024021004'",
        "CAST(ts AS STRING) LIKE '2024-03%'",
        "unix_timestamp(ts) > 1707546600",
        "CAST(ts AS LONG) < 1707541200",
        "ts + INTERVAL 1 DAY < TIMESTAMP'2024-02-11 05:00:00Z'",
        "ts - INTERVAL 2 HOURS > TIMESTAMP'2024-02-10 05:00:00Z'",
        "dayofweek(ts) = 1",
        "to_date(ts) BETWEEN '2024-02-11' AND '2024-02-12'",
        "ts < DATE'2024-02-10'",
        "CAST(ts AS TIMESTAMP_NTZ) > TIMESTAMP_NTZ'2024-02-10 06:30:00'",
        "TIMESTAMP'2024-02-10 07:00:00Z' - ts > INTERVAL '3' HOUR"
      )
    ),
    (
      "local",
      Vector("2024-02-10T05:00:00Z", "2024-02-10T06:30:00Z"),
      Vector("local > TIMESTAMP_NTZ'2024-02-10 06:30:00'", "hour(local) = 7", "to_date(local) = DATE'2024-02-09'")
    )
  )

  private val MadeSlices = 300
  private val SlicesEach = 40

  /** The files of a slice hold values of columns; a row has of each column a value of one of the files. */
  final case class MadeSlice(rows: Vector[InternalRow], files: Vector[Map[String, (ColumnType, ColumnStats)]]) {
    override def toString: String =
      files.map(_.toVector.sortBy(_._1).mkString("\n  ")).mkString("file\n  ", "\nfile\n  ", "")
  }

  object MadeSlice {

    /** Values of one column in one file as readers show them, and its statistics. */
    private def column(t: DataType): Gen[(Vector[Any], (ColumnType, ColumnStats))] = {
      val types = (t, identity[Any] _) +: ColumnValues.older(t)
      for {
        (stored, widen) <- Gen.frequency(3 -> Gen.const(types.head), 1 -> Gen.oneOf(types))
        distinct <- Gen.choose(0, 3).flatMap(Gen.listOfN(_, ColumnValues.of(stored)))
        nulls <- Gen.frequency(3 -> 0, 2 -> 1)
        values = distinct.toVector ++ Vector.fill(if (distinct.isEmpty) 1 else nulls)(null)
        found <- ColumnValues.stats(values, stored)
      } yield (values.map(v => if (v == null) null else widen(v)), ValueCode.columnType(stored).get -> found)
    }

    private val names: Vector[(String, DataType)] = ColumnValues.Columns.fields.toVector.flatMap { f =>
      f.dataType match {
        case s: StructType => s.fields.toVector.map(g => s"${f.name}.${g.name}" -> g.dataType)
        case t             => Vector(f.name -> t)
      }
    }

    private val file: Gen[Map[String, (Vector[Any], (ColumnType, ColumnStats))]] =
      names.foldLeft(Gen.const(Map.empty[String, (Vector[Any], (ColumnType, ColumnStats))])) {
        case (sofar, (name, t)) =>
          for (m <- sofar; c <- column(t)) yield m + (name -> c)
      }

    val any: Gen[MadeSlice] = for {
      count <- Gen.frequency(3 -> 1, 1 -> 2)
      files <- Gen.listOfN(count, file)
      rows <- Gen.listOfN(8, row(files.toVector))
    } yield MadeSlice(rows.toVector, files.toVector.map(_.map { case (name, (_, s)) => name -> s }))

    private def row(files: Vector[Map[String, (Vector[Any], (ColumnType, ColumnStats))]]): Gen[InternalRow] = {
      def value(name: String): Gen[Any] = Gen.oneOf(files).flatMap(f => Gen.oneOf(f(name)._1))
      ColumnValues.Columns.fields
        .foldLeft(Gen.const(Vector.empty[Any])) { (sofar, f) =>
          val next = f.dataType match {
            case s: StructType =>
              s.fields
                .foldLeft(Gen.const(Vector.empty[Any])) { (inner, g) =>
                  for (before <- inner; v <- value(s"${f.name}.${g.name}")) yield before :+ v
                }
                .map(vs => if (vs.forall(_ == null)) null else InternalRow.fromSeq(vs))
            case _ => value(f.name)
          }
          for (before <- sofar; v <- next) yield before :+ v
        }
        .map(InternalRow.fromSeq)
    }
  }

  /** A part holds of a slice if it holds of one of its files; parts are put together by slice. */
  def holds(condition: ColumnCondition, slice: MadeSlice): Boolean = condition match {
    case Anything(_) => true
    case Nothing     => false
    case And(all)    => all.forall(holds(_, slice))
    case Or(any)     => any.exists(holds(_, slice))
    case leaf: In    =>
      slice.files.exists(f => f.get(leaf.path).forall { case (t, s) => LeafTest.of(leaf, t).mightMatch(s) })
  }
}
