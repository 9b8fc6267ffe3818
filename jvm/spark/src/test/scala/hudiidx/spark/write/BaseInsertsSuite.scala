package hudiidx.spark.write

import scala.collection.JavaConverters._
import scala.collection.mutable
import scala.util.Random

import hudiidx.TestSettings.{isLong, versions}
import hudiidx.spark.SparkSuite
import hudiidx.spark.api.HudiIdxApi
import hudiidx.spark.compact.CompactionApi
import hudiidx.engine.Tables
import hudiidx.storage.LocalStorage
import hudiidx.sync.TableContext
import hudiidx.table.TableConfig
import hudiidx.{Fixtures, WriteConflict}
import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._

/** New records go to base files, where stock Hudi's default index finds them: each live record in one base file of its partition,
  * and no key in two. Stock Hudi writes to such tables in the tests of `integration/`.
  */
final class BaseInsertsSuite extends SparkSuite {
  private val base = Map(
    "hoodie.table.name" -> "t",
    "hoodie.datasource.write.recordkey.field" -> "id",
    "hoodie.datasource.write.partitionpath.field" -> "p",
    "hoodie.datasource.write.precombine.field" -> "ts"
  )
  private val Operation = "hoodie.datasource.write.operation"
  private val SmallLimit = "hoodie.parquet.small.file.limit"
  private val LogInserts = TableConfig.LogInserts
  private val moves = "hoodie.record.index.update.partition.path" -> "true"

  private def newPath(): String = Fixtures.newFolder("inserts").resolve("t").toString

  private def made(version: Int, more: (String, String)*): Map[String, String] =
    base + ("hoodie.write.table.version" -> version.toString) ++ more

  private def save(frame: DataFrame, path: String, options: Map[String, String]): Unit =
    frame.write.format("hudiidx").options(options).mode("append").save(path)

  private def frame(rows: Seq[(Int, String, Long, String)]): DataFrame = {
    import spark.implicits._
    rows.map { case (i, p, ts, v) => (f"k$i%03d", p, ts, v) }.toDF("id", "p", "ts", "v")
  }

  private def rows(ids: Range, ts: Int): DataFrame =
    frame(ids.map(i => (i, s"p${i % 3}", i.toLong + ts * 1000L, s"v$ts-$i")))

  private def delete(path: String, ids: Range): Unit =
    save(rows(ids, 0).select("id", "p"), path, base + (Operation -> "delete"))

  private def compact(path: String): Unit =
    CompactionApi.compact(spark, path, Map.empty, "schedule_and_execute", None): Unit

  private def values(path: String): Map[String, String] =
    read(path).collect().map(r => r.getAs[String]("id") -> r.getAs[String]("v")).toMap

  /** Partition and key of the rows of all newest base files, dead ones too. */
  private def inBase(path: String): Vector[(String, String)] =
    read(path, "hoodie.datasource.query.type" -> "read_optimized")
      .select("_hoodie_partition_path", "_hoodie_record_key")
      .collect()
      .map(r => r.getString(0) -> r.getString(1))
      .toVector

  private def live(path: String): Vector[(String, String)] =
    read(path)
      .select("_hoodie_partition_path", "_hoodie_record_key")
      .collect()
      .map(r => r.getString(0) -> r.getString(1))
      .toVector

  /** What an index of base files goes by. */
  private def assertFound(path: String): Unit = {
    val (base, rows) = (inBase(path), live(path))
    assert(base.distinct.size === base.size)
    assert(rows.distinct.size === rows.size)
    assert(rows.toSet.diff(base.toSet) === Set.empty)
  }

  private def groups(path: String): Set[String] =
    read(path, "view" -> "latest_merged_file_slices").select("file_id").collect().map(_.getString(0)).toSet

  private def logs(path: String): Set[String] = Fixtures.filesBelow(path).filter(_.contains(".log.")).toSet

