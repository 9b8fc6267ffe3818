package hudiidx.spark.prune

import java.nio.file.Files
import java.util.concurrent.atomic.AtomicLong

import hudiidx.column.ColumnExpression
import hudiidx.engine.TimelineCut
import hudiidx.engine.column.ColumnFaultSuite
import hudiidx.spark.{ForgedIndex, LogLines, SparkExpressions}
import hudiidx.spark.api.HudiIdxApi
import hudiidx.store.ScanRecord
import hudiidx.sync.TableContext
import hudiidx.{Fixtures, InvalidOption, TestSettings}
import org.apache.logging.log4j.Level

/** Expressions that somebody wrote into an index or gives as SQL: nothing of them is looked up, loaded, evaluated or set that is not
  * among what an expression may hold; rows are right, and no process ends.
  */
final class StoredExpressionsSuite extends SkippingSuite {
  import StoredExpressionsSuite._

  private def api(table: String): HudiIdxApi = new HudiIdxApi(spark, table, new java.util.HashMap[String, String]())

  /** A table whose index is behind, with these properties in its version. */
  private def forged(paths: Seq[String], pending: Boolean = false): (String, TimelineCut) = {
    val table = Fixtures.copy("v9-cow-part")
    val cut = new TimelineCut(table)
    // The last instant is a clean: without a file to take in an update evaluates nothing.
    cut.showFirst(cut.size - 2)
    api(table).create()
    api(table).addColumns("range(n)", wait = true)
    val specs = s"range(n,${paths.mkString(",")})"
    new ForgedIndex(table).change { p =>
      p ++ Map("column.specs" -> specs, "column.index.range" -> ("n" +: paths).mkString("\n")) ++
        (if (pending) Map("column.pending" -> specs) else Map.empty)
    }
    (table, cut)
  }

  /** All that a user of more rights does with the index, and all that is told. */
  private def used(table: String, cut: TimelineCut): String = {
    val whole = rows(read(table, off).where("n > 3"))
    def look(): String = {
      Seq("n > 3", "rider >= 'a' AND n > 3", "length(rider) > 0 AND n > 3").foreach { where =>
        assert(rows(read(table).where(where)) === rows(read(table, off).where(where)), where)
      }
      assert(whole === rows(read(table).where("n > 3")))
      val told = api(table).explain(read(table).where("concat(rider, 'x') = 'x'")).toString
      told + api(table).info() + api(table).report()
    }
    val before = look()
    cut.showAll()
    var synced = ""
    val warned = LogLines.of(Level.WARN) { synced = api(table).update() }
    before + synced + warned.mkString("\n") + rows(read(table).where("n > 3")).take(1).map(_ => "") + api(table)
      .info() + api(table).report() +
      api(table).verifyParts(record = false, columns = true, 2, null)
  }

  private def quiet(table: String, told: String): Unit = {
    assert(System.getProperty(LoadedByName.Mark) === null)
    assert(calls.get === 0)
    (("what is told" -> told) +: new ForgedIndex(table).bytes).foreach { case (where, text) =>
      Secrets.foreach(s => assert(!text.contains(s), s"$where has a secret"))
    }
  }

  private def planted[A](body: => A): A = {
    System.setProperty("hudiidx.test.secret", Secrets.head)
    spark.udf.register("decrypt", { (s: String) => calls.incrementAndGet(); "opened" + s })
    val before = spark.conf.getAll
    try body
    finally {
      System.clearProperty("hudiidx.test.secret")
      assert(spark.conf.getAll === before)
    }
  }

