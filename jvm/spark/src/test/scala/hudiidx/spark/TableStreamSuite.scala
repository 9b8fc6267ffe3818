package hudiidx.spark

import scala.collection.mutable
import scala.util.Random

import hudiidx.spark.compact.CompactionApi
import hudiidx.spark.stream.ChangeData
import hudiidx.{Fixtures, InvalidOption, TestSettings}
import org.apache.spark.sql.functions.lit
import org.apache.spark.sql.streaming.Trigger
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.{DataFrame, Row}

/** Micro-batches are the batch queries of their commits. */
final class TableStreamSuite extends TableStreams {
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

  Seq("v9-cdc-mor", "v12-cdc-mor").foreach { name =>
    test(s"$name: changes of commits of which one was requested unseen before those that were given are right") {
      val table = Fixtures.copy(name)
      val wanted = read(table, ofChanges :+ (begin -> "000"): _*).collect().toVector
      val hidden = new Hidden(table)
      hidden.all.tail.foreach(hidden.hideAll)
      val reader = new Reader(table, ofChanges: _*)
      reader.next()
      hidden.showAll(hidden.all(2))
      reader.next()
      val late = Vector(hidden.all(1), hidden.all(3))
      late.foreach(hidden.showAll)
      val times = late.map(_.requestedTime)
      assert(texts(reader.next().flatten) === texts(wanted.filter(r => times.contains(r.getString(1)))))
    }
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
}
