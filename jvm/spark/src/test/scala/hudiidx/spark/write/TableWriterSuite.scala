package hudiidx.spark.write

import java.sql.{Date, Timestamp}

import scala.collection.JavaConverters._

import hudiidx.spark.api.HudiIdxApi
import hudiidx.storage.LocalStorage
import hudiidx.table.{PropertiesFile, TableConfig}
import hudiidx.{Fixtures, TestSettings}
import org.apache.spark.sql.functions._
import org.apache.spark.sql.types._
import org.apache.spark.sql.{DataFrame, Row}

/** What a write leaves is what was written. Stock Hudi reads such tables in the tests of `integration/`. */
final class TableWriterSuite extends SavedTables {
  private def data(path: String): Map[String, Row] = {
    val frame = read(path)
    val columns = frame.columns.filterNot(_.startsWith("_hoodie_c")).filterNot(_ == "_hoodie_file_name")
    frame.select(columns.map(col): _*).collect().map(r => r.getAs[String]("_hoodie_record_key") -> r).toMap
  }

  for (version <- TestSettings.versions(6))
    test(s"version $version: upserts, deletes and late rows, index behind, absent and damaged") {
      val path = newPath()
      save(rows(0 until 30, 1), path, made(version))
      save(rows(20 until 50, 2), path, made(version))
      new HudiIdxApi(spark, path, Map("hudiidx.record.mode" -> "global").asJava).create()
      save(rows(25 until 35, 0), path, base)
      save(rows(0 until 5, 9).select("id", "p"), path, base + ("hoodie.datasource.write.operation" -> "delete"))
      save(rows(3 until 4, 0), path, base)
      LocalStorage.list(s"$path/.hoodie/hudiidx/versions").foreach(f => LocalStorage.delete(f.path))
      save(rows(40 until 60, 3), path, base)
      val wanted =
        (5 until 20).map(i => i -> 1) ++ (20 until 40).map(i => i -> 2) ++ (40 until 60).map(i => i -> 3) :+ (3 -> 0)
      assert(values(path) === wanted.map { case (i, ts) => f"k$i%03d" -> s"v$ts-$i" }.toMap)
      assert(read(path).groupBy("_hoodie_record_key").count().where("count > 1").count() === 0)
    }

  test("rows of one key in one write: the one with the greatest ordering value is written") {
    val path = newPath()
    save(rows(0 until 9, 1).union(rows(0 until 9, 5)).union(rows(0 until 9, 3)), path, made(9))
    assert(values(path).values.forall(_.startsWith("v5-")) && values(path).size === 9)
  }

  test("commit-time ordering: the later write wins whatever the ordering value") {
    val path = newPath()
    save(rows(0 until 9, 5), path, made(9, "hoodie.write.record.merge.mode" -> "COMMIT_TIME_ORDERING"))
    save(rows(0 until 9, 1), path, base)
    assert(values(path).values.forall(_.startsWith("v1-")))
  }

  test("_hoodie_is_deleted rows delete, late ones do not") {
    val path = newPath()
    val flagged = (ids: Range, ts: Int, gone: Boolean) => rows(ids, ts).withColumn("_hoodie_is_deleted", lit(gone))
    save(flagged(0 until 20, 2, false), path, made(9))
    save(
      flagged(0 until 10, 3, true).union(flagged(10 until 15, 1, true)).union(flagged(90 until 95, 1, true)),
      path,
      base
    )
    assert(values(path).keySet === (10 until 20).map(i => f"k$i%03d").toSet)
  }

  private val moving = Map("hoodie.record.index.update.partition.path" -> "true")

  /** Partition and value by key. */
  private def places(path: String): Map[String, (String, String)] =
    read(path).collect().map(r => r.getAs[String]("id") -> ((r.getAs[String]("p"), r.getAs[String]("v")))).toMap

  private def inPartition(frame: DataFrame, p: String): DataFrame = frame.withColumn("p", lit(p))