  /** Files of the newest commit by whether they are logs. */
  private def written(path: String): Map[Boolean, Int] = {
    val table = TableContext.load(Tables.access(new Configuration), path)
    val stats = table.contents.commit(table.timeline.completedWrites.last).writeStats
    stats.groupBy(_.fileName.exists(_.startsWith("."))).map { case (isLog, s) => isLog -> s.size }
  }

  for (version <- versions(9))
    test(s"version $version: new records go to base files, updates and deletes to logs, in one commit") {
      val path = newPath()
      save(rows(0 until 30, 1), path, made(version))
      assert(logs(path) === Set.empty && inBase(path).size === 30)
      save(rows(20 until 40, 2), path, base + (SmallLimit -> "0"))
      assert(written(path) === Map(true -> 3, false -> 3) && groups(path).size === 6)
      assertFound(path)
      assert(values(path) === (0 until 40).map(i => f"k$i%03d" -> s"v${if (i < 20) 1 else 2}-$i").toMap)
      delete(path, 0 until 5)
      assert(written(path) === Map(true -> 3) && values(path).size === 35)
      new HudiIdxApi(spark, path, Map("hudiidx.record.mode" -> "global").asJava).create()
      save(rows(35 until 50, 3), path, base)
      assertFound(path)
      assert(values(path).size === 45)
    }

  test("the smallest base files without logs are written anew with inserts and updates, so many as an option says") {
    val path = newPath()
    def write(ids: Range, ts: Int, more: (String, String)*): Unit =
      save(rows(ids, ts).drop("p"), path, made(9) - "hoodie.datasource.write.partitionpath.field" ++ more)
    write(0 until 30, 1, SmallLimit -> "0")
    write(30 until 40, 1, SmallLimit -> "0")
    write(40 until 45, 1, SmallLimit -> "0")
    assert(groups(path).size === 3)
    // Two are small enough, one of them is filled, and its record that is updated goes with it.
    write(44 until 50, 2)
    assert(groups(path).size === 3 && written(path) === Map(false -> 1) && logs(path) === Set.empty)
    assertFound(path)
    write(49 until 60, 3, "hoodie.merge.small.file.group.candidates.limit" -> "0")
    assert(groups(path).size === 4 && written(path) === Map(true -> 1, false -> 1))
    assertFound(path)
    assert(values(path).size === 60 && values(path)("k049") === "v3-49" && values(path)("k044") === "v2-44")
  }

  for (version <- versions(6))
    test(s"version $version: in a group that is written anew rows merge as in logs: late ones, deletes of both kinds") {
      val flagged = (ids: Range, ts: Int, gone: Boolean) => rows(ids, ts).withColumn("_hoodie_is_deleted", lit(gone))
      val all = Seq("small" -> base, "logs" -> (base + (LogInserts -> "true"))).map { case (_, options) =>
        val path = newPath()
        save(flagged(0 until 30, 5, false), path, options + ("hoodie.write.table.version" -> version.toString))
        val batch = flagged(0 until 6, 6, false)
          .union(flagged(6 until 12, 1, false))
          .union(flagged(12 until 15, 6, true))
          .union(flagged(15 until 18, 1, true))
          .union(flagged(30 until 40, 1, false))
          .union(flagged(40 until 43, 1, true))
        save(batch, path, options)
        assert(written(path).keySet === Set(options.contains(LogInserts)))
        path
      }
      // Before version 8 a delete takes a row of a base file away whatever its ordering value, in stock Hudi's readers too.
      val late = if (version == 6) (15 until 18).map(i => f"k$i%03d").toSet else Set.empty[String]
      assert(values(all(0)) === (values(all(1)) -- late) && values(all(1)).size === 30 - 3 + 10)
      assertFound(all(0))
      assert(
        read(all(0)).select("_hoodie_file_name").distinct().collect().forall(_.getString(0).endsWith(".parquet"))
      )
    }

