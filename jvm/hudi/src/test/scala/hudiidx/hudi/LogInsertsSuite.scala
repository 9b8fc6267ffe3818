package hudiidx.hudi

import java.util.Properties

import hudiidx.spark.SparkSuite
import hudiidx.storage.LocalStorage
import hudiidx.table.TableConfig
import hudiidx.{Fixtures, InvalidOption}

/** What a stock writer with our index class says of new records in logs the table keeps, for all its writers. */
final class LogInsertsSuite extends SparkSuite {

  private def settled(table: String, said: Option[Boolean])(check: Boolean => Unit): Boolean = {
    val properties = new Properties
    said.foreach(is => properties.setProperty(WriterOptions.LogInserts, is.toString))
    LogInserts.settled(spark, table, WriterOptions.of(properties))(check)
  }

  private def kept(table: String): Option[String] =
    TableConfig.read(LocalStorage, table).properties.get(TableConfig.LogInserts)

  test("a merge-on-read table keeps what a write says, and a write that says nothing follows it") {
    for (name <- Seq("v6-mor-part", "v9-mor-part")) {
      val table = Fixtures.copy(name)
      var told = Vector.empty[Boolean]
      def settle(said: Option[Boolean]): Boolean = settled(table, said)(is => told :+= is)
      assert(!settle(None) && kept(table) === None)
      assert(settle(Some(true)) && kept(table) === Some("true"))
      assert(settle(None) && kept(table) === Some("true"))
      assert(!settle(Some(false)) && kept(table) === Some("false"))
      assert(!settle(None) && kept(table) === Some("false"))
      assert(told === Vector(false, true, true, false, false))
    }
  }

  test(
    "what a check refuses the table does not keep; copy-on-write tables, and those that are not there, keep nothing"
  ) {
    val table = Fixtures.copy("v9-mor-part")
    intercept[InvalidOption](settled(table, Some(true))(_ => throw new InvalidOption("no")))
    assert(kept(table) === None)
    val other = Fixtures.copy("v9-cow-part")
    assert(settled(other, Some(true))(_ => ()) && kept(other) === None)
    assert(settled(Fixtures.newFolder("none").resolve("t").toString, Some(true))(_ => ()))
  }
}
