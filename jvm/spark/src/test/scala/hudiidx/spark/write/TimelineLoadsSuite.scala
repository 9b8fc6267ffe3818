package hudiidx.spark.write

import java.net.URI
import java.util.concurrent.atomic.AtomicInteger

import hudiidx.Fixtures
import hudiidx.spark.SparkSuite
import hudiidx.spark.api.HudiIdxApi
import hudiidx.timeline.TimelineReader
import org.apache.hadoop.fs.{FileStatus, Path, RawLocalFileSystem}
import org.apache.spark.sql.DataFrame

/** How often a write reads the timeline of its table. */
final class TimelineLoadsSuite extends SparkSuite {
  import TimelineLoadsSuite._

  private val none = new java.util.HashMap[String, String]()
  private val lock = Map(
    "hoodie.write.concurrency.mode" -> "optimistic_concurrency_control",
    "hoodie.write.lock.provider" -> "org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider"
  )

  private def newTable(): String = {
    spark.sparkContext.hadoopConfiguration.set("fs.listings.impl", classOf[ListingsFileSystem].getName)
    val path = s"listings://${Fixtures.newFolder("loads")}/t"
    save(rows(0, 100), path, Map.empty)
    new HudiIdxApi(spark, path, none).create()
    path
  }

  private def rows(from: Long, until: Long): DataFrame =
    spark.range(from, until).selectExpr("id", "cast(id % 3 AS string) AS p", "id AS n")

  private def save(rows: DataFrame, path: String, more: Map[String, String]): Unit = {
    val options = Map(
      "hoodie.table.name" -> "t",
      "hoodie.datasource.write.recordkey.field" -> "id",
      "hoodie.datasource.write.partitionpath.field" -> "p",
      "hoodie.datasource.write.precombine.field" -> "n"
    )
    rows.write.format("hudiidx").options(options ++ more).mode("append").save(path)
  }

  private def loads(work: => Unit): Int = {
    val before = Listings.get
    work
    Listings.get - before
  }

  test(
    "an upsert reads the timeline before and after its request, and for the index; one with a lock before its commit too"
  ) {
    for (inLogs <- Vector("true", "false")) {
      val path = newTable()
      val inserts = Map("hudiidx.write.log.inserts" -> inLogs)
      assert(loads(save(rows(50, 150), path, inserts)) === 3)
      assert(loads(save(rows(120, 180), path, inserts ++ lock)) === 4)
    }
  }
}

object TimelineLoadsSuite {
  val Listings = new AtomicInteger
}

/** The local file system, whose listings of timelines are counted. */
final class ListingsFileSystem extends RawLocalFileSystem {
  override def getScheme: String = "listings"
  override def getUri: URI = URI.create("listings:///")
  override def listStatus(f: Path): Array[FileStatus] = {
    // Who makes a file there lists it too.
    val isRead = Thread.currentThread.getStackTrace.exists(_.getClassName.startsWith(TimelineReader.getClass.getName))
    if (f.getName == "timeline" && isRead) TimelineLoadsSuite.Listings.incrementAndGet(): Unit
    super.listStatus(f)
  }
}
