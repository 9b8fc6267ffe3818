package hudiidx.spark

import hudiidx.{Fixtures, TestSettings}
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec
import org.apache.spark.sql.{DataFrame, Row}

/** Filters on slices with logs: a base file of many small pages gives the same rows, and fewer are read. */
final class MergedFiltersSuite extends SparkSuite {
  private val filters =
    Vector("n < 60", "n > 900", "n between 400 and 500", "city = 'sf' and n > 300", "ts is null", "qty = 7")

  for (name <- TestSettings.some(2)(Seq("v9-mor-event", "v9-commit-time", "v6-virtual-mor", "v9-partial-updates")))
    test(s"$name: filters give the rows that they leave of all rows") {
      val table = Fixtures.copy(name)
      SmallPages.baseFiles(table).foreach(SmallPages.rewrite(spark, _))
      val all = read(table)
      val rows = all.collect().toVector
      filters.foreach { filter =>
        val found = read(table).where(filter).collect().toVector
        val left =
          spark.createDataFrame(spark.sparkContext.parallelize(rows, 1), all.schema).where(filter).collect().toVector
        withClue(filter)(assert(texts(found) === texts(left)))
      }
    }

  test("pages that a filter rules out are not read, though the log has replaced rows of the file") {
    val table = Fixtures.copy("v9-mor-event")
    SmallPages.baseFiles(table).foreach(SmallPages.rewrite(spark, _))
    def readRows(frame: DataFrame): Long = {
      frame.collect()
      frame.queryExecution.executedPlan
        .collectLeaves()
        .collect { case s: BatchScanExec =>
          s.metrics("numOutputRows").value
        }
        .sum
    }
    val all = readRows(read(table))
    val some = readRows(read(table).where("n < 60"))
    assert(all > 250 && some < all / 2, s"$some of $all rows")
  }

  private def texts(rows: Vector[Row]): Vector[String] = rows.map(_.toString).sorted
}