  for (version <- TestSettings.versions(9))
    test(s"version $version: records move with their partition if they are to, late ones and deletes do not") {
      val path = newPath()
      save(rows(0 until 12, 2).withColumn("_hoodie_is_deleted", lit(false)), path, made(version))
      val later = inPartition(rows(0 until 4, 3), "p7").withColumn("_hoodie_is_deleted", lit(false))
      save(later, path, base)
      assert(places(path)("k001") === (("p1", "v3-1")) && read(path).where("_hoodie_partition_path = 'p7'").isEmpty)
      // Also rows of the same keys that count less, a new key in two partitions, a late one, and deletes.
      val flagged = inPartition(rows(8 until 10, 4), "p7").withColumn("_hoodie_is_deleted", lit(true))
      val same = (frame: DataFrame) => frame.withColumn("_hoodie_is_deleted", lit(false))
      val batch = Seq(
        same(inPartition(rows(0 until 6, 4), "p7")),
        same(inPartition(rows(2 until 4, 3), "p8")),
        same(inPartition(rows(6 until 8, 1), "p7")),
        flagged,
        same(inPartition(rows(20 until 21, 5), "p8")),
        same(inPartition(rows(20 until 21, 6), "p9"))
      ).reduce(_ union _)
      save(batch, path, base ++ moving)
      val wanted = (0 until 6).map(i => f"k$i%03d" -> (("p7", s"v4-$i"))) ++
        Seq(6, 7, 10, 11).map(i => f"k$i%03d" -> ((s"p${i % 3}", s"v2-$i"))) :+ ("k020" -> (("p9", "v6-20")))
      assert(places(path) === wanted.toMap)
      assert(read(path).count() === wanted.size)
      assert(read(path).where("p <> _hoodie_partition_path").isEmpty)
      // And back again, to where the delete was.
      save(same(rows(0 until 3, 5)), path, base ++ moving)
      assert((0 until 3).forall(i => places(path)(f"k$i%03d") === ((s"p${i % 3}", s"v5-$i"))))
      assert(read(path).count() === wanted.size)
    }

  for (of <- Seq("double", "float"))
    test(s"ordering values of $of: zero is greater than the negative one, in one write and where records move") {
      val path = newPath()
      def zeros(value: Double, v: String, p: String): DataFrame =
        inPartition(rows(0 until 6, 1), p).withColumn("ts", lit(value).cast(of)).withColumn("v", lit(v))
      def found: Set[(String, String)] = places(path).values.toSet
      save(zeros(-0.0, "old", "p0"), path, made(9))
      save(zeros(0.0, "greater", "p0").union(zeros(-0.0, "less", "p0")), path, base)
      assert(found === Set(("p0", "greater")))
      save(zeros(-0.0, "late", "p9"), path, base ++ moving)
      assert(found === Set(("p0", "greater")))
      save(zeros(-0.0, "less", "p9").union(zeros(0.0, "moved", "p9")), path, base ++ moving)
      assert(found === Set(("p9", "moved")) && read(path).count() === 6)
    }

  test("commit-time ordering: a record moves whatever its ordering value") {
    val path = newPath()
    save(rows(0 until 6, 5), path, made(9, "hoodie.write.record.merge.mode" -> "COMMIT_TIME_ORDERING"))
    save(inPartition(rows(0 until 3, 1), "p9"), path, base + ("hoodie.simple.index.update.partition.path" -> "true"))
    assert((0 until 3).forall(i => places(path)(f"k$i%03d") === (("p9", s"v1-$i"))) && read(path).count() === 6)
  }

  test("every type, nested ones too, comes back as it went, nulls included") {
    val schema = new StructType()
      .add("id", StringType)
      .add("p", StringType)
      .add("ts", TimestampType)
      .add("b", BooleanType)
      .add("i", IntegerType)
      .add("f", FloatType)
      .add("d", DoubleType)
      .add("bin", BinaryType)
      .add("day", DateType)
      .add("small", DecimalType(7, 2))
      .add("large", DecimalType(38, 10))
      .add("ntz", TimestampNTZType)
      .add("list", ArrayType(LongType))
      .add("map", MapType(StringType, ArrayType(IntegerType)))
      .add("st", new StructType().add("x", StringType).add("y", new StructType().add("z", DecimalType(5, 1))))
    val dec = (s: String) => new java.math.BigDecimal(s)
    val full = Row(
      "k1",
      "p0",
      Timestamp.valueOf("2024-05-06 07:08:09.123456"),
      true,
      -7,
      1.5f,
      Double.NaN,
      Array[Byte](0, -1, 5),
      Date.valueOf("1969-12-30"),
      dec("-12345.67"),
      dec("-1234567890123456789012345678.0123456789"),
      java.time.LocalDateTime.parse("2024-01-02T03:04:05.678901"),
      Seq(1L, null, -3L),
      Map("a" -> Seq(1, null), "b" -> Nil),
      Row("é", Row(dec("-0.5")))
    )
    val sparse =
      Row.fromSeq(Seq("k2", "p1", Timestamp.valueOf("2024-05-06 07:08:10")) ++ Seq.fill[Any](schema.length - 3)(null))
    val frame = spark.createDataFrame(java.util.Arrays.asList(full, sparse), schema)
    val path = newPath()
    save(frame, path, made(9))
    val found = read(path).select(schema.fieldNames.map(col): _*).orderBy("id")
    assert(found.schema.fields.map(_.dataType) === schema.fields.map(_.dataType))
    def texts(f: DataFrame) = f
      .orderBy("id")
      .selectExpr("to_json(struct(*), map('ignoreNullFields', 'false'))")
      .collect()
      .map(_.getString(0))
      .toVector
    assert(texts(found) === texts(frame))
  }

