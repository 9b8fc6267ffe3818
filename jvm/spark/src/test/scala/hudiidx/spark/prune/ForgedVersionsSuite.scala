package hudiidx.spark.prune

import java.nio.file.{Files, Path, Paths}
import java.util.concurrent.ConcurrentLinkedQueue

import scala.collection.JavaConverters._
import scala.util.Random
import scala.util.hashing.MurmurHash3

import hudiidx.TestSettings.{isLong, seed}
import hudiidx.hadoop.TimelineCut
import hudiidx.hadoop.column.{ColumnFaultSuite, ColumnSettings}
import hudiidx.spark.api.HudiIdxApi
import hudiidx.spark.{ForgedIndex, SparkExpressions}
import hudiidx.store.IndexVersion
import hudiidx.sync.TableContext
import hudiidx.{Figures, Fixtures, HudiIdxException, NumberSites}
import org.apache.hadoop.fs.RawLocalFileSystem

/** Index versions with right checksums and made-up properties, expressions among them, under a process with secrets, functions, classes
  * and files of its own. HUDIIDX_FORGED_MINUTES is how long each of the two tests goes on, at least.
  */
final class ForgedVersionsSuite extends SkippingSuite {
  import ForgedVersionsSuite._

  private val rounds = if (isLong) 200 else 8
  private val minutes = sys.env.get("HUDIIDX_FORGED_MINUTES").fold(0.0)(_.toDouble)

  /** So many turns, and more until the time is over; how many there were. */
  private def turns(least: Int)(turn: Int => Unit): Int = {
    val until = System.nanoTime() + (minutes * 60e9).toLong
    var n = 0
    while (n < least || System.nanoTime() < until) {
      turn(n)
      n += 1
    }
    n
  }

  private def api(table: String): HudiIdxApi = new HudiIdxApi(spark, table, new java.util.HashMap[String, String]())

  private def filters(table: String): Vector[String] = Vector(
    s"n >= ${read(table, off).selectExpr("max(n)").head().get(0)}",
    "rider >= 'k' AND qty < 900",
    "upper(rider) = 'R7' OR n + qty > 50",
    "day IS NOT NULL AND fare > 2"
  )

  /** Java's first numbers of neighbouring seeds are alike. */
  private def drawing(n: Int): Random = new Random(MurmurHash3.orderedHash(Vector(seed, n.toLong)).toLong)

  /** As hudiidx would keep it; None for what it would refuse. */
  private def honest(table: String): String => Option[String] = {
    val context = TableContext.load(ColumnFaultSuite.access, table)
    val of = new SparkExpressions(spark).of(context.config, ColumnSettings.schemaOf(context))
    sql =>
      try Some(of.resolved(sql, Vector.empty))
      catch { case _: HudiIdxException => None }
  }

  private def guarded[A](body: => A): A = {
    System.setProperty(SecretName, Secret)
    spark.conf.set("spark.hadoop.fs.s3a.secret.key", Secret)
    spark.sparkContext.hadoopConfiguration.set("fs.tripwire.impl", classOf[TripwireFileSystem].getName)
    spark.udf.register("decrypt", { (s: String) => touch(); Secret + s })
    Touched.clear()
    val before = settings
    try {
      val done = body
      assert(settings === before)
      done
    } finally {
      System.clearProperty(SecretName)
      spark.conf.unset("spark.hadoop.fs.s3a.secret.key")
    }
  }

  /** All that a hostile version could set. */
  private def settings: (Map[String, String], Map[String, String]) =
    (spark.conf.getAll, System.getProperties.asScala.toMap.filterNot(_._1.startsWith("sun.")))

  private def untouched(told: Seq[String]): Unit = {
    assert(System.getProperty(LoadedByName.Mark) === null, "a class was loaded")
    Touched.asScala.foreach(e =>
      throw new AssertionError("a function of the session was called, or a file elsewhere looked at", e)
    )
    val path = sys.env("PATH")
    told.foreach(t => assert(!t.contains(Secret) && !t.contains(path), "a secret is told"))
  }

