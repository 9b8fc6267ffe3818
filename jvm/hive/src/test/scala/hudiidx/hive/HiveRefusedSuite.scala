package hudiidx.hive

import java.nio.file.{Files, Paths}

import hudiidx.engine.Tables
import hudiidx.sync.IndexOptions
import hudiidx.sync.build.Indexer
import hudiidx.table.TableConfig
import hudiidx.{Causes, Fixtures, OtherForms, UnsupportedTable}
import org.apache.hadoop.conf.Configuration
import org.scalatest.funsuite.AnyFunSuite

/** Tables that hudiidx does not read end a job by name, and are read again once they are what they were. */
final class HiveRefusedSuite extends AnyFunSuite {

  private def refusal(table: String, format: HudiIdxInputFormat = new HudiIdxInputFormat): String = {
    val thrown = intercept[Exception](HiveTables.rows(HiveTables.job(Seq(table)), format = format))
    Causes.ours(thrown) match {
      case Some(e: UnsupportedTable) => e.getMessage
      case other                     => fail(s"$other", thrown)
    }
  }

  for (
    (name, form) <- Seq("v6-no-mdt-cow" -> ".lance", "v9-mor-part" -> "_1.log.parquet");
    state <- Seq("with an index", "without an index")
  )
    test(s"$name: a commit that wrote files of another form is refused by name, $state") {
      val table = Fixtures.copy(name)
      if (state == "with an index")
        new Indexer(Tables.access(new Configuration()), table, IndexOptions()).create(): Unit
      OtherForms.write(table, form)
      assert(refusal(table).contains(s"$form, which hudiidx does not read, since "))
    }

  test("a table that becomes one of version 10, until it is one of version 9 again") {
    val table = Fixtures.copy("v9-mor-part")
    new Indexer(Tables.access(new Configuration()), table, IndexOptions()).create(): Unit
    val format = new HudiIdxInputFormat
    def rows = HiveTables.rows(HiveTables.job(Seq(table)), format = format).map(_.mkString("|")).sorted
    val before = rows
    val properties = Paths.get(TableConfig.propertiesFile(table))
    val text = Files.readString(properties)
    Files.writeString(properties, text.replace("table.version=9", "table.version=10"))
    for (reader <- Seq(format, new HudiIdxInputFormat))
      assert(refusal(table, reader).contains("version is 10, which hudiidx does not read, since "))
    Files.writeString(properties, text)
    assert(rows === before)
  }
}
