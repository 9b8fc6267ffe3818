package hudiidx.spark.prune

import java.util.Locale

import scala.util.control.NonFatal

import hudiidx.InvalidOption
import hudiidx.TestSettings.{isLong, seed}
import hudiidx.column.ColumnCondition.Anything
import hudiidx.column._
import hudiidx.hadoop.column.ValueSink
import hudiidx.spark.SparkSuite
import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  BindReferences,
  Expression,
  InterpretedPredicate,
  PredicateHelper
}
import org.apache.spark.sql.catalyst.plans.logical.Filter
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._
import org.scalacheck.Gen
import org.scalacheck.rng.Seed
import org.apache.spark.unsafe.types.UTF8String

/** Expressions of columns: which can be indexed, which are one, and what tasks make of rows, against Spark's own evaluation. */
final class ExpressionSuite extends SparkSuite with PredicateHelper {
  private lazy val table = spark.createDataFrame(spark.sparkContext.emptyRDD[Row], ColumnValues.Columns)
  private def conf = spark.sessionState.conf
  private def resolver = new ExpressionResolver(spark, ColumnValues.Columns)

  private def path(sql: String): String = {
    val found = resolver.asked(sql, conf)
    ExpressionRules.check(sql, found)
    ExpressionRules.path(sql, found, conf)
  }

  private def withConf[A](settings: (String, String)*)(body: => A): A = {
    val before = settings.map(s => s._1 -> spark.conf.getOption(s._1))
    settings.foreach(s => spark.conf.set(s._1, s._2))
    try body
    finally before.foreach { case (k, v) => v.fold(spark.conf.unset(k))(spark.conf.set(k, _)) }
  }

  private def sample[A](gen: Gen[A], n: Long): A = gen.pureApply(Gen.Parameters.default, Seed(n))

  private def filters(where: String): (Seq[Expression], Option[InterpretedPredicate]) = {
    val found = table.where(where).queryExecution.optimizedPlan.collect { case f: Filter => f }
    val test =
      found.headOption.map(f => InterpretedPredicate(BindReferences.bindReference(f.condition, f.child.output)))
    // As Spark hands them to a scan: with the names of its columns.
    val split = found.flatMap { f =>
      splitConjunctivePredicates(f.condition).map(_.transform { case a: Attribute =>
        f.child.output.find(_.exprId == a.exprId).getOrElse(a)
      })
    }
    (split, test)
  }

  private def indexed(paths: String*): IndexedExpressions =
    new IndexedExpressions(resolver, conf.clone(), paths.toVector, mixes = false)

  private def condition(where: String, paths: String*): ColumnCondition =
    new ConditionOf(_ => Some("it has no index"), Some(indexed(paths: _*)), _ => None)(filters(where)._1)

  /** What tasks make of rows. */
  private def values(
      expression: SparkRowExpression,
      rows: Seq[InternalRow],
      parts: Vector[Vector[String]]
  ): ColumnStats = {
    val builder = new StatsBuilder(expression.result)
    val evaluation = expression.newEvaluation()
    val sink = new ValueSink {
      def addNull(): Unit = builder.addNulls(1)
      def add(value: Long): Unit = builder.add(value)
      def add(bytes: Array[Byte], from: Int, length: Int): Unit = builder.add(bytes, from, length)
      def addUnknown(): Unit = builder.addUnknown()
    }
    evaluation.within(rows.foreach(r => evaluation.add(new StoredRow(r, parts, expression.types), sink)))
    builder.result
  }

  private def evaluator(at: String): (SparkRowExpression, Vector[Vector[String]]) = {
    val e = ColumnExpression.of(at).get
    val found = resolver.kept(e, ExpressionFacts.conf(e.facts))
    val inputs = found.inputs.map { case (p, t) => ColumnPath.of(p) -> ValueCode.columnType(t).get }
    val result = ValueCode.columnType(found.optimized.dataType).get
    (
      SparkRowExpression(
        found.bound,
        inputs,
        found.inputs.map(_._2),
        result,
        e.facts,
        ExpressionGrowth.of(found.tree).getOrElse(fail(at))
      ),
      found.inputs.map(_._1)
    )
  }

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

