package hudiidx.spark.write

import hudiidx.TestSettings.versions
import hudiidx.engine.Tables
import hudiidx.fs.OtherName
import hudiidx.spark.api.HudiIdxApi
import hudiidx.spark.{HudiIdxCatalog, SparkSuite}
import hudiidx.storage.LocalStorage
import hudiidx.sync.TableContext
import hudiidx.timeline.Action
import hudiidx.write.{HeartbeatOptions, OpenWrite}
import hudiidx.{Fixtures, InvalidOption, WriteConflict}
import java.nio.file.{Files, Paths}
import org.apache.commons.io.FileUtils
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.FileSystem
import org.apache.spark.sql.functions._
import org.apache.spark.sql.{DataFrame, Row}
import scala.collection.JavaConverters._

/** An overwrite is one commit that takes the place of what is there: all of it or nothing, with the history behind it. What stock Hudi
  * makes of it stands in `integration/`.
  */
final class OverwriteSuite extends SparkSuite {
  private val base = Map(
    "hoodie.table.name" -> "t",
    "hoodie.datasource.write.recordkey.field" -> "id",
    "hoodie.datasource.write.partitionpath.field" -> "p",
    "hoodie.datasource.write.precombine.field" -> "ts"
  )

  private lazy val sql: String => DataFrame = {
    spark.conf.set("spark.sql.catalog.hudiidx", classOf[HudiIdxCatalog].getName)
    text => spark.sql(text)
  }

  private def rows(ids: Range, ts: Int): DataFrame = {
    import spark.implicits._
    ids.map(i => (f"k$i%03d", s"p${i % 3}", ts.toLong, s"v$ts-$i")).toDF("id", "p", "ts", "v")
  }

  private def save(frame: DataFrame, path: String, mode: String, more: (String, String)*): Unit =
    frame.write.format("hudiidx").options(base ++ more).mode(mode).save(path)

  /** Thirty rows, a third of them updated in logs. */
  private def made(version: Int): String = {
    val path = Fixtures.newFolder("overwrite").resolve("t").toString
    save(rows(0 until 30, 1), path, "append", "hoodie.write.table.version" -> version.toString)
    save(rows(0 until 10, 2), path, "append")
    path
  }

  private def values(path: String, options: (String, String)*): Map[String, String] = {
    val found = read(path, options: _*).select("id", "v").collect().map(r => r.getString(0) -> r.getString(1))
    assert(found.map(_._1).distinct.length === found.length)
    found.toMap
  }

  private def given(ids: Seq[Int], ts: Int): Map[String, String] = ids.map(i => f"k$i%03d" -> s"v$ts-$i").toMap

  private val first = given(10 until 30, 1) ++ given(0 until 10, 2)

  private def context(path: String): TableContext = TableContext.load(Tables.access(new Configuration), path)

  private def replacements(path: String): Int = context(path).timeline.completed.count(_.action == Action.ReplaceCommit)

  private def requireTidy(path: String): Unit = {
    // The last record of the order of locks stays.
    val left = Fixtures.filesBelow(path).filterNot(_.contains("/.heartbeat/lock."))
    assert(left.filter(f => f.contains("/.temp/") || f.contains("/.heartbeat/")).isEmpty)
    assert(context(path).timeline.instants.forall(_.isCompleted)): Unit
  }

  for (version <- Seq(6, 9))
    test(s"version $version: mode overwrite is one commit, with the index behind it and all history before it") {
      val path = made(version)
      val api = new HudiIdxApi(spark, path, Map("hudiidx.record.mode" -> "global").asJava)
      api.create()
      val before = context(path).timeline.completedWrites.last.requestedTime
      val open = read(path)
      save(rows(20 until 40, 3), path, "overwrite")
      assert(values(path) === given(20 until 40, 3) && replacements(path) === 1)
      assert(values(path, "as.of.instant" -> before) === first)
      assert(open.select("id", "v").collect().map(r => r.getString(0) -> r.getString(1)).toMap === first)
      val since =
        Seq("hoodie.datasource.query.type" -> "incremental", "hoodie.datasource.read.begin.instanttime" -> before)
      assert(version == 9 || values(path, since: _*) === given(20 until 40, 3))
      val known = read(path, "view" -> "record_index").where("record_key IN ('k001', 'k025')")
      assert(known.select("record_key").collect().toSeq === Seq(Row("k025")))
      assert(values(path, "hoodie.datasource.query.type" -> "read_optimized").size === 20)
      // And it is written further.
      save(rows(35 until 45, 4), path, "append")
      save(rows(0 until 3, 5), path, "overwrite")
      save(rows(2 until 4, 6), path, "append")
      assert(values(path) === given(0 until 2, 5) ++ given(2 until 4, 6))
      requireTidy(path)
    }

