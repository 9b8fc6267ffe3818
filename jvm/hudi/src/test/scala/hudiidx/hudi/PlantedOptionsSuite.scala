package hudiidx.hudi

import java.nio.file.{Files, Path, Paths}

import hudiidx.{Fixtures, InvalidOption}
import hudiidx.sync.IndexOptions
import org.apache.hudi.callback.common.HoodieWriteCommitCallbackMessage
import org.apache.hudi.common.config.TypedProperties
import org.apache.hudi.config.HoodieWriteConfig
import org.apache.spark.sql.SparkSession
import org.scalatest.funsuite.AnyFunSuite

/** Options that somebody wrote among a table's properties, as stock Hudi's writers hand them on. */
class PlantedOptionsSuite extends AnyFunSuite {
  private lazy val spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()

  /** A table with these properties, and a write on it with these options: the table's are put over the write's. */
  private def write(planted: Map[String, String], options: Map[String, String]): (Path, HoodieWriteConfig) = {
    val table = Paths.get(Fixtures.copy("v9-cow-part"))
    val file = table.resolve(".hoodie/hoodie.properties")
    Files.writeString(file, planted.foldLeft(Files.readString(file)) { case (text, (k, v)) => s"$text\n$k=$v\n" })
    Files.deleteIfExists(table.resolve(".hoodie/.hoodie.properties.crc"))
    val all = new TypedProperties
    (options ++ planted).foreach { case (k, v) => all.setProperty(k, v) }
    (table, HoodieWriteConfig.newBuilder.withPath(table.toString).withProps(all).build())
  }

  private def called(table: Path, config: HoodieWriteConfig): Unit =
    new SyncCallback(config).call(new HoodieWriteCommitCallbackMessage("1", "t", table.toString, java.util.List.of()))

  test("options among a table's properties are refused by file and name, and no index is made where they say") {
    spark.sparkContext.setLogLevel("OFF")
    val elsewhere = Fixtures.newFolder("elsewhere").resolve("index")
    val own = Fixtures.newFolder("own").resolve("index")
    for {
      planted <- Seq(
        Map(IndexOptions.Path -> elsewhere.toString, WriterOptions.Create -> "true"),
        Map(IndexOptions.SymlinkPath -> elsewhere.toString),
        Map(IndexOptions.Columns -> "*", WriterOptions.Create -> "true"),
        Map(WriterOptions.Global -> "false"),
        Map("hudiidx.nonsense" -> "1")
      )
      options <- Seq(Map.empty[String, String], Map(IndexOptions.Path -> own.toString, WriterOptions.Create -> "true"))
    } {
      val (table, config) = write(planted, options)
      val said = intercept[InvalidOption](new RecordIndex(config)).getMessage
      assert(said.contains("hoodie.properties") && planted.keys.forall(said.contains(_)), said)
      // After a commit nothing is raised any more.
      called(table, config)
      assert(!Files.exists(elsewhere) && !Files.exists(own) && !Files.exists(table.resolve(".hoodie/hudiidx")))
    }
  }

  test("what the table itself says of its logs counts, and so do options of the write") {
    val own = Fixtures.newFolder("own").resolve("index")
    val options = Map(IndexOptions.Path -> own.toString, WriterOptions.Create -> "true")
    val (table, config) = write(Map(WriterOptions.LogInserts -> "false"), options)
    assert(!new RecordIndex(config).canIndexLogFiles)
    called(table, config)
    assert(Files.isDirectory(own.resolve("versions")))
  }
}
