package hudiidx.spark.stores

import java.net.URI
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicInteger

import scala.collection.JavaConverters._

import hudiidx.Fixtures
import hudiidx.spark.SparkSuite
import hudiidx.spark.api.HudiIdxApi
import hudiidx.storage.KeptFiles
import hudiidx.store.KeptEnds
import hudiidx.timeline.TimelineReader
import org.apache.hadoop.fs.{FSDataInputStream, FileStatus, Path, RawLocalFileSystem}
import org.apache.spark.sql.DataFrame

/** How often writes read the timeline of their table, and queries by key the files of the index, on a store that is far. */
final class CountedReadsSuite extends SparkSuite {
  import CountedReadsSuite._

  private val lock = Map(
    "hoodie.write.concurrency.mode" -> "optimistic_concurrency_control",
    "hoodie.write.lock.provider" -> "org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider"
  )

  private def newTable(index: Map[String, String]): String = {
    spark.sparkContext.hadoopConfiguration.set("fs.counted.impl", classOf[CountedFileSystem].getName)
    val path = s"counted://${Fixtures.newFolder("loads")}/t"
    save(rows(0, 100), path, Map.empty)
    new HudiIdxApi(spark, path, index.asJava).create()
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
    "an upsert reads the timeline before and after its request, and for the index after its version; one with a lock before " +
      "its commit too"
  ) {
    for (inLogs <- Vector("true", "false")) {
      val path = newTable(Map.empty)
      val inserts = Map("hudiidx.write.log.inserts" -> inLogs)
      assert(loads(save(rows(50, 150), path, inserts)) === 3)
      assert(loads(save(rows(120, 180), path, inserts ++ lock)) === 4)
    }
  }

  test("a filter by key opens each file of the index once") {
    val path = newTable(Map("hudiidx.record.mode" -> "global", "hudiidx.columns" -> "*"))
    def table = spark.read.format("hudiidx")
    val first = table.load(path).selectExpr("max(_hoodie_commit_time)").head().getString(0)
    save(rows(90, 120), path, Map.empty)
    for {
      filter <- Vector("id = 91", "_hoodie_record_key = '91'", "id in (1, 2, 91)")
      when <- Vector(Map.empty[String, String], Map("as.of.instant" -> first))
    } {
      Seq(KeptFiles.clear _, KeptEnds.clear _).foreach(_()) // as a process that begins
      Opened.clear()
      assert(table.options(when).load(path).where(filter).collect().nonEmpty)
      val ofIndex = Opened.asScala.toVector.filter(_.contains("/.hoodie/hudiidx/"))
      assert(ofIndex.exists(_.endsWith(".record_base")) && ofIndex.distinct === ofIndex, s"$filter $when")
    }
  }
}

object CountedReadsSuite {
  val Listings = new AtomicInteger
  val Opened = new ConcurrentLinkedQueue[String]
}

/** The local file system, whose listings of timelines and files that are opened are counted. */
final class CountedFileSystem extends RawLocalFileSystem {
  override def getScheme: String = "counted"
  override def open(f: Path, bufferSize: Int): FSDataInputStream = {
    CountedReadsSuite.Opened.add(f.toString)
    super.open(f, bufferSize)
  }
  override def getUri: URI = URI.create("counted:///")
  override def listStatus(f: Path): Array[FileStatus] = {
    // Who makes a file there lists it too.
    val isRead = Thread.currentThread.getStackTrace.exists(_.getClassName.startsWith(TimelineReader.getClass.getName))
    if (f.getName == "timeline" && isRead) CountedReadsSuite.Listings.incrementAndGet(): Unit
    super.listStatus(f)
  }
}
