package hudiidx.spark.prune

import java.nio.file.{Files, Path, Paths}

import com.fasterxml.jackson.databind.ObjectMapper
import hudiidx.TestSettings.{isLong, seed}
import hudiidx.engine.TimelineCut
import hudiidx.spark.api.HudiIdxApi
import hudiidx.{Fixtures, InvalidOption}

/** Indexes on expressions of columns, on tables that stock Hudi wrote. */
final class ExpressionIndexSuite extends SkippingSuite {
  import ExpressionIndexSuite._

  private val json = new ObjectMapper()

  private def api(table: String): HudiIdxApi = new HudiIdxApi(spark, table, new java.util.HashMap[String, String]())

  private def indexed(name: String, specs: String): String = {
    val table = Fixtures.copy(name)
    api(table).create()
    api(table).addColumns(specs, wait = true)
    table
  }

  private def same(table: String, where: String): Int = withClue(s"$where: ") {
    val found = read(table).where(where)
    assert(rows(found) === rows(read(table, off).where(where)))
    skipped(found)
  }

  /** Values of an expression in the table, as SQL; the least and the greatest first. */
  private def values(table: String, sql: String): Vector[String] = {
    val all = read(table, off).selectExpr(s"$sql AS v").distinct().where("v IS NOT NULL").selectExpr("v").orderBy("v")
    val t = all.schema.head.dataType.sql
    val texts = all.selectExpr("CAST(v AS STRING)").collect().map(_.getString(0)).toVector
    val some = (texts.take(1) ++ texts.takeRight(1) ++ texts.grouped(texts.size / 3 + 1).map(_.last)).distinct
    some.map(v => s"CAST('${v.replace("\\", "\\\\").replace("'", "\\'")}' AS $t)")
  }

  (if (isLong) Tables ++ More else Tables).foreach { case (name, all) =>
    test(s"$name: rows are the same with indexes on expressions and without") {
      val expressions = if (isLong) all else all.take(2)
      val kinds = Vector("range", "bloom", "values")
      val table = indexed(name, expressions.flatMap(e => kinds.map(k => s"$k(`=$e`)")).mkString(";"))
      info(s"HUDIIDX_TEST_SEED=$seed")
      var left = 0
      expressions.zipWithIndex.foreach { case (e, n) =>
        val seen = values(table, e)
        val forms = Vector(s"$e IS NULL", s"$e IS NOT NULL AND n > 50") ++ seen.flatMap { v =>
          Vector(s"$e = $v", s"$e > $v", s"$v >= $e OR n IS NULL", s"$e <> $v AND $e IN ($v, ${seen.last})")
        }
        val many = if (isLong) forms.size else 3
        (0 until many).foreach { i =>
          val at = Math.floorMod(seed + n * 31 + i * 7, forms.size.toLong).toInt
          left += same(table, if (i == 0) s"$e = ${seen.lastOption.getOrElse("NULL")}" else forms(at))
        }
      }
      info(s"$left partitions and files left out")
      if (MustHelp(name)) assert(left > 0)
    }
  }

  for {
    (name, i) <- Vector("v9-cow-part", "v9-mor-part", "v6-mor-part").zipWithIndex
    ((sql, forms), n) <- Forms.zipWithIndex if isLong || n % 6 == i
  } test(s"$name: files that an index on $sql leaves out are not needed") {
    val table = indexed(name, s"range(`=$sql`)")
    val top = read(table, off).selectExpr(s"CAST(max($sql) AS STRING)").head().getString(0)
    forms.map(_.replace("$v", top)).foreach { where =>
      withClue(s"$where: ") {
        val whole = rows(read(table, off).where(where))
        val other = indexed(name, s"range(`=$sql`)")
        val found = read(other).where(where)
        assert(whole.nonEmpty && skipped(found) > 0, found.queryExecution.optimizedPlan)
        val kept = scanOf(found).get.slices.flatMap(s => s.baseFile.map(_.fileName) ++ s.logFiles.map(_.fileName)).toSet
        dataFiles(other).filterNot(f => kept(f.getFileName.toString)).foreach(f => Files.delete(f))
        assert(rows(read(other).where(where)) === whole)
      }
    }
  }

