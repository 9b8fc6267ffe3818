package hudiidx.spark

import java.nio.file.{Files, Paths}

import hudiidx.Fixtures
import hudiidx.TestSettings.{isLong, seed}
import hudiidx.spark.api.HudiIdxApi
import hudiidx.spark.options.ReadPushdowns
import hudiidx.spark.prune.TablePredicates
import hudiidx.spark.read.SliceReading
import hudiidx.spark.shims.Shims
import org.apache.spark.sql.catalyst.plans.logical.Filter
import org.apache.spark.sql.execution.datasources.v2.{BatchScanExec, DataSourceV2ScanRelation}
import org.apache.spark.sql.functions.{broadcast, col, expr}
import org.apache.spark.sql.types._
import org.apache.spark.sql.{DataFrame, Row}
import org.scalacheck.Gen
import org.scalacheck.rng.Seed

/** What a scan takes over from Spark changes no answer, and does what it is for. */
final class PushdownSuite extends SparkSuite {
  private val switches: Vector[String] = ReadPushdowns.Docs.map(_.name)
  private val allOff: Seq[(String, String)] = switches.map(_ -> "false")

  private def rows(frame: DataFrame): Vector[String] = frame.collect().map(text(_)).toVector.sorted

  private def text(value: Any): String = value match {
    case row: Row           => row.toSeq.map(text(_)).mkString("[", ",", "]")
    case bytes: Array[Byte] => bytes.mkString("0x", " ", "")
    case other              => String.valueOf(other)
  }

  private def scanOf(frame: DataFrame): BatchScanExec =
    frame.queryExecution.sparkPlan.collectFirst { case b: BatchScanExec => b }.get

  /** Of a table whose record keys are known; what each does behind a filter. */
  private def queries(keys: DataFrame): Vector[(String, DataFrame => DataFrame)] = Vector(
    "rows" -> (f => f),
    "aggregates" -> (f => aggregates(f.select(f.columns.take(8).map(n => col(s"`$n`")).toIndexedSeq: _*))),
    "limit" -> (_.select().limit(7).selectExpr("count(*)")),
    "join" -> (_.join(broadcast(keys.where("n < 5")), expr("_hoodie_record_key = k"))),
    "fields" -> (f => f.select(fields(f.schema).map(expr).toIndexedSeq: _*))
  )

  /** The first field of each struct, and one column more. */
  private def fields(schema: StructType): Vector[String] =
    "_hoodie_record_key" +: schema.fields.toVector.collect { case StructField(name, s: StructType, _, _) =>
      s"`$name`.`${s.fieldNames.head}`"
    }

  /** Not known to the optimizer, so that its values are found while a join runs. */
  private def keysOf(table: String): DataFrame = {
    val keys = read(table, allOff: _*).select("_hoodie_record_key").collect().map(_.getString(0)).sorted
    val some = keys.grouped(keys.length / 9 + 1).map(_.head).zipWithIndex.map { case (k, i) => Row(k, i) }
    spark.createDataFrame(
      spark.sparkContext.parallelize(some.toVector, 1),
      StructType(Seq(StructField("k", StringType), StructField("n", IntegerType)))
    )
  }

  /** So many predicates a table; each turns another switch off, with another query. */
  private val predicates = switches.length * (if (isLong) 25 else 1)

  Fixtures
    .sampled(
      this,
      Vector("v6-cow-part", "v9-cow-complex", "v9-cow-types", "v6-cow-evolution", "v9-mor-part"),
      oneOf = 2
    )
    .zipWithIndex
    .foreach { case (name, n) =>
      test(s"$name: random predicates give the same with each pushdown off") {
        val table = Fixtures.copy(name)
        val indexes = java.util.Map.of("hudiidx.record.mode", "partitioned", "hudiidx.columns", "*")
        new HudiIdxApi(spark, table, indexes).create()
        val gen = TablePredicates.of(read(table))
        val all = queries(keysOf(table))
        (0 until predicates).foreach { i =>
          val where = gen.pureApply(Gen.Parameters.default, Seed(seed + i))
          val (what, query) = all((i + i / switches.length + n) % all.length)
          val off = switches(i % switches.length)
          withClue(s"HUDIIDX_TEST_SEED=$seed, $what where $where: ") {
            val plain = rows(query(read(table, allOff: _*).where(where)))
            assert(rows(query(read(table).where(where))) === plain)
            assert(rows(query(read(table, off -> "false").where(where))) === plain, off)
          }
        }
      }
    }

  private def aggregates(frame: DataFrame): DataFrame = {
    val exact = frame.schema.fields.filter(f =>
      f.dataType match {
        case IntegerType | LongType | DoubleType | FloatType | StringType | DateType | TimestampType | BooleanType =>
          true
        case _: DecimalType => true
        case _              => false
      }
    )
    val all = exact.flatMap(f => Seq(s"count(`${f.name}`)", s"min(`${f.name}`)", s"max(`${f.name}`)"))
    frame.selectExpr("count(*)" +: all: _*)
  }

