package hudiidx.spark

import scala.collection.JavaConverters._

import hudiidx.spark.api.HudiIdxApi
import hudiidx.spark.compact.CompactionApi
import hudiidx.storage.LocalStorage
import hudiidx.{Fixtures, InvalidOption, TestSettings, UnsupportedTable}
import org.apache.spark.sql.DataFrame

/** The meta column of records' operations (`hoodie.allow.operation.metadata.field`): as stock Hudi shows it, where it does. */
final class OperationColumnSuite extends SparkSuite {
  private val column = "_hoodie_operation"
  private val names = Vector("v6-operation-cow", "v6-operation-mor", "v9-operation-cow", "v9-operation-mor")
  private val merged = names.filter(_.endsWith("mor"))

  private type Operations = Vector[(String, Option[String])]

  private def stock(name: String, query: String): Operations =
    Fixtures
      .json(name)
      .get("operations")
      .get(query)
      .elements
      .asScala
      .map(row => row.get(0).asText -> Option(row.get(1).asText(null)))
      .toVector
      .sorted

  private def found(rows: DataFrame): Operations =
    rows
      .select("_hoodie_record_key", column)
      .collect()
      .map(r => r.getString(0) -> Option(r.getString(1)))
      .toVector
      .sorted

  private def same(name: String, path: String): Unit = {
    val all = stock(name, "snapshot")
    def rows: DataFrame = read(path)
    assert(rows.columns.indexOf(column) === 5)
    assert(found(rows) === all)
    if (name.endsWith("mor"))
      assert(
        found(read(path, "hoodie.datasource.query.type" -> "read_optimized")) === stock(name, "read_optimized")
      )
    val filters = Seq[(String, Option[String] => Boolean)](
      s"$column = 'U'" -> (_.contains("U")),
      s"$column <> 'U'" -> (_.exists(_ != "U")),
      s"$column in ('I', 'D')" -> (_.contains("I")),
      s"$column = 'D'" -> (_ => false),
      s"$column is null" -> (_.isEmpty),
      s"$column > 'I'" -> (_.exists(_ > "I")),
      s"coalesce($column, 'I') = 'I'" -> (_.forall(_ == "I"))
    )
    filters.foreach { case (filter, holds) =>
      assert(found(rows.where(filter)) === all.filter(r => holds(r._2)), filter)
    }
    assert(
      rows.groupBy(column).count().collect().map(r => Option(r.getString(0)) -> r.getLong(1)).toMap === counts(all)
    )
    assert(rows.selectExpr(s"count($column)").head().getLong(0) === all.count(_._2.isDefined)): Unit
  }

  private def counts(rows: Operations): Map[Option[String], Long] =
    rows.groupBy(_._2).map { case (operation, of) => operation -> of.size.toLong }

  TestSettings.some(2)(names).foreach { name =>
    test(s"$name: the column's values are stock's, with an index and without, and filters on it find them") {
      same(name, Fixtures.table(name))
      val indexed = Fixtures.copy(name)
      val settings =
        Map("hudiidx.columns" -> "*", "hudiidx.bloom.columns" -> s"$column,rider", "hudiidx.logs" -> "true")
      new HudiIdxApi(spark, indexed, settings.asJava).create()
      same(name, indexed)
    }
  }

  merged.foreach { name =>
    test(
      s"$name: records of logs whose operation is a delete are no rows, in time travel and incremental reads neither"
    ) {
      val stored = Fixtures.json(name)
      stored.get("time_travel").elements.asScala.foreach { at =>
        val rows = read(Fixtures.table(name), "as.of.instant" -> at.get("as_of").asText)
        Answer.expect(at, Answer.of(rows))
        assert(rows.columns.contains(column))
      }
      stored.get("incremental").elements.asScala.foreach { asked =>
        val end = Option(asked.get("end").asText(null)).map("hoodie.datasource.read.end.instanttime" -> _)
        val options = Seq(
          "hoodie.datasource.query.type" -> "incremental",
          "hoodie.datasource.read.begin.instanttime" -> asked.get("begin").asText
        ) ++ end
        val rows = read(Fixtures.table(name), options: _*)
        Answer.expect(asked, Answer.of(rows))
        assert(rows.columns.contains(column))
      }
    }
  }

