package hudiidx.spark.write

import java.nio.file.{Files, Path}

import scala.collection.JavaConverters._

import hudiidx.spark.write.options.WriteOptions
import hudiidx.{Causes, Fixtures, InvalidOption}
import hudiidx.spark.SparkSuite
import hudiidx.spark.compact.CompactionApi
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.{col, expr, udf}

/** Values of partition columns become folders. */
final class PartitionNamesSuite extends SparkSuite {
  private val options = Map(
    "hoodie.table.name" -> "t",
    "hoodie.datasource.write.recordkey.field" -> "id",
    "hoodie.datasource.write.partitionpath.field" -> "p",
    "hoodie.datasource.write.precombine.field" -> "ts"
  )
  private val hostile =
    Seq("../other/evil", "..", "a//b", "a/", "x/./y", ".", "/abs", "s3a://b/x", ".hoodie/timeline", "a/../../other")

  private def save(path: Path, more: (String, String)*)(rows: (String, String, Long)*): Unit = {
    import spark.implicits._
    saveFrame(rows.toDF("id", "p", "ts"), path, more: _*)
  }

  private def saveFrame(rows: DataFrame, path: Path, more: (String, String)*): Unit =
    rows.write.format("hudiidx").options(options ++ more).mode("append").save(path.toString)

  /** That of the error, or of what it comes from: a task's is wrapped. */
  private def refusal(write: => Unit): String = {
    val error = intercept[Exception](write)
    val found = Causes.of(error).collectFirst { case e: InvalidOption => e }
    found.fold(fail(error))(_.getMessage)
  }

  private def below(folder: Path): Set[String] = {
    val walk = Files.walk(folder)
    try walk.iterator.asScala.map(f => folder.relativize(f).toString).toSet
    finally walk.close()
  }

  for (version <- Seq("6", "9"))
    test(s"version $version: rows whose partition would be elsewhere are refused, and nothing is made anywhere") {
      val folder = Fixtures.newFolder("partitions")
      val table = folder.resolve("t")
      save(table, "hoodie.write.table.version" -> version)(("a", "p", 1))
      hostile.foreach { value =>
        val before = below(folder)
        val said = intercept[InvalidOption](save(table)(("b", "q", 1), ("c", value, 1))).getMessage
        assert(said.contains(s"p = '$value'"))
        assert(below(folder) === before)
      }
      save(table)(("b", "q/r", 1))
      assert(read(table.toString).count() === 2)
    }

  for (version <- Seq("6", "9"))
    test(
      s"version $version: a first write with a row that is refused leaves no table, and the next one may make another"
    ) {
      import spark.implicits._
      val folder = Fixtures.newFolder("partitions")
      val table = folder.resolve("t")
      val options = "hoodie.write.table.version" -> version
      def told(said: String)(write: => Unit): Unit = {
        val before = below(folder)
        assert(refusal(write).contains(said))
        assert(below(folder) === before)
      }
      def inTasks(rows: (String, String, Long)*) = rows.toDF("id", "p", "ts").repartition(2)
      Seq("../x", "/abs", ".hoodie/x", "a//b").foreach { value =>
        told(s"p = '$value'")(save(table, options)(("a", "p", 1), ("b", value, 1)))
        told(s"p = '$value'")(saveFrame(inTasks(("a", "p", 1), ("b", value, 1)), table, options))
      }
      told("no record key")(save(table, options)(("a", "p", 1), (null, "p", 1)))
      told("no record key")(saveFrame(inTasks(("a", "p", 1), (null, "p", 1)), table, options))
      Files.createDirectories(table.resolve("notes"))
      Files.write(table.resolve("notes/kept.txt"), "kept".getBytes)
      told("holds notes and is not a Hudi table")(save(table, options)(("a", "p", 1)))
      Files.move(table.resolve("notes"), table.resolve("_notes"))
      told("p = '../x'")(save(table, options)(("a", "../x", 1)))
      save(table, options, "hoodie.datasource.write.partitionpath.urlencode" -> "true")(("a", "../x", 1))
      assert(read(table.toString).select("p").as[String].collect() === Array("../x"))
      assert(Files.exists(table.resolve("_notes/kept.txt")))
    }

  for (version <- Seq("6", "9"); mode <- Seq("append", "overwrite"))
    test(
      s"version $version: a first write, mode $mode, whose rows fail leaves no table, and the next one may make another"
    ) {
      import spark.implicits._
      val folder = Fixtures.newFolder("partitions")
      val table = folder.resolve("t").toString
      val rows = Seq(("a", "p", 1L), ("b", "q", 2L)).toDF("id", "p", "ts").repartition(2)
      val fails = udf((id: String) => if (id == "b") throw new IllegalStateException("by the test") else id)
      def write(frame: DataFrame, key: String): Unit = frame.write
        .format("hudiidx")
        .options(
          options ++ Map("hoodie.write.table.version" -> version, "hoodie.datasource.write.recordkey.field" -> key)
        )
        .mode(mode)
        .save(table)
      for (failing <- Seq(expr("cast(raise_error(concat('by the test ', id)) as string)"), fails(col("id")))) {
        val said = intercept[Exception](write(rows.withColumn("n", failing), "n"))
        assert(Causes.of(said).exists(e => Option(e.getMessage).exists(_.contains("by the test"))))
        assert(below(folder) === Set(""))
      }
      write(rows, "id")
      assert(read(table).count() === 2)
    }

