package hudiidx.spark.read

import scala.collection.JavaConverters._

import hudiidx.Fixtures
import hudiidx.spark.SparkSuite
import hudiidx.spark.api.HudiIdxApi
import hudiidx.spark.options.ReadPushdowns
import org.apache.spark.sql.SaveMode

/** To Spark 0.0 and -0.0 are one value, to Parquet's bounds and dictionaries two. */
final class SignedZerosSuite extends SparkSuite {

  /** A file for each partition. */
  private val values = Map(
    "negative" -> Seq("-0.0"),
    "positive" -> Seq("0.0"),
    "both" -> Seq("-0.0", "0.0", "NULL"),
    "below" -> Seq("-0.0", "-1.5"),
    "above" -> Seq("0.0", "1.5", "'NaN'"),
    "far" -> Seq("-7.0", "7.0")
  )

  private lazy val path: String = {
    val table = Fixtures.newFolder("zeros").resolve("t").toString
    val rows = values.toVector.sortBy(_._1).flatMap { case (p, of) =>
      of.zipWithIndex.map { case (v, i) =>
        s"SELECT '$p$i' AS id, '$p' AS p, cast($v AS double) AS d, cast($v AS float) AS f"
      }
    }
    spark
      .sql(rows.mkString(" UNION ALL "))
      .write
      .format("hudiidx")
      .option("hoodie.table.name", "t")
      .option("hoodie.datasource.write.recordkey.field", "id")
      .option("hoodie.datasource.write.partitionpath.field", "p")
      .mode(SaveMode.Append)
      .save(table)
    table
  }

  private val conditions: Seq[String] = for {
    (column, suffix) <- Seq("d" -> "D", "f" -> "F")
    zero <- Seq(s"0.0$suffix", s"-0.0$suffix")
    compared = Seq("=", "<=>", "<", "<=", ">", ">=", "<>").map(op => s"$column $op $zero")
    listed = Seq(s"$column IN ($zero, 1.5$suffix)", s"$column IN ($zero)") :+
      s"$column IN (${(1 to 20).map(i => s"$i.5$suffix").mkString(", ")}, $zero)"
    condition <- compared ++ listed
    whole <- Seq(condition, s"NOT ($condition)", s"($condition) OR p = 'far'")
  } yield whole

  test("each comparison with a zero has the rows of a read without filters on files") {
    def rows(condition: String, options: (String, String)*) =
      read(path, options: _*).where(condition).select("id").collect().map(_.getString(0)).toSeq.sorted
    def check(): Unit = conditions.foreach { condition =>
      val all = rows(condition, ReadPushdowns.FileFilters -> "false", "hudiidx.read.column.stats" -> "false")
      assert(rows(condition) === all, condition)
    }
    assert(rows("d = 0.0D") === Seq("above0", "below0", "both0", "both1", "negative0", "positive0"))
    check()
    new HudiIdxApi(spark, path, Map("hudiidx.columns" -> "*", "hudiidx.values.columns" -> "d,f").asJava).create()
    check()
  }
}