  for {
    ((what, sql), n) <- Hostile.zipWithIndex
    (kept, turn) <- Seq("with facts", "bare").zipWithIndex
    if TestSettings.isLong || n % 2 == turn || what == Hostile.head._1
    substitute <- Seq(false, true)
    if substitute == (kept == "bare") || (TestSettings.isLong && what.startsWith("variables"))
    form = kept + (if (what.startsWith("variables")) s", spark.sql.variable.substitute=$substitute" else "")
  } test(s"a stored expression with $what, $form: nothing of it happens, and rows are right") {
    if (what.startsWith("variables")) spark.conf.set("spark.sql.variable.substitute", substitute)
    try
      planted {
        val path = if (kept == "bare") ColumnExpression(sql).path else ColumnExpression(sql, Facts).path
        val (table, cut) = forged(Seq(path), pending = kept == "bare")
        val told = used(table, cut)
        quiet(table, told)
        // What looks like a variable is a text.
        val stays = what.startsWith("variables")
        assert(new ForgedIndex(table).version.properties("column.specs").contains(sql.take(20)) === stays)
        assert(told.contains("is dropped: ") !== stays)
        if (stays && kept != "bare") assert(told.contains("\"least\":\"${"), "it was evaluated by no update")
      }
    finally spark.conf.unset("spark.sql.variable.substitute")
  }

  Trees.foreach { case (what, tree) =>
    test(s"a stored tree with $what is dropped with its index by the update, and rows are right") {
      planted {
        val path = ColumnExpression(tree, FactsOfTree).path
        val (table, cut) = forged(Seq(path, Good))
        val told = used(table, cut)
        quiet(table, told)
        val specs = new ForgedIndex(table).version.properties("column.specs")
        assert(!specs.contains(tree.take(30)) && specs.contains("upper"), specs)
        assert(told.contains("is dropped: "))
      }
    }
  }

  Seq(
    "as it is" -> """concat("rider", cast[string](cast[decimal(10,2)]([string]"1E-300000000")))""",
    "computed" -> """concat("rider", cast[string](decimal(concat([string]"1E-3", [string]"00000000"))))"""
  ).foreach { case (how, tree) =>
    test(s"a number with digits without end, $how, in a stored tree is worked out by nobody, and rows are right") {
      val path = ColumnExpression(tree, FactsOfTree).path
      val (table, cut) = forged(Seq(path, Good), pending = true)
      used(table, cut)
      val context = TableContext.load(ColumnFaultSuite.access, table)
      val of = new SparkExpressions(spark).of(context.config, context.schema())
      assert(of.evaluated(path).left.exists(_.contains("three digits of an exponent")))
    }
  }

  test("stored indexes with options that their kinds do not take are dropped by the update, and rows are right") {
    val (table, cut) = forged(Seq(ColumnExpression("upper(\"rider\")", FactsOfTree).path))
    new ForgedIndex(table).change { p =>
      p.updated("column.specs", p("column.specs") + ";bloom(rider,fpp=2);values(rider,most=-1);bloom(rider,n)")
    }
    used(table, cut)
    val specs = new ForgedIndex(table).version.properties("column.specs")
    assert(specs.contains("upper") && Seq("fpp", "most", "bloom").forall(!specs.contains(_)), specs)
  }

  Seq("column.specs", "column.pending").foreach { property =>
    test(s"an index that $property names twice is made once by the update, and rows are right") {
      val (table, cut) = forged(Seq(ColumnExpression("upper(\"rider\")", FactsOfTree).path))
      val twice = "bloom(rider);values(rider);bloom(rider,fpp=0.001);range(n,qty);range(n);values(rider)"
      new ForgedIndex(table).change(p => p ++ Map("column.specs" -> twice, property -> twice))
      used(table, cut)
      assert(
        new ForgedIndex(table).version
          .properties("column.specs") === "range(n,qty);bloom(rider,fpp=0.001);values(rider)"
      )
    }
  }

  Seq("nothing", "another commit").foreach { taken =>
    test(s"an index of an earlier build, which lacks facts of today, is made anew by the update that takes in $taken") {
      val table = Fixtures.copy("v9-cow-part")
      val cut = new TimelineCut(table)
      cut.showFirst(cut.size - 2)
      api(table).create()
      api(table).addColumns("range(n);range(`=upper(rider)`,`=n * 2`);bloom(`=lower(rider)`)", wait = true)
      new ForgedIndex(table).change(_.map { case (name, text) => name -> text.replaceAll("; locale=[a-z]+", "") })
      val where = Seq("upper(rider) = 'NONE'", "lower(rider) = 'none'", "n * 2 > 100000")
      def helps: Seq[Boolean] = where.map { w =>
        val found = read(table).where(w)
        assert(rows(found) === rows(read(table, off).where(w)), w)
        skipped(found) > 0
      }
      assert(helps === Seq(false, false, true), "nobody knows in which locale it was made")
      if (taken != "nothing") cut.showAll()
      val lines = LogLines.of(Level.WARN)(api(table).update())
      assert(helps === Seq(true, true, true))
      assert(lines.filter(_.contains("is made anew: an earlier build")).distinct.size === 2, lines)
      val properties = new ForgedIndex(table).version.properties
      assert(!properties.contains("column.pending") && properties("column.specs").split("locale=").length === 3)
      val number = new ForgedIndex(table).version.number
      api(table).update()
      assert(new ForgedIndex(table).version.number === number)
      assert(api(table).verifyParts(record = false, columns = true, 2, null).contains("\"ok\":true"))
    }
  }

