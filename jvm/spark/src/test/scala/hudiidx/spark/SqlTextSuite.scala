package hudiidx.spark

import hudiidx.{HostileNames, Sql}
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.parser.{CatalystSqlParser, SqlBaseParser}
import org.apache.spark.sql.internal.SQLConf
import org.scalacheck.Gen
import org.scalacheck.rng.Seed
import scala.util.Try

/** Names and texts in SQL of ours are what Spark's own parser reads there. */
final class SqlTextSuite extends SparkSuite {
  private val names: Vector[String] = HostileNames.fixed ++ Vector.tabulate(300) { n =>
    HostileNames.any.pureApply(Gen.Parameters.default, Seed(n.toLong))
  }

  test("a text is read as it was, and no variable is put in") {
    spark.conf.set("spark.sql.variable.substitute", "true")
    names.foreach { name =>
      val sql = Sql.literal(name)
      assert(CatalystSqlParser.parseExpression(sql) === Literal(name), sql)
      val parsed = spark.sessionState.sqlParser.parsePlan(s"SELECT $sql AS c").expressions.head
      assert(parsed.collectFirst { case l: Literal => l.value.toString } === Some(name), sql)
      assert(!sql.exists(c => c < ' '))
    }
  }

  test("a text without escapes is read the same where Spark's session reads none") {
    val conf = new SQLConf
    conf.setConf(SQLConf.ESCAPED_STRING_LITERALS, true)
    val plain = names.filterNot(Sql.hasEscapes)
    assert(plain.size > 30 && plain.size < names.size)
    SQLConf.withExistingConf(conf) {
      plain.foreach(name => assert(CatalystSqlParser.parseExpression(Sql.literal(name)) === Literal(name)))
    }
  }

  test("a name is read as a column of that name, whatever words Spark has") {
    val symbols = (0 to SqlBaseParser.VOCABULARY.getMaxTokenType).flatMap { n =>
      Option(SqlBaseParser.VOCABULARY.getSymbolicName(n)).map(_.toLowerCase)
    }
    for (isAnsi <- Vector(false, true)) {
      val conf = new SQLConf
      conf.setConf(SQLConf.ANSI_ENABLED, isAnsi)
      conf.setConf(SQLConf.ENFORCE_RESERVED_KEYWORDS, isAnsi)
      val wrong = SQLConf.withExistingConf(conf) {
        (names ++ symbols).filter(_.nonEmpty).filterNot(name => isRead(Seq(name)) && isRead(Seq(name, "a", name)))
      }
      assert(wrong === Vector.empty)
    }
  }

  /** Alone, and where expressions have it. */
  private def isRead(parts: Seq[String]): Boolean = {
    val sql = Sql.name(parts)
    val column = UnresolvedAttribute(parts)
    val forms = Vector("%s", "(%s = 1)", "abs(%s)", "(%s IS NULL)", "(NOT %s)", "(1 + %s)", "CAST(%s AS STRING)")
    forms.forall { form =>
      val parsed = Try(CatalystSqlParser.parseExpression(form.replace("%s", sql))).toOption
      parsed.exists(_.collect { case a: UnresolvedAttribute => a } == Seq(column))
    }
  }
}