  Vector("bloom", "values").foreach { kind =>
    test(s"kind $kind of an expression leaves out files that bounds keep") {
      val sql = "(n * 37) % 1009"
      val table = indexed("v9-cow-part", s"$kind(`=$sql`${if (kind == "values") ",most=500" else ""})")
      val left = values(table, sql).map(v => same(table, s"$sql = $v")).sum
      assert(left > 0)
    }
  }

  private def dataFiles(table: String): Vector[Path] = Fixtures
    .filesBelow(table)
    .filter(f => !f.startsWith(".hoodie/") && (f.endsWith(".parquet") || f.contains(".log.")))
    .map(f => Paths.get(table, f))

  private val Month = "date_format(timestamp_seconds(n * 2000000), 'yyyy-MM')"

  test("in another time zone an index on a time leaves nothing out and says why; new files keep the index's zone") {
    val table = Fixtures.copy("v6-no-mdt-cow")
    val cut = new TimelineCut(table)
    cut.showFirst(cut.size / 2)
    api(table).create()
    api(table).addColumns(s"range(`=$Month`)", wait = true)
    cut.showAll()
    val top = read(table, off).selectExpr(s"max($Month)").head().getString(0)
    val stale = same(table, s"$Month = '$top'")
    inZone("Asia/Tokyo") {
      assert(same(table, s"$Month = '$top'") === 0)
      val told = json.readTree(api(table).explain(read(table).where(s"$Month = '$top'")).toString).get(0)
      assert(told.get("columns").toString.contains(s"time zone $zone, here it is Asia/Tokyo"), told)
      api(table).update()
      assert(same(table, s"$Month = '$top'") === 0)
    }
    assert(same(table, s"$Month = '$top'") > stale)
    inZone("Asia/Tokyo") {
      api(table).addColumns(s"range(`=$Month`)", wait = true)
      assert(same(table, s"$Month = '$top'") > 0)
    }
    assert(same(table, s"$Month = '$top'") > 0 && shown(table).size === 1)
  }

  /** What is indexed, as Spark writes it. */
  private def shown(table: String): Vector[String] = {
    val columns = json.readTree(api(table).info()).get("columns")
    (0 until columns.size).toVector.flatMap { i =>
      val names = columns.get(i).get("columns")
      (0 until names.size).map(names.get(_).asText)
    }
  }

  test("an index is added once and dropped in any spelling, in any session; till the end rows are the same") {
    val table = indexed("v9-cow-part", "range(`=n + qty`)")
    val version = json.readTree(api(table).info()).get("index_version").asInt
    api(table).addColumns("range(`=qty+n`);YEAR(day)", wait = true)
    assert(shown(table).size === 2 && json.readTree(api(table).info()).get("index_version").asInt > version)
    val top = read(table, off).selectExpr("max(n + qty)").head().getLong(0)
    assert(same(table, s"qty + n = $top") > 0)
    api(table).dropColumns("any(`=extract(year FROM day)`)")
    assert(shown(table).size === 1)
    inZone("Asia/Tokyo")(api(table).dropColumns("any(`=QTY + N`)"))
    assert(shown(table).isEmpty && same(table, s"qty + n = $top") === 0)
  }

  test(
    "an index made again after its files are damaged has its expressions; what is only noted is made by the update"
  ) {
    val table = indexed("v9-cow-part", "range(`=n + qty`)")
    val folder = Paths.get(table, ".hoodie", "hudiidx")
    Fixtures
      .filesBelow(folder.toString)
      .filter(_.contains("column_stats"))
      .foreach(f => Files.delete(folder.resolve(f)))
    val top = read(table, off).selectExpr("max(n + qty)").head().getLong(0)
    assert(same(table, s"n + qty = $top") === 0)
    api(table).noteColumns("range(`=upper(rider)`)")
    api(table).create()
    assert(same(table, s"n + qty = $top") > 0)
    api(table).noteColumns("range(`=upper(rider)`)")
    api(table).update()
    assert(!api(table).info().contains("\"pending\":true"))
  }

