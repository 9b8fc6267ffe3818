package hudiidx.spark

import java.nio.file.attribute.FileTime
import java.nio.file.{Files, Path, Paths, StandardCopyOption}

import hudiidx.record.PackedKeys
import hudiidx.spark.api.HudiIdxApi
import hudiidx.storage.LocalStorage
import hudiidx.table.TableConfig
import hudiidx.{Fixtures, TableChanged}
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.{concat, lit, repeat}

/** DataFrames and handles that were there before the table under their path became another. `integration/test_handles.py` has the
  * same with stock Hudi at work.
  */
final class LongLivedSuite extends SparkSuite {
  private def newPlace(): String = Paths.get(Fixtures.newFolder("place").toString, "t").toString

  private def put(name: String, place: String): Unit = {
    LocalStorage.delete(place)
    Files.move(Paths.get(Fixtures.copy(name)), Paths.get(place)): Unit
  }

  private def api(table: String): HudiIdxApi = new HudiIdxApi(spark, table, new java.util.HashMap[String, String]())

  /** Behind the time within which a table that was just opened is not looked at again. */
  private def later(): Unit = Thread.sleep(1100)

  private def expectStock(name: String, frame: DataFrame): Unit =
    assert(Answer.of(frame).checksum === Fixtures.json(name).get("snapshot").get("checksum").asText, name)

  for (
    (before, after) <- Seq(
      "v6-mor-part" -> "v9-mor-part",
      "v9-cow-part" -> "v6-cow-part",
      "v9-mor-part" -> "v9-cow-part"
    )
  )
    test(s"a DataFrame of $before that became $after says so, whatever it is asked; a new one has the rows") {
      val place = newPlace()
      put(before, place)
      val frame = read(place)
      // Spark answers from what it keeps where the plan is the same; `frame` is another.
      val kept = read(place).where("_hoodie_record_key is not null").cache()
      val (looked, shown) = (api(place), read(place, "view" -> "partitions"))
      expectStock(before, kept)
      assert(shown.count() > 0)
      put(after, place)
      later()
      for (
        ask <- Seq[DataFrame => Any](_.count(), _.collect(), _.where("n > 5").count(), _.selectExpr("max(n)").first())
      )
        assert(intercept[TableChanged](ask(frame)).getMessage.contains("read the table again"))
      expectStock(after, read(place))
      expectStock(after, read(place).where("_hoodie_record_key is not null"))
      assert(looked.info() === api(place).info())
      kept.unpersist()
    }

  for (name <- Seq("v6-cow-replace", "v9-cow-replace"))
    test(s"$name: a DataFrame whose timeline lost a file before it was planned says so") {
      val table = Fixtures.copy(name)
      val frame = read(table, "hudiidx.index.enabled" -> "false")
      val timeline = Paths.get(TableConfig.read(LocalStorage, table).timelineDir(table))
      val gone = Fixtures.filesBelow(timeline.toString).filter(_.endsWith(".replacecommit"))
      assert(gone.nonEmpty)
      gone.foreach(f => Files.delete(timeline.resolve(f)))
      assert(intercept[TableChanged](frame.count()).getMessage.contains("read the table again"))
    }

  test("a DataFrame whose table stays has the rows of its moment, long after it was planned") {
    val table = Fixtures.copy("v9-mor-part")
    val cut = new hudiidx.engine.TimelineCut(table)
    cut.showFirst(cut.size - 1)
    val frame = read(table)
    val asIt = Answer.of(read(table)).checksum
    cut.showAll()
    later()
    assert(Answer.of(frame).checksum === asIt)
    expectStock("v9-mor-part", read(table))
  }

  test("a base file that was made anew under its name is read anew by a handle that has read it before") {
    val table = Fixtures.copy("v9-cow-part")
    val handle = api(table)
    val keys = read(table).select("_hoodie_record_key").collect().map(_.getString(0)).toVector.sorted
    def riders: Map[String, String] = rows(handle.lookupRows(PackedKeys.encode(keys), null, null))
    val before = riders
    assert(before === rows(read(table)))
    val row = read(table).select("_hoodie_partition_path", "_hoodie_file_name").first()
    rewrite(Paths.get(table, row.getString(0), row.getString(1)))
    touchTimeline(table)
    val after = riders
    assert(after === rows(read(table)))
    assert((after !== before) && after.keySet === before.keySet)
  }

  test("what Spark keeps of a query hides none of its files from other readers") {
    val table = Fixtures.copy("v9-cow-part")
    val handle = api(table)
    def asked =
      (handle.prune("n > 5", null).count(), handle.paths("n > 5", null, false), handle.dataset("n > 5", null, false))
    val before = asked
    val kept = read(table).where("n > 5").cache()
    assert(before._1 > 0 && kept.count() > 0)
    assert(asked === before)
    kept.unpersist()
  }

  private def rows(frame: DataFrame): Map[String, String] =
    frame.select("_hoodie_record_key", "rider").collect().map(r => r.getString(0) -> r.getString(1)).toMap

  /** Other riders, in rows of another order; a file that got shorter would be damage. */
  private def rewrite(file: Path): Unit = {
    val made = Fixtures.newFolder("made").resolve("out")
    val found = spark.read.parquet(file.toString)
    found
      .withColumn("rider", concat(found("rider"), lit(" of another file")))
      .withColumn("filler", repeat(found("_hoodie_record_key"), 500))
      .orderBy(found("_hoodie_record_key").desc)
      .coalesce(1)
      .write
      .parquet(made.toString)
    val part = LocalStorage.list(made.toString).map(_.path).find(_.endsWith(".parquet")).get
    Files.copy(Paths.get(part), file, StandardCopyOption.REPLACE_EXISTING)
    LocalStorage.delete(file.resolveSibling(s".${file.getFileName}.crc").toString): Unit
  }

  private def touchTimeline(table: String): Unit = {
    val dir = TableConfig.read(LocalStorage, table).timelineDir(table)
    LocalStorage.list(dir).filterNot(_.isDirectory).foreach { f =>
      Files.setLastModifiedTime(Paths.get(f.path), FileTime.fromMillis(f.modifiedMillis + 5000))
    }
  }
}