  test("whatever a version says of its expressions: no secret, class, file or setting is touched, and rows are right") {
    val table = Fixtures.copy("v9-cow-part")
    val cut = new TimelineCut(table)
    cut.showFirst(cut.size - 1)
    api(table).create()
    api(table).addColumns("range(n,qty);upper(rider);bloom(rider)", wait = true)
    cut.showAll()
    val index = new ForgedIndex(table)
    val kept = Paths.get(table + "-index")
    copy(index.folder, kept)
    val asked = filters(table)
    val keep = honest(table)
    val right = asked.map(f => rows(read(table, off).where(f)))
    val outside = filesBesides(table)
    var helped = 0
    val done = guarded {
      turns(rounds)(round =>
        withClue(s"HUDIIDX_TEST_SEED=$seed, round $round: ") {
          val drawn = new ForgedText(drawing(round), keep)
          restore(kept, index.folder)
          var written = Map.empty[String, String]
          index.change { of =>
            written = drawn.properties(of)
            written
          }
          withClue(s"$written: ") {
            val told = Vector.newBuilder[String]
            def looked(): Unit = asked.zip(right).foreach { case (f, expected) =>
              val found = read(table).where(f)
              assert(rows(found) === expected, f)
              helped += math.min(1, skipped(found))
            }
            def answered(work: => String): Unit = told += (
              try work
              catch { case e: HudiIdxException => e.toString }
            )
            looked()
            answered(api(table).info())
            answered(api(table).explain(read(table).where(asked(1))).toString)
            answered(api(table).recommend(java.util.List.of(), 5))
            answered(api(table).update())
            looked()
            answered(api(table).report())
            untouched(told.result() ++ index.bytes.map(_._2))
            assert(filesBesides(table) === outside): Unit
          }
        }
      )
    }
    Figures.add("forged versions of an index read and updated", done.toLong)
    assert(helped > 0)
    info(s"HUDIIDX_TEST_SEED=$seed, $done versions; $helped reads were helped by what was left of the index")
  }

  test(
    "whatever is stored as an expression: it is refused, or evaluated without touching a secret, class, file or setting"
  ) {
    val table = Fixtures.table("v9-cow-part")
    val keep = honest(table)
    val context = TableContext.load(ColumnFaultSuite.access, table)
    val of = new SparkExpressions(spark).of(context.config, ColumnSettings.schemaOf(context))
    val resolver = new ExpressionResolver(spark, read(table).schema)
    var made = 0
    val cases = guarded {
      turns(rounds * 40) { n =>
        val path = new ForgedText(drawing(n), keep).path
        withClue(s"HUDIIDX_TEST_SEED=$seed, $n, ${path.take(2000)}: ") {
          val refused = of.refusal(path)
          val evaluated = of.evaluated(path)
          if (evaluated.isRight) made += 1
          assert(refused.isEmpty || evaluated.isLeft)
          new IndexedExpressions(resolver, spark.sessionState.conf.clone(), Vector(path), mixes = false)
            .mayKnow("rider")
          untouched(refused.toVector ++ evaluated.left.toOption ++ evaluated.toOption.map(_.toString))
        }
      }
    }
    Figures.add("stored expressions judged", cases.toLong)
    info(s"$made of $cases could be evaluated")
    assert(made > cases / 200 && made < cases)
  }

  private def copy(from: Path, to: Path): Unit = Fixtures.filesBelow(from.toString).foreach { f =>
    Files.createDirectories(to.resolve(f).getParent)
    Files.copy(from.resolve(f), to.resolve(f)): Unit
  }

  private def restore(from: Path, to: Path): Unit = {
    Fixtures.filesBelow(to.toString).foreach(f => Files.delete(to.resolve(f)))
    copy(from, to)
  }

  /** Names and sizes of what is beside the index: the table's files and those of the folder around it that are its. */
  private def filesBesides(table: String): Vector[(String, Long)] =
    Fixtures
      .filesBelow(table)
      .toVector
      .filterNot(_.startsWith(".hoodie/hudiidx/"))
      .map(f => f -> Files.size(Paths.get(table, f)))
}

object ForgedVersionsSuite {
  val SecretName = "hudiidx.test.forged.secret"
  private val Secret = "hush-77aa-1f0e9b"