  /** Ways to the rows of a table of which our relation is one. */
  private val ways: Seq[(String, String => DataFrame)] = Seq(
    "our relation" -> (path => read(path)),
    "its files" -> (path => spark.read.parquet(s"$path/*/*.parquet")),
    "a view" -> { path =>
      read(path).createOrReplaceTempView("own_rows")
      spark.sql("SELECT * FROM own_rows WHERE id IN (SELECT id FROM own_rows)")
    },
    "a cached plan" -> (path => read(path).cache())
  )

  for (version <- versions(9); (way, rowsOf) <- ways)
    test(s"version $version: an overwrite reads its own table rightly through $way") {
      val path = made(version)
      if (way == "its files") save(read(path).drop("_hoodie_commit_time"), path, "overwrite")
      val all = values(path)
      save(rowsOf(path).where("id < 'k020'").withColumn("v", concat(col("v"), lit("+"))), path, "overwrite")
      assert(values(path) === all.filter(_._1 < "k020").map { case (k, v) => k -> s"$v+" })
      requireTidy(path)
    }

  test("an overwrite that fails leaves all rows, whatever fails") {
    val path = made(9)
    val failing =
      rows(0 until 30, 3).withColumn("v", when(col("id") === "k017", raise_error(lit("no more"))).otherwise(col("v")))
    assert(causes(intercept[Exception](save(failing, path, "overwrite"))).exists(_.contains("no more")))
    assert(values(path) === first)
    read(path).createOrReplaceTempView("own_rows")
    val statement = s"INSERT OVERWRITE hudiidx.`$path` SELECT id, p, ts, string(raise_error('no more')) FROM own_rows"
    assert(causes(intercept[Exception](sql(statement))).exists(_.contains("no more")))
    assert(values(path) === first)
    requireTidy(path)
    val open = read(path)
    save(rows(0 until 1, 9), path, "append")
    val stale = intercept[WriteConflict](save(open, path, "overwrite"))
    assert(stale.getMessage.contains("old rows"))
    assert(values(path) === first ++ given(0 until 1, 9))
  }

  test("rows that were read under another name of the table are as old as those under its own") {
    spark.sparkContext.hadoopConfiguration.setClass("fs.other.impl", classOf[OtherName], classOf[FileSystem])
    val path = made(9)
    val link = Files.createSymbolicLink(Paths.get(path + "-link"), Paths.get(path)).toString
    val names = Seq(link, s"file:$path", s"file://$path/", s"$path/../t", s"other://test$path/")
    for ((name, i) <- names.zipWithIndex) withClue(s"$name: ") {
      val old = read(name)
      save(rows(200 + i until 201 + i, 9), path, "append")
      val before = values(path)
      assert(intercept[WriteConflict](save(old, path, "overwrite")).getMessage.contains("old rows"))
      assert(values(path) === before)
      save(read(name).withColumn("v", concat(col("v"), lit("+"))), path, "overwrite")
      assert(values(path) === before.map { case (k, v) => k -> s"$v+" })
      requireTidy(path)
    }
    val copy = path + "-copy"
    FileUtils.copyDirectory(Paths.get(path).toFile, Paths.get(copy).toFile)
    val kept = values(copy)
    save(rows(300 until 301, 9), path, "append")
    save(read(copy), path, "overwrite")
    assert(values(path) === kept)
  }

