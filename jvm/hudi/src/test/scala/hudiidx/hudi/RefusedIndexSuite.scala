package hudiidx.hudi

import java.nio.file.{Files, Paths, StandardOpenOption}

import scala.util.Try

import hudiidx.{Causes, Fixtures, UnsupportedTable}
import hudiidx.spark.SparkSuite
import hudiidx.spark.api.HudiIdxApi
import hudiidx.storage.LocalStorage
import org.apache.hudi.callback.common.HoodieWriteCommitCallbackMessage
import org.apache.hudi.common.config.TypedProperties
import org.apache.hudi.config.HoodieWriteConfig

/** What stock's writers call of ours, on a table that hudiidx does not read: a newer Hudi may write it. */
final class RefusedIndexSuite extends SparkSuite {

  test("the index class refuses the table before anything is tagged, and the index stays after a commit too") {
    val table = Fixtures.copy("v9-cow-part")
    new HudiIdxApi(spark, table, java.util.Map.of("hudiidx.record.mode", "global")).create(): Unit
    val file = Paths.get(table, ".hoodie/hoodie.properties")
    Files.writeString(file, "\nhoodie.table.version=10\n", StandardOpenOption.APPEND)
    val options = new TypedProperties
    options.setProperty(WriterOptions.Create, "true")
    val config = HoodieWriteConfig.newBuilder.withPath(table).withProps(options).build()
    def files = Fixtures.filesBelow(table).map(f => f -> LocalStorage.readAll(s"$table/$f").toVector.hashCode)
    val before = files
    val said = intercept[UnsupportedTable](new RecordIndex(config)).getMessage
    assert(said.contains("version is 10, which hudiidx does not read, since "))
    val message = new HoodieWriteCommitCallbackMessage("1", "t", table, java.util.List.of())
    Try(new SyncCallback(config).call(message)).failed.foreach { e =>
      assert(Causes.ours(e).exists(_.getMessage.contains("version is 10")))
    }
    assert(files === before)
  }
}
