package hudiidx.spark

import java.nio.file.{Files, Path, Paths}

import hudiidx.spark.api.HudiIdxApi
import hudiidx.{DamagedTable, Fixtures}
import org.apache.spark.SparkException
import org.apache.spark.sql.DataFrame

/** What a filter excludes is not read: the files are gone when the query runs. */
final class PruningSuite extends SparkSuite {

  private def baseFiles(table: String): Vector[Path] =
    Fixtures.filesBelow(table).filter(f => f.endsWith(".parquet") && !f.startsWith(".hoodie/")).map(Paths.get(table, _))

  private def deleteOutside(table: String, kept: String => Boolean): Unit =
    baseFiles(table).foreach { f =>
      if (!kept(Paths.get(table).relativize(f.getParent).toString)) Files.delete(f)
    }

  /** Deletes what the filter must not touch, then expects the rows that the whole table gave. */
  private def expectOnly(name: String, where: String)(kept: String => Boolean): Unit = {
    def rows(frame: DataFrame): Vector[String] = Answer.of(frame.where(where)).rows
    val whole = rows(read(Fixtures.table(name)))
    val table = Fixtures.copy(name)
    new HudiIdxApi(spark, table, new java.util.HashMap[String, String]()).create()
    deleteOutside(table, kept)
    // The index still names the files that are gone.
    assert(rows(read(table, "hudiidx.index.strict" -> "true")) === whole)
    assert(whole.nonEmpty)
    // Without the filter the read must fail, else the deletion proves nothing.
    intercept[SparkException](read(table, "hudiidx.index.strict" -> "true").count()): Unit
  }

  test("a partition filter reads the files of its partitions alone") {
    expectOnly("v9-cow-part", "city = 'sf'")(_ == "sf")
    expectOnly("v6-cow-part", "city in ('sf', 'oslo') and qty > 3")(Set("sf", "oslo"))
  }

  test("any expression on partition columns prunes, functions included") {
    expectOnly("v8-cow-part", "substring(city, 1, 1) = 'l' or length(city) = 2")(c =>
      c.startsWith("l") || c.length == 2
    )
  }

  test("hive-style and url-encoded folders of two levels are pruned by their values") {
    expectOnly("v9-cow-complex", "region = 'q=1&r' and kind is not null")(_.startsWith("region=q%3D1&r/"))
    expectOnly("v6-cow-complex", "region is null")(_.startsWith("region=__HIVE_DEFAULT_PARTITION__/"))
  }

  test("a filter on other columns reads all partitions, and a file that is gone is an error that names it") {
    val table = Fixtures.copy("v9-cow-part")
    val latest = read(table, "view" -> "latest_base_files").where("partition_path = 'sf'").head()
    val name = latest.getAs[String]("file_name")
    val frame = read(table).where("qty > 3")
    assert(frame.queryExecution.executedPlan.toString.nonEmpty) // plans the files
    Files.delete(Paths.get(table, "sf", name))
    val thrown = intercept[SparkException](frame.collect())
    val causes = Iterator.iterate[Throwable](thrown)(_.getCause).takeWhile(_ != null).toVector
    assert(causes.exists { case d: DamagedTable => d.getMessage.contains(name); case _ => false })
  }
}