  test("writers by several names of a table meet as by one") {
    spark.sparkContext.hadoopConfiguration.setClass("fs.other.impl", classOf[OtherName], classOf[FileSystem])
    val path = made(9)
    val lock = s"$path/.hoodie/lock"
    val several = Seq(
      "hoodie.write.concurrency.mode" -> "optimistic_concurrency_control",
      "hoodie.write.lock.provider" -> "org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider",
      "hoodie.write.lock.client.num_retries" -> "1",
      "hoodie.write.lock.client.wait_time_ms_between_retry" -> "50"
    )
    val link = Files.createSymbolicLink(Paths.get(path + "-link"), Paths.get(path)).toString
    for (name <- Seq(link, s"file://$path/", s"other://test$path")) withClue(s"$name: ") {
      val open = OpenWrite.begin(Tables.access(new Configuration), path, HeartbeatOptions())
      assert(intercept[WriteConflict](save(rows(0 until 1, 9), name, "append")).getMessage.contains(open.instant))
      open.abandon()
      LocalStorage.publish(lock, Array.emptyByteArray)
      val busy = intercept[WriteConflict](save(rows(0 until 1, 9), name, "append", several: _*))
      assert(busy.getMessage.contains("has the table's lock"))
      LocalStorage.delete(lock)
    }
    assert(values(path) === first)
  }

  test("rows of one key, deletes, and keys in two partitions: an overwrite has each record once") {
    val path = made(9)
    val several = rows(0 until 9, 1).union(rows(0 until 9, 5)).union(rows(3 until 6, 7).withColumn("p", lit("p9")))
    save(
      several.withColumn("_hoodie_is_deleted", lit(false)),
      path,
      "overwrite",
      "hoodie.record.index.update.partition.path" -> "true"
    )
    assert(values(path) === given(0 until 3, 5) ++ given(6 until 9, 5) ++ given(3 until 6, 7))
    val gone = rows(0 until 3, 8).withColumn("_hoodie_is_deleted", col("id") === "k001")
    save(gone, path, "overwrite")
    assert(values(path) === given(Seq(0, 2), 8))
  }

  for (version <- Seq(6, 9))
    test(s"version $version: partitions that rows come for are replaced, and no others") {
      val path = made(version)
      val touched = rows(0 until 30, 3).where("p = 'p1' AND id < 'k010'")
      save(touched, path, "append", "hoodie.datasource.write.operation" -> "insert_overwrite")
      val second = first.filterNot { case (k, _) => k.drop(1).toInt % 3 == 1 } ++ given(Seq(1, 4, 7), 3)
      assert(values(path) === second)
      save(rows(2 until 3, 4), path, "overwrite", "partitionOverwriteMode" -> "dynamic")
      val third = second.filterNot { case (k, _) => k.drop(1).toInt % 3 == 2 } ++ given(Seq(2), 4)
      assert(values(path) === third)
      sql(s"INSERT OVERWRITE hudiidx.`$path` PARTITION (p = 'p0') SELECT 'k000', 9L, 'static'")
      val fourth = third.filterNot { case (k, _) => k.drop(1).toInt % 3 == 0 } + ("k000" -> "static")
      assert(values(path) === fourth)
      read(path).createOrReplaceTempView("own_rows")
      sql(s"INSERT OVERWRITE hudiidx.`$path` PARTITION (p = 'p5') SELECT id, ts, v FROM own_rows WHERE false")
      assert(values(path) === fourth)
      spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
      try sql(s"INSERT OVERWRITE hudiidx.`$path` SELECT 'k002', 'p2', 9L, 'dynamic'")
      finally spark.conf.unset("spark.sql.sources.partitionOverwriteMode")
      assert(values(path) === fourth.filterNot { case (k, _) => k.drop(1).toInt % 3 == 2 } + ("k002" -> "dynamic"))
      sql(s"INSERT OVERWRITE hudiidx.`$path` SELECT 'k100', 'p9', 1L, 'all'")
      assert(values(path) === Map("k100" -> "all"))
      requireTidy(path)
    }

