package hudiidx.spark

import java.nio.file.{Files, Path, Paths, StandardCopyOption}

import scala.collection.mutable
import scala.util.Random

import hudiidx.hadoop.Tables
import hudiidx.spark.compact.CompactionApi
import hudiidx.storage.LocalStorage
import hudiidx.sync.TableContext
import hudiidx.timeline.Instant
import hudiidx.{Fixtures, HudiIdxException, InvalidOption, TableChanged, TestSettings, UnsupportedTable}
import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.functions.{col, lit}
import org.apache.spark.sql.streaming.{StreamingQueryException, Trigger}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.{DataFrame, Row}

/** Micro-batches are the batch queries of their commits. */
final class TableStreamSuite extends SparkSuite {
  private val begin = "hoodie.datasource.read.begin.instanttime"
  private val end = "hoodie.datasource.read.end.instanttime"
  private val startOffset = "hoodie.datasource.streaming.startOffset"
  private val limit = "maxCommitsPerTrigger"
  private val incremental = "hoodie.datasource.query.type" -> "incremental"
  private val ofChanges = Seq(incremental, "hoodie.datasource.query.incremental.format" -> "cdc")

  /** A query with a checkpoint of its own, which can run again and again. */
  private final class Reader(path: String, options: (String, String)*) {
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

  private def failing(body: => Any): HudiIdxException = {
    val e = intercept[StreamingQueryException](body)
    Iterator
      .iterate[Throwable](e)(_.getCause)
      .takeWhile(_ != null)
      .collectFirst { case h: HudiIdxException => h }
      .getOrElse(throw e)
  }

  private def context(path: String): TableContext = TableContext.load(Tables.access(new Configuration), path)

  private def commits(path: String): Vector[Instant] = context(path).timeline.completedWrites

  private def texts(rows: Seq[Row]): Vector[String] = rows.map(_.toString).toVector.sorted

  /** Rows of the commits between two, as the batch query of that range has them. */
  private def between(path: String, from: Option[Instant], to: Instant): Vector[Row] = {
    def time(i: Instant) = i.completionTime.getOrElse(i.requestedTime)
    // Hudi 1.0, and so a batch query of version 8, counts the begin too.
    def behind(i: Instant) = if (context(path).config.version == 8) f"${time(i).toLong + 1}%017d" else time(i)
    read(path, incremental, begin -> from.fold("000")(behind), end -> time(to)).collect().toVector
  }

  private def inOrder(path: String): Vector[Instant] =
    commits(path).sortBy(i => i.completionTime.getOrElse(i.requestedTime))

  // Writers.

  private val base = Map(
    "hoodie.table.name" -> "t",
    "hoodie.datasource.write.recordkey.field" -> "id",
    "hoodie.datasource.write.partitionpath.field" -> "p",
    "hoodie.datasource.write.precombine.field" -> "ts"
  )

  private def save(path: String, ids: Seq[Int], ts: Int, more: (String, String)*): Unit = {
    import spark.implicits._
    val rows = ids.map(i => (f"k$i%03d", s"p${i % 3}", ts.toLong, s"v$ts")).toDF("id", "p", "ts", "v").coalesce(1)
    rows.write.format("hudiidx").options(base ++ more).mode("append").save(path)
  }

  /** Six records. */
  private def made(version: Int = 9): String = {
    val path = Fixtures.newFolder("streamed").resolve("t").toString
    save(path, 0 until 6, 1, "hoodie.write.table.version" -> version.toString)
    path
  }

  for (version <- TestSettings.versions(6))
    test(s"version $version: random writes, limits and restarts give what batch queries give, commit by commit") {
      val random = new Random(version)
      val path = made(version)
      val one = new Reader(path, incremental, limit -> "1")
      val some = new Reader(path)
      val single, several = mutable.ArrayBuffer.empty[Vector[Row]]
      (2 to 5).foreach { ts =>
        val deletes = if (random.nextInt(4) == 0) Seq("hoodie.datasource.write.operation" -> "delete") else Nil
        save(path, random.shuffle((0 until 12).toVector).take(5), ts, deletes: _*)
        if (ts == 3) {
          CompactionApi.compact(spark, path, Map.empty, "schedule_and_execute", None)
          several ++= some.next(limit -> "2")
        }
      }
      single ++= one.next()
      several ++= some.next()
      val all = inOrder(path)
      val wanted = all.indices.map(i => between(path, all.lift(i - 1), all(i)))
      assert(single.map(texts).toVector === wanted.map(texts).toVector)
      val batch = read(path, incremental, begin -> "000").schema
      assert(one.columns.map(f => f.name -> f.dataType) === batch.map(f => f.name -> f.dataType))
      // Every batch is the query of a range, and the ranges follow one another.
      val ends = several.foldLeft(0) { (done, rows) =>
        val found = texts(byName(rows, some.columns, path))
        val end = (done + 1 to all.length).find(n => texts(between(path, all.lift(done - 1), all(n - 1))) == found)
        end.getOrElse(fail(s"no range behind commit $done has the rows of a batch"))
      }
      assert(ends === all.length && several.length >= 3)
    }

