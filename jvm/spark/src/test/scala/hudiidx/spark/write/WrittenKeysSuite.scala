package hudiidx.spark.write

import java.nio.charset.StandardCharsets.ISO_8859_1
import java.nio.file.{Files, Paths}

import hudiidx.log.RecordKeyForm
import hudiidx.spark.write.options.WriteOptions
import hudiidx.spark.{HudiIdxCatalog, SparkSuite}
import hudiidx.table.KeyGenerator
import hudiidx.{Fixtures, InvalidOption, UnsupportedTable}
import org.apache.spark.sql.DataFrame

/** Records that are written have the keys that the table's key generator makes, and stay under those that they have. */
final class WrittenKeysSuite extends SparkSuite {
  private def newPath(): String = Fixtures.newFolder("keys").resolve("t").toString

  private def save(path: String, rows: DataFrame, options: (String, String)*): Unit = {
    val all = Map(
      "hoodie.table.name" -> "t",
      WriteOptions.KeyFields -> "id",
      WriteOptions.PartitionFields -> "p",
      WriteOptions.OrderingField -> "ts",
      WriteOptions.TableVersion -> "6"
    ) ++ options
    rows.write.format("hudiidx").options(all.filter(_._2 != null)).mode("append").save(path)
  }

  private def texts(from: Int, until: Int, ts: Int): DataFrame =
    spark.range(from.toLong, until.toLong).selectExpr("cast(id as string) id", s"${ts}L ts", "'a' p", "id v")

  private def keys(path: String): Vector[String] =
    read(path).selectExpr("_hoodie_record_key").collect().map(_.getString(0)).toVector.sorted

  private val complex = WriteOptions.KeyGeneratorType -> KeyGenerator.Complex.kind

  test("a record that the table has under the other form of a complex key is changed there, not inserted again") {
    val path = newPath()
    save(path, texts(0, 5, 1), complex, RecordKeyForm.PlainSingleField -> "false")
    assert(keys(path) === (0 until 5).map(i => s"id:$i"))
    save(path, texts(3, 7, 2), complex)
    assert(keys(path) === Vector("5", "6") ++ (0 until 5).map(i => s"id:$i"))
    assert(read(path).where("ts = 2").count() === 4)
    spark.conf.set("spark.sql.catalog.hudiidx", classOf[HudiIdxCatalog].getName)
    spark.sql(s"UPDATE hudiidx.`$path` SET ts = 3 WHERE id IN ('1', '5')")
    spark.sql(
      s"MERGE INTO hudiidx.`$path` t USING (SELECT '2' id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET ts = 3"
    )
    assert(read(path).where("ts = 3").selectExpr("id").collect().map(_.getString(0)).toSet === Set("1", "2", "5"))
    save(path, texts(4, 6, 4), complex, WriteOptions.Operation -> "delete")
    assert(keys(path) === Vector("6") ++ (0 until 4).map(i => s"id:$i"))
    val thrown = intercept[Exception](spark.sql(s"UPDATE hudiidx.`$path` SET id = 'x' WHERE id = '1'"))
    val causes = Iterator.iterate[Throwable](thrown)(_.getCause).takeWhile(_ != null).toVector
    assert(causes.exists(_.getMessage.contains("a record keeps its key")))
  }

  test("rows that differ each time they are computed are looked up once, under both forms") {
    val path = newPath()
    save(path, texts(0, 40, 1), complex, RecordKeyForm.PlainSingleField -> "false")
    val random =
      spark.range(40).selectExpr("cast(cast(rand() * 1000000 as int) % 80 as string) id", "2L ts", "'a' p", "id v")
    save(path, random, complex)
    val ids = read(path).selectExpr("id").collect().map(_.getString(0)).toVector
    assert(ids.distinct.size === ids.size && ids.size >= 40)
  }

  test("a timestamp is a key where the write says which text the table has; records are found under either") {
    val path = newPath()
    val rows = spark.range(3).selectExpr("timestamp_seconds(1704067200 + id) id", "1L ts", "'a' p")
    val thrown = intercept[InvalidOption](save(path, rows))
    assert(
      thrown.getMessage.contains(RecordKeyForm.ConsistentTimestamps) && thrown.getMessage.contains("id is a timestamp")
    )
    save(path, rows, RecordKeyForm.ConsistentTimestamps -> "false")
    val numbers = (0 until 3).map(i => s"${1704067200L + i}000000")
    assert(keys(path) === numbers)
    save(path, rows, RecordKeyForm.ConsistentTimestamps -> "true")
    assert(keys(path) === numbers)
    val formatted = newPath()
    save(formatted, rows, RecordKeyForm.ConsistentTimestamps -> "true")
    assert(keys(formatted) === (0 until 3).map(i => new java.sql.Timestamp((1704067200L + i) * 1000).toString))
  }

  test("columns of whose values Hudi makes several texts are no key fields, and nothing is written") {
    Vector("cast(id as double)", "cast(id as float)", "cast(cast(id as string) as binary)").foreach { column =>
      val path = newPath()
      save(path, spark.range(2).selectExpr("cast(id as string) id", "1L ts", "'a' p", s"$column k"))
      val before = Fixtures.filesBelow(path).filter(_.endsWith("commit"))
      val other = newPath()
      val thrown = intercept[InvalidOption](
        save(other, spark.range(2).selectExpr(s"$column id", "1L ts", "'a' p"), WriteOptions.Operation -> "upsert")
      )
      assert(thrown.getMessage.contains("in a record key"), column)
      assert(!Files.exists(Paths.get(other)) || !Fixtures.filesBelow(other).exists(_.endsWith("commit")), column)
      assert(before.nonEmpty)
    }
  }

  test("a table whose generator is not known is not written, nor with another generator than its own") {
    val path = newPath()
    save(path, texts(0, 2, 1))
    val own = intercept[InvalidOption](save(path, texts(0, 2, 2), complex))
    assert(own.getMessage.contains(WriteOptions.KeyGeneratorClass) && own.getMessage.contains("SIMPLE"))
    intercept[InvalidOption](
      save(path, texts(0, 2, 2), WriteOptions.KeyGeneratorClass -> "com.example.SimpleKeyGenerator")
    )
    save(path, texts(0, 2, 2), WriteOptions.KeyGeneratorClass -> (KeyGenerator.Package + "SimpleKeyGenerator"))
    val file = Paths.get(path, ".hoodie", "hoodie.properties")
    val text = new String(Files.readAllBytes(file), ISO_8859_1)
    Files.write(file, text.replace(KeyGenerator.Package, "com.example.").getBytes(ISO_8859_1))
    val thrown = intercept[UnsupportedTable](save(path, texts(0, 2, 3)))
    assert(thrown.getMessage.contains("com.example.SimpleKeyGenerator"))
    assert(keys(path) === Vector("0", "1"))
  }
}
