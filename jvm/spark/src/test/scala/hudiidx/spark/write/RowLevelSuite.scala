package hudiidx.spark.write

import scala.util.Random

import hudiidx.TestSettings.isLong
import hudiidx.spark.write.options.WriteOperation
import hudiidx.storage.LocalStorage
import hudiidx.{Fixtures, InvalidOption, UnsupportedTable}
import org.apache.spark.sql.Row
import org.apache.spark.sql.execution.columnar.InMemoryRelation

/** Statements of SQL that change rows do to a table what they do to a plain model of it. */
final class RowLevelSuite extends RowLevelTables {
  private type State = Map[String, Record]

  /** What event-time ordering leaves of a record and a later write of it. */
  private def later(old: Option[Record], now: Record): Record = old.filter(_.ts > now.ts).getOrElse(now)

  private class Step(random: Random, path: String, when: Int) {
    private val (modulus, rest) = (2 + random.nextInt(5), random.nextInt(2))
    private val condition = s"n % $modulus = $rest"
    private def holds(r: Record): Boolean = r.n % modulus == rest

    private def records(count: Int): Vector[Record] = Vector
      .fill(count)(random.nextInt(40))
      .distinct
      .map { k =>
        val n = random.nextInt(100)
        Record(f"k$k%02d", s"p${random.nextInt(3)}", when * 10L - random.nextInt(25), n, s"v$when-$n")
      }

    private def changed(state: State, change: Record => Record): State = state.map { case (k, r) =>
      k -> (if (holds(r)) later(Some(r), change(r)) else r)
    }

    def run(state: State): State = random.nextInt(7) match {
      case 0 =>
        sql(s"DELETE FROM hudiidx.`$path` WHERE $condition AND ts < ${when * 10}")
        state.filterNot { case (_, r) => holds(r) && r.ts < when * 10 }
      case 1 =>
        sql(s"UPDATE hudiidx.`$path` SET v = concat(v, '+'), n = n + 1 WHERE $condition")
        changed(state, r => r.copy(v = r.v + "+", n = r.n + 1))
      case 2 =>
        val shift = random.nextInt(7) - 3
        sql(s"UPDATE hudiidx.`$path` SET ts = ts + $shift, p = 'p${when % 4}' WHERE $condition")
        changed(state, r => r.copy(ts = r.ts + shift, p = s"p${when % 4}"))
      case 3 =>
        val source = records(8)
        sql(s"INSERT INTO hudiidx.`$path` VALUES ${literals(source)}")
        source.foldLeft(state)((s, r) => s + (r.id -> later(s.get(r.id), r)))
      case 4 =>
        val source = records(12)
        sql(
          s"MERGE INTO hudiidx.`$path` t USING ${given(source)} s ON t.id = s.id WHEN MATCHED AND s.$condition THEN DELETE " +
            "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED AND s.ts % 2 = 0 THEN INSERT *"
        )
        source.foldLeft(state) { (s, r) =>
          s.get(r.id) match {
            case Some(_) if holds(r)   => s - r.id
            case Some(old)             => s + (r.id -> later(Some(old), r))
            case None if r.ts % 2 == 0 => s + (r.id -> r)
            case None                  => s
          }
        }
      case 5 =>
        val source = records(12)
        sql(
          s"MERGE INTO hudiidx.`$path` t USING ${given(source)} s ON t.id = s.id AND t.p = s.p WHEN MATCHED THEN UPDATE SET t.v = s.v " +
            s"WHEN NOT MATCHED BY SOURCE AND t.$condition THEN UPDATE SET t.n = t.n + 2 WHEN NOT MATCHED BY SOURCE AND t.n > 90 THEN DELETE"
        )
        val bySource = source.map(r => (r.id, r.p) -> r).toMap
        state.flatMap { case (k, r) =>
          bySource.get((r.id, r.p)) match {
            case Some(s)          => Some(k -> r.copy(v = s.v))
            case None if holds(r) => Some(k -> r.copy(n = r.n + 2))
            case None if r.n > 90 => None
            case None             => Some(k -> r)
          }
        }
      case _ =>
        sql(s"DELETE FROM hudiidx.`$path` WHERE id IN (SELECT max(id) FROM hudiidx.`$path` GROUP BY p)")
        val last = state.values.groupBy(_.p).values.map(_.map(_.id).max).toSet
        state.filterNot { case (k, _) => last(k) }
    }
  }