  /** In the order of an incremental query's columns. */
  private def byName(rows: Vector[Row], columns: StructType, path: String): Vector[Row] = {
    val places = read(path, incremental, begin -> "000").columns.map(columns.fieldIndex)
    rows.map(r => Row(places.map(r.get).toSeq: _*))
  }

  /** The completed files of instants, taken away from the timeline of a copied table and given back in any order. */
  private final class Hidden(path: String) {
    private val dir = context(path).config.timelineDir(path).stripPrefix("file:")
    private val away: Path = Fixtures.newFolder("hidden")
    val all: Vector[Instant] = commits(path)
    private def move(from: Path, to: Path): Unit = Files.move(from, to, StandardCopyOption.ATOMIC_MOVE): Unit
    def hide(i: Instant): Unit = move(Paths.get(dir, i.fileName), away.resolve(i.fileName))
    def show(i: Instant): Unit = move(away.resolve(i.fileName), Paths.get(dir, i.fileName))
  }

  // Of these no file was cleaned.
  private val shown = Vector("v6-mor-part", "v8-mor-part", "v9-mor-part", "v9-cow-replace")

  Fixtures.sampled(this, shown).foreach { name =>
    test(s"$name: commits that complete in any order are given once each, as batch queries have them") {
      val table = Fixtures.copy(name)
      val order = inOrder(table)
      val wanted = order.indices
        .map(i => order(i).requestedTime -> texts(between(table, order.lift(i - 1), order(i))))
        .toMap
      val hidden = new Hidden(table)
      order.tail.foreach(hidden.hide)
      val reader = new Reader(table, incremental, limit -> "1")
      val found = mutable.ArrayBuffer.empty[Vector[String]]
      found ++= reader.next().map(texts)
      new Random(7).shuffle(order.tail).grouped(3).foreach { some =>
        some.foreach(hidden.show)
        found ++= reader.next().map(texts)
      }
      assert(found.sortBy(_.toString) === wanted.values.toVector.sortBy(_.toString))
    }
  }

  for (name <- TestSettings.some(2)(Seq("v9-cdc-mor", "v6-cdc-cow")))
    test(s"$name: changes are those of batch queries, in their order, whatever order writers complete in") {
      val table = Fixtures.copy(name)
      val wanted = read(table, ofChanges :+ (begin -> "000"): _*).collect().toVector
      val hidden = new Hidden(table)
      hidden.all.tail.foreach(hidden.hide)
      val reader = new Reader(table, ofChanges :+ (limit -> "2"): _*)
      val batches = mutable.ArrayBuffer.empty[Vector[Row]]
      batches ++= reader.next()
      new Random(3).shuffle(hidden.all.tail).grouped(3).foreach { some =>
        some.foreach(hidden.show)
        batches ++= reader.next()
      }
      assert(reader.columns === ChangeData.Columns)
      assert(texts(batches.flatten.toVector) === texts(wanted))
      val times = batches.map(_.map(_.getString(1))).filter(_.nonEmpty)
      assert(times.zip(times.tail).forall { case (a, b) => a.max < b.min })
      val latest = new Reader(table, ofChanges :+ (startOffset -> hidden.all(2).requestedTime): _*)
      assert(texts(latest.next().flatten) === texts(wanted.filter(_.getString(1) > hidden.all(2).requestedTime)))
      intercept[InvalidOption](read(table, ofChanges: _*).count())
    }

  test("a write that is open is given when it completes, and a batch that comes again is the same") {
    val path = made()
    val reader = new Reader(path)
    assert(reader.next().map(_.length) === Vector(6))
    reader.forgetLast()
    save(path, 6 until 10, 2)
    assert(reader.next().map(_.length) === Vector(6, 4))
    assert(reader.next() === Vector.empty)
    val latest = new Reader(path, startOffset -> "latest")
    assert(latest.next() === Vector.empty)
    save(path, 10 until 11, 3)
    save(path, 11 until 14, 4)
    val hidden = new Hidden(path)
    val late = hidden.all.init.last
    hidden.hide(late)
    assert(reader.next().map(_.length) === Vector(3) && latest.next().map(_.length) === Vector(3))
    hidden.show(late)
    assert(reader.next().map(_.length) === Vector(1) && latest.next().map(_.length) === Vector(1))
  }

