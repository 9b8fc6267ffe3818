package hudiidx.spark.write

import hudiidx.engine.Tables
import hudiidx.spark.api.HudiIdxApi
import hudiidx.spark.write.options.WriteOptions
import hudiidx.spark.{HudiIdxCatalog, SparkSuite}
import hudiidx.storage.LocalStorage
import hudiidx.sync.TableContext
import hudiidx.{DamagedTable, Fixtures, HudiIdxException, InvalidOption, TableChanged, TestSettings, UnsupportedTable}
import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.functions._
import org.apache.spark.sql.{DataFrame, Row}
import scala.collection.JavaConverters._

/** An overwrite that makes another table of a path: only where that is asked for, and in one step. */
final class RemakeSuite extends SparkSuite {
  private val base = Map(
    "hoodie.table.name" -> "t",
    "hoodie.datasource.write.recordkey.field" -> "id",
    "hoodie.datasource.write.partitionpath.field" -> "p",
    "hoodie.datasource.write.precombine.field" -> "ts"
  )
  private val remake = "hudiidx.write.remake" -> "true"

  private def save(frame: DataFrame, path: String, mode: String, options: Map[String, String]): Unit =
    frame.write.format("hudiidx").options(options).mode(mode).save(path)

  private def rows(ids: Range): DataFrame =
    spark
      .range(ids.start, ids.end)
      .selectExpr("concat('k', id) AS id", "concat('p', id % 3) AS p", "id AS ts", "id AS n")

  private def made(version: Int): String = {
    val path = Fixtures.newFolder("remake").resolve("t").toString
    save(rows(0 until 12), path, "append", base + ("hoodie.write.table.version" -> version.toString))
    save(rows(0 until 3), path, "append", base)
    path
  }

  private def found(path: String, columns: String*): Set[Row] = read(path).select(columns.map(col): _*).collect().toSet

  private def causes(e: Throwable): Vector[String] =
    Iterator.iterate(e)(_.getCause).takeWhile(_ != null).map(t => String.valueOf(t.getMessage)).toVector

  private def context(path: String): TableContext = TableContext.load(Tables.access(new Configuration), path)

  for (version <- Seq(6, 9))
    test(s"version $version: other columns are refused, and with the option they are one commit more") {
      val path = made(version)
      new HudiIdxApi(spark, path, Map("hudiidx.columns" -> "*", "hudiidx.record.mode" -> "global").asJava).create()
      val before = context(path).timeline.completedWrites.last.requestedTime
      val other = rows(0 until 6).withColumn("n", concat(lit("n"), col("n"))).drop("ts").withColumn("ts", lit(7L))
      val refused = intercept[InvalidOption](save(other, path, "overwrite", base))
      assert(
        refused.getMessage.contains("column n is string") && refused.getMessage.contains("hudiidx.write.remake=true")
      )
      val narrow = intercept[InvalidOption](save(rows(0 until 6).drop("n"), path, "overwrite", base))
      assert(
        narrow.getMessage.contains("lack columns of the table: n") && narrow.getMessage.contains("hudiidx.write.remake")
      )
      assert(read(path).count() === 12)
      save(other, path, "overwrite", base + remake)
      assert(found(path, "id", "n") === (0 until 6).map(i => Row(s"k$i", s"n$i")).toSet)
      assert(read(path).where("n = 'n3'").select("id").collect().toSeq === Seq(Row("k3")))
      assert(read(path, "as.of.instant" -> before).where("n = 3").count() === 1)
      save(other.where("id = 'k1'").withColumn("n", lit("later")).withColumn("ts", lit(8L)), path, "append", base)
      assert(found(path, "id", "n") === Set(Row("k1", "later")) ++ Seq(0, 2, 3, 4, 5).map(i => Row(s"k$i", s"n$i")))
    }

  test("an overwrite of partitions makes no table anew, and its refusals name what does") {
    val path = made(9)
    val dynamic = base + remake + ("partitionOverwriteMode" -> "dynamic")
    val touched = base + remake + ("hoodie.datasource.write.operation" -> "insert_overwrite")
    Seq(dynamic, touched).foreach { options =>
      Seq(
        rows(0 until 6).drop("n") -> options,
        rows(0 until 6).withColumn("n", concat(lit("n"), col("n"))) -> options,
        rows(0 until 6) -> (options + ("hoodie.datasource.write.recordkey.field" -> "n"))
      ).foreach { case (frame, given) =>
        val said = intercept[InvalidOption](save(frame, path, "overwrite", given)).getMessage
        assert(said.contains("overwrite of partitions leaves the table what it is"), said)
        assert(said.contains("overwrite the whole table") && said.contains("hudiidx.write.remake=true"), said)
      }
    }
    assert(read(path).count() === 12)
    save(rows(0 until 1), path, "overwrite", dynamic)
    assert(found(path, "id") === (0 until 12).filter(i => i == 0 || i % 3 != 0).map(i => Row(s"k$i")).toSet)
  }

