package hudiidx.spark.prune

import scala.util.Random

import hudiidx.NumberSites
import hudiidx.store.IndexVersion

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
      "spark" -> Seq(ForgedText.Release, "3.5", "4.0", "x"),
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
      "spark" -> ForgedText.Release,
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

private object ForgedText {

  /** Of this process: an expression with others is evaluated by nobody. */
  val Release: String = org.apache.spark.SPARK_VERSION.split('.').take(2).mkString(".")
}