  /** Calls of functions of the session, and looks at files of the tripwire. */
  private val Touched = new ConcurrentLinkedQueue[Throwable]
  private[prune] def touch(): Unit = Touched.add(new Throwable("here")): Unit
}

/** A file system whose use is counted. */
final class TripwireFileSystem extends RawLocalFileSystem {
  ForgedVersionsSuite.touch()
  override def getScheme: String = "tripwire"
}

/** Draws what a version may say of its columns, in part as hudiidx writes it.
  *
  *  @param honest what hudiidx keeps of SQL
  */
final private class ForgedText(drawn: Random, honest: String => Option[String]) {
  private def one[A](all: Seq[A]): A = all(drawn.nextInt(all.size))
  private def chance(oneOf: Int): Boolean = drawn.nextInt(oneOf) == 0

  private val columns = Vector("rider", "n", "qty", "fare", "day", "city", "_hoodie_record_key", "nope", "ts")
  private val loaded = "hudiidx.spark.prune.LoadedByName$"
  private val hostileTexts = Vector(
    s"$${env:PATH}",
    s"$${system:${ForgedVersionsSuite.SecretName}}",
    s"$${hiveconf:spark.hadoop.fs.s3a.secret.key}",
    s"$${spark.hadoop.fs.s3a.secret.key}",
    loaded,
    "tripwire:///etc/passwd",
    "x" * 5000,
    "%999999999s",
    "((((((((((((((((((((((((a+)+)+)+)+)+)+)+)+$",
    "(.*a){25}b",
    "(?=(.*))",
    "%a" * 15 + "%b",
    "a" * 40,
    "$1$1$1",
    "\u0000\u001b[31m\n",
    "yyyy-MM",
    "",
    "a"
  )
  private val hostileCalls = Vector[String => String](
    x => s"IDENTIFIER('reflect')('$loaded', 'hashCode', $x)",
    x => s"reflect('$loaded', 'hashCode', $x)",
    x => s"java_method('$loaded', 'hashCode', $x)",
    x => s"IDENTIFIER('decrypt')($x)",
    x => s"decrypt($x)",
    x => s"default.decrypt($x)",
    x => s"`decrypt`($x)",
    x => s"IDENTIFIER(concat('decr', 'ypt'))($x)",
    x => s"(SELECT max(value) FROM text.`tripwire:///etc/passwd` WHERE value <> $x)",
    x => s"$x IN (SELECT value FROM text.`tripwire:///etc/passwd`)",
    x => s"EXISTS (SELECT 1 FROM text.`tripwire:///x`)",
    x => s"transform(array($x), y -> decrypt(y))[0]",
    x => s"aggregate(array($x), '', (a, b) -> concat(a, b))",
    x => s"concat($x, current_user())",
    x => s"concat($x, input_file_name(), current_catalog, session_user)",
    x => s"repeat($x, ${one(Seq(3, 200000000, -1, 2147483647))})",
    x => s"concat($x, repeat('a', 2000000000))",
    x => s"space(2000000000) || $x",
    x => s"lpad($x, 2000000000, 'x')",
    x => s"format_string('%1$$2000000000s', $x)",
    x => s"array_join(sequence(0, 2000000000), $x)",
    x => s"round(fare, 2000000000) + length($x)",
    x => s"xpath_string($x, '/a')",
    x => s"from_json($x, 'a int').a",
    x => s"raise_error($x)",
    x => s"CAST($x AS ARRAY<STRING>)[0]",
    x => s"get_json_object($x, '$$.a.b')",
    x => s":name || $x",
    x => s"? || $x",
    x => "(" * one(Seq(10, 70, 6000)) + x + ")" * one(Seq(10, 70, 6000)),
    x => "- " * one(Seq(3, 4000)) + s"length($x)",
    x => "NOT " * 3000 + s"$x = 'a'",
    x => "upper(" * one(Seq(5, 70, 1000)) + x + ")" * one(Seq(5, 70, 1000)),
    x => s"CASE WHEN $x = 'a' THEN $x ELSE rand() END",
    x => s"sum($x) OVER ()",
    x => s"unix_timestamp() + length($x)",
    x => s"upper(DISTINCT $x)",
    x => s"concat($x, string(rlike('${"a" * 40}', '(.*a){25}b')))",
    x => s"rlike(concat($x, '${"a" * 40}'), '${one(Seq("(.*a){25}b", "(a|aa)*b", "(a?){25}a{25}", "^a"))}')",
    x => s"concat($x, '${"a" * 40}') LIKE '${one(Seq("%a" * 15 + "%b", "%a%", "a%b"))}'",
    x => s"regexp_replace(regexp_replace($x, '(?=(.*))', '$$1'), '(?=(.*))', '$$1')",
    x => s"size(regexp_extract_all($x, '(?=(.*))', 1))",
    x => s"split($x, '(a+)+b')[0]",
    x => (0 until one(Seq(2, 9, 30))).foldLeft(x)((in, i) => s"nullif($in, '$i')"),
    x => (0 until one(Seq(2, 9, 30))).foldLeft(x)((in, i) => s"regexp_substr($in, 'a$i')"),
    x => (0 until 30).foldLeft(x)((in, i) => s"if($x = '$i', '$i', $in)")
  )
  private val plainCalls = Vector[String => String](
    x => s"upper($x)",
    x => s"length($x)",
    x => s"concat($x, '-', $x)",
    x => s"substring($x, 1, 3)",
    x => s"CAST($x AS STRING)",
    x => s"coalesce($x, 'z')",
    x => s"n + qty * 2",
    x => s"date_format(day, 'yyyy-MM')",
    x => s"split($x, '-')[0]",
    x => s"CASE WHEN n > 3 THEN $x ELSE 'q' END"
  )