  test("another key, other partitions, another order: refused by the option's name, and made anew with it") {
    val path = made(9)
    def refusal(option: String, value: String, more: (String, String)*): String =
      intercept[InvalidOption](save(rows(0 until 3), path, "overwrite", base ++ more + (option -> value))).getMessage
    Seq(
      "hoodie.datasource.write.recordkey.field" -> "n",
      "hoodie.datasource.write.partitionpath.field" -> "n",
      "hoodie.datasource.write.precombine.field" -> "n",
      "hoodie.datasource.write.hive_style_partitioning" -> "true",
      "hoodie.write.table.version" -> "6",
      "hoodie.write.record.merge.mode" -> "COMMIT_TIME_ORDERING"
    ).foreach { case (option, value) =>
      val said = refusal(option, value)
      assert(said.startsWith(option) && said.contains("hudiidx.write.remake=true"), said)
    }
    assert(refusal("hoodie.write.table.version", "6", remake).contains("has no other folder"))
    assert(read(path).count() === 12)
    val api = new HudiIdxApi(spark, path, Map("hudiidx.columns" -> "*", "hudiidx.record.mode" -> "global").asJava)
    api.create()
    val open = read(path)
    val old = context(path)
    val anew = base ++ Map(
      "hoodie.datasource.write.recordkey.field" -> "n",
      "hoodie.datasource.write.partitionpath.field" -> "id,p",
      "hoodie.datasource.write.hive_style_partitioning" -> "true",
      remake
    )
    save(read(path).where("n < 4"), path, "overwrite", anew)
    val columns = Seq("_hoodie_record_key", "_hoodie_partition_path", "id", "n")
    def wanted(ids: Seq[Int]) = ids.map(i => Row(s"n:$i", s"id=k$i/p=p${i % 3}", s"k$i", i.toLong)).toSet
    assert(found(path, columns: _*) === wanted(0 until 4))
    assert(context(path).config.recordKeyFields === Vector("n") && context(path).timeline.instants.size === 1)
    Thread.sleep(1100) // what was seen a moment ago is trusted
    intercept[TableChanged](open.count())
    val earlier =
      intercept[InvalidOption](read(path, "as.of.instant" -> old.timeline.completedWrites.last.requestedTime))
    assert(earlier.getMessage.contains("made anew"))
    assert(api.verify().contains("\"ok\":true"))
    // It is a table like others.
    save(rows(3 until 6), path, "append", Map.empty)
    assert(found(path, columns: _*) === wanted(0 until 6))
    save(rows(8 until 9), path, "overwrite", Map.empty)
    assert(found(path, columns: _*) === wanted(Seq(8)))
    assert(read(path).where("n = 8").count() === 1 && read(path).where("n = 3").count() === 0)
    save(rows(0 until 2), path, "overwrite", base + remake)
    assert(found(path, "_hoodie_record_key", "_hoodie_partition_path") === Set(Row("k0", "p=p0"), Row("k1", "p=p1")))
    val left = Fixtures.filesBelow(path)
    assert(left.filter(f => f.contains("/.temp/") || f.contains("/.heartbeat/")).isEmpty)
  }

  test(
    "a table whose making anew was rolled back is written again only by making it anew: rows from before stay away"
  ) {
    val path = made(9)
    val styled = base + ("hoodie.datasource.write.hive_style_partitioning" -> "true")
    save(rows(20 until 22), path, "overwrite", styled + remake)
    // What stock Hudi's rollback leaves, but for its own instant.
    val instant = context(path).timeline.completedWrites.head
    Fixtures
      .filesBelow(path)
      .filter(f => f.contains(s"_${instant.requestedTime}.parquet") || f.contains(s"/${instant.requestedTime}"))
      .foreach(f => LocalStorage.delete(s"$path/$f"))
    assert(context(path).timeline.instants.isEmpty)
    val unknown = intercept[DamagedTable](read(path))
    assert(unknown.getMessage.contains("was rolled back") && unknown.getMessage.contains("remake=true"))
    Seq("append", "overwrite").foreach { mode =>
      val refused = intercept[UnsupportedTable](save(rows(0 until 3), path, mode, styled))
      assert(refused.getMessage.contains("was rolled back") && refused.getMessage.contains("remake=true"))
      assert(context(path).timeline.instants.isEmpty)
    }
    save(rows(30 until 33), path, "overwrite", styled + remake)
    save(rows(32 until 35), path, "append", styled)
    assert(found(path, "id") === (30 until 35).map(i => Row(s"k$i")).toSet)
  }