  for (version <- versions(9))
    test(s"version $version: a deleted record that comes again goes to where its old row is, which is gone then") {
      val path = newPath()
      save(rows(0 until 30, 5), path, made(version))
      delete(path, 0 until 9)
      val before = groups(path)
      // Older by its ordering value than the row that was deleted, and beside new ones and updates.
      save(rows(3 until 6, 1).union(rows(28 until 34, 7)), path, base + (SmallLimit -> "0"))
      assertFound(path)
      assert(values(path)("k003") === "v1-3" && values(path)("k029") === "v7-29" && values(path).size === 28)
      assert((groups(path) -- before).size === 3) // of new records
      // Also by insert, and after the index saw the delete.
      delete(path, 10 until 12)
      new HudiIdxApi(spark, path, Map("hudiidx.record.mode" -> "global").asJava).create()
      save(rows(10 until 12, 0), path, base + (Operation -> "insert"))
      assertFound(path)
      assert(values(path)("k010") === "v0-10")
      val report = new HudiIdxApi(spark, path, Map("hudiidx.index.strict" -> "true").asJava).verify()
      assert(report.contains("\"ok\":true"), report)
    }

  test(
    "a deleted record that comes again while its file group waits for a compaction is a conflict that says what to do"
  ) {
    val path = newPath()
    save(rows(0 until 30, 1), path, made(9))
    delete(path, 0 until 3)
    CompactionApi.compact(spark, path, Map.empty, "schedule", None)
    val e = intercept[WriteConflict](save(rows(0 until 1, 2), path, base))
    assert(e.getMessage.contains("hudiidx compact-table"))
    save(rows(40 until 43, 2), path, base)
    compact(path)
    save(rows(0 until 1, 2), path, base)
    assertFound(path)
    assert(values(path).size === 31)
  }

  for {
    version <- versions(9)
    operation <- Seq("insert", "bulk_insert")
  }
    test(s"version $version: $operation writes each row, also several of one key, beside those that are there") {
      val path = newPath()
      def insert(rows: (Int, Long, String)*): Unit =
        save(frame(rows.map { case (i, ts, v) => (i, "p1", ts, v) }), path, made(version) + (Operation -> operation))
      def written = read(path).select("v").collect().map(_.getString(0)).toSeq.sorted
      insert((1, 9L, "a"), (1, 7L, "b"), (1, 7L, "c"), (4, 1L, "d")) // makes a file group
      assert(written === Seq("a", "b", "c", "d"))
      insert((1, 3L, "e"), (1, 9L, "f")) // by insert into the small base file
      assert(written === Seq("a", "b", "c", "d", "e", "f"))
      delete(path, 4 until 5)
      insert((4, 0L, "g"), (4, 2L, "h"), (7, 1L, "i")) // into the file group that has the old row
      assert(written === Seq("a", "b", "c", "e", "f", "g", "h", "i"))
    }

  test("of rows of one key that go to a log, or are upserted, or take the place of others, one is written") {
    val twice = frame(Seq((1, "p1", 7L, "late"), (1, "p1", 9L, "last")))
    for (
      options <- Seq(
        Map(LogInserts -> "true", Operation -> "insert"),
        Map(Operation -> "upsert"),
        Map(Operation -> "insert_overwrite")
      )
    ) {
      val path = newPath()
      save(twice, path, made(9) ++ options)
      assert(read(path).select("v").collect().map(_.getString(0)).toSeq === Seq("last"), options)
    }
  }

  test("the table keeps the setting that sends new records to logs, and a write can take it back") {
    val path = newPath()
    def kept = TableConfig.read(LocalStorage, path).logInserts
    save(rows(0 until 9, 1), path, made(9, LogInserts -> "true"))
    assert(kept && inBase(path).isEmpty && logs(path).size === 3)
    save(rows(9 until 12, 1), path, base)
    assert(inBase(path).isEmpty)
    save(rows(12 until 15, 1), path, base + (LogInserts -> "false"))
    assert(!kept && inBase(path).size === 3)
    save(rows(15 until 18, 1), path, base)
    assert(inBase(path).size === 6)
    save(rows(18 until 21, 1), path, base + (LogInserts -> "true"))
    assert(kept && inBase(path).size === 6 && values(path).size === 21)
  }

