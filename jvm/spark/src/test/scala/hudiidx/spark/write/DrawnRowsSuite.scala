package hudiidx.spark.write

import java.util.UUID

import hudiidx.TestSettings.isLong
import hudiidx.spark.api.HudiIdxApi
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.{DataFrame, Row}
import scala.collection.JavaConverters._
import scala.util.Random

/** What a statement or a write does to a table follows from one look at its rows, where each look gives others. */
final class DrawnRowsSuite extends RowLevelTables {
  private val struct = StructType.fromDDL("id STRING, p STRING, ts BIGINT, n INT, v STRING")
  private val Known = 40

  import DrawnRowsSuite.record

  private def filledWithMany(indexed: Boolean): String = {
    val path = made(9)
    sql(s"INSERT INTO hudiidx.`$path` VALUES ${literals((0 until Known).map(record(_, "old").copy(ts = 1L)))}")
    if (indexed) new HudiIdxApi(spark, path, Map("hudiidx.record.mode" -> "global").asJava).create()
    path
  }

  private def drawn(of: Int): DataFrame =
    spark.createDataFrame(spark.sparkContext.parallelize(Seq(of), 1).flatMap(DrawnRowsSuite.draw), struct)

  /** With how many rows there are. */
  private val sides: Seq[(Int, DataFrame => DataFrame)] =
    Seq(
      (8, s => s),
      (5, _.orderBy("id").limit(5)),
      (8, _.repartition(3)),
      (8, _.groupBy("id", "p", "ts", "n", "v").count().drop("count"))
    )

  /** The rows that are not as they were: all of one look. */
  private def changed(path: String): Set[Record] = {
    val now = rows(path)
    assert(sql(s"SELECT * FROM hudiidx.`$path`").count() === now.map(_.id).size)
    val changed = now.filter(_.v != "old")
    assert(changed.map(_.v).size <= 1, changed)
    changed
  }

  private def each(of: Int)(deed: (String, Int) => Unit): Unit =
    for {
      ((count, side), i) <- sides.zipWithIndex.take(if (isLong) sides.size else 2)
      indexed <- if (isLong) Seq(true, false) else Seq(true)
      most <- if (isLong) Seq("10MB", "-1") else Seq(Seq("10MB", "-1")(i))
    } withClue(s"side $i, indexed $indexed, broadcasts to $most: ") {
      spark.conf.set("spark.sql.autoBroadcastJoinThreshold", most)
      try {
        side(drawn(of)).createOrReplaceTempView("drawn")
        deed(filledWithMany(indexed), count)
      } finally spark.conf.unset("spark.sql.autoBroadcastJoinThreshold")
    }

  test("MERGE writes the rows of one look: each is updated or inserted once") {
    each(60) { (path, count) =>
      sql(
        s"MERGE INTO hudiidx.`$path` t USING drawn s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
      )
      val now = changed(path)
      assert(now.size === count)
      assert(rows(path).size === Known + now.count(_.n >= Known))
    }
  }

  test("MERGE that only inserts, only deletes, or asks for what is not matched goes by one look") {
    each(60) { (path, count) =>
      sql(s"MERGE INTO hudiidx.`$path` t USING drawn s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *")
      assert(rows(path).size === Known + changed(path).size && rows(path).count(_.v == "old") === Known)
      val before = rows(path).size
      sql(s"MERGE INTO hudiidx.`$path` t USING drawn s ON t.id = s.id WHEN MATCHED THEN DELETE")
      assert(rows(path).size >= before - count)
      sql(
        s"MERGE INTO hudiidx.`$path` t USING drawn s ON t.id = s.id WHEN MATCHED THEN UPDATE SET t.v = 'met' " +
          "WHEN NOT MATCHED BY SOURCE THEN DELETE"
      )
      assert(rows(path).forall(_.v == "met") && rows(path).size <= count)
    }
  }

  test("DELETE and UPDATE by a query go by one look at its rows") {
    each(Known) { (path, count) =>
      sql(s"UPDATE hudiidx.`$path` SET v = 'met' WHERE id IN (SELECT id FROM drawn)")
      assert(changed(path).size === count)
      sql(s"DELETE FROM hudiidx.`$path` t WHERE EXISTS (SELECT 1 FROM drawn s WHERE t.id = s.id)")
      assert(rows(path).size === Known - count)
      sql(s"UPDATE hudiidx.`$path` SET v = (SELECT max(v) FROM drawn)")
      assert(changed(path).size === Known - count)
    }
  }

  test("an upsert and an overwrite write the rows of one look") {
    each(60) { (path, count) =>
      sql(s"INSERT INTO hudiidx.`$path` SELECT * FROM drawn")
      assert(changed(path).size === count)
      sql(s"INSERT OVERWRITE hudiidx.`$path` SELECT * FROM drawn")
      assert(changed(path).size === count && rows(path).size === count)
    }
  }

  test("MERGE of some rows of a source, and of all") {
    for (where <- Seq("n < 50", "rand() < 2", "true")) withClue(where) {
      val path = filledWithMany(indexed = true)
      val source = s"SELECT * FROM ${given((0 until 60).map(record(_, "new")))} WHERE $where"
      sql(
        s"MERGE INTO hudiidx.`$path` t USING ($source) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
      )
      assert(changed(path).size === (if (where == "n < 50") 50 else 60))
    }
  }

  test("MERGE of rows with random values and a random choice of rows has each record once") {
    val path = filledWithMany(indexed = true)
    val source =
      s"SELECT id, p, ts, n, string(rand()) AS v FROM ${given((0 until 60).map(record(_, "")))} WHERE rand() < 0.5"
    sql(
      s"MERGE INTO hudiidx.`$path` t USING ($source) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    val now = rows(path)
    assert(sql(s"SELECT * FROM hudiidx.`$path`").count() === now.map(_.id).size)
    assert(now.size === Known + now.count(_.n >= Known))
  }
}

private object DrawnRowsSuite {
  def record(i: Int, v: String): Record = Record(f"k$i%02d", s"p${i % 3}", 9L, i, v)

  /** Eight records of so many, others at each look, whose `v` names the look. */
  def draw(of: Int): Seq[Row] = {
    val look = UUID.randomUUID().toString
    Random.shuffle((0 until of).toVector).take(8).map(record(_, look)).map(r => Row(r.id, r.p, r.ts, r.n, r.v))
  }
}
