package hudiidx.spark.write

import hudiidx.Fixtures
import hudiidx.spark.SparkSuite
import org.apache.spark.sql.DataFrame

/** What suites of writes share: rows of three partitions, tables that they are saved to, and what is read of these. */
abstract class SavedTables extends SparkSuite {
  protected val base = Map(
    "hoodie.table.name" -> "t",
    "hoodie.datasource.write.recordkey.field" -> "id",
    "hoodie.datasource.write.partitionpath.field" -> "p",
    "hoodie.datasource.write.precombine.field" -> "ts"
  )

  protected def newPath(): String = Fixtures.newFolder("write").resolve("t").toString

  protected def save(frame: DataFrame, path: String, options: Map[String, String], mode: String = "append"): Unit =
    frame.write.format("hudiidx").options(options).mode(mode).save(path)

  protected def made(version: Int, more: (String, String)*): Map[String, String] =
    base + ("hoodie.write.table.version" -> version.toString) ++ more

  protected def rows(ids: Range, ts: Int): DataFrame = {
    import spark.implicits._
    ids.map(i => (f"k$i%03d", s"p${i % 3}", i.toLong + ts * 1000L, s"v$ts-$i")).toDF("id", "p", "ts", "v")
  }

  protected def values(path: String): Map[String, String] =
    read(path).collect().map(r => r.getAs[String]("_hoodie_record_key") -> r.getAs[String]("v")).toMap
}
