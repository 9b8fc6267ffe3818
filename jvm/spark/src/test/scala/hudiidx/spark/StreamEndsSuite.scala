package hudiidx.spark

import hudiidx.spark.options.{IncrementalOptions, StreamOptions}
import hudiidx.{Fixtures, HudiIdxException, InvalidOption, TableChanged, TestSettings, UnsupportedTable}
import org.apache.spark.sql.Row
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.streaming.Trigger
import org.apache.spark.sql.types.StructType

/** What ends a stream, or lets none begin, and what the error says to do. */
final class StreamEndsSuite extends TableStreams {
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
    // A stream that begins after them needs not be told so.
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

  test("a table that was overwritten, rolled back or replaced by another ends the stream, which says what to do") {
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
