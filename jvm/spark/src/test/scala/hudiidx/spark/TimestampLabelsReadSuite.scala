package hudiidx.spark

import hudiidx.spark.api.HudiIdxApi
import hudiidx.storage.LocalStorage
import hudiidx.table.PropertiesFile
import hudiidx.{Fixtures, UnsupportedTable}
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.{count, max, min}

/** Base files and logs with milliseconds under the label of microseconds: rows, filters and aggregates are those of the right unit. */
final class TimestampLabelsReadSuite extends SparkSuite {
  override protected def zone: String = "UTC" // of the texts below
  private val start = "timestamp'2024-01-01 00:00:00'"

  private def same(name: String, table: String): Unit = {
    def rows: DataFrame = read(table)
    Answer.expect(Fixtures.json(name).get("snapshot"), Answer.of(rows))
    assert(rows.where("year(at) = 2024").count() === 40)
    assert(rows.where(s"at >= $start").count() === 40 && rows.where(s"at < $start").count() === 0)
    assert(rows.where("at = timestamp'2024-01-08 00:00:00'").collect().map(_.getAs[String]("id")) === Array("k000007"))
    assert(rows.where("deep.at = timestamp'2024-01-01 05:00:00'").count() === 1)
    val all = rows.agg(min("at"), max("at"), count("at"), min("good"), max("good")).head()
    assert(all.getTimestamp(0) === all.getTimestamp(3) && all.getTimestamp(1) === all.getTimestamp(4))
    assert(all.getLong(2) === 40)
    assert(rows.select("at").collect().map(_.getTimestamp(0).toInstant.toString).min === "2024-01-01T00:00:00Z"): Unit
  }

  Seq("v9-relabelled-cow", "v9-relabelled-mor").foreach { name =>
    test(s"$name: times are of the table's unit, with an index and without, in batches and by rows") {
      same(name, Fixtures.table(name))
      val indexed = Fixtures.copy(name)
      new HudiIdxApi(spark, indexed, java.util.Map.of("hudiidx.columns", "*")).create()
      same(name, indexed)
      val vectorized = "spark.sql.parquet.enableVectorizedReader"
      spark.conf.set(vectorized, "false")
      try same(name, Fixtures.table(name))
      finally spark.conf.unset(vectorized)
    }

    test(s"$name: so they are on a table of version 8") {
      val earlier = Fixtures.copy(name)
      PropertiesFile.update(LocalStorage, earlier)(_ + ("hoodie.table.version" -> "8"))
      same(name, earlier)
      new HudiIdxApi(spark, earlier, java.util.Map.of("hudiidx.columns", "*")).create()
      same(name, earlier)
    }
  }

  test("datasets for readers that know files alone are refused where a file's label is wrong, by the file") {
    def dataset(name: String) =
      new HudiIdxApi(spark, Fixtures.table(name), java.util.Map.of()).dataset("true", null, false)
    val e = intercept[UnsupportedTable](dataset("v9-relabelled-cow"))
    assert(e.getMessage.contains(".parquet: its times bear the label of another unit"))
    dataset("v9-cow-types")
  }
}
