package hudiidx.spark.write

import scala.collection.JavaConverters._

import hudiidx.engine.Tables
import hudiidx.spark.SparkSuite
import hudiidx.spark.api.HudiIdxApi
import hudiidx.storage.LocalStorage
import hudiidx.sync.TableContext
import hudiidx.timeline.{Action, ArchivedInstant, InstantContent, TimelineHistory}
import hudiidx.write.{BatchNumber, HeartbeatOptions, OpenWrite, StreamBatch}
import hudiidx.{Causes, Fixtures, InvalidOption, TableChanged, WriteConflict}
import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._
import org.apache.spark.sql.streaming.{StreamingQuery, StreamingQueryException}

/** Batches of streams are written once each, wherever the query ends. */
final class StreamSinkSuite extends SparkSuite {
  private type Event = (String, String, Long, String)

  private val base = Map(
    "hoodie.table.name" -> "t",
    "hoodie.datasource.write.recordkey.field" -> "id",
    "hoodie.datasource.write.partitionpath.field" -> "p",
    "hoodie.datasource.write.precombine.field" -> "ts",
    // A batch that is written twice is there twice.
    "hoodie.datasource.write.operation" -> "insert",
    "hoodie.datasource.write.streaming.retry.interval.ms" -> "100"
  )

  /** A stream and where it goes; it can be stopped and started again. */
  private final class Stream(
      val path: String = newPath(),
      more: Map[String, String] = Map.empty,
      checkpoint: String = newPath()
  ) {
    private val input = {
      import spark.implicits._
      MemoryStreams.of[Event](spark)
    }

    def add(ids: Range, ts: Int): Unit =
      input.addData(ids.map(i => (f"k$i%03d", s"p${i % 3}", ts.toLong, s"v$ts"))): Unit

    def frame: DataFrame = input.toDF().toDF("id", "p", "ts", "v")

    def start(rows: DataFrame = frame, mode: String = "append"): StreamingQuery = rows.writeStream
      .format("hudiidx")
      .options(base ++ more)
      .option("checkpointLocation", checkpoint)
      .outputMode(mode)
      .start(path)

    /** Runs until all that was added is written. */
    def run(rows: DataFrame = frame, mode: String = "append"): Unit = {
      val query = start(rows, mode)
      try query.processAllAvailable()
      finally query.stop()
    }

    /** Another process goes on with it from a backup of the checkpoint that was made so many batches ago. */
    def fromBackup(batches: Int): Stream = {
      Seq("commits", "offsets").foreach { folder =>
        val noted = LocalStorage.list(s"$checkpoint/$folder").sortBy(_.name.toInt)
        noted.takeRight(batches).foreach(f => LocalStorage.delete(f.path): Unit)
      }
      new Stream(path, more, checkpoint)
    }

    /** As a process leaves it that ends after the last batch was written, before Spark noted it. */
    def forgetLast(): Unit = {
      val noted = LocalStorage.list(s"$checkpoint/commits")
      LocalStorage.delete(noted.maxBy(_.name.toInt).path): Unit
    }
  }

  /** What the query's error says, with nothing written. */
  private def refused(stream: Stream): String = {
    val before = commits(stream.path)
    val e = intercept[StreamingQueryException](stream.run())
    assert(commits(stream.path) === before)
    val told = Causes.ours(e).collect { case c: TableChanged => c }
    told.fold(fail("no error of ours", e))(_.getMessage)
  }

  private def newPath(): String = Fixtures.newFolder("stream").resolve("t").toString

  private def counts(path: String): Map[String, Long] =
    read(path).groupBy("v").count().collect().map(r => r.getString(0) -> r.getLong(1)).toMap

  private def commits(path: String): Int =
    TableContext.load(Tables.access(new Configuration), path).timeline.completedWrites.size

  test("batches are written one by one, and a query that starts again goes on behind them") {
    val stream = new Stream()
    stream.add(0 until 10, 1)
    stream.run()
    stream.add(10 until 30, 2)
    stream.run()
    stream.add(30 until 40, 3)
    stream.run()
    assert(counts(stream.path) === Map("v1" -> 10L, "v2" -> 20L, "v3" -> 10L))
    assert(commits(stream.path) === 3)
  }