  test("no class that an expression names is loaded") {
    val sql = "length(reflect('hudiidx.spark.prune.LoadedByName$', 'hashCode', name))"
    assert(
      intercept[InvalidOption](resolver.asked(sql, conf)).getMessage.contains("reflect is not among the functions")
    )
    assert(System.getProperty(LoadedByName.Mark) === null)
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

  Vector(
    "rand() + i" -> "rand",
    "i + uuid()" -> "",
    "datediff(current_date(), day)" -> "current_date",
    "date_format(now(), name)" -> "now",
    "concat(name, current_user())" -> "current_user",
    "concat(name, input_file_name())" -> "input_file_name",
    "unix_timestamp() - l" -> "",
    "plus_one(i)" -> "plus_one is a user's function",
    "1 + 1" -> "of no column",
    "name" -> "column",
    "nope + 1" -> "nope",
    "sum(i)" -> "",
    "explode(array(i))" -> "",
    "array(i, l)" -> "no order",
    "to_json(s)" -> "to_json is not among the functions",
    "coalesce(s, s).i + 1" -> "column s is of type",
    "i +" -> "no expression",
    "(select 1) + i" -> "a query",
    "i IN (select max(value) from text.`/nowhere`)" -> "a query",
    "no_function(i)" -> "no_function is a user's function, which may change, or none",
    "java_method('java.lang.Math', 'abs', i)" -> "java_method",
    "aes_encrypt(name, 'abcdefghijklmnop')" -> "aes_encrypt",
    "datediff(cast('today' as date), day)" -> "of the moment",
    "datediff(' Now ', day)" -> "of the moment",
    "datediff(to_date('now'), day)" -> "of the moment",
    "datediff(date('yesterday'), day)" -> "of the moment",
    "datediff(cast(concat('to', 'day') as date), day)" -> "of the moment",
    "datediff(try_cast('tomorrow' as date), day)" -> "of the moment",
    "cast('now' as timestamp) > ts" -> "of the moment",
    "to_timestamp('now') > ts" -> "of the moment",
    "try_to_timestamp('now') > ts" -> "of the moment",
    "to_timestamp_ntz('now') > local" -> "of the moment",
    "cast('now' as timestamp_ntz) > local" -> "of the moment",
    "date_trunc('HOUR', 'now') > ts" -> "of the moment",
    "cast('12:30' as timestamp) > ts" -> "of the moment",
    "ts > 'today'" -> "of the moment",
    "months_between('epoch', ts)" -> "of the moment",
    "datediff(DATE'today', day)" -> "of the moment",
    "ts > TIMESTAMP 'now'" -> "of the moment",
    "ts > TIMESTAMP /* '2024 */ 'now'" -> "of the moment",
    "ts > TIMESTAMP '12:30'" -> "of the moment",
    "local > TIMESTAMP_NTZ 'today'" -> "of the moment"
  ).foreach { case (sql, why) =>
    test(s"$sql is refused, and the message says why") {
      spark.udf.register("plus_one", (n: Int) => n + 1)
      val e = intercept[InvalidOption](path(sql))
      assert(e.getMessage.contains(why) && e.getMessage.contains(sql.take(8)), e.getMessage)
    }
  }

  Vector[(String, String, (String, String))](
    (
      "date_format(ts, 'yyyy-MM') = '2024-01'",
      "date_format(ts, 'yyyy-MM')",
      "spark.sql.session.timeZone" -> "Asia/Tokyo"
    ),
    ("CAST(name AS INT) = 7", "CAST(name AS INT)", "spark.sql.ansi.enabled" -> (!new SQLConf().ansiEnabled).toString),
    (
      "to_date(name, 'yyyy-MM') > DATE'2024-01-01'",
      "to_date(name, 'yyyy-MM')",
      "spark.sql.legacy.timeParserPolicy" -> "LEGACY"
    ),
    ("hour(to_timestamp(name)) = 2", "hour(to_timestamp(name))", "spark.sql.timestampType" -> "TIMESTAMP_NTZ"),
    (
      "length(concat(bytes, bytes)) = 2",
      "length(concat(bytes, bytes))",
      "spark.sql.function.concatBinaryAsString" -> "true"
    ),
    (
      "length(elt(1, bytes, bytes)) = 2",
      "length(elt(1, bytes, bytes))",
      "spark.sql.function.eltOutputAsString" -> "true"
    )
  ).foreach { case (where, sql, (name, value)) =>
    test(s"an index on $sql does not help under another $name, and says so") {
      val made = path(sql)
      assert(Conditions.paths(condition(where, made)) === Vector(made))
      withConf(name -> value) {
        val found = condition(where, made)
        assert(Conditions.paths(found).isEmpty)
        val label = if (name.endsWith("timeZone")) "time zone" else name
        assert(Conditions.reasons(found).exists(r => r.contains(sql) && r.contains(label)), Conditions.reasons(found))
        // Beside it one that is made here serves.
        val here = path(sql)
        assert(here != made && Conditions.paths(condition(where, made, here)) === Vector(here))
      }
    }
  }

  test("an index is not taken for an expression that settings make another, be these facts or not") {
    val sql = "hour(to_timestamp(name))"
    val (made, there) = (path(sql), withConf("spark.sql.timestampType" -> "TIMESTAMP_NTZ")(resolver.asked(sql, conf)))
    assert(resolver.means(resolver.asked(sql, conf), made) && !resolver.means(there, made))
    assert(intercept[InvalidOption](resolver.requireKept(sql, there, made)).getMessage.contains("session's settings"))
    val rules = "org.apache.spark.sql.catalyst.optimizer.ConstantFolding"
    withConf("spark.sql.optimizer.excludedRules" -> rules) {
      assert(resolver.means(resolver.asked("i + (1 + 1)", conf), path("i + (1 + 1)")))
    }
  }

  private def inLocale[A](language: String)(body: => A): A = {
    val before = Locale.getDefault
    Locale.setDefault(new Locale(language))
    try body
    finally Locale.setDefault(before)
  }

  test("an index of upper and lower cases serves in languages that have the same, and in no others") {
    Vector("upper(name)", "ucase(name)", "lower(name)", "lcase(name)", "initcap(name)", "name ilike 'é%' AND i > 1")
      .foreach { sql =>
        val found = resolver.asked(sql, conf)
        val (here, there) =
          (found.facts(conf), inLocale("tr")(found.facts(conf)))
        assert(inLocale("fr")(found.facts(conf)) === here)
        assert(ExpressionFacts.difference(there, here).exists(_.contains("locale tr")), sql)
        assert(ExpressionFacts.difference(here, there).nonEmpty)
      }
    assert(inLocale("tr")(path("length(name)")) === path("length(name)"))
    val session = ExpressionFacts.session(conf)
    assert(inLocale("lt")(ExpressionFacts.session(conf)) !== session)
  }

  test("a task whose process has another locale, Java, zone or rules of zones than the index knows nothing of rows") {
    def known(at: String): Boolean = {
      val (expression, parts) = evaluator(at)
      val row = InternalRow.fromSeq(
        ColumnValues.Columns.map(f => if (f.name == "name") UTF8String.fromString("2024-01-31 é i") else null)
      )
      values(expression, Seq(row), parts).bounds !== Bounds.Unknown
    }
    assert(known(path("upper(name)")) && !inLocale("tr")(known(path("upper(name)").replace("locale=tr", "locale=any"))))
    assert(!known(path("upper(name)").replaceAll("java=\\d+", "java=1")))
    val zoned = path("cast(name as timestamp)")
    assert(zoned.contains("zones=") && !known(zoned.replaceAll("zones=\\w+", "zones=2001a")))
    val berlin = withConf("spark.sql.session.timeZone" -> "Europe/Berlin")(path("cast(left(name, 10) as timestamp)"))
    assert(known(berlin) && !known(berlin.replaceAll("Berlin#\\w+", "Berlin#1")))
  }

  test("zones may stand in texts: expressions that read them have the release of the rules of all zones") {
    Vector(
      "cast(name as timestamp)",
      "to_timestamp(name, 'yyyy VV')",
      "unix_timestamp(name, 'yyyy VV')",
      "from_utc_timestamp(ts, name)",
      "to_utc_timestamp(ts, 'Europe/Berlin')",
      "convert_timezone('Europe/Berlin', name, local)",
      "make_timestamp(i, 1, 1, 1, 1, 1, name)"
    ).foreach(sql => assert(path(sql).contains("; zones=2"), sql))
    assert(!path("hour(ts)").contains("zones="))
  }

  Vector(
    "datediff('2024-01-31', day)",
    "datediff(to_date('2024-01-31'), day)",
    "ts > ' 2024-01-31 12:30:00'",
    "ts > TIMESTAMP'2024-01-31 12:30:00'",
    "day > DATE\"2024-01-31\"",
    "day > DATE '-2024'"
  ).foreach { sql =>
    test(s"$sql is of no moment")(assert(path(sql).nonEmpty))
  }

  test("years of two digits are refused where they are of the century of the moment") {
    val legacy = "spark.sql.legacy.timeParserPolicy" -> "LEGACY"
    val short = Seq("'dd/MM/yy'", "'y-MM-dd'", "'YY'", "name")
    val functions = Seq("to_date", "to_timestamp", "unix_timestamp", "to_unix_timestamp", "try_to_timestamp")
    for (f <- functions; format <- short) withClue(s"$f $format: ") {
      val said = intercept[InvalidOption](withConf(legacy)(path(s"$f(name, $format)"))).getMessage
      assert(said.contains("four digits"), said)
    }
    functions.foreach { f =>
      Seq("'dd/MM/yyyy'", "\"dd 'yy' MM yyyy\"", "'HH:mm'").foreach(format =>
        assert(withConf(legacy)(path(s"$f(name, $format)")).nonEmpty, s"$f $format")
      )
      assert(path(s"$f(name, 'dd/MM/yy')").nonEmpty, "all are of one century since Spark 3")
    }
    assert(withConf(legacy)(path("date_format(ts, 'yy')")).nonEmpty, "what is written is of no moment")
    // Of an index that an earlier build made.
    val kept = path("to_date(name, 'dd/MM/yy')").replace("v=2", s"v=2; ${legacy._1}=${legacy._2}")
    val e = ColumnExpression.of(kept).get
    assert(intercept[InvalidOption](resolver.kept(e, ExpressionFacts.conf(e.facts))).getMessage.contains("four digits"))
  }

  test("rows with a time without its day are not known: that is another time each day") {
    val texts = Seq("12:30", "T12", " 7:05:01.5+01:00", "T12:30 Europe/Berlin")
    for {
      sql <- Seq(
        "cast(name as timestamp)",
        "to_timestamp(name)",
        "try_to_timestamp(name)",
        "date_format(name, 'yyyy-MM-dd')"
      )
      (text, known) <- texts.map(_ -> false) ++ Seq("2024-01-31 12:30:00" -> true, "2024" -> true)
    } {
      val (expression, parts) = evaluator(path(sql))
      val row = InternalRow.fromSeq(
        ColumnValues.Columns.map(f => if (f.name == "name") UTF8String.fromString(text) else null)
      )
      assert((values(expression, Seq(row), parts).bounds !== Bounds.Unknown) === known, s"$sql of $text")
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

  test("settings and zones that an expression does not depend on are none of its identity") {
    val made = path("length(name)")
    withConf("spark.sql.session.timeZone" -> "Asia/Tokyo", "spark.sql.shuffle.partitions" -> "3") {
      assert(path("length(name)") === made)
    }
    assert(path("ts > TIMESTAMP'2024-01-01 00:00:00'").contains("zone=UTC"))
    val berlin = withConf("spark.sql.session.timeZone" -> "Europe/Berlin")(path("hour(ts)"))
    assert(berlin.matches(".*zone=Europe/Berlin#[0-9a-f]+.*"), berlin)
  }

  test("values are made under the settings of the index, whatever those of the session") {
    val made = path("date_format(ts, 'yyyy-MM-dd HH')")
    withConf("spark.sql.session.timeZone" -> "Asia/Tokyo") {
      val (expression, parts) = evaluator(made)
      val row = InternalRow.fromSeq(ColumnValues.Columns.map(f => if (f.name == "ts") 0L else null))
      val hour = "1970-01-01 00".getBytes
      assert(values(expression, Seq(row), parts).bounds === Bounds.TextRange(hour, hour, exact = true))
    }
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

/** A row as files have it: the sign of a zero is lost, and which of the numbers that are none it was. */
final private class StoredRow(row: InternalRow, parts: Vector[Vector[String]], types: Vector[DataType])
    extends ColumnValues {
  private val values: Vector[Any] = parts.zip(types).map { case (path, _) =>
    path
      .foldLeft((row: Any, ColumnValues.Columns: DataType)) {
        case ((null, t), name)           => (null, t.asInstanceOf[StructType](name).dataType)
        case ((r: InternalRow, t), name) =>
          val struct = t.asInstanceOf[StructType]
          val at = struct.fieldIndex(name)
          (if (r.isNullAt(at)) null else r.get(at, struct(at).dataType), struct(at).dataType)
        case (other, _) => other
      }
      ._1
  }
  override def isNull(column: Int): Boolean = values(column) == null
  override def long(column: Int): Long = ValueCode.long(values(column), types(column))
  override def text(column: Int): Array[Byte] = ValueCode.text(values(column), types(column))
}

/** Leaves a mark when it is loaded. */
object LoadedByName {
  final val Mark = "hudiidx.test.loaded-by-name"
  System.setProperty(Mark, "yes")
}