  private lazy val registered: Vector[String] = {
    val registry = org.apache.spark.sql.catalyst.analysis.FunctionRegistry.builtin
    registry.listFunction().map(_.funcName).toVector.sorted
  }

  private def text: String = if (chance(3)) one(hostileTexts) else "k" + drawn.nextInt(9)

  def sql(depth: Int): String =
    if (depth == 0)
      one(
        Seq(
          one(columns),
          s"'${text.replace("\\", "\\\\").replace("'", "\\'")}'",
          drawn.nextInt().toString,
          "DATE'2024-01-01'"
        )
      )
    else
      one(Seq(one(plainCalls), one(plainCalls), one(hostileCalls), (x: String) => s"${one(registered)}($x)"))(
        sql(depth - 1)
      )

  private def quoted(t: String): String =
    "\"" + t
      .replace("\\", "\\\\")
      .replace("\"", "\\\"")
      .map(c => if (Character.isISOControl(c)) f"\\u${c.toInt}%04x" else c.toString)
      .mkString + "\""

  def tree(depth: Int): String =
    if (depth == 0)
      one(
        Seq(
          quoted(one(columns)),
          quoted(one(columns)),
          s"[string]${quoted(text)}",
          s"[int]${quoted(drawn.nextInt(2000000000).toString)}",
          s"[${one(Types)}]${quoted(text)}"
        )
      )
    else if (chance(6)) s"cast[${one(Types)}](${tree(depth - 1)})"
    else {
      val name = one(
        Seq(
          one(registered),
          one(registered),
          one(
            Seq(
              "upper",
              "concat",
              "length",
              "coalesce",
              "substring",
              "decrypt",
              "in",
              "[]",
              "+",
              "nullif",
              "rlike",
              "like",
              "split"
            )
          )
        )
      )
      s"$name(${Vector.fill(1 + drawn.nextInt(3))(tree(depth - 1)).mkString(", ")})"
    }

  private val Types = Vector(
    "string",
    "int",
    "bigint",
    "date",
    "timestamp",
    "decimal(5,2)",
    "decimal(99,1)",
    "array<string>",
    "interval",
    "",
    "udt"
  )

  /** A character more, or one less. */
  private def blurred(t: String): String =
    if (!chance(5) || t.isEmpty) t
    else {
      val at = drawn.nextInt(t.length)
      one(
        Seq(
          t.patch(at, "", 1),
          t.patch(at, one(Seq("`", "\"", "{", "}", ";", ",", "\n", "$", "(", "\u0000")), 0),
          t.take(at)
        )
      )
    }