  test("a first batch of a stream that is refused leaves no table") {
    import spark.implicits._
    val folder = Fixtures.newFolder("partitions")
    val table = folder.resolve("t")
    val sink = new StreamSink(options ++ Map("path" -> table.toString, WriteOptions.StreamWriter -> "q"))
    assert(refusal(sink.addBatch(0, Seq(("a", "../x", 1L)).toDF("id", "p", "ts"))).contains("p = '../x'"))
    assert(below(folder) === Set(""))
    sink.addBatch(0, Seq(("a", "x", 1L)).toDF("id", "p", "ts"))
    assert(read(table.toString).count() === 1)
  }

  for (version <- Seq("6", "9"))
    test(s"version $version: a partition inside another one is refused, in one write and in two, whichever is first") {
      val folder = Fixtures.newFolder("partitions")
      val options = "hoodie.write.table.version" -> version
      def told(table: Path)(rows: (String, String, Long)*): Unit = {
        val before = below(folder)
        assert(
          refusal(save(table, options)(rows: _*)).contains("the partition 'q/r/s' would lie inside the partition 'q'")
        )
        assert(below(folder) === before)
      }
      told(folder.resolve("new"))(("a", "q", 1), ("b", "q/r/s", 1))
      for ((first, second) <- Seq("q" -> "q/r/s", "q/r/s" -> "q")) {
        val table = folder.resolve(first.length.toString)
        save(table, options)(("a", first, 1), ("o", "other", 1))
        told(table)(("b", second, 1))
        save(table)(("a", first, 2), ("c", "q2/r", 1), ("d", "q2-r", 1))
        assert(read(table.toString).count() === 4)
      }
    }

  for (version <- Seq("6", "9"))
    test(s"version $version: a partition with the name of a checksum file is one as any other") {
      val table = Fixtures.newFolder("partitions").resolve("t")
      for (ts <- 1 to 3; value <- Seq(".a.crc", "y/.a.crc"))
        save(table, "hoodie.write.table.version" -> version)((value, value, ts.toLong))
      val rows =
        read(table.toString).select("id", "p", "ts").collect().map(r => (r.getString(0), r.getString(1), r.getLong(2)))
      assert(rows.toSet === Set((".a.crc", ".a.crc", 3L), ("y/.a.crc", "y/.a.crc", 3L)))
      assert(CompactionApi.compact(spark, table.toString, Map.empty, "schedule_and_execute", None).done.nonEmpty)
      assert(read(table.toString).count() === 2)
      assert(below(table.resolve(".hoodie")).forall(!_.contains(".temp/")))
    }

  test("with url encoding such values are names of folders, as stock Hudi writes them") {
    val table = Fixtures.newFolder("partitions").resolve("t")
    save(table, "hoodie.datasource.write.partitionpath.urlencode" -> "true")(("a", "../b:c", 1), ("b", "/x", 1))
    assert(Files.isDirectory(table.resolve("..%2Fb%3Ac")) && Files.isDirectory(table.resolve("%2Fx")))
    assert(read(table.toString).select("p").collect().map(_.getString(0)).toSet === Set("../b:c", "/x"))
  }

  test("a new table has folders of dates with slashes where they are asked for, and keeps them") {
    val table = Fixtures.newFolder("partitions").resolve("t")
    val slashes = "hoodie.datasource.write.slash.separated.date.partitioning" -> "true"
    save(table, slashes)(("a", "2026-01-05", 1), ("b", "2026-01-06", 1))
    save(table)(("c", "2026-01-05", 1))
    save(table, slashes)(("b", "2026-01-06", 2))
    assert(Files.isDirectory(table.resolve("2026/01/05")) && !Files.exists(table.resolve("2026-01-05")))
    assert(
      read(table.toString).where("p = '2026-01-05'").select("id").collect().map(_.getString(0)).toSet === Set(
        "a",
        "c"
      )
    )
    import spark.implicits._
    val other = Seq(("d", "2026-02-01", 1L, 7)).toDF("id", "p", "ts", "n")
    other.write
      .format("hudiidx")
      .options(options ++ Map("hudiidx.write.remake" -> "true"))
      .mode("overwrite")
      .save(table.toString)
    assert(Files.isDirectory(table.resolve("2026/02/01")), "a table that is made anew keeps what is not given")
    assert(read(table.toString).select("p").collect().map(_.getString(0)).toSeq === Seq("2026-02-01"))
  }

  test(
    "folders of dates with slashes are refused beside what stock Hudi does not read them with, and of other tables"
  ) {
    val folder = Fixtures.newFolder("partitions")
    val slashes = "hoodie.datasource.write.slash.separated.date.partitioning" -> "true"
    Seq(
      "hoodie.datasource.write.hive_style_partitioning" -> "true",
      "hoodie.datasource.write.partitionpath.urlencode" -> "true",
      "hoodie.datasource.write.partitionpath.field" -> "p,id",
      "hoodie.write.table.version" -> "6"
    ).foreach { beside =>
      assert(refusal(save(folder.resolve("t"), slashes, beside)(("a", "2026-01-05", 1))).contains(slashes._1))
      assert(!Files.exists(folder.resolve("t/.hoodie")))
    }
    save(folder.resolve("other"))(("a", "2026-01-05", 1))
    assert(refusal(save(folder.resolve("other"), slashes)(("b", "2026-01-06", 1))).contains(slashes._1))
    assert(read(folder.resolve("other").toString).count() === 1)
  }
}
