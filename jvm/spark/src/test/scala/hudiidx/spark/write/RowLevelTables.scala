package hudiidx.spark.write

import hudiidx.Fixtures
import hudiidx.spark.{HudiIdxCatalog, SparkSuite}
import hudiidx.storage.LocalStorage
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.connector.catalog.{Identifier, TableWritePrivilege}
import org.apache.spark.sql.functions.{col, lit}

/** What suites of statements that change rows share: tables made by SQL, and their rows as records. */
abstract class RowLevelTables extends SparkSuite {
  protected lazy val sql: String => DataFrame = {
    spark.conf.set("spark.sql.catalog.hudiidx", classOf[HudiIdxCatalog].getName)
    text => spark.sql(text)
  }

  protected def newPath(): String = Fixtures.newFolder("rows").resolve("t").toString

  protected def made(version: Int, more: String = "", at: String = ""): String = {
    val path = if (at.isEmpty) newPath() else at
    sql(
      s"CREATE TABLE hudiidx.`$path` (id STRING, p STRING, ts BIGINT, n INT, v STRING) USING hudiidx PARTITIONED BY (p) " +
        s"TBLPROPERTIES (primaryKey = 'id', preCombineField = 'ts', hoodie.write.table.version = '$version'$more)"
    )
    path
  }

  protected def rows(path: String): Set[Record] = sql(s"SELECT id, p, ts, n, v FROM hudiidx.`$path`")
    .collect()
    .map(r => Record(r.getString(0), r.getString(1), r.getLong(2), r.getInt(3), r.getString(4)))
    .toSet

  protected def commits(path: String): Int =
    Seq(s"$path/.hoodie", s"$path/.hoodie/timeline")
      .flatMap(LocalStorage.list)
      .count(f => f.name.endsWith(".deltacommit"))

  protected def literals(records: Iterable[Record]): String =
    records.map(r => s"('${r.id}', '${r.p}', ${r.ts}L, ${r.n}, '${r.v}')").mkString(", ")

  protected def given(records: Iterable[Record]): String =
    s"(SELECT * FROM VALUES ${literals(records)} AS s(id, p, ts, n, v))"

  protected val small: Seq[Record] = (0 until 6).map(i => Record(s"k$i", s"p${i % 2}", 1L, i, s"v$i"))

  protected def filled(more: String = ""): String = filledAt(made(9, more))

  protected def filledAt(path: String): String = {
    sql(s"INSERT INTO hudiidx.`$path` VALUES ${literals(small)}")
    path
  }

  protected def targetOf(path: String): TargetTable = spark.sessionState.catalogManager
    .catalog("hudiidx")
    .asInstanceOf[HudiIdxCatalog]
    .loadTable(Identifier.of(Array.empty[String], path), java.util.Set.of[TableWritePrivilege]())
    .asInstanceOf[TargetTable]

  /** Updates of rows, as a statement gives them. */
  protected def changed(rows: DataFrame): DataFrame = rows.select(
    lit(RowChanges.Update).as(RowChanges.Operation),
    col("_hoodie_record_key").as(RowChanges.OldKey),
    col("_hoodie_partition_path").as(RowChanges.OldPartition),
    lit("nowhere").as(RowChanges.OldFile),
    col("id"),
    col("p"),
    col("ts"),
    col("n"),
    lit("changed").as("v")
  )
}

/** A row of these tables. */
final private[write] case class Record(id: String, p: String, ts: Long, n: Int, v: String)