  for (version <- Seq(6, 9))
    test(s"version $version: a table without partitions is replaced by a dynamic overwrite, by no rows too") {
      val spare = "hoodie.datasource.write.partitionpath.field" -> ""
      val dynamic = Seq(spare, "partitionOverwriteMode" -> "dynamic")
      val none = rows(0 until 3, 1).where("false")
      def made(): String = {
        val path = Fixtures.newFolder("overwrite").resolve("t").toString
        save(rows(0 until 9, 1), path, "append", spare, "hoodie.write.table.version" -> version.toString)
        save(rows(0 until 3, 2), path, "append", spare)
        path
      }
      val path = made()
      save(rows(2 until 4, 3), path, "overwrite", dynamic: _*)
      assert(values(path) === given(2 until 4, 3))
      save(none, path, "overwrite", dynamic: _*)
      assert(values(path) === Map.empty)
      save(none, path, "overwrite", dynamic: _*)
      save(rows(5 until 6, 4), path, "append", spare)
      assert(values(path) === given(Seq(5), 4))
      spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
      try sql(s"INSERT OVERWRITE hudiidx.`$path` SELECT 'k002', 'p2', 9L, 'dynamic' WHERE false")
      finally spark.conf.unset("spark.sql.sources.partitionOverwriteMode")
      assert(values(path) === Map.empty)
      requireTidy(path)
      // The operation of Hudi's name replaces what rows come for, as stock's.
      val other = made()
      save(none, other, "append", spare, "hoodie.datasource.write.operation" -> "insert_overwrite")
      assert(values(other) === given(0 until 3, 2) ++ given(3 until 9, 1))
    }

  test("partitions of two fields are replaced by the values of one or both; conditions that name none are refused") {
    val path = Fixtures.newFolder("overwrite").resolve("t").toString
    val two = rows(0 until 12, 1)
      .withColumn("q", expr("cast(substr(id, 4) as int) % 2"))
      .withColumn("p", concat(col("p"), lit("/=")))
    val styled = Seq(
      "hoodie.datasource.write.partitionpath.field" -> "p,q",
      "hoodie.datasource.write.hive_style_partitioning" -> "true",
      "hoodie.datasource.write.partitionpath.urlencode" -> "true"
    )
    save(two, path, "append", styled: _*)
    sql(s"INSERT OVERWRITE hudiidx.`$path` PARTITION (p = 'p1/=', q = 0) SELECT 'n1', 1L, 'one'")
    sql(s"INSERT OVERWRITE hudiidx.`$path` PARTITION (q = 1, p) SELECT 'n2', 'p1/=', 1L, 'two'")
    val left = (0 until 12 by 2).filterNot(_ % 3 == 1)
    assert(values(path) === given(left, 1) ++ Map("n1" -> "one", "n2" -> "two"))
    val before = values(path)
    def refused(change: => Any): String = causes(intercept[Exception](change)).mkString("; ")
    val table = spark
      .range(1)
      .selectExpr("'a' AS id", "'p1/=' AS p", "1L AS ts", "'v' AS v", "0 AS q")
      .writeTo(s"hudiidx.`$path`")
    assert(refused(table.overwrite(col("ts") > 0)).contains("names none"))
    assert(refused(table.overwrite(col("p") === "p2/=")).contains("rows for partition 'p=p1%2F%3D/q=0'"))
    assert(values(path) === before)
    table.overwrite(col("p") === "p1/=")
    assert(values(path) === given(left, 1) + ("a" -> "v"))
  }

  private def causes(e: Throwable): Vector[String] =
    Iterator.iterate(e)(_.getCause).takeWhile(_ != null).map(t => String.valueOf(t.getMessage)).toVector

  test("TRUNCATE TABLE and DELETE without a condition replace all rows by none, and the history stays") {
    for (statement <- Seq("TRUNCATE TABLE", "DELETE FROM")) {
      val path = made(9)
      val before = context(path).timeline.completedWrites.last.requestedTime
      sql(s"$statement hudiidx.`$path`")
      assert(values(path) === Map.empty && replacements(path) === 1, statement)
      assert(values(path, "as.of.instant" -> before) === first)
      save(rows(0 until 3, 1), path, "append")
      assert(values(path) === given(0 until 3, 1))
    }
  }