  for {
    version <- Seq(6, 9)
    limit <- Seq("0", "104857600")
    if isLong || (version == 9) == (limit == "0")
  }
    test(s"version $version, small files below $limit: after each of many turns each record is in one base file") {
      val seed = sys.env.get("HUDIIDX_TEST_SEED").fold(System.nanoTime())(_.toLong)
      info(s"HUDIIDX_TEST_SEED=$seed")
      val drawn = new Random(seed)
      val path = newPath()
      val wanted = mutable.Map.empty[Int, (String, Long, String)]
      val options = made(version, SmallLimit -> limit)
      def ids: Seq[Int] = drawn.shuffle((0 until 40).toVector).take(1 + drawn.nextInt(20))
      (0 until BaseInsertsSuite.Turns).foreach { turn =>
        drawn.nextInt(if (turn == 0) 1 else 5) match {
          case 0 | 1 =>
            val batch = ids.map { i =>
              val p = wanted.get(i).fold(s"p${drawn.nextInt(3)}")(_._1)
              (i, p, drawn.nextInt(100).toLong, s"v$turn-$i")
            }
            save(frame(batch), path, options)
            batch.foreach { case (i, p, ts, v) => if (wanted.get(i).forall(_._2 <= ts)) wanted(i) = (p, ts, v) }
          case 2 =>
            val gone = ids
            save(
              frame(gone.map(i => (i, wanted.get(i).fold("p0")(_._1), 0L, ""))).select("id", "p"),
              path,
              options + (Operation -> "delete")
            )
            gone.foreach(wanted.remove)
          case 3 =>
            val batch = ids.map(i => (i, s"p${drawn.nextInt(3)}", drawn.nextInt(100).toLong, s"v$turn-$i"))
            save(frame(batch), path, options + moves)
            batch.foreach { case (i, p, ts, v) => if (wanted.get(i).forall(_._2 <= ts)) wanted(i) = (p, ts, v) }
          case _ => compact(path)
        }
        val found = read(path)
          .collect()
          .map(r => r.getAs[String]("id") -> ((r.getAs[String]("p"), r.getAs[Long]("ts"), r.getAs[String]("v"))))
        assert(found.toMap === wanted.map { case (i, row) => f"k$i%03d" -> row }.toMap, s"turn $turn")
        assert(found.length === wanted.size, s"turn $turn")
        assertFound(path)
      }
    }

  test("rows of every type are what they were when their group is written anew") {
    val path = newPath()
    val columns =
      "'k' || id AS id, 'p' AS p, id AS ts, id % 2 = 0 AS b, cast(id AS float) AS f, id / 3 AS d, cast('x' AS binary) AS bin, " +
        "date_add(date'1969-12-30', cast(id AS int)) AS day, cast(id AS decimal(7,2)) AS small, cast(-id AS decimal(38,10)) AS large, " +
        "timestamp_micros(id * 1000001) AS t, cast(timestamp_micros(id * 7) AS timestamp_ntz) AS ntz, array(id, null) AS list, " +
        "map('a', array(id)) AS m, named_struct('x', 'é', 'y', named_struct('z', cast(id AS decimal(5,1)))) AS st, " +
        "if(id % 3 = 0, null, id) AS n"
    def make(from: Int, until: Int) = spark.sql(s"SELECT $columns FROM range($from, $until)")
    save(make(0, 9), path, made(9))
    save(make(8, 12).withColumn("more", lit("m")), path, base)
    assert(groups(path).size === 1 && logs(path).isEmpty)
    def texts(f: DataFrame) = f
      .select(make(0, 1).columns.map(col): _*)
      .orderBy("ts")
      .selectExpr("to_json(struct(*), map('ignoreNullFields', 'false'))")
      .collect()
      .map(_.getString(0))
      .toVector
    assert(texts(read(path)) === texts(make(0, 12)))
    assert(read(path).where("more = 'm'").count() === 4 && read(path).where("more is null").count() === 8)
  }
}

private object BaseInsertsSuite {
  val Turns: Int = if (isLong) 60 else 4
}
