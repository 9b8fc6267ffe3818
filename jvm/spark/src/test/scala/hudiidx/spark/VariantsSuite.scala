package hudiidx.spark

import java.nio.file.{Files, Paths}

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.ObjectNode
import hudiidx.spark.api.HudiIdxApi
import hudiidx.spark.compact.CompactionApi
import hudiidx.table.HudiType
import hudiidx.{Causes, Fixtures, InvalidOption, UnsupportedTable}
import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.functions._
import org.apache.spark.sql.types.MetadataBuilder

/** Columns that the table's schema has as variants, as stock Hudi 1.2 on Spark 4 makes them: variants on Spark 4, on 3.5 the bytes
  * that they are.
  */
final class VariantsSuite extends SparkSuite with IndexStates {
  private val isVariant = spark.version.startsWith("4.")
  private val mapper = new ObjectMapper

  /** Numbers of one byte, in the encoding of variants. */
  private def rows(ids: Range, ts: Int, payload: String): DataFrame = spark
    .range(ids.head.toLong, ids.last.toLong + 1)
    .selectExpr("cast(id as string) as id", s"$ts as ts", s"cast(id as int) + $ts as n")
    .withColumn("payload", expr(s"if(n % 7 = 3, null, $payload)"))

  private val byte = "cast(concat(char(12), char(n % 100)) as binary)"
  private val metadata = "X'010000'"
  private val whole = s"named_struct('metadata', $metadata, 'value', $byte)"
  private val typed = s"named_struct('metadata', $metadata, 'value', cast(null as binary), 'typed_value', n % 100)"

  private def save(rows: DataFrame, table: String, more: (String, String)*): Unit =
    rows.write
      .format("hudiidx")
      .option("hoodie.table.name", "t")
      .option("hoodie.datasource.write.recordkey.field", "id")
      .option("hoodie.datasource.write.precombine.field", "ts")
      .option("hoodie.write.table.version", "6")
      .options(more.toMap)
      .mode("append")
      .save(table)

  /** Rows in base files, and others for some of them in logs. */
  private def made(payload: String, more: (String, String)*): String = {
    val table = Fixtures.newFolder("variants").resolve("t").toString
    save(rows(0 until 40, 1, payload), table, more: _*)
    save(rows(20 until 40, 2, payload), table, more: _*)
    table
  }

  private def isLog(file: String): Boolean = file.contains(".log.")

  /** The table's commits tell that the columns are variants of bytes alone. */
  private def told(table: String, columns: String*): Unit = CommitSchemas.change(table) { text =>
    val schema = mapper.readTree(text)
    schema.get("fields").asScala.filter(f => ("payload" +: columns).contains(f.get("name").asText)).foreach { field =>
      val ofField = field.get("type")
      val record = (ofField +: ofField.elements.asScala.toVector).find(_.isObject).get.asInstanceOf[ObjectNode]
      record.put("logicalType", "variant")
      val parts = record.putArray("fields")
      Seq("metadata", "value").foreach(n => parts.addObject().put("name", n).put("type", "bytes"))
    }
    schema.toString
  }

  private def numbers(frame: DataFrame): Map[String, Option[String]] = {
    val shown =
      if (isVariant) expr("cast(payload as string)")
      else expr("cast(conv(hex(substr(payload.value, 2)), 16, 10) as string)")
    frame.select(col("id"), shown).collect().map(r => r.getString(0) -> Option(r.getString(1))).toMap
  }

  private def wanted(ids: Range, ts: Int): Map[String, Option[String]] =
    ids.map(i => i.toString -> Some(i + ts).filter(_ % 7 != 3).map(n => (n % 100).toString)).toMap

  private val all = wanted(0 until 20, 1) ++ wanted(20 until 40, 2)