  test("a write that stands still while another one comes is a conflict for the overwrite, or for the other") {
    val path = made(9)
    val together = Seq(
      "hoodie.write.concurrency.mode" -> "optimistic_concurrency_control",
      "hoodie.write.lock.provider" -> "org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider"
    )
    def during(frame: DataFrame)(body: => Unit): DataFrame = {
      OverwriteSuite.between(() => body)
      val wait = udf { v: String => OverwriteSuite.pass(); v }
      frame.repartition(1).withColumn("v", wait(col("v")))
    }
    // Rows that come meanwhile would stay beside those of the overwrite.
    val beside = intercept[WriteConflict] {
      save(
        during(rows(0 until 3, 5))(save(rows(90 until 93, 5), path, "append", together: _*)),
        path,
        "overwrite",
        together: _*
      )
    }
    assert(beside.getMessage.contains("which this write replaces"))
    assert(values(path) === first ++ given(90 until 93, 5))
    // One partition is replaced, another one written: both are done.
    val dynamic = together :+ ("partitionOverwriteMode" -> "dynamic")
    save(
      during(rows(0 until 1, 6))(save(rows(1 until 2, 6), path, "append", together: _*)),
      path,
      "overwrite",
      dynamic: _*
    )
    assert(values(path).filter(_._1 < "k003") === given(0 until 2, 6) ++ given(2 until 3, 2))
    // An update of what was replaced meanwhile.
    val lost = intercept[WriteConflict] {
      save(
        during(rows(1 until 2, 7))(save(rows(1 until 2, 8), path, "overwrite", dynamic: _*)),
        path,
        "append",
        together: _*
      )
    }
    assert(lost.getMessage.contains("both wrote file group") || lost.getMessage.contains("inserted record"))
    assert(values(path)("k001") === "v8-1")
    requireTidy(path)
  }

  test("no write makes a table in a folder that holds other files; a checkpoint may be there") {
    val path = Fixtures.newFolder("overwrite").resolve("t").toString
    Seq(rows(0 until 3, 1).write, rows(0 until 3, 1).write.partitionBy("p")).foreach { plain =>
      plain.mode("overwrite").parquet(path)
      Seq("append", "overwrite", "error", "ignore").foreach { mode =>
        val said = intercept[InvalidOption](save(rows(0 until 3, 2), path, mode)).getMessage
        assert(said.startsWith("path: ") && said.contains("not a Hudi table") && said.contains("another path"), mode)
      }
      assert(!Files.exists(Paths.get(path, ".hoodie")))
      assert(spark.read.parquet(path).count() === 3)
    }
    FileUtils.deleteDirectory(Paths.get(path).toFile)
    Files.createDirectories(Paths.get(path, "_checkpoint"))
    save(rows(0 until 3, 1), path, "append")
    assert(values(path) === given(0 until 3, 1))
  }

  test("what an overwrite would make another table of is refused, and so are operations that make no sense") {
    val path = made(9)
    def refused(mode: String, more: (String, String)*): String =
      intercept[InvalidOption](save(rows(0 until 3, 5), path, mode, more: _*)).getMessage
    assert(refused("overwrite", "hoodie.datasource.write.operation" -> "delete").contains("has no rows"))
    assert(refused("overwrite", "hoodie.datasource.write.recordkey.field" -> "v").contains("has"))
    val narrow = intercept[InvalidOption](save(rows(0 until 3, 5).drop("v"), path, "overwrite"))
    assert(narrow.getMessage.contains("lack columns"))
    assert(values(path) === first && Fixtures.filesBelow(path).forall(!_.contains(".replacecommit")))
    assert(LocalStorage.list(s"$path/.hoodie/.temp").isEmpty)
    assert(Row(30L) === read(path).selectExpr("count(*)").head())
  }
}

private object OverwriteSuite {
  private val gate = new java.util.concurrent.atomic.AtomicReference[() => Unit]

  /** What happens in the middle of a write, once; not in its task, which starts no jobs. */
  def between(body: () => Unit): Unit = gate.set { () =>
    var failed: Option[Throwable] = None
    val thread = new Thread(() =>
      try body()
      catch { case e: Throwable => failed = Some(e) }
    )
    thread.start()
    thread.join()
    failed.foreach(throw _)
  }

  def pass(): Unit = Option(gate.getAndSet(null)).foreach(_())
}