  test("SQL shows the column as a table has it, and tables without it have none") {
    spark.conf.set("spark.sql.catalog.hudiidx", classOf[HudiIdxCatalog].getName)
    val path = Fixtures.table("v9-operation-mor")
    val counted = spark.sql(s"SELECT count(*) FROM hudiidx.`$path` WHERE $column = 'U'").head().getLong(0)
    assert(counted === stock("v9-operation-mor", "snapshot").count(_._2.contains("U")))
    assert(
      spark.sql(s"SELECT * FROM hudiidx.`$path`").columns.contains(column) ===
        spark.sql(s"SELECT * FROM hudiidx.`$path`").columns.contains("_hoodie_commit_time")
    )
    assert(!read(Fixtures.table("v9-mor-part")).columns.contains(column))
  }

  merged.foreach { name =>
    test(s"$name: what would hide the column is refused, says what to do, and leaves the table as it was") {
      spark.conf.set("spark.sql.catalog.hudiidx", classOf[HudiIdxCatalog].getName)
      val path = Fixtures.copy(name)
      val before = files(path)
      val rows = read(Fixtures.table(name)).where("id < 'k000005'")
      def written(operation: String): Unit = rows.write
        .format("hudiidx")
        .option("hoodie.datasource.write.operation", operation)
        .mode("append")
        .save(path)
      val deeds = Seq[() => Unit](
        () => written("upsert"),
        () => written("insert"),
        () => written("delete"),
        () => written("insert_overwrite"),
        () => rows.write.format("hudiidx").mode("overwrite").save(path),
        () => spark.sql(s"UPDATE hudiidx.`$path` SET n = 1 WHERE id = 'k000001'"): Unit,
        () => spark.sql(s"DELETE FROM hudiidx.`$path` WHERE id = 'k000001'"): Unit,
        () => spark.sql(s"TRUNCATE TABLE hudiidx.`$path`"): Unit,
        () => CompactionApi.compact(spark, path, Map.empty, "schedule_and_execute", None): Unit
      )
      deeds.zipWithIndex.foreach { case (deed, n) =>
        val e = intercept[UnsupportedTable](deed())
        assert(e.getMessage.contains(column) && e.getMessage.contains("hoodie.allow.operation.metadata.field"), n)
      }
      assert(files(path) === before)
      same(name, path)
    }
  }

  test("rows of such a table are written to others, whose rows do not bear the column; the option is refused") {
    val rows = read(Fixtures.table("v9-operation-mor"))
    val path = Fixtures.newFolder("operation").resolve("t").toString
    val options = Map(
      "hoodie.table.name" -> "t",
      "hoodie.datasource.write.recordkey.field" -> "id",
      "hoodie.datasource.write.precombine.field" -> "ts",
      "hoodie.datasource.write.partitionpath.field" -> "city"
    )
    val e = intercept[InvalidOption] {
      val asked = options + ("hoodie.allow.operation.metadata.field" -> "true")
      rows.write.format("hudiidx").options(asked).mode("append").save(path)
    }
    assert(e.getMessage.contains("hoodie.allow.operation.metadata.field"))
    rows.write.format("hudiidx").options(options).mode("append").save(path)
    read(path).where("n > 0").write.format("hudiidx").options(options).mode("append").save(path)
    assert(!read(path).columns.contains(column) && read(path).count() === rows.count())
  }

  /** Data files and instants. */
  private def files(path: String): Set[String] = {
    def below(dir: String): Vector[String] = LocalStorage.list(dir).flatMap { f =>
      if (f.isDirectory) below(f.path) else Vector(f.path)
    }
    below(path).filterNot(f => f.contains("/.heartbeat/") || f.contains("/hudiidx/") || f.contains("/.temp/")).toSet
  }
}