  test("a query that stops before its first batch begins where it began, and triggers have what they should") {
    val path = made()
    val reader = new Reader(path, startOffset -> "latest", limit -> "1")
    assert(reader.next() === Vector.empty)
    (2 to 4).foreach(ts => save(path, 0 until ts, ts))
    // Trigger.Once has no limit.
    @annotation.nowarn("cat=deprecation")
    def once(frame: DataFrame) = new Reader(path).run(frame, Trigger.Once())
    def frame = spark.readStream.format("hudiidx").option(limit, "1").load(path)
    assert(once(frame).map(_.length) === Vector(6))
    assert(reader.next().map(_.length) === Vector(2, 3, 4))
    val query = frame.select("v").writeStream.format("memory").queryName("streamed").start()
    try {
      query.processAllAvailable()
      save(path, 0 until 5, 5)
      query.processAllAvailable()
      val counts = spark.table("streamed").groupBy("v").count().collect().map(r => r.getString(0) -> r.getLong(1)).toMap
      assert(counts === Map("v1" -> 6L, "v2" -> 2L, "v3" -> 3L, "v4" -> 4L, "v5" -> 5L))
      assert(query.recentProgress.map(_.numInputRows).sum === 20)
    } finally query.stop()
  }

  test("selections, filters and joins of a stream with itself are right") {
    val path = made()
    def frame = spark.readStream.format("hudiidx").load(path)
    def rows(f: DataFrame) = texts(new Reader(path).run(f, Trigger.AvailableNow()).flatten)
    assert(rows(frame.where("id > 'k003'").select("v", "id")) === Vector("[v1,k004]", "[v1,k005]"))
    assert(rows(frame.select("ts").union(frame.where("ts > 5").select("ts"))) === Vector.fill(6)("[1]"))
    val one = frame
    assert(
      rows(one.select("id").union(one.select("v"))) === ((0 to 5).map(i => s"[k00$i]") ++ Vector.fill(6)(
        "[v1]"
      )).toVector
    )
    // Spark computes parts of a plan once that it takes for the same.
    val apart = one.select("id").repartition(1).union(one.select("v").repartition(1))
    assert(rows(apart).distinct.length === 7)
    assert(rows(frame.select(lit(7))) === Vector.fill(6)("[7]"))
    assert(rows(frame.select("*")).length === 6)
  }

  test("columns that change while a stream runs end it, and it goes on from its checkpoint") {
    val table = Fixtures.copy("v9-cow-evolution")
    val whole = inOrder(table)
    val names = read(table).columns.toSet
    val hidden = new Hidden(table)
    whole.tail.reverse.foreach(hidden.hide)
    val reader = new Reader(table)
    val before = spark.readStream.format("hudiidx").load(table)
    val added = (names -- before.columns).head
    val first = reader.run(before, Trigger.AvailableNow())
    assert(first.length === 1)
    whole.tail.foreach(hidden.show)
    val e = failing(reader.run(before, Trigger.AvailableNow()))
    assert(e.isInstanceOf[TableChanged] && e.getMessage.contains(s"$added was not there"), e.getMessage)
    assert(e.getMessage.contains("with the same checkpoint"))
    val rest = reader.next(incremental)
    assert(texts(rest.flatten) === texts(between(table, Some(whole.head), whole.last)))
    assert(reader.columns.fieldNames.contains(added))
  }