  test("a batch that was written before the query ended is skipped when it comes again") {
    val stream = new Stream()
    stream.add(0 until 10, 1)
    stream.run()
    stream.forgetLast()
    stream.run()
    assert(counts(stream.path) === Map("v1" -> 10L) && commits(stream.path) === 1)
    stream.add(10 until 20, 2)
    stream.run()
    // Others write, with and without streams, before it comes again.
    val other = new Stream(stream.path)
    other.add(50 until 55, 7)
    other.run()
    read(stream.path).limit(0).drop("_hoodie_commit_time").write.format("hudiidx").mode("append").save(stream.path)
    stream.forgetLast()
    stream.add(20 until 30, 3)
    stream.run()
    assert(counts(stream.path) === Map("v1" -> 10L, "v2" -> 10L, "v3" -> 10L, "v7" -> 5L))
    assert(read(stream.path).groupBy("id").count().where("count > 1").count() === 0)
  }

  test("a batch that a table had before it was made anew is passed over when it comes again") {
    val stream = new Stream()
    stream.add(0 until 10, 1)
    stream.run()
    stream.add(10 until 20, 2)
    stream.run()
    val other = new Stream(stream.path)
    other.add(50 until 55, 7)
    other.run()
    def anew(styled: String): Unit = read(stream.path)
      .select("id", "p", "ts", "v")
      .write
      .format("hudiidx")
      .options(base - "hoodie.datasource.write.operation")
      .option("hoodie.datasource.write.hive_style_partitioning", styled)
      .option("hudiidx.write.remake", "true")
      .mode("overwrite")
      .save(stream.path)
    val before = Map("v1" -> 10L, "v2" -> 10L, "v7" -> 5L)
    Seq("true", "false").foreach { styled =>
      anew(styled)
      assert(commits(stream.path) === 1 && counts(stream.path) === before)
      stream.forgetLast()
      stream.run()
      other.forgetLast()
      other.run()
      assert(counts(stream.path) === before && commits(stream.path) === 1)
    }
    stream.add(20 until 30, 3)
    stream.run()
    assert(counts(stream.path) === before + ("v3" -> 10L))
  }

  test("a batch of which the archive alone knows is passed over, the first one too") {
    val path = newPath()
    val rows = spark.range(1).selectExpr("'k' as id", "'p' as p", "1L as ts", "'v' as v")
    rows.write.format("hudiidx").options(base).save(path)
    val now = TableContext.load(Tables.access(new Configuration), path)
    def isIn(archived: Long, id: Long): Boolean = {
      val commit =
        s"""{"partitionToWriteStats":{},"extraMetadata":{"_hudi_streaming_sink_checkpoint":"{\\"w\\":\\"$archived\\"}"}}"""
      val content = InstantContent.of("20260101000000000.deltacommit", commit.getBytes("UTF-8"))
      val history = new TimelineHistory {
        override def completionTime(instantTime: String): Option[String] = None
        override def instantsFrom(instantTime: String): Iterator[ArchivedInstant] =
          Iterator(ArchivedInstant("20260101000000000", None, Action.DeltaCommit, content))
      }
      val table = new TableContext(now.access, path, now.config, now.timeline, now.contents, history)
      StreamBatch("w", BatchNumber(id)).isIn(table)
    }
    assert(isIn(0, 0) && !isIn(0, 1) && isIn(7, 7) && !isIn(7, 8))
    intercept[TableChanged](isIn(7, 0))
  }

  test("numbers are those of a query, or of a writer that is named") {
    val path = newPath()
    Seq(1, 2).foreach { n =>
      val stream = new Stream(path)
      stream.add(n * 10 until n * 10 + 5, n)
      stream.run()
    }
    assert(counts(path) === Map("v1" -> 5L, "v2" -> 5L))
    val named = newPath()
    val one = Map("hoodie.datasource.write.streaming.checkpoint.identifier" -> "one")
    val first = new Stream(named, one)
    first.add(10 until 15, 1)
    first.run()
    val second = new Stream(named, one)
    second.add(20 until 25, 2)
    assert(refused(second).contains("batch 0 of the stream 'one' comes when the table has another batch 0"))
    assert(counts(named) === Map("v1" -> 5L))
  }

  test("a batch that is older than the table's, or another one under its number, is an error, and nothing is written") {
    val stream = new Stream()
    (1 to 3).foreach { n =>
      stream.add(n * 10 until n * 10 + 5, n)
      stream.run()
    }
    val rows = counts(stream.path)
    val other = new Stream(stream.path)
    other.add(50 until 55, 5)
    other.run()
    val late = stream.fromBackup(1)
    (6 to 8).foreach(n => late.add(n * 10 until n * 10 + 5, n))
    assert(refused(late).contains("has another batch 2"))
    val later = stream.fromBackup(2)
    (6 to 8).foreach(n => later.add(n * 10 until n * 10 + 5, n))
    assert(refused(later).contains("has its batch 2"))
    assert(counts(stream.path) === rows + ("v5" -> 5L))
  }

