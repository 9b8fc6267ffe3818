package hudiidx.spark.prune

import hudiidx.{CpuClock, InvalidOption}
import hudiidx.column.{Bounds, ColumnExpression}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.unsafe.types.UTF8String

/** Expressions that cannot be indexed, and why: those of the moment, of no order, or of what is not listed. */
final class RefusedExpressionsSuite extends KeptExpressions {
  test("no class that an expression names is loaded") {
    val sql = "length(reflect('hudiidx.spark.prune.LoadedByName$', 'hashCode', name))"
    assert(
      intercept[InvalidOption](resolver.asked(sql, conf)).getMessage.contains("reflect is not among the functions")
    )
    assert(System.getProperty(LoadedByName.Mark) === null)
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
    "1 + 1" -> "uses no column",
    "name" -> "column",
    "nope + 1" -> "nope",
    "sum(i)" -> "",
    "explode(array(i))" -> "",
    "array(i, l)" -> "no order",
    "to_json(s)" -> "to_json is not among the functions",
    "coalesce(s, s).i + 1" -> "column s is of type",
    "i +" -> "not an expression",
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

  Seq("if(" -> ", l > 2, i > 3)", "coalesce(" -> ", i > 3)", "CASE WHEN " -> " THEN l > 2 ELSE i > 3 END").foreach {
    case (begin, end) =>
      test(s"choices in one another are made ready for rows in time by their length: $begin…$end") {
        val kept = path(begin * 60 + "i > 1" + end * 60)
        val row = InternalRow.fromSeq(ColumnValues.Columns.map(f => if (f.name == "i") 7 else null))
        var known = Bounds.Unknown: Bounds
        val millis = CpuClock.millis {
          val (expression, parts) = evaluator(kept)
          known = values(expression, Seq(row), parts).bounds
        }
        assert(millis < 10000 && known != Bounds.Unknown)
      }
  }

  test("rows with a number of which all digits would be worked out are not known") {
    for {
      sql <- Seq("cast(name as decimal(10,2))", "decimal(name)", "try_cast(name as decimal(10,2))")
      // What ends without the rule comes before what does not.
      (text, known) <- Seq(
        "1E-3000000" -> false,
        "1E-300000000" -> false,
        "1e+99999" -> false,
        "12.5" -> true,
        "1E-3" -> true,
        "x" -> true
      )
    } {
      val (expression, parts) = evaluator(path(sql))
      val row = InternalRow.fromSeq(
        ColumnValues.Columns.map(f => if (f.name == "name") UTF8String.fromString(text) else null)
      )
      val found = values(expression, Seq(row), parts).bounds !== Bounds.Unknown
      assert(found === known || text == "x", s"$sql of $text")
    }
  }
}

/** Leaves a mark when it is loaded. */
object LoadedByName {
  final val Mark = "hudiidx.test.loaded-by-name"
  System.setProperty(Mark, "yes")
}
