package hudiidx.spark

import java.nio.file.{Files, Path, Paths, StandardCopyOption}

import scala.collection.mutable

import hudiidx.engine.Tables
import hudiidx.storage.LocalStorage
import hudiidx.sync.TableContext
import hudiidx.timeline.Instant
import hudiidx.{Fixtures, HudiIdxException}
import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.streaming.{StreamingQueryException, Trigger}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.{DataFrame, Row}

/** What suites of streams share: readers with checkpoints, the batch queries of their commits, and writers. */
abstract class TableStreams extends SparkSuite {
  protected val begin = "hoodie.datasource.read.begin.instanttime"
  protected val end = "hoodie.datasource.read.end.instanttime"
  protected val startOffset = "hoodie.datasource.streaming.startOffset"
  protected val limit = "maxCommitsPerTrigger"
  protected val incremental = "hoodie.datasource.query.type" -> "incremental"
  protected val ofChanges = Seq(incremental, "hoodie.datasource.query.incremental.format" -> "cdc")

  /** A query with a checkpoint of its own, which can run again and again. */
  protected final class Reader(path: String, options: (String, String)*) {
    private val checkpoint = Fixtures.newFolder("stream").toString
    var columns = new StructType

    /** The rows of each batch since the last call. */
    def next(more: (String, String)*): Vector[Vector[Row]] =
      run(spark.readStream.format("hudiidx").options((options ++ more).toMap).load(path), Trigger.AvailableNow())

    def run(frame: DataFrame, trigger: Trigger): Vector[Vector[Row]] = {
      val found = mutable.ArrayBuffer.empty[Vector[Row]]
      columns = frame.schema
      val take = (batch: DataFrame, _: Long) => found += batch.collect().toVector: Unit
      val query = frame.writeStream.foreachBatch(take).option("checkpointLocation", checkpoint).trigger(trigger).start()
      try query.awaitTermination()
      finally query.stop()
      found.toVector
    }

    /** As a process leaves it that ends before its last batch is done. */
    def forgetLast(): Unit =
      LocalStorage.delete(LocalStorage.list(s"$checkpoint/commits").maxBy(_.name.toInt).path): Unit
  }

  protected def failing(body: => Any): HudiIdxException = {
    val e = intercept[StreamingQueryException](body)
    Iterator
      .iterate[Throwable](e)(_.getCause)
      .takeWhile(_ != null)
      .collectFirst { case h: HudiIdxException => h }
      .getOrElse(throw e)
  }

  protected def context(path: String): TableContext = TableContext.load(Tables.access(new Configuration), path)

  protected def commits(path: String): Vector[Instant] = context(path).timeline.completedWrites

  protected def texts(rows: Seq[Row]): Vector[String] = rows.map(_.toString).toVector.sorted

  /** Rows of the commits between two, as the batch query of that range has them. */
  protected def between(path: String, from: Option[Instant], to: Instant): Vector[Row] = {
    def time(i: Instant) = i.completionTime.getOrElse(i.requestedTime)
    // Hudi 1.0, and so a batch query of version 8, counts the begin too.
    def behind(i: Instant) = if (context(path).config.version == 8) f"${time(i).toLong + 1}%017d" else time(i)
    read(path, incremental, begin -> from.fold("000")(behind), end -> time(to)).collect().toVector
  }

  protected def inOrder(path: String): Vector[Instant] =
    commits(path).sortBy(i => i.completionTime.getOrElse(i.requestedTime))

  /** The completed files of instants, taken away from the timeline of a copied table and given back in any order. */
  protected final class Hidden(path: String) {
    private val dir = context(path).config.timelineDir(path).stripPrefix("file:")
    private val away: Path = Fixtures.newFolder("hidden")
    val all: Vector[Instant] = commits(path)
    private def move(from: Path, to: Path): Unit = Files.move(from, to, StandardCopyOption.ATOMIC_MOVE): Unit
    def hide(i: Instant): Unit = move(Paths.get(dir, i.fileName), away.resolve(i.fileName))
    def show(i: Instant): Unit = move(away.resolve(i.fileName), Paths.get(dir, i.fileName))

    /** With its request. */
    def hideAll(i: Instant): Unit = filesOf(i, Paths.get(dir)).foreach(n => move(Paths.get(dir, n), away.resolve(n)))
    def showAll(i: Instant): Unit = filesOf(i, away).foreach(n => move(away.resolve(n), Paths.get(dir, n)))
    private def filesOf(i: Instant, in: Path) = in.toFile.list().toVector.filter(_.startsWith(i.requestedTime))
  }

  // Writers.

  protected val base = Map(
    "hoodie.table.name" -> "t",
    "hoodie.datasource.write.recordkey.field" -> "id",
    "hoodie.datasource.write.partitionpath.field" -> "p",
    "hoodie.datasource.write.precombine.field" -> "ts"
  )

  protected def save(path: String, ids: Seq[Int], ts: Int, more: (String, String)*): Unit = {
    import spark.implicits._
    val rows = ids.map(i => (f"k$i%03d", s"p${i % 3}", ts.toLong, s"v$ts")).toDF("id", "p", "ts", "v").coalesce(1)
    rows.write.format("hudiidx").options(base ++ more).mode("append").save(path)
  }

  /** Six records. */
  protected def made(version: Int = 9): String = {
    val path = Fixtures.newFolder("streamed").resolve("t").toString
    save(path, 0 until 6, 1, "hoodie.write.table.version" -> version.toString)
    path
  }
}
