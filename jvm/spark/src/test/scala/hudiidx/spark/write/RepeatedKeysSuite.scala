package hudiidx.spark.write

import scala.collection.JavaConverters._

import hudiidx.spark.api.HudiIdxApi
import hudiidx.spark.compact.CompactionApi
import hudiidx.spark.write.options.WriteOperation
import hudiidx.{Fixtures, UnsupportedTable, WriteConflict}

/** Keys with several rows in one base file, as inserts leave them: what changes rows changes those that it names, or nothing. */
final class RepeatedKeysSuite extends RowLevelTables {
  private val repeated =
    Seq(Record("a", "p0", 1, 10, "a"), Record("k", "p0", 1, 20, "k1"), Record("k", "p0", 2, 21, "k2")) ++
      Seq(Record("k", "p0", 3, 22, "k3"), Record("z", "p0", 1, 30, "z"), Record("k", "p1", 1, 40, "other"))

  private def insert(path: String, records: Seq[Record]): Unit = {
    spark.conf.set("hoodie.spark.sql.insert.into.operation", "bulk_insert")
    try sql(s"INSERT INTO hudiidx.`$path` VALUES ${literals(records)}"): Unit
    finally spark.conf.unset("hoodie.spark.sql.insert.into.operation")
  }

  private def withRepeated(version: Int): String = {
    val path = made(version)
    insert(path, repeated)
    assert(values(path) === Seq("a", "k1", "k2", "k3", "other", "z"))
    path
  }

  /** Each as often as it is there. */
  private def values(path: String): Seq[String] = read(path).select("v").collect().map(_.getString(0)).toSeq.sorted

  private def save(path: String, select: String, operation: String): Unit = spark
    .sql(select)
    .write
    .format("hudiidx")
    .option("hoodie.datasource.write.operation", operation)
    .mode("append")
    .save(path)

  private def requireVerified(path: String): Unit = {
    val report = new HudiIdxApi(spark, path, Map("hudiidx.index.strict" -> "true").asJava)
      .verifyParts(record = true, columns = false, 5, null)
    assert(report.contains("\"ok\":true"), report)
  }

  private def index(path: String): Unit =
    new HudiIdxApi(spark, path, Map("hudiidx.record.mode" -> "global").asJava).create(): Unit

  private val statements = Seq(
    "DELETE FROM @t WHERE n = 21",
    "DELETE FROM @t WHERE id = 'k' AND ts < 3",
    "UPDATE @t SET v = 'changed' WHERE n = 21",
    "UPDATE @t SET v = 'changed' WHERE id = 'k'",
    "UPDATE @t SET p = 'p5' WHERE id = 'k' AND p = 'p0'",
    "MERGE INTO @t t USING (SELECT 'k' AS id, 9L AS ts) s ON t.id = s.id WHEN MATCHED AND t.n = 20 THEN DELETE " +
      "WHEN MATCHED THEN UPDATE SET ts = s.ts",
    "MERGE INTO @t t USING (SELECT 21 AS n) s ON t.n = s.n WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT " +
      "(id, p, ts, n, v) VALUES ('new', 'p0', 1, s.n, 'new')"
  )

  for (version <- Seq(6, 9))
    test(s"version $version: a statement that changes some rows of a key is refused before anything is written") {
      val path = withRepeated(version)
      for (on <- Seq("base files", "logs")) {
        val (before, files) = (values(path), Fixtures.filesBelow(path).filter(_.contains("p0/")))
        for (statement <- statements) withClue(s"$statement on $on: ") {
          val said = intercept[UnsupportedTable](sql(statement.replace("@t", s"hudiidx.`$path`"))).getMessage
          assert(
            said.contains(path) && said.contains("record key 'k' has 3 rows in p0/") && said.contains(".parquet"),
            said
          )
          assert(said.contains("Nothing was written") && said.contains("insert those that are to stay"), said)
          assert(values(path) === before && Fixtures.filesBelow(path).filter(_.contains("p0/")) === files)
        }
        // Records of one row are changed beside them, in a log.
        sql(s"UPDATE hudiidx.`$path` SET v = concat(v, '+') WHERE id IN ('a', 'z')")
        assert(values(path) === before.map(v => if ("az".contains(v.head)) s"$v+" else v))
        assert(Fixtures.filesBelow(path).exists(_.contains(".log.")))
      }
    }

  for (version <- Seq(6, 9))
    test(s"version $version: deletes of all rows of a key leave none, by a statement and by key") {
      for (logged <- Seq(false, true); bySql <- Seq(true, false)) withClue(s"logged $logged, by SQL $bySql: ") {
        val path = withRepeated(version)
        index(path)
        if (logged) sql(s"UPDATE hudiidx.`$path` SET v = 'z+' WHERE id = 'z'")
        if (bySql) sql(s"DELETE FROM hudiidx.`$path` WHERE id IN ('a', 'k') AND p = 'p0'")
        else save(path, "SELECT * FROM VALUES ('a', 'p0'), ('k', 'p0'), ('none', 'p0') AS t(id, p)", "delete")
        // By its key alone a record goes from all its partitions.
        val rest = if (bySql) Seq("other") else Nil
        assert(values(path) === rest :+ (if (logged) "z+" else "z"))
        requireVerified(path)
        CompactionApi.compact(spark, path, Map.empty, "schedule_and_execute", None)
        assert(values(path) === rest :+ (if (logged) "z+" else "z"))
        insert(path, Seq(Record("k", "p0", 0, 21, "k2"), Record("k", "p0", 0, 22, "k3")))
        assert(values(path) === Seq("k2", "k3") ++ rest :+ (if (logged) "z+" else "z"))
        requireVerified(path)
      }
    }