  test("rows of base files and of logs have the values, with an index and without, and after writes and a compaction") {
    val table = made(whole)
    assert(Seq(true, false).forall(Fixtures.filesBelow(table).map(isLog).contains))
    told(table)
    val field = read(table).schema("payload")
    assert(field.metadata.getString(HudiType.MetadataKey) === "VARIANT")
    assert(field.dataType.typeName === (if (isVariant) "variant" else "struct"))
    assert(numbers(read(table)) === all)
    new HudiIdxApi(spark, table, Map("hudiidx.columns" -> "*").asJava).create()
    assert(numbers(read(table)) === all)
    assert(numbers(read(table).where("n > 25 and payload is not null")) === all.filter(_._2.isDefined).filter {
      case (id, _) =>
        id.toInt + (if (id.toInt < 20) 1 else 2) > 25
    })
    val again = read(table)
      .where("n % 2 = 0")
      .select("id", "ts", "n", "payload")
      .withColumn("ts", col("ts") + 5)
      .localCheckpoint()
    save(again, table)
    assert(numbers(read(table)) === all)
    assert(read(table).where("ts > 5").count() === again.count())
    CompactionApi.compact(spark, table, Map.empty[String, String], "schedule_and_execute", None)
    assert(numbers(read(table)) === all)
    assert(numbers(read(table, "hoodie.datasource.query.type" -> "read_optimized")) === all)
  }

  test(
    "an index of all columns keeps how many variants of each file are null, of base files and of logs, and no bounds"
  ) {
    val table = made(whole)
    told(table)
    new HudiIdxApi(spark, table, Map("hudiidx.columns" -> "*", "hudiidx.logs" -> "true").asJava).create()
    val stats = read(table, "view" -> "column_stats").where("column like 'payload%'").collect()
    assert(stats.forall(r => r.getAs[Any]("min") == null && r.getAs[Any]("max") == null))
    val nulls = stats.map(r => (r.getAs[String]("column"), isLog(r.getAs[String]("file_name")), r.getAs[Any]("nulls")))
    val (inBase, inLogs) = (wanted(0 until 40, 1), wanted(20 until 40, 2))
    val expected = Seq("payload.metadata", "payload.value").flatMap { column =>
      Seq(false -> inBase, true -> inLogs).map { case (log, rows) => (column, log, rows.values.count(_.isEmpty)) }
    }
    assert(nulls.toSet === expected.toSet && nulls.length === 4)
    val without = all.filter(_._2.isEmpty)
    assert(without.size > 3 && numbers(read(table).where("payload is null")) === without)
  }

  /** Of the column, and on 3.5 of parts of it. */
  private def refused(rows: DataFrame, file: String, name: String = "payload"): Unit =
    (Seq(name) ++ (if (isVariant) Nil else Seq(s"$name.value", s"$name.metadata"))).foreach { column =>
      val failed = intercept[Exception](rows.select(column).collect())
      val e = Causes.ours(failed).get
      assert(e.isInstanceOf[UnsupportedTable])
      Seq(file, name, "typed_value").foreach(part => assert(e.getMessage.contains(part)))
    }

  test("shredded variants are refused by file and column, and the other columns are read") {
    val table = Fixtures.newFolder("variants").resolve("t").toString
    save(rows(0 until 30, 1, typed), table)
    told(table)
    refused(read(table), ".parquet")
    assert(read(table).select("id", "n").collect().length === 30)
    val dataset = intercept[UnsupportedTable](
      new HudiIdxApi(spark, table, Map.empty[String, String].asJava).dataset("true", null, false)
    )
    assert(dataset.getMessage.contains("typed_value"))
  }

  test("shredded variants in logs are refused by file and column, and the other columns are read") {
    val table = made(typed, "hudiidx.write.log.inserts" -> "true")
    told(table)
    assert(!Fixtures.filesBelow(table).exists(_.endsWith(".parquet")))
    refused(read(table), ".log.")
    assert(read(table).select("id", "n").collect().length === 40)
  }