  private def facts: String = {
    val names = Vector(
      "v" -> Seq("1", "2", "2", "3", "", "x"),
      "types" -> Seq("string", "int", "string bigint", "", "x" * 20000),
      "spark" -> Seq("3.5", "4.0", "x"),
      "java" -> Seq(Runtime.version().feature().toString, "999999999999999999999"),
      "zone" -> Seq("UTC", "Europe/Berlin", s"$${env:PATH}", "../../etc/passwd", "x" * 5000),
      "spark.sql.ansi.enabled" -> Seq("true", "maybe", s"$${env:PATH}"),
      "spark.sql.legacy.timeParserPolicy" -> Seq("LEGACY", loaded),
      "spark.sql.catalog.lake" -> Seq(loaded),
      "spark.sql.extensions" -> Seq(loaded),
      "spark.sql.warehouse.dir" -> Seq("tripwire:///x"),
      "spark.sql.session.timeZone" -> Seq("Asia/Tokyo"),
      s"$${env:PATH}" -> Seq("true")
    )
    val usual = Vector(
      "v" -> one(Seq("1", "2")),
      "types" -> one(Seq("string", "int", "int string")),
      "spark" -> "3.5",
      "java" -> Runtime.version().feature().toString
    )
    val more = Vector.fill(drawn.nextInt(3))(one(names)).map { case (k, all) => k -> one(all) }
    (if (chance(8)) more else usual ++ more).map { case (k, v) => s"$k=$v" }.mkString(" {", "; ", "}")
  }

  def path: String = {
    val depth = drawn.nextInt(4)
    val kept = if (chance(3)) honest(sql(depth)).filter(_ => !chance(5)) else None
    kept.getOrElse(made(depth))
  }

  private def made(depth: Int): String = {
    val inside = blurred(if (chance(2)) sql(depth) else tree(depth)) + (if (chance(6)) "" else facts)
    s"`=${inside.replace("`", "``")}`"
  }

  private def spec: String = {
    val kind = one(Seq("range", "range", "bloom", "values", "quadkey", "", "record"))
    val options = one(Seq("", "", ",fpp=0.001", ",fpp=2", ",most=999999999999", ",most=-1", s",x=$${env:PATH}"))
    blurred(s"$kind(${Vector.fill(1 + drawn.nextInt(3))(if (chance(4)) one(columns) else path).mkString(",")}$options)")
  }

  /** Of a version that has an honest index. */
  def properties(of: Map[String, String]): Map[String, String] = {
    val paths = Vector.fill(1 + drawn.nextInt(4))(path.replace("\n", ""))
    def specs = Vector.fill(1 + drawn.nextInt(4))(spec).mkString(one(Seq(";", ";", ",")))
    val given = Map(
      "column.specs" -> one(
        Seq(of("column.specs") + s";range(${paths.mkString(",")})", specs, of("column.specs") + ";" + specs)
      ),
      "column.index.range" -> (of("column.index.range") + "\n" + paths.mkString("\n"))
    )
    val pending =
      if (chance(2)) Map("column.pending" -> one(Seq(specs, s"range(${paths.mkString(",")})"))) else Map.empty
    val others = Vector.fill(drawn.nextInt(3))(
      one(
        Seq(
          "column.index.bloom" -> paths.mkString("\n"),
          "column.index.quadkey" -> paths.mkString(", "),
          "symlink.path" -> "tripwire:///elsewhere",
          "symlink.path" -> "../../..",
          "hudiidx.index.path" -> "tripwire:///elsewhere",
          s"$${env:PATH}" -> s"$${env:PATH}"
        )
      )
    )
    def forged: Map[String, String] = {
      val names = (IndexVersion.Numbers.keySet ++ IndexVersion.Words.keySet).toVector.sorted
      Map(one(names) -> one(NumberSites.hostile))
    }
    of ++ given ++ pending ++ others ++ (if (chance(4)) forged else Map.empty)
  }
}