  for (version <- Seq(6, 9))
    test(s"version $version: rows that are marked as deleted delete all rows of their key that are not above them") {
      val path = newPath()
      val options = Map(
        "hoodie.table.name" -> "t",
        "hoodie.datasource.write.recordkey.field" -> "id",
        "hoodie.datasource.write.precombine.field" -> "ts",
        "hoodie.write.table.version" -> version.toString
      )
      def write(rows: String, operation: String): Unit =
        spark
          .sql(s"SELECT id, ts, v, gone AS _hoodie_is_deleted FROM VALUES $rows AS t(id, ts, v, gone)")
          .coalesce(1)
          .write
          .format("hudiidx")
          .options(options + ("hoodie.datasource.write.operation" -> operation))
          .mode("append")
          .save(path)
      write(
        "('a', 1L, 'a', false), ('k', 1L, 'k1', false), ('k', 2L, 'k2', false), ('k', 3L, 'k3', false)",
        "bulk_insert"
      )
      write("('k', 2L, 'x', true), ('a', 2L, 'a+', false)", "upsert")
      // On version 6 rows of base files go with any delete.
      assert(values(path) === (if (version == 6) Seq("a+") else Seq("a+", "k3")))
      write("('k', 9L, 'again', false)", "upsert")
      assert(values(path) === Seq("a+", "again"))
    }

  for (version <- Seq(6, 9))
    test(s"version $version: a key of several rows does not move with a row that is older than one of them") {
      val path = made(version)
      insert(path, Seq(Record("a", "p0", 1, 10, "a"), Record("k", "p0", 1, 20, "k1"), Record("k", "p0", 3, 22, "k3")))
      def upsert(ts: Int): Unit = spark
        .sql(s"SELECT 'k' AS id, 'p9' AS p, ${ts}L AS ts, 9 AS n, 'moved' AS v")
        .write
        .format("hudiidx")
        .option("hoodie.index.type", "GLOBAL_SIMPLE")
        .option("hoodie.simple.index.update.partition.path", "true")
        .mode("append")
        .save(path)
      upsert(2)
      assert(values(path) === Seq("a", "k1", "k3"))
      upsert(4)
      assert(values(path) === Seq("a", "moved"))
    }

  for (version <- Seq(6, 9); moves <- Seq(false, true))
    test(
      s"version $version: of a new key that comes with several partitions one row is there, records that move $moves"
    ) {
      val path = made(version)
      insert(path, Seq(Record("a", "p0", 1, 10, "a")))
      def upsert(index: String, records: Record*): Unit = spark
        .sql(s"SELECT * FROM ${given(records)}")
        .write
        .format("hudiidx")
        .option("hoodie.index.type", index)
        .option("hoodie.simple.index.update.partition.path", moves.toString)
        .mode("append")
        .save(path)
      val scattered = Seq(Record("k", "p0", 2, 1, "k2"), Record("k", "p1", 5, 2, "k5"), Record("k", "p2", 4, 3, "k4"))
      upsert("GLOBAL_SIMPLE", scattered :+ Record("a", "p1", 2, 11, "a+") :+ Record("z", "p1", 1, 12, "z"): _*)
      assert(rows(path).map(r => (r.id, r.v)) === Set("a" -> "a+", "k" -> "k5", "z" -> "z"))
      assert(read(path).where("id = 'k'").select("p").collect().map(_.getString(0)) === Array("p1"))
      upsert("GLOBAL_SIMPLE", Record("k", "p1", 6, 2, "k6"))
      assert(values(path) === Seq("a+", "k6", "z"))
      // Keys of another index are those of a partition.
      upsert("SIMPLE", scattered.map(r => r.copy(id = "each")): _*)
      assert(values(path) === Seq("a+", "k2", "k4", "k5", "k6", "z"))
    }

  test("a file group that waits for a compaction is not written anew: deletes of such keys come later") {
    val path = withRepeated(9)
    sql(s"UPDATE hudiidx.`$path` SET v = 'z+' WHERE id = 'z'")
    CompactionApi.compact(spark, path, Map.empty, "schedule", None)
    val said = intercept[WriteConflict](sql(s"DELETE FROM hudiidx.`$path` WHERE id = 'k' AND p = 'p0'")).getMessage
    assert(said.contains("has several rows of a record key that is deleted") && said.contains("compact-table"))
    intercept[UnsupportedTable](sql(s"DELETE FROM hudiidx.`$path` WHERE n = 21"))
    CompactionApi.compact(spark, path, Map.empty, "execute", None)
    sql(s"DELETE FROM hudiidx.`$path` WHERE id = 'k' AND p = 'p0'")
    assert(values(path) === Seq("a", "other", "z+"))
  }

  test("of rows of one key in several file groups a statement changes those that it names") {
    val path = made(9)
    for (n <- 1 to 3) insert(path, Seq(Record("k", "p0", n, n, s"k$n")))
    sql(s"DELETE FROM hudiidx.`$path` WHERE n = 2")
    sql(s"UPDATE hudiidx.`$path` SET v = 'k3+' WHERE n = 3")
    assert(values(path) === Seq("k1", "k3+"))
    // Rows that do not name their file group stand for a key that is looked up.
    val target = targetOf(path)
    val writer = target.writer(Map.empty, Some(WriteOperation.Upsert))
    val change = RowChanges(changed(read(path).where("n = 3")), hasInserts = false)
    val said = intercept[UnsupportedTable](writer.change(change, target.table.shared.context)).getMessage
    assert(said.contains("record key 'k' has rows in 2 file groups of one partition"), said)
    assert(values(path) === Seq("k1", "k3+"))
  }
}