  for ((version, seed) <- Seq(6 -> 11L, 9 -> 13L) ++ (if (isLong) (20L until 40L).map(9 -> _) else Nil))
    test(s"version $version, seed $seed: statements by turns do what they do to a model") {
      val path = made(version)
      val random = new Random(seed)
      val first = (0 until 30).map(i => Record(f"k$i%02d", s"p${i % 3}", i % 5L, i, s"v$i"))
      sql(s"INSERT INTO hudiidx.`$path` VALUES ${literals(first)}")
      var state: State = first.map(r => r.id -> r).toMap
      assert(rows(path) === state.values.toSet)
      for (when <- 1 to (if (isLong) 30 else 3)) {
        state = new Step(random, path, when).run(state)
        withClue(s"statement $when: ")(assert(rows(path) === state.values.toSet))
        assert(commits(path) === when + 1)
      }
      assert(sql(s"SELECT count(*), count(DISTINCT id) FROM hudiidx.`$path`").head() === {
        Row(state.size.toLong, state.size.toLong)
      })
    }

  test("inserts by position, by name, into a partition and by writeTo; Hudi's columns are made") {
    val path = filled()
    sql(s"INSERT INTO hudiidx.`$path` (ts, id, v, n, p) VALUES (5, 'a', 'x', null, 'p9')")
    sql(s"INSERT INTO hudiidx.`$path` PARTITION (p = 'p8') VALUES ('b', 5, 7, 'x')")
    spark
      .range(1)
      .selectExpr("'c' AS id", "'p7' AS p", "9L AS ts", "1 AS n", "'w' AS v")
      .writeTo(s"hudiidx.`$path`")
      .append()
    val found =
      sql(s"SELECT _hoodie_record_key, _hoodie_partition_path, n FROM hudiidx.`$path` WHERE id < 'k'").collect()
    assert(found.toSet === Set(Row("a", "p9", null), Row("b", "p8", 7), Row("c", "p7", 1)))
    sql(s"INSERT INTO hudiidx.`$path` VALUES ('a', 'p9', 6, 2, 'again')")
    assert(sql(s"SELECT * FROM hudiidx.`$path` WHERE id = 'a'").count() === 1)
    spark.conf.set("hoodie.spark.sql.insert.into.operation", "insert")
    try sql(s"INSERT INTO hudiidx.`$path` VALUES ('a', 'p9', 6, 2, 'twice')")
    finally spark.conf.unset("hoodie.spark.sql.insert.into.operation")
    assert(sql(s"SELECT * FROM hudiidx.`$path` WHERE id = 'a'").count() >= 1)
  }

  test("Hudi's columns name rows in statements") {
    val path = filled()
    sql(s"DELETE FROM hudiidx.`$path` WHERE _hoodie_record_key = 'k1'")
    sql(s"UPDATE hudiidx.`$path` SET v = _hoodie_partition_path WHERE _hoodie_record_key IN ('k2', 'k3')")
    assert(
      rows(path).map(r => r.id -> r.v).toMap ===
        Map("k0" -> "v0", "k2" -> "p0", "k3" -> "p1", "k4" -> "v4", "k5" -> "v5")
    )
  }

  test("a record keeps its key; what a statement may not do is refused and leaves the table as it is") {
    val path = filled()
    val before = rows(path)
    def message(text: String): String = causes(intercept[Exception](sql(text))).mkString("; ")
    assert(message(s"UPDATE hudiidx.`$path` SET id = concat(id, 'x')").contains("a record keeps its key"))
    assert(message(s"INSERT INTO hudiidx.`$path` VALUES (null, 'p', 1, 1, 'v')").contains("no record key"))
    assert(message(s"INSERT INTO hudiidx.`$path`.files VALUES (1)").contains("plain name"))
    val twice = given(Seq(small.head, small.head.copy(v = "other")))
    val cardinality = s"MERGE INTO hudiidx.`$path` t USING $twice s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v"
    assert(message(cardinality).contains("MERGE_CARDINALITY_VIOLATION"))
    assert(rows(path) === before && commits(path) === 1)
    assert(sql(s"UPDATE hudiidx.`$path` SET id = id, v = 'w'").isEmpty && rows(path).forall(_.v == "w"))
    spark.conf.set("hudiidx.write.global", "false")
    try assert(message(s"UPDATE hudiidx.`$path` SET p = 'p7' WHERE n = 3").contains("another partition"))
    finally spark.conf.unset("hudiidx.write.global")
    val cow = Fixtures.copy("v9-cow-part")
    intercept[UnsupportedTable](sql(s"DELETE FROM hudiidx.`$cow`"))
    assert(
      intercept[UnsupportedOperationException](sql(s"DROP TABLE hudiidx.`$path`")).getMessage.contains("with Hudi")
    )
  }