  Vector(
    "spark.sql.catalog.lake" -> "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog",
    "spark.sql.extensions" -> "hudiidx.spark.prune.LoadedByName$",
    "zone" -> "$[system:hudiidx.test.secret]",
    "zone" -> "Nowhere/Nothing",
    "spark.sql.legacy.timeParserPolicy" -> "NEITHER",
    "spark.sql.legacy.nothing" -> "true",
    "spark.sql.ansi.enabled" -> "$[env:HOME]",
    "java" -> "many"
  ).foreach { case (name, value) =>
    test(s"a stored fact $name=$value is set nowhere, and its index is not evaluated") {
      planted {
        val facts = Facts.filterNot(_._1 == name) :+ (name -> value.replace('[', '{').replace(']', '}'))
        val (table, cut) =
          forged(Seq("`=upper(rider)" + facts.map { case (k, v) => s"$k=$v" }.mkString(" {", "; ", "}`")))
        quiet(table, used(table, cut))
        assert(!spark.conf.getOption(name).contains(value))
        intercept[InvalidOption](ExpressionFacts.conf(facts))
      }
    }
  }

  test("recorded scans are filters of columns: what else they hold is passed over, and nothing of it happens") {
    planted {
      val table = Fixtures.copy("v9-cow-part")
      api(table).create()
      val folder = Files.createDirectories(new ForgedIndex(table).folder.resolve("scans"))
      val always = Hostile.filter(h => h._1.contains("identifier") || h._1.contains("class"))
      val filters = (TestSettings.some(4)(Hostile) ++ always).distinct.map(h => Seq(s"(length(${h._2}) > 0)")) :+ Seq(
        "(qty > 41)",
        "(rider IS NOT NULL)"
      ) :+
        Seq(s"rider = '$${system:hudiidx.test.secret}'") :+ Seq("true") :+ Seq.empty[String]
      filters.zipWithIndex.foreach { case (all, n) =>
        val record = ScanRecord(n.toLong, "as of a moment", all, Map.empty)
        Files.write(folder.resolve(f"$n%015d.0000000000.9$n.json"), record.encode)
      }
      val told = api(table).recommend(java.util.List.of(), 50)
      quiet(table, told)
      assert(told.contains("\"qty\""), told)
    }
  }

  test(
    "expressions that have too many parts together are refused where a person gives them, and dropped by the update"
  ) {
    def list(n: Int, of: String => String) = (0 until 900).map(i => of(s"$n-$i")).mkString(", ")
    val table = Fixtures.copy("v9-cow-part")
    api(table).create()
    val asked = Vector.tabulate(5)(n => ColumnExpression(s"rider IN (${list(n, t => s"'$t'")})").path)
    val refused = intercept[InvalidOption](api(table).addColumns(s"range(${asked.mkString(",")})", wait = true))
    assert(refused.getMessage.contains("more than the 4000"), refused.getMessage)
    assert(api(table).addColumns(s"range(${asked.take(4).mkString(",")})", wait = true).nonEmpty)
    val stored = Vector.tabulate(6) { n =>
      val texts = list(n, "[string]\"" + _ + "\"")
      ColumnExpression(s"""in("rider", $texts)""", FactsOfTree).path
    }
    val (other, cut) = forged(Good +: stored)
    used(other, cut)
    val specs = new ForgedIndex(other).version.properties("column.specs")
    assert(specs.contains("upper") && specs.contains("3-899") && !specs.contains("4-899"), specs.take(200))
  }