  test("rows merged of a base file and of partial updates: an expression of several columns leaves none of them out") {
    (if (isLong) Vector("v9-partial-updates", "v8-partial-updates") else Vector("v9-partial-updates")).foreach { name =>
      val table = indexed(name, "range(`=n + qty`);range(`=qty * 2`)")
      Vector("n + qty", "qty * 2").foreach { e =>
        val all =
          read(table, off).selectExpr(s"CAST($e AS STRING)").distinct().collect().map(_.getString(0)).filter(_ != null)
        all.sorted.take(if (isLong) 200 else 3).foreach(v => same(table, s"$e = $v"))
      }
      val known = spark.read.format("hudiidx").option("view", "column_stats").load(table).where("column LIKE '%n + %'")
      val logs = known.where("file_name LIKE '.%'").count()
      assert(
        known.count() > 0 && logs < spark.read
          .format("hudiidx")
          .option("view", "files")
          .load(table)
          .where("file_name LIKE '.%'")
          .count()
      )
    }
  }

  test("an expression of nothing that lasts, or of no order, is refused, and the index stays as it is") {
    val table = indexed("v9-cow-part", "range(`=n + qty`)")
    val before = api(table).info()
    Vector("rand() * n", "datediff(current_date(), day)", "array(n)", "nope + 1").foreach { e =>
      intercept[InvalidOption](api(table).addColumns(s"range(`=$e`)", wait = true))
    }
    intercept[InvalidOption](api(table).addColumns("bloom(`=n + 1`,`=n + 2`)", wait = true))
    assert(json.readTree(before).get("columns") === json.readTree(api(table).info()).get("columns"))
  }
}

object ExpressionIndexSuite {
  private val Simple =
    Vector(
      "n + qty",
      "upper(rider)",
      "date_format(day, 'yyyy-MM')",
      "CAST(fare AS STRING)",
      "(n % 7 > qty % 5)"
    )

  /** Tables, with expressions of their columns. */
  private val Tables: Vector[(String, Vector[String])] = Vector(
    "v9-cow-part" -> Simple,
    "v9-mor-part" -> Simple.reverse,
    "v9-cow-evolution" -> Vector("qty * 2", "upper(st.b)", "coalesce(note, rider)", "f / 2", "year(st.c)"),
    "v9-mor-types" -> Vector(
      "CAST(c_float AS STRING)",
      "c_dec18 - c_dec5",
      "hour(c_tsmicros)",
      "c_struct.y.d + 1",
      "c_double / 2",
      "c_dec38 * 2",
      "length(c_uni)",
      "year(c_tsold)",
      "c_allnull_long + 1"
    ),
    "v6-virtual-mor" -> Vector("upper(rider)", "n + qty")
  )

  /** More tables, where time does not count. */
  private val More: Vector[(String, Vector[String])] = Vector(
    "v6-mor-part" -> Simple,
    "v9-mor-ordering" -> Simple,
    "v8-cow-complex" -> Vector("n + qty", "upper(rider)", "concat(region, '/', kind)")
  )
  private val MustHelp = Set("v9-cow-part", "v9-mor-part")

  /** Filters that few rows satisfy; `$v` is the greatest value. */
  private val Forms: Vector[(String, Vector[String])] = Vector(
    "n * 2 - qty % 2" -> Vector("n * 2 - qty % 2 = $v", "n * 2 - (qty % 2) >= $v"),
    "lpad(CAST(n AS STRING), 9, '0')" -> Vector(
      "lpad(CAST(n AS STRING), 9, '0') IN ('$v', 'x')",
      "LPAD(CAST(n AS STRING), 9, '0') LIKE '$v%'"
    ),
    "timestamp_seconds(n * 2000000)" -> Vector(
      "date_format(timestamp_seconds(n * 2000000), 'yyyy-MM-dd') = substring('$v', 1, 10)",
      "timestamp_seconds(2000000 * n) BETWEEN TIMESTAMP'$v' AND TIMESTAMP'2999-01-01'"
    ),
    "nullif(n, 0) + nullif(qty, 1000)" -> Vector("nullif(qty, 1000) + nullif(n, 0) <=> $v")
  )
}