  private def causes(e: Throwable): Vector[String] =
    Iterator.iterate(e)(_.getCause).takeWhile(_ != null).map(t => String.valueOf(t.getMessage)).toVector

  test("file names that are no file group's: records are looked up") {
    val path = filled()
    val target = targetOf(path)
    val found = changed(read(path).where("n >= 3"))
    val writer = target.writer(Map.empty, Some(WriteOperation.Upsert))
    writer.change(RowChanges(found, hasInserts = false), target.table.shared.context)
    assert(rows(path).filter(_.v == "changed").map(_.id) === Set("k3", "k4", "k5") && rows(path).size === 6)
  }

  test("a table that is cached answers from the cache until the next commit") {
    val path = filled()
    sql(s"CACHE TABLE hudiidx.`$path`")
    def isCached: Boolean =
      sql(s"SELECT id FROM hudiidx.`$path`").queryExecution.withCachedData.exists(_.isInstanceOf[InMemoryRelation])
    assert(isCached && rows(path) === small.toSet)
    sql(s"UPDATE hudiidx.`$path` SET v = 'new'")
    assert(!isCached && rows(path).forall(_.v == "new"))
    // A commit that is not this session's SQL, and a view of the table before it.
    sql(s"CACHE TABLE hudiidx.`$path`")
    assert(isCached)
    spark.table(s"hudiidx.`$path`").createOrReplaceTempView("before")
    read(path)
      .limit(1)
      .drop("_hoodie_commit_time")
      .selectExpr("id", "p", "ts + 1 AS ts", "n", "'other' AS v")
      .write
      .format("hudiidx")
      .mode("append")
      .save(path)
    assert(!isCached && rows(path).count(_.v == "other") == 1)
    assert(sql("SELECT * FROM before").count() === rows(path).size)
    spark.catalog.dropTempView("before")
    assert(read(path).queryExecution.analyzed.sameResult(read(path).queryExecution.analyzed))
    spark.catalog.clearCache()
  }

  test("CREATE TABLE makes an empty table, AS SELECT one with rows, or none") {
    val path = made(6)
    assert(rows(path).isEmpty)
    sql(s"CREATE TABLE IF NOT EXISTS hudiidx.`$path` (id STRING) TBLPROPERTIES (primaryKey = 'id')")
    val filled = newPath()
    sql(
      s"CREATE TABLE hudiidx.`$filled` USING hudiidx PARTITIONED BY (p) TBLPROPERTIES (primaryKey = 'id', type = 'mor') AS " +
        "SELECT concat('k', id) AS id, concat('p', id % 2) AS p, id AS n FROM range(6)"
    )
    assert(
      sql(s"SELECT id, n FROM hudiidx.`$filled` WHERE p = 'p1'").collect().toSet ===
        Set(Row("k1", 1L), Row("k3", 3L), Row("k5", 5L))
    )
    sql(s"UPDATE hudiidx.`$filled` SET n = 0 WHERE p = 'p1'")
    assert(sql(s"SELECT sum(n) FROM hudiidx.`$filled`").head() === Row(6L))
    val failed = newPath()
    val boom = "SELECT id, raise_error('no more') AS n FROM range(3)"
    intercept[Exception](sql(s"CREATE TABLE hudiidx.`$failed` TBLPROPERTIES (primaryKey = 'id') AS $boom"))
    assert(LocalStorage.list(failed).isEmpty)
    def refused(rest: String): String =
      intercept[InvalidOption](sql(s"CREATE TABLE hudiidx.`$failed` $rest")).getMessage
    assert(refused("(id INT) USING parquet").contains("USING hudiidx"))
    assert(refused("(id INT) TBLPROPERTIES (primaryKey = 'key')").contains("not a column of the table"))
    for (kind <- Seq("ARRAY<INT>", "MAP<STRING, INT>", "STRUCT<a: INT>", "BINARY", "DOUBLE"))
      assert(
        refused(s"(id $kind) TBLPROPERTIES (primaryKey = 'id')").contains("key fields: column id: the text of"),
        kind
      )
    assert(refused("(id INT) TBLPROPERTIES (primaryKey = 'id', type = 'cow')").contains("MERGE_ON_READ"))
    assert(
      refused("(id INT, d STRING) PARTITIONED BY (bucket(4, d)) TBLPROPERTIES (primaryKey = 'id')").contains("columns")
    )
    assert(LocalStorage.list(failed).isEmpty)
  }
}
