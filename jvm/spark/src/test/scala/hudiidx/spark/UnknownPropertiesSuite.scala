package hudiidx.spark

import hudiidx.{Causes, Fixtures, UnsupportedTable}
import hudiidx.storage.LocalStorage
import hudiidx.table.{PropertiesFile, TableConfig}
import java.nio.file.{Files, Paths}
import org.apache.logging.log4j.Level

/** Properties of a table that hudiidx does not know: told once, or refused, in Spark's reads and in writes. */
final class UnknownPropertiesSuite extends SparkSuite {

  private def tableWith(properties: (String, String)*): String = {
    val table = Fixtures.copy("v9-mor-part")
    val old = PropertiesFile.read(LocalStorage, table, _ => ())._2
    Files.write(Paths.get(TableConfig.propertiesFile(table)), PropertiesFile.text(old ++ properties))
    table
  }

  private def read(table: String): Long = spark.read.format("hudiidx").load(table).count()

  test("a property that is not known is warned of once by its name, without its value") {
    val table = tableWith("hoodie.catalog.owner" -> "zq7Planted-Wx9")
    val lines = LogLines.of(Level.WARN) {
      read(table)
      read(table)
    }
    assert(lines.count(_.contains("does not know hoodie.catalog.owner;")) === 1, lines)
    assert(!lines.exists(_.contains("zq7Planted")))
  }

  test(
    "one whose name says that rows depend on it is refused, and so is a form of files that is not known, in reads and writes"
  ) {
    for (property <- Seq("hoodie.table.partitioning.scheme" -> "x", "hoodie.table.base.file.format" -> "LANCE")) {
      val table = tableWith(property)
      val rows = spark.read.format("hudiidx").load(Fixtures.table("v9-mor-part")).limit(1)
      for (call <- Seq[() => Any](() => read(table), () => rows.write.format("hudiidx").mode("append").save(table))) {
        val error = Causes.of(intercept[Exception](call())).collectFirst { case e: UnsupportedTable => e }
        assert(error.exists(_.getMessage.contains(property._1)), property)
      }
    }
  }
}
