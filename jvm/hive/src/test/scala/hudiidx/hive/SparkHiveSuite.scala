package hudiidx.hive

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.ObjectMapper
import hudiidx.spark.Answer
import hudiidx.table.query.QuerySettings
import hudiidx.{Fixtures, TestSettings, UnsupportedTable}
import org.apache.spark.sql.types.{DataType, StructType}

/** Hive tables over Hudi tables, through Spark's Hive reader: rows are stock Hudi's, whichever query asks. */
final class SparkHiveSuite extends HiveSuite {
  private val mapper = new ObjectMapper

  private def schemaOf(name: String): StructType =
    DataType.fromJson(Fixtures.json(name).get("schema").toString).asInstanceOf[StructType]

  private def ddl(struct: StructType): String =
    struct.map(f => s"`${f.name}` ${f.dataType.catalogString}").mkString(", ")

  private val ours = "hudiidx.hive.HudiIdxSerDe"
  private val hives = "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe"

  /** A table of a fixture's columns at its place; partitioned ones have their partitions added by hand. */
  private def create(
      name: String,
      serde: String = ours,
      format: String = "hudiidx.hive.HudiIdxInputFormat",
      partitioned: Option[String] = None,
      location: Option[String] = None
  ): String = {
    val table = s"t_${name.replace('-', '_')}_${SparkHiveSuite.number()}"
    val (own, by) = schemaOf(name).partition(f => !partitioned.contains(f.name))
    spark.sql(
      s"CREATE EXTERNAL TABLE $table (${ddl(StructType(own))}) ${if (by.isEmpty) ""
        else s"PARTITIONED BY (${ddl(StructType(by))})"} " +
        s"ROW FORMAT SERDE '$serde' STORED AS INPUTFORMAT '$format' OUTPUTFORMAT 'hudiidx.hive.HudiIdxOutputFormat' " +
        s"LOCATION '${location.getOrElse(Fixtures.table(name))}'"
    )
    table
  }

  private def checkRows(name: String, table: String, answer: String = "snapshot"): Unit =
    Answer.expect(Fixtures.json(name).get(answer), Answer.of(spark.table(table)))

  private val tables = TestSettings.some(3)(
    Vector(
      "v6-cow-types",
      "v6-mor-types",
      "v6-mor-evolution",
      "v6-cow-complex",
      "v8-mor-part",
      "v9-cow-types",
      "v9-mor-types",
      "v9-cow-evolution",
      "v9-mor-bucket-parquet",
      "v9-partial-updates",
      "v9-virtual-mor",
      "v9-zero-rows"
    )
  )

  tables.foreach { name =>
    test(s"$name: SELECT gives stock Hudi's rows, and filters its counts") {
      val table = create(name)
      checkRows(name, table)
      assert(
        spark
          .sql(s"SELECT count(*) FROM $table")
          .head()
          .getLong(0) === Fixtures.json(name).get("snapshot").get("count").asLong
      )
      Fixtures.json(name).get("filters").forEach { f =>
        val where = f.get("where").asText
        withClue(s"$where: ")(assert(spark.table(table).where(where).count() === f.get("count").asLong))
      }
    }
  }

  test("Hive's own Parquet serde gives the same rows where Spark is told not to read its files itself") {
    spark.conf.set("spark.sql.hive.convertMetastoreParquet", "false")
    try checkRows("v9-mor-types", create("v9-mor-types", serde = hives))
    finally spark.conf.unset("spark.sql.hive.convertMetastoreParquet")
  }

  test("base files alone, by the other format or by a setting") {
    val name = "v9-mor-part"
    checkRows(name, create(name, format = "hudiidx.hive.HudiIdxReadOptimizedInputFormat"), "read_optimized")
    val table = create(name)
    spark.conf.set(QuerySettings.QueryType, "read_optimized")
    try checkRows(name, table, "read_optimized")
    finally spark.conf.unset(QuerySettings.QueryType)
    checkRows(name, table)
  }

  TestSettings.some(2)(Vector("v6-mor-part", "v9-cow-part", "v9-mor-part")).foreach { name =>
    test(
      s"$name: a partitioned Hive table has the partition's value in every row, and reads the partitions that are asked for"
    ) {
      val table = create(name, partitioned = Some("city"))
      Fixtures.json(name).get("listing").get("partitions").forEach { p =>
        spark.sql(
          s"ALTER TABLE $table ADD PARTITION (city = '${p.asText}') LOCATION '${Fixtures.table(name)}/${p.asText}'"
        )
      }
      checkRows(name, table)
      val whole = spark.table(create(name))
      for (where <- Seq("city = 'sf'", "city IN ('nyc', 'lima') AND n > 500", "city > 'nyc'"))
        assert(spark.table(table).where(where).count() === whole.where(where).count(), where)
    }
  }

  Vector("new-slash-str-cow", "new-slash-sql-mor").foreach { name =>
    test(s"$name: a Hive table of partitions with slashes in their folders has stock Hudi's rows and counts") {
      val table = create(name, partitioned = Some("d"))
      val told = Fixtures.json(name).get("snapshot").get("rows").elements.asScala.map(r => mapper.readTree(r.asText))
      val dates = told.map(r => r.get("d").asText -> r.get("_hoodie_partition_path").asText).toVector
      dates.distinct.foreach { case (date, folder) =>
        spark.sql(s"ALTER TABLE $table ADD PARTITION (d = '$date') LOCATION '${Fixtures.table(name)}/$folder'")
      }
      for (t <- Seq(table, create(name))) {
        checkRows(name, t)
        dates.groupBy(_._1).foreach { case (date, rows) =>
          assert(spark.table(t).where(s"d = '$date'").count() === rows.length, date)
        }
      }
    }
  }

  test("projections, nested fields, joins and aggregates are those of the rows themselves") {
    val name = "v9-mor-types"
    val hive = create(name)
    val direct = spark.read.format("hudiidx").load(Fixtures.table(name))
    direct.createOrReplaceTempView("direct")
    for (
      query <- Seq(
        "SELECT c_struct.y.z, c_map['k0'], c_arr, c_nested[0].q.m[1], c_dec38 * 2 FROM %s",
        "SELECT city, count(*), sum(n), max(c_tsmicros), min(c_date) FROM %s GROUP BY city",
        "SELECT a.id, b.n FROM %1$s a JOIN %1$s b ON a.id = b.id AND a.c_int = b.c_int WHERE a.qty > 5",
        "SELECT n FROM %s WHERE id = 'k000088'",
        "SELECT id FROM %s WHERE c_tsmicros > timestamp'2023-11-14 22:14:00' AND c_dec5 < 50.5"
      )
    ) {
      def rows(table: String) = spark.sql(query.format(table)).collect().map(_.toString).toVector.sorted
      val found = rows(hive)
      assert(found.nonEmpty && found === rows("direct"), query)
    }
  }

  test("columns that Hive declares wider, as other types, in other order or not at all are read as it has them") {
    val name = "v9-cow-types"
    val table = s"t_other_${SparkHiveSuite.number()}"
    spark.sql(
      s"CREATE EXTERNAL TABLE $table (C_INT bigint, nowhere string, id varchar(4), c_float double, c_tsmicros bigint, c_struct struct<x:bigint>) " +
        s"ROW FORMAT SERDE '$ours' STORED AS INPUTFORMAT 'hudiidx.hive.HudiIdxInputFormat' OUTPUTFORMAT 'hudiidx.hive.HudiIdxOutputFormat' " +
        s"LOCATION '${Fixtures.table(name)}'"
    )
    spark.read.format("hudiidx").load(Fixtures.table(name)).createOrReplaceTempView("direct")
    val expected = spark.sql(
      "SELECT CAST(c_int AS bigint), NULL, substr(id, 1, 4), CAST(CAST(c_float AS string) AS double), unix_micros(c_tsmicros), c_struct.x FROM direct"
    )
    val found = spark.sql(s"SELECT c_int, nowhere, id, c_float, c_tsmicros, c_struct.x FROM $table")
    assert(found.collect().map(_.toString).toVector.sorted === expected.collect().map(_.toString).toVector.sorted)
  }

  test("a column whose type has no way to Hive's is an error that names both") {
    val table = s"t_wrong_${SparkHiveSuite.number()}"
    spark.sql(
      s"CREATE EXTERNAL TABLE $table (id int) ROW FORMAT SERDE '$ours' STORED AS INPUTFORMAT 'hudiidx.hive.HudiIdxInputFormat' " +
        s"OUTPUTFORMAT 'hudiidx.hive.HudiIdxOutputFormat' LOCATION '${Fixtures.table("v9-cow-part")}'"
    )
    val error = intercept[Exception](spark.table(table).collect())
    val messages = Iterator.iterate[Throwable](error)(_.getCause).takeWhile(_ != null).map(_.getMessage).mkString
    assert(messages.contains("column id is of type string") && messages.contains("int is wanted"))
  }

  test("writing through Hive is refused, and leaves the table as it is") {
    val name = "v9-cow-part"
    val copy = Fixtures.copy(name)
    val before = Fixtures.filesBelow(copy)
    val table = create(name, location = Some(copy))
    val error = intercept[Exception](spark.sql(s"INSERT INTO $table SELECT * FROM $table LIMIT 1"))
    assert(Iterator.iterate[Throwable](error)(_.getCause).takeWhile(_ != null).exists(_.isInstanceOf[UnsupportedTable]))
    assert(Fixtures.filesBelow(copy).filterNot(_.contains(".hive-staging")) === before)
    checkRows(name, table)
  }
}

object SparkHiveSuite {
  private val counter = new java.util.concurrent.atomic.AtomicInteger

  private def number(): Int = counter.incrementAndGet()
}