  Hostile.foreach { case (what, sql) =>
    test(s"an expression with $what is refused where a person gives it") {
      planted {
        val table = Fixtures.copy("v9-cow-part")
        api(table).create()
        // What looks like a variable is a text here: it is kept as it is.
        if (what.startsWith("variables")) assert(api(table).addColumns(s"range(`=$sql`)", wait = true).nonEmpty)
        else intercept[InvalidOption](api(table).addColumns(s"range(${ColumnExpression(sql).path})", wait = true))
        quiet(table, api(table).info())
      }
    }
  }

  test(
    "a function of the session under the name of one of Spark's is refused where a person gives it, and not called for what is stored"
  ) {
    planted {
      val table = Fixtures.copy("v9-cow-part")
      api(table).create()
      api(table).addColumns("upper(rider)", wait = true)
      val session = spark.newSession()
      session.udf.register("upper", { (s: String) => calls.incrementAndGet(); s })
      val other = new HudiIdxApi(session, table, new java.util.HashMap[String, String]())
      val refused = intercept[InvalidOption](other.addColumns("length(upper(rider))", wait = true))
      assert(refused.getMessage.contains("upper is a user's function"))
      val made = new SparkExpressionsOf(session, table).evaluated(
        new ForgedIndex(table).version.properties("column.index.range")
      )
      assert(made.isRight && calls.get === 0)
      val found = session.read.format("hudiidx").load(table).where("upper(rider) = 'nobody'")
      // Spark 4.2 finds its own function first.
      val isUsers = session.sql("SELECT upper('a')").head().getString(0) == "a"
      assert((skipped(found) == 0) === isUsers)
    }
  }

  test("what indexes of the first form keep goes through the same gate, and helps as it did") {
    val table = Fixtures.copy("v9-cow-part")
    api(table).create()
    api(table).addColumns("range(`=n + qty`)", wait = true)
    val index = new ForgedIndex(table)
    val tree = index.version.properties("column.index.range")
    val of = new ExpressionResolver(spark, read(table).schema)
    val found = of.kept(ColumnExpression.of(tree).get, spark.sessionState.conf)
    val old = ColumnExpression(
      found.analyzed.sql,
      found.facts(spark.sessionState.conf).map {
        case (ColumnExpression.Form, _) => ColumnExpression.Form -> "1"
        case other                      => other
      }
    )
    assert(old.tree.isEmpty)
    assert(of.kept(old, spark.sessionState.conf).meaning === found.meaning)
    assert(new SparkExpressionsOf(spark, table).evaluated(old.path).isRight)
    val known = Vector(old.path)
    assert(new SparkExpressionsOf(spark, table).resolved("qty+n", known) === old.path)
  }
}

object StoredExpressionsSuite {
  private val calls = new AtomicLong
  private val Secrets = Vector("hush-19f2c7d5", "opened", sys.env("PATH").take(24))

  /** Of this process: an expression with others is evaluated by nobody. */
  private val Facts = Vector(
    "v" -> "1",
    "types" -> "string",
    "spark" -> ForgedText.Release,
    "java" -> Runtime.version().feature().toString
  )
  private val FactsOfTree = ("v" -> "2") +: Facts.tail
  private val Good = ColumnExpression("upper(\"rider\")", FactsOfTree).path

