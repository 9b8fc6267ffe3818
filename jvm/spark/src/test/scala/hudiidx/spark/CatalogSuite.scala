package hudiidx.spark

import java.time.format.DateTimeFormatter
import java.time.{LocalDateTime, ZoneOffset}

import hudiidx.{Fixtures, InvalidOption, NotAHudiTable}
import org.apache.spark.sql.DataFrame

/** Tables by their paths in SQL: the rows that the reader gives. */
final class CatalogSuite extends SparkSuite {
  private lazy val sql: String => DataFrame = {
    spark.conf.set("spark.sql.catalog.hudiidx", classOf[HudiIdxCatalog].getName)
    text => spark.sql(text)
  }

  test("a path is a table, and its rows are stock Hudi's") {
    val name = "v9-cow-part"
    val found = Answer.of(sql(s"SELECT * FROM hudiidx.`${Fixtures.table(name)}`"))
    assert(found.checksum === Fixtures.json(name).get("snapshot").get("checksum").asText)
  }

  Vector("v6-cow-replace", "v9-archived-cow").foreach { name =>
    test(s"$name: VERSION and TIMESTAMP AS OF are stock Hudi's time travel") {
      Fixtures.json(name).get("time_travel").forEach { point =>
        if (point.has("count")) {
          val asOf = point.get("as_of").asText
          val time = LocalDateTime.parse(asOf, DateTimeFormatter.ofPattern("yyyyMMddHHmmssSSS"))
          val text = time.atOffset(ZoneOffset.UTC).format(DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss.SSS'Z'"))
          Seq(s"VERSION AS OF '$asOf'", s"TIMESTAMP AS OF '$text'").foreach { as =>
            val found = Answer.of(sql(s"SELECT * FROM hudiidx.`${Fixtures.table(name)}` $as"))
            withClue(s"$as: ")(assert(found.checksum === point.get("checksum").asText))
          }
        }
      }
    }
  }

  test("what is no path, no table or would change one is refused") {
    val table = Fixtures.table("v9-cow-part")
    sql("SELECT 1")
    assert(intercept[InvalidOption](sql("SELECT * FROM hudiidx.db.trips")).getMessage.contains("backquotes"))
    intercept[NotAHudiTable](sql(s"SELECT * FROM hudiidx.`${Fixtures.newFolder("empty")}`"))
    intercept[InvalidOption](sql(s"SELECT * FROM hudiidx.`$table` VERSION AS OF 'yesterday'"))
    intercept[UnsupportedOperationException](sql(s"DROP TABLE hudiidx.`$table`"))
  }

  test("an option that would ask for other rows is refused, not skipped") {
    val table = Fixtures.table("v9-cow-part")
    sql("SELECT 1")
    val late = spark.read.option("as.of.instant", "2026-11-20").table(s"hudiidx.`$table`")
    assert(intercept[InvalidOption](late.count()).getMessage.contains("VERSION AS OF"))
  }
}
