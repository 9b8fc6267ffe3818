package hudiidx.spark

import hudiidx.Fixtures
import hudiidx.spark.api.HudiIdxApi
import hudiidx.spark.options.ReadPushdowns
import hudiidx.spark.plan.HudiIdxScan
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation

/** What Spark's optimizer is told of a scan. */
final class ScanStatisticsSuite extends SparkSuite {

  private def made(name: String, options: (String, String)*): String = {
    val table = Fixtures.copy(name)
    val all = new java.util.HashMap[String, String]
    options.foreach { case (k, v) => all.put(k, v) }
    new HudiIdxApi(spark, table, all).create()
    table
  }

  private def told(frame: DataFrame): (Long, Option[Long]) = {
    val scan = frame.queryExecution.optimizedPlan.collectFirst { case r: DataSourceV2ScanRelation => r.scan }
    val s = scan.collect { case h: HudiIdxScan => h.estimateStatistics() }.get
    (s.sizeInBytes.getAsLong, if (s.numRows.isPresent) Some(s.numRows.getAsLong) else None)
  }

  private def bytes(table: String, where: String): Long = read(table, "view" -> "latest_base_files")
    .where(where)
    .selectExpr("sum(size)")
    .head()
    .getLong(0)

  Vector("v9-cow-part", "v6-cow-part").foreach { name =>
    test(s"$name: with a column index rows are exact, of the whole table and of what filters leave") {
      val table = made(name, "hudiidx.columns" -> "qty")
      assert(told(read(table)) === ((bytes(table, "true"), Some(read(table).count()))))
      val some = read(table).where("city = 'sf'")
      assert(told(some) === ((bytes(table, "partition_path = 'sf'"), Some(some.count()))))
      assert(some.count() < read(table).count())
      assert(told(read(table).limit(5))._2 === Some(5))
      val nothing = read(table).where("qty > 1000000000")
      assert(told(nothing) === ((0L, Some(0L))))
    }
  }

  test("bytes go by the columns that are read, and by Spark's factor") {
    val table = made("v9-cow-part")
    val one = read(table).select("qty")
    val share = one.schema.defaultSize.toDouble / read(table).schema.defaultSize
    assert(told(one)._1 === (bytes(table, "true") * share).toLong)
    spark.conf.set("spark.sql.sources.fileCompressionFactor", "3.0")
    try assert(told(read(table))._1 === bytes(table, "true") * 3)
    finally spark.conf.unset("spark.sql.sources.fileCompressionFactor")
  }

  test("rows of logs count where there is no base file; without any index on rows they are not known") {
    val logs = made("v9-mor-log-only", "hudiidx.columns" -> "*")
    assert(told(read(logs))._2.exists(_ >= read(logs).count()))
    val merged = made("v9-mor-part", "hudiidx.columns" -> "*")
    val inBases = read(merged, "hoodie.datasource.query.type" -> "read_optimized")
    assert(told(inBases)._2 === Some(inBases.count()))
    assert(told(read(made("v9-cow-part")))._2 === None)
    assert(told(read(Fixtures.table("v9-cow-part"), ReadPushdowns.ColumnStats -> "false"))._2 === None)
  }

  test("a record index tells the rows of the whole table") {
    val table = made("v9-cow-part", "hudiidx.record.mode" -> "global")
    assert(told(read(table))._2 === Some(read(table).count()))
    assert(told(read(table).where("city = 'sf'"))._2 === None)
  }

  test("aggregates are a small side of a join") {
    val table = made("v9-cow-part")
    val grouped = read(table).groupBy("city").count()
    assert(grouped.queryExecution.optimizedPlan.stats.sizeInBytes < 10000)
  }
}