  test("a table of any version and type is made anew, or stays as it is where its rows fail") {
    for (name <- TestSettings.some(2)(Seq("v6-cow-part", "v8-mor-part", "v9-mor-part", "v6-mor-bucket"))) {
      val path = Fixtures.copy(name)
      val before = read(path).count()
      val given =
        base ++ Map("hoodie.datasource.write.table.type" -> "MERGE_ON_READ", "hoodie.write.table.version" -> "9")
      val refused = intercept[HudiIdxException](save(rows(0 until 6), path, "overwrite", given)).getMessage
      assert(refused.contains("hudiidx.write.remake=true"), refused)
      assert(read(path).count() === before, name)
      val failing = rows(0 until 6).withColumn("n", expr("if(id = 'k3', raise_error('no more'), n)"))
      assert(
        causes(intercept[Exception](save(failing, path, "overwrite", given + remake))).exists(_.contains("no more"))
      )
      assert(read(path).count() === before, name)
      save(rows(0 until 6), path, "overwrite", given + remake)
      assert(found(path, "id", "n") === (0 until 6).map(i => Row(s"k$i", i.toLong)).toSet, name)
      save(rows(5 until 8), path, "append", Map.empty)
      assert(read(path).count() === 8, name)
    }
  }

  test("REPLACE TABLE replaces rows, and with the property the table") {
    spark.conf.set("spark.sql.catalog.hudiidx", classOf[HudiIdxCatalog].getName)
    val path = made(9)
    val table = s"hudiidx.`$path`"
    read(path).createOrReplaceTempView("own_rows")
    spark.sql(
      s"CREATE OR REPLACE TABLE $table USING hudiidx PARTITIONED BY (p) TBLPROPERTIES (primaryKey = 'id', type = 'mor') AS " +
        "SELECT id, p, ts, n + 100 AS n FROM own_rows WHERE n < 3"
    )
    assert(found(path, "id", "n") === (0 until 3).map(i => Row(s"k$i", i + 100L)).toSet)
    read(path).createOrReplaceTempView("own_rows")
    val failed = s"REPLACE TABLE $table AS SELECT id, p, ts, bigint(raise_error('no more')) AS n FROM own_rows"
    assert(causes(intercept[Exception](spark.sql(failed))).exists(_.contains("no more")))
    assert(read(path).count() === 3)
    val other =
      s"REPLACE TABLE $table TBLPROPERTIES (primaryKey = 'n'%s) AS SELECT * FROM VALUES ('a', 'p0', 1L, 5L) AS t(id, p, ts, n)"
    assert(intercept[InvalidOption](spark.sql(other.format(""))).getMessage.contains("hudiidx.write.remake"))
    assert(read(path).count() === 3)
    spark.sql(other.format(", hudiidx.write.remake = 'true'"))
    assert(found(path, "_hoodie_record_key") === Set(Row("5")))
    spark.sql(s"REPLACE TABLE $table (id STRING, p STRING, ts BIGINT, n BIGINT)")
    assert(read(path).isEmpty)
    val fresh = Fixtures.newFolder("remake").resolve("fresh").toString
    spark.sql(s"CREATE OR REPLACE TABLE hudiidx.`$fresh` TBLPROPERTIES (primaryKey = 'id') AS SELECT 1 AS id")
    assert(read(fresh).count() === 1)
    intercept[UnsupportedTable](spark.sql(s"REPLACE TABLE hudiidx.`${Fixtures.copy("v9-cow-part")}` AS SELECT 1 AS id"))
  }

  test("CREATE TABLE AS SELECT that fails takes its table away, but not one that others wrote to") {
    spark.conf.set("spark.sql.catalog.hudiidx", classOf[HudiIdxCatalog].getName)
    val path = Fixtures.newFolder("remake").resolve("t").toString
    val writer = new TableWriter(spark, path, WriteOptions.of(base))
    writer.write(rows(0 until 3))
    writer.takeBack()
    assert(read(path).count() === 3)
    val empty = Fixtures.newFolder("remake").resolve("t").toString
    WriteOptions.newTable(WriteOptions.of(base), empty).create(hudiidx.storage.LocalStorage, empty)
    new TableWriter(spark, empty, WriteOptions.of(base)).takeBack()
    assert(hudiidx.storage.LocalStorage.status(empty).isEmpty)
  }
}