  Fixtures
    .sampled(
      this,
      Vector(
        "v6-cow-types",
        "v9-mor-types",
        "v6-cow-evolution",
        "v9-cow-evolution",
        "v9-cow-complex",
        "v9-mor-log-only"
      ),
      oneOf = 2
    )
    .foreach { name =>
      test(s"$name: count, min and max of every column are those of the rows") {
        val table = Fixtures.table(name)
        val fields = read(table).schema.fieldNames.grouped(3)
        fields.foreach { some =>
          def frame(options: (String, String)*): DataFrame =
            aggregates(read(table, options: _*).select(some.map(n => col(s"`$n`")).toIndexedSeq: _*))
          withClue(some.mkString(", "))(assert(rows(frame()) === rows(frame(allOff: _*))))
        }
      }
    }

  test("columns of structs, arrays and maps are compared with constants as in any other frame") {
    val path = Fixtures.newFolder("nested").resolve("t").toString
    spark
      .range(6)
      .selectExpr("concat('k', id) AS id", "named_struct('x', id, 'y', 'q') AS s", "array(id, 2L) AS a", "id AS n")
      .write
      .format("hudiidx")
      .option("hoodie.table.name", "t")
      .option("hoodie.datasource.write.recordkey.field", "id")
      .save(path)
    new HudiIdxApi(spark, path, java.util.Map.of("hudiidx.columns", "*")).create()
    val plain = read(path, allOff: _*).localCheckpoint()
    for (
      condition <- Seq(
        "s = named_struct('x', 3L, 'y', 'q')",
        "s <=> named_struct('x', 3L, 'y', 'q') OR n = 5",
        "s > named_struct('x', 3L, 'y', 'q') AND n < 5",
        "s IN (named_struct('x', 1L, 'y', 'q'), named_struct('x', 2L, 'y', 'r'))",
        "a = array(3L, 2L)",
        "a <> array(3L, 2L)",
        "NOT (a IN (array(1L, 2L), array(5L, 2L)))"
      )
    ) {
      val found = rows(read(path).where(condition))
      assert(found === rows(plain.where(condition)) && found.nonEmpty && found.size < 6, condition)
    }
  }

  test("aggregates come from footers, by partition too, also behind a filter on partitions") {
    val table = Fixtures.table("v9-cow-part")
    val counted = read(table).where("city = 'sf'").selectExpr("count(*)", "max(qty)")
    assert(counted.queryExecution.executedPlan.toString.contains("count(*), max(qty) from file footers"))
    assert(rows(counted) === rows(read(table, allOff: _*).where("city = 'sf'").selectExpr("count(*)", "max(qty)")))
    val grouped = read(table).groupBy("city").count()
    assert(grouped.queryExecution.executedPlan.toString.contains("from file footers"))
    assert(rows(grouped) === rows(read(table, allOff: _*).groupBy("city").count()))
    val texts = read(table).selectExpr("max(city)")
    assert(!texts.queryExecution.executedPlan.toString.contains("from file footers"))
  }

  test("a filter that partitions decide is not evaluated again; one that they do not is") {
    def filters(where: String, table: String): Int =
      read(Fixtures.table(table)).where(where).queryExecution.optimizedPlan.collect { case f: Filter => f }.length
    assert(filters("city = 'sf'", "v9-cow-part") === 0)
    assert(filters("qty > 3", "v9-cow-part") === 1)
    // In old tables an empty text may lie where nulls do.
    assert(
      read(Fixtures.table("v9-cow-part"), ReadPushdowns.PartitionFilters -> "false")
        .where("city = 'sf'")
        .queryExecution
        .optimizedPlan
        .collect { case f: Filter => f }
        .length === 1
    )
  }

  test("a limit plans the files that it needs") {
    val table = Fixtures.table("v9-cow-part")
    val limited = read(table).limit(3)
    assert(limited.collect().length === 3)
    assert(scanOf(limited).scan.toBatch.planInputPartitions().flatMap(Shims.piecesOf).length === 1)
    assert(read(table).limit(1000000).count() === read(table).count())
  }

  test("large files are split, and input partitions are about as large as asked for") {
    val table = Fixtures.copy("v9-cow-part")
    SmallPages.baseFiles(table).foreach(SmallPages.rewrite(spark, _))
    val wanted = rows(read(table))
    val settings = Map("spark.sql.files.maxPartitionBytes" -> "4000", "spark.sql.files.openCostInBytes" -> "0")
    settings.foreach { case (k, v) => spark.conf.set(k, v) }
    try {
      assert(rows(read(table)) === wanted)
      val parts = scanOf(read(table)).scan.toBatch.planInputPartitions().map(Shims.piecesOf)
      assert(parts.forall(p => p.map(_.length).sum <= 4000 && p.nonEmpty) && parts.length > 4)
      parts.flatten.groupBy(_.filePath.toString).values.foreach { of =>
        val sorted = of.sortBy(_.start)
        assert(sorted.head.start === 0 && sorted.map(_.length).sum === sorted.head.fileSize)
        assert(sorted.zip(sorted.drop(1)).forall { case (a, b) => a.start + a.length == b.start })
      }
      val tasks = read(table).where("city = 'sf'").selectExpr("_file", "spark_partition_id()").distinct()
      assert(tasks.groupBy("_file").count().collect().exists(_.getLong(1) > 1))
      // Logs belong to the whole slice.
      val merged =
        scanOf(read(Fixtures.table("v9-mor-part"))).scan.toBatch.planInputPartitions().flatMap(Shims.piecesOf)
      assert(merged.filter(SliceReading.hasLogs).forall(p => p.start == 0 && p.length == p.fileSize))
      assert(merged.exists(SliceReading.hasLogs))
    } finally settings.foreach { case (k, _) => spark.conf.unset(k) }
  }