  test("Parquet blocks of stock Hudi's logs have its values, and shredded ones there are refused by file and column") {
    val name = "types/ty-variant-parquet-mor"
    val table = Fixtures.copy(name)
    val stock = Fixtures.json(name).get("snapshot").get("rows").asScala.map(r => mapper.readTree(r.asText)).toVector
    // A header and the byte, as base64.
    val values = stock.map { r =>
      val bytes = Option(r.get("payload")).filterNot(_.isNull).map(_.get("value").binaryValue)
      r.get("id").asText -> bytes.map(_.last.toString)
    }.toMap
    assert(values.size > 30 && values.values.exists(_.isEmpty) && values.values.flatten.toSet.size > 20)
    told(table, "shredded")
    def check(): Unit = {
      assert(numbers(read(table)) === values)
      assert(numbers(read(table).where("payload is not null")) === values.filter(_._2.isDefined))
      refused(read(table), ".log.", "shredded")
    }
    check()
    new HudiIdxApi(spark, table, Map("hudiidx.columns" -> "*", "hudiidx.record.mode" -> "global").asJava).create()
    check()
    val some = values.keys.toVector.sorted.take(9)
    val found = read(table).where(col("_hoodie_record_key").isin(some: _*))
    assert(numbers(found) === values.filter(v => some.contains(v._1)))
  }

  /** Metadata and value. */
  private def bytes(variant: Any): Vector[Array[Byte]] = variant match {
    case null        => Vector.empty
    case struct: Row => Vector("metadata", "value").map(struct.getAs[Array[Byte]](_))
    // A class that Spark 3.5 lacks.
    case other =>
      Vector("getMetadata", "getValue").map(other.getClass.getMethod(_).invoke(other).asInstanceOf[Array[Byte]])
  }

  for {
    (name, states) <- Seq(
      "types/ty-variant-struct-cow" -> IndexStates.States.take(2),
      "types/ty-variant-json-mor" -> IndexStates.States
    )
    state <- states
  }
    test(s"$name: variants are the bytes that stock Hudi has, index: ${state.name}") {
      val table = Fixtures.copy(name)
      told(table)
      state.prepare(this, table)
      val rows = Fixtures.json(name).get("snapshot").get("rows").asScala.map(r => mapper.readTree(r.asText))
      val stock = rows.map { r =>
        val payload = Option(r.get("payload")).filterNot(_.isNull).toVector
        r.get("id").asText -> payload.flatMap(p => Vector("metadata", "value").map(p.get(_).binaryValue.toVector))
      }.toMap
      val frame = read(table, state.options: _*)
      assert((frame.schema("payload").dataType.typeName == "variant") === isVariant)
      val found = frame.select("id", "payload").collect().map(r => r.getString(0) -> bytes(r.get(1)).map(_.toVector))
      assert(found.length === rows.size && found.toMap === stock)
      // The texts of which the bytes were made stand beside them.
      if (isVariant && frame.columns.contains("text")) {
        val texts = frame.selectExpr("text", "to_json(payload)").collect().map(r => (r.getString(0), r.getString(1)))
        assert(texts.count(_._1 != null) > 20 && texts.forall(t => t._1 == t._2))
      }
    }

  test("a file whose variants are typed alone, without bytes of a value, is refused too") {
    val table = Fixtures.newFolder("variants").resolve("t").toString
    save(rows(0 until 30, 1, s"named_struct('metadata', $metadata, 'typed_value', n % 100)"), table)
    told(table)
    refused(read(table), ".parquet")
  }

  test("a variant of a new table is refused by name, and no table is made") {
    val table = Fixtures.newFolder("variants").resolve("t").toString
    val mark = new MetadataBuilder().putString(HudiType.MetadataKey, "VARIANT").build()
    val frames = rows(0 until 3, 1, whole).withMetadata("payload", mark) +:
      (if (isVariant) Seq(rows(0 until 3, 1, "parse_json('1')")) else Nil)
    frames.foreach { frame =>
      val e = intercept[InvalidOption](save(frame, table))
      assert(e.getMessage.contains("payload") && e.getMessage.toLowerCase.contains("variant"))
      assert(!Files.exists(Paths.get(table, ".hoodie")))
    }
  }
}