  test("rows that could hold null inside where the table may not are written if they hold none") {
    val path = newPath()
    val inner = "named_struct('a', id, 'b', array(id), 'c', map('k', id)) AS s"
    save(spark.range(3).selectExpr("id", "id % 2 AS p", "id AS ts", inner), path, made(9))
    def loose(id: String): DataFrame =
      spark
        .sql(s"SELECT $id AS id, 0L AS p, 9L AS ts")
        .selectExpr("id", "p", "ts", inner.replace("id", "nullif(id, 7L)"))
    save(loose("2L"), path, base)
    assert(
      read(path).selectExpr("id", "s.a", "s.b[0]", "s.c['k']").where("id = 2").collect().toSeq === Seq(
        Row(2L, 2L, 2L, 2L)
      )
    )
    val refused = intercept[Exception](save(loose("7L"), path, base))
    assert(
      Iterator.iterate[Throwable](refused)(_.getCause).takeWhile(_ != null).exists(_.getMessage.contains("is null"))
    )
    assert(read(path).count() === 3)
  }

  test("keys of several fields, hive style and encoded partitions, and none at all") {
    val frame = rows(0 until 6, 1)
      .withColumn("n", expr("cast(substr(id, 2) as int)"))
      .withColumn("p", expr("concat('a/b=', n % 2)"))
    val complex = newPath()
    val two =
      Map("hoodie.datasource.write.recordkey.field" -> "id,n", "hoodie.datasource.write.partitionpath.field" -> "p,v")
    val styled = Map(
      "hoodie.datasource.write.hive_style_partitioning" -> "true",
      "hoodie.datasource.write.partitionpath.urlencode" -> "true"
    )
    save(frame, complex, made(9) ++ two ++ styled)
    val first = read(complex).where("n = 3").select("_hoodie_record_key", "_hoodie_partition_path").head()
    assert(first === Row("id:k003,n:3", "p=a%2Fb%3D1/v=v1-3"))
    val plain = newPath()
    save(frame, plain, (made(6) - "hoodie.datasource.write.partitionpath.field"))
    save(frame, plain, base - "hoodie.datasource.write.partitionpath.field")
    assert(read(plain).select("_hoodie_partition_path").distinct().collect().toSeq === Seq(Row("")))
    assert(data(plain).size === 6)
  }

  test("inserts to logs fill small file groups up to their size, then new ones") {
    val path = newPath()
    val few = Map("hoodie.parquet.max.file.size" -> "20000", TableConfig.LogInserts -> "true")
    val insert = "hoodie.datasource.write.operation" -> "insert"
    save(rows(0 until 30, 1), path, made(9) ++ few + insert)
    val groups =
      () => read(path, "view" -> "latest_merged_file_slices").select("file_id").collect().map(_.getString(0)).toSet
    val first = groups()
    assert(first.size === 3)
    save(rows(30 until 60, 1), path, base ++ few + insert)
    assert(groups() === first)
    save(rows(60 until 90, 1), path, base ++ few + insert + ("hoodie.parquet.small.file.limit" -> "0"))
    assert(groups().size === 6)
    save(rows(90 until 96, 1), path, base + ("hoodie.datasource.write.operation" -> "bulk_insert"))
    assert(groups().size === 9 && values(path).size === 96)
    val inBase = read(path, "hoodie.datasource.query.type" -> "read_optimized")
    assert(inBase.select("id").collect().map(_.getString(0)).toSet === (90 until 96).map(i => f"k$i%03d").toSet)
    save(rows(93 until 99, 2), path, base)
    assert(values(path).count(_._2.startsWith("v2-")) === 6 && values(path).size === 99)
  }

  private def withMetadata(name: String, partitions: String): String = {
    val path = Fixtures.copy(name)
    PropertiesFile.update(LocalStorage, path)(_ + (TableConfig.MetadataPartitions -> partitions))
    path
  }

  for {
    name <- Seq("v6-mor-part", "v9-mor-part")
    (had, has) <- Seq("files" -> Vector("files"), "bloom_filters,column_stats,files,partition_stats" -> Vector.empty)
  }
    test(s"a table of stock Hudi with its metadata table is written to, which lists the files or goes: $name, $had") {
      val path = withMetadata(name, had)
      val before = read(path).drop("_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_file_name")
      val later = before.where("n % 3 = 0").withColumn("ts", col("ts") + 1000000L).withColumn("note", lit("new"))
      val wanted = before.where("n % 3 <> 0").union(later).collect().toSet
      save(later, path, Map.empty)
      assert(read(path).select(before.columns.map(col): _*).collect().toSet === wanted)
      assert(TableConfig.read(LocalStorage, path).metadataPartitions === has)
    }
}