  test("values that a join finds leave partitions out: their files may be gone") {
    val table = Fixtures.copy("v9-cow-part")
    val whole = rows(read(table).where("city = 'sf'").select("_hoodie_record_key"))
    new HudiIdxApi(spark, table, java.util.Map.of()).create()
    // Not known to the optimizer: it would evaluate the filter beforehand.
    val small = spark.createDataFrame(
      spark.sparkContext.parallelize(Seq(Row("sf", 1), Row("lima", 2)), 1),
      StructType(Seq(StructField("name", StringType), StructField("n", IntegerType)))
    )
    Fixtures
      .filesBelow(table)
      .filter(f => f.endsWith(".parquet") && !f.startsWith(".hoodie/") && !f.startsWith("sf/"))
      .foreach(f => Files.delete(Paths.get(table, f)))
    val joined = read(table).join(broadcast(small.where("n = 1")), expr("city = name"))
    assert(rows(joined.select("_hoodie_record_key")) === whole)
    assert(whole.nonEmpty)
  }

  test("of structs only the wanted fields are read") {
    val table = Fixtures.table("v9-cow-types")
    val struct = read(table).schema.fields.find(_.dataType.isInstanceOf[StructType]).get
    val field = struct.dataType.asInstanceOf[StructType].fields.head.name
    def frame(options: (String, String)*): DataFrame = read(table, options: _*).select(s"${struct.name}.$field")
    val relation = frame().queryExecution.optimizedPlan.collectFirst { case r: DataSourceV2ScanRelation => r }.get
    assert(
      relation.scan.readSchema()(struct.name).dataType.asInstanceOf[StructType].fieldNames.toVector === Vector(field)
    )
    assert(rows(frame()) === rows(frame(ReadPushdowns.NestedColumns -> "false")))
  }

  test("nested fields that a file lacks are null, and null structs stay null") {
    Vector("v6-cow-evolution", "v9-cow-evolution").foreach { name =>
      val table = Fixtures.table(name)
      val structs = read(table).schema.fields.filter(_.dataType.isInstanceOf[StructType])
      assert(structs.nonEmpty)
      for (s <- structs; f <- s.dataType.asInstanceOf[StructType].fields) {
        def frame(options: (String, String)*): DataFrame =
          read(table, options: _*).selectExpr("_hoodie_record_key", s"${s.name}.${f.name}")
        assert(rows(frame()) === rows(frame(ReadPushdowns.NestedColumns -> "false")), s"${s.name}.${f.name}")
      }
    }
  }

  test("_file and _pos tell where a row lies") {
    val table = Fixtures.table("v9-cow-part")
    Vector("true", "false").foreach { vectorized =>
      spark.conf.set("spark.sql.parquet.enableVectorizedReader", vectorized)
      try {
        val found = read(table).selectExpr("_hoodie_file_name", "_file", "_pos").collect()
        assert(found.length === read(table).count())
        found.foreach(r => assert(r.getString(1).endsWith("/" + r.getString(0))))
        found.groupBy(_.getString(1)).values.foreach { of =>
          assert(of.map(_.getLong(2)).sorted.toVector === of.indices.map(_.toLong).toVector)
        }
        assert(
          read(table).select("_file", "_pos").where("_pos = 0").distinct().count() === found
            .map(_.getString(1))
            .distinct
            .length
        )
      } finally spark.conf.unset("spark.sql.parquet.enableVectorizedReader")
    }
    assert(!read(table).columns.contains("_pos"))
    // Rows of a log have no base file; all others have.
    val merged = read(Fixtures.table("v9-mor-part")).select("_file", "_pos").collect()
    assert(
      merged.exists(_.isNullAt(0)) && merged.exists(!_.isNullAt(0)) && merged.forall(r =>
        r.isNullAt(0) == r.isNullAt(1)
      )
    )
    val where = merged.filter(!_.isNullAt(1)).count(_.getLong(1) < 3)
    assert(
      read(Fixtures.table("v9-mor-part"))
        .select("_file", "_pos", "qty")
        .where("_pos < 3 and qty >= 0")
        .count() === where
    )
  }
}
