package hudiidx.spark.prune

import java.util.Locale

import hudiidx.InvalidOption
import hudiidx.column.{Bounds, Conditions}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.unsafe.types.UTF8String

/** Settings, locales, zones and Javas that values of an expression depend on: under others its index is not used. */
final class ExpressionFactsSuite extends KeptExpressions {
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

  test("settings and zones that an expression does not depend on are not part of its identity") {
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
}