  /** Of the column rider. */
  private val Hostile: Vector[(String, String)] = Vector(
    // Bounds have 64 bytes of it, reports 40 letters.
    "variables of the process" -> s"concat('$${system:hudiidx.test.secret}/$${env:PATH}/', rider)",
    "variables of its surroundings" -> s"concat('$${env:PATH}', rider)",
    "the session's user" -> "concat(current_user(), rider)",
    "an identifier made at run time" -> "IDENTIFIER('reflect')('hudiidx.spark.prune.LoadedByName$', 'hashCode', rider)",
    "a function of the session by an identifier" -> "IDENTIFIER('decrypt')(rider)",
    "a function of the session" -> "decrypt(rider)",
    "a class by its name" -> "java_method('hudiidx.spark.prune.LoadedByName$', 'hashCode', rider)",
    "a query" -> "concat(rider, (SELECT max(value) FROM text.`/etc/hostname`))",
    "a name of the file" -> "concat(rider, input_file_name())",
    "a function of functions" -> "aggregate(array(rider), '', (a, b) -> concat(a, b))",
    "very many copies" -> "repeat(rider, 200000000)",
    "a very long constant made" -> "concat(rider, repeat('a', 2000000000))",
    "copies of copies" -> "repeat(repeat(repeat(rider, 999), 999), 999)",
    "a very wide format" -> "format_string('%2000000000s', rider)",
    "very many parentheses" -> ("(" * 6000 + "upper(rider)" + ")" * 6000),
    "very many signs" -> ("length(rider) + " + "- " * 7000 + "1"),
    "very many negations" -> ("NOT " * 3000 + "rider = 'a'"),
    "a very long list" -> ("rider IN (" + "'a'," * 3000 + "'b')"),
    "a text of the moment" -> "datediff('today', rider)",
    "a constant of the moment" -> "datediff(DATE'today', rider)",
    "a very long text" -> ("concat(rider, '" + "a" * 20000 + "')"),
    "a pattern that never ends, of no column" -> s"concat(rider, string(rlike('${"a" * 40}', '(.*a){25}b')))",
    "a pattern that never ends on values" -> s"string(rider LIKE '${"%a" * 15}%b') || rider",
    "a pattern that gives more than it reads" -> "regexp_replace(rider, '(?=(.*))', '$1')",
    "a number with digits without end" -> "concat(rider, string(cast('1E-300000000' as decimal(10,2))))",
    "parts that double at each level" -> (0 until 24).foldLeft("rider")((x, i) => s"nullif($x, '$i')")
  )

  private def nested(n: Int): String = "upper(" * n + "\"rider\"" + ")" * n

  private val Trees: Vector[(String, String)] = Vector(
    "a function that loads classes" -> "reflect([string]\"hudiidx.spark.prune.LoadedByName$\", [string]\"hashCode\", \"rider\")",
    "a function of the session" -> "decrypt(\"rider\")",
    "a function of the moment" -> "concat(current_user(), \"rider\")",
    "SQL" -> s"concat(rider, '$${system:hudiidx.test.secret}')",
    "too many copies" -> "repeat(\"rider\", [int]\"200000000\")",
    "a number of copies that a row tells" -> "repeat(\"rider\", length(\"rider\"))",
    "too great a depth" -> nested(6000),
    "a depth just beyond the bound" -> nested(64),
    "too great a length" -> ("concat(" + "\"rider\", " * 3000 + "\"rider\")"),
    "an unknown type" -> "cast[array<string>](\"rider\")",
    "a constant that is not of its type" -> "concat([int]\"many\", \"rider\")",
    "a text of the moment" -> "datediff(cast[date]([string]\"today\"), cast[date](\"rider\"))",
    "a text that Spark casts to the moment" -> "datediff(concat([string]\"to\", [string]\"day\"), \"rider\")",
    "a column that is gone" -> "lower(\"ridr\")",
    "a pattern that never ends, of no column" ->
      s"""concat("rider", string(rlike([string]"${"a" * 40}", [string]"(.*a){25}b")))""",
    "a pattern that never ends on values" -> s"""concat("rider", string(like("rider", [string]"${"%a" * 15}%b")))""",
    "parts that double at each level" -> (0 until 24).foldLeft("\"rider\"")((x, i) => s"""nullif($x, [string]"$i")"""),
    "another spelling than trees have" -> "upper( \"rider\")"
  )
}

/** What tasks and options ask of a session about one table's expressions. */
final private class SparkExpressionsOf(spark: org.apache.spark.sql.SparkSession, table: String) {
  private val context = hudiidx.sync.TableContext.load(hudiidx.engine.column.ColumnFaultSuite.access, table)
  private val of = new hudiidx.spark.SparkExpressions(spark)
    .of(context.config, context.schema())
  def evaluated(path: String): Either[String, hudiidx.engine.column.RowExpression] = of.evaluated(path)
  def resolved(sql: String, known: Vector[String]): String = of.resolved(sql, known)
}