  test("the last batch is the greatest of the active timeline, when a query starts") {
    val access = Tables.access(new Configuration)
    val path = newPath()
    val rows = spark.range(1).selectExpr("'k' as id", "'p' as p", "1L as ts", "'v' as v")
    val write = new TableWriter(spark, path, SaveTable.optionsOf(spark, base))
    write.write(rows, Some(StreamBatch("w", BatchNumber(5))))
    // As a writer of stock's copies what it found when it began.
    val copied = base + ("hoodie.datasource.write.commitmeta.key.prefix" -> "_hudi_") +
      ("_hudi_streaming_sink_checkpoint" -> """{"w":"4","o":"1"}""")
    rows.write.format("hudiidx").options(copied).mode("append").save(path)
    def table = TableContext.load(access, path)
    assert(StreamBatch("w", BatchNumber(5)).isIn(table) && !StreamBatch("w", BatchNumber(6)).isIn(table))
    assert(
      !StreamBatch("w", BatchNumber(5), isOfAll = false).isIn(table) && StreamBatch("o", BatchNumber(1)).isIn(table)
    )
    write.write(rows, Some(StreamBatch("w", BatchNumber(5))))
    assert(read(path).count() === 2)
  }

  test("states are kept: changed counts are upserted") {
    val stream =
      new Stream(more = Map("hoodie.datasource.write.operation" -> "upsert", "hudiidx.write.create" -> "true"))
    val counted = stream.frame
      .groupBy("p")
      .agg(count("*").as("n"), max("ts").as("ts"))
      .select(col("p").as("id"), col("p"), col("ts"), col("n").cast("string").as("v"))
    stream.add(0 until 9, 1)
    stream.run(counted, "update")
    stream.add(0 until 4, 2)
    stream.run(counted, "update")
    stream.forgetLast()
    stream.run(counted, "update")
    val found = read(stream.path).collect().map(r => r.getAs[String]("id") -> r.getAs[String]("v")).toMap
    assert(found === Map("p0" -> "5", "p1" -> "4", "p2" -> "4"))
    val info = new HudiIdxApi(spark, stream.path, Map.empty[String, String].asJava).verify()
    assert(info.contains("\"ok\":true"), info)
  }

  test("a batch waits for another writer, and ends where that one does not") {
    val stream = new Stream(more = Map("hoodie.datasource.write.streaming.retry.count" -> "200"))
    stream.add(0 until 3, 1)
    stream.run()
    val other = OpenWrite.begin(Tables.access(new Configuration), stream.path, HeartbeatOptions())
    stream.add(3 until 6, 2)
    val query = stream.start()
    Thread.sleep(2000)
    assert(commits(stream.path) === 1)
    other.abandon()
    query.processAllAvailable()
    query.stop()
    assert(counts(stream.path) === Map("v1" -> 3L, "v2" -> 3L))

    val hasty = new Stream(stream.path, Map("hoodie.datasource.write.streaming.retry.count" -> "1"))
    hasty.add(6 until 9, 3)
    val again = OpenWrite.begin(Tables.access(new Configuration), stream.path, HeartbeatOptions())
    val e = intercept[StreamingQueryException](hasty.run())
    assert(Causes.ours(e).exists(_.isInstanceOf[WriteConflict]))
    again.abandon()
  }

  test("output mode complete is refused") {
    val stream = new Stream()
    val counted = stream.frame.groupBy("id", "p").agg(max("ts").as("ts"), max("v").as("v"))
    val e = intercept[InvalidOption](stream.start(counted, "complete"))
    assert(e.getMessage.contains("mode update"))
  }

  test("what stands in the metadata of others' commits is no number of ours") {
    val access = Tables.access(new Configuration)
    val path = newPath()
    val rows = spark.range(1).selectExpr("'k' as id", "'p' as p", "1L as ts", "'v' as v")
    rows.write.format("hudiidx").options(base).save(path)
    def isIn(id: Long): Boolean = StreamBatch("w", BatchNumber(id)).isIn(TableContext.load(access, path))
    assert(!isIn(0) && !isIn(5))
    val write = new TableWriter(spark, path, SaveTable.optionsOf(spark, base))
    write.write(rows, Some(StreamBatch("w", BatchNumber(5))))
    write.write(rows, Some(StreamBatch("\"other\", w", BatchNumber(9))))
    assert(isIn(5) && !isIn(6))
    intercept[TableChanged](isIn(0))
  }
}