  test("files that were cleaned are named, or their rows are taken from the latest files") {
    val table = Fixtures.copy("v9-cow-part")
    val order = inOrder(table)
    val hidden = new Hidden(table)
    order.tail.foreach(hidden.hide)
    val reader = new Reader(table)
    assert(reader.next().length === 1)
    order.tail.foreach(hidden.show)
    // The fixture's cleaner took them.
    val here = Fixtures.filesBelow(table).map(f => f.substring(f.lastIndexOf('/') + 1)).toSet
    val gone = order.tail.flatMap(i => context(table).contents.commit(i).writeStats.flatMap(_.fileName)).filterNot(here)
    assert(gone.nonEmpty)
    val e = failing(reader.next())
    assert(e.isInstanceOf[TableChanged] && gone.exists(f => e.getMessage.contains(s"$f: was cleaned")))
    assert(e.getMessage.contains("fallback.fulltablescan") && e.getMessage.contains("with latest it goes on"))
    def told(rows: Vector[Vector[Row]]) = rows.flatten.map(r => r.getAs[String]("_hoodie_record_key")).toSet
    val wanted = read(table).where(col("_hoodie_commit_time") > order.head.requestedTime).collect().toVector
    assert(told(reader.next(IncrementalOptions.Fallback -> "true")) === told(Vector(wanted)))
    // A stream that begins behind them needs not be told so.
    assert(told(new Reader(table).next()) === told(Vector(read(table).collect().toVector)))
  }

  for (name <- TestSettings.some(2)(Seq("v9-archived-mor", "v6-archived-cow")))
    test(s"$name: a stream from the earliest has the rows of archived commits from the latest files") {
      val table = Fixtures.table(name)
      val rows = new Reader(table, limit -> "6").next()
      assert(rows.length === (commits(table).length + 1 + 5) / 6)
      val found = rows.flatten.groupBy(_.getAs[String]("_hoodie_record_key")).map { case (k, all) =>
        k -> all.maxBy(_.getAs[String]("_hoodie_commit_time"))
      }
      val columns = read(table).columns
      assert(
        texts(found.values.map(r => Row(columns.map(r.getAs[Any](_)).toSeq: _*)).toVector) === texts(
          read(table).collect().toVector
        )
      )
      val e = failing(new Reader(table, IncrementalOptions.Fallback -> "false").next())
      assert(e.getMessage.contains("was archived before the stream has read it"))
    }

  test("a table that was overwritten, taken back or replaced by another ends the stream, which says what to do") {
    val path = made()
    val reader = new Reader(path)
    assert(reader.next().map(_.length) === Vector(6))
    // As a savepoint that is restored, and as stock's overwrite, leave it.
    val last = commits(path).last
    val hidden = new Hidden(path)
    save(path, 0 until 6, 2)
    hidden.hide(last)
    val gone = failing(reader.next())
    assert(
      gone.isInstanceOf[TableChanged] && gone.getMessage.contains(last.requestedTime) && gone.getMessage.contains(
        "new checkpoint"
      )
    )
    hidden.show(last)
    assert(reader.next().map(_.length) === Vector(6))
    val anew = Map("hudiidx.write.remake" -> "true", "hoodie.write.record.merge.mode" -> "COMMIT_TIME_ORDERING")
    read(path).select("id", "p", "ts", "v").write.format("hudiidx").options(base ++ anew).mode("overwrite").save(path)
    assert(failing(reader.next()).getMessage.contains("made anew"))
  }

  test("options that a stream does not take are refused by name") {
    val table = Fixtures.table("v9-cow-part")
    def refused(options: (String, String)*): String = failing(new Reader(table, options: _*).next()).getMessage
    def refusedAtLoad(options: (String, String)*): String =
      intercept[HudiIdxException](new Reader(table, options: _*).next()).getMessage
    assert(refused(incremental, begin -> "000").startsWith(begin))
    assert(refused("as.of.instant" -> commits(table).last.requestedTime).startsWith("as.of.instant"))
    assert(refused("hoodie.datasource.query.type" -> "read_optimized").contains("query.type"))
    assert(refused("maxFilesPerTrigger" -> "2").contains(limit))
    assert(refused(limit -> "0").contains(limit))
    assert(refused(startOffset -> "soon").contains(startOffset))
    assert(refused(IncrementalOptions.EndSchema -> "true").startsWith(IncrementalOptions.EndSchema))
    assert(refused(StreamOptions.TableVersion -> "6").startsWith(StreamOptions.TableVersion))
    assert(new Reader(table, StreamOptions.TableVersion -> "8", startOffset -> "latest").next() === Vector.empty)
    assert(refusedAtLoad(ofChanges: _*).contains("keeps no change data"))
    val schema = new StructType().add("id", "string")
    assert(
      failing(
        new Reader(table).run(spark.readStream.format("hudiidx").schema(schema).load(table), Trigger.AvailableNow())
      ).getMessage.contains("schema")
    )
    val virtual = Fixtures.table("v9-virtual-cow")
    assert(failing(new Reader(virtual).next()).isInstanceOf[UnsupportedTable])
    assert(intercept[InvalidOption](read(table, incremental).count()).getMessage.contains(begin))
  }
}
