package hudiidx.spark

import java.nio.file.{Files, Paths}

import scala.collection.JavaConverters._

import hudiidx.parquet.ReaderInputFile
import hudiidx.spark.api.HudiIdxApi
import hudiidx.spark.compact.CompactionApi
import hudiidx.spark.prune.SkippingSuite
import hudiidx.storage.LocalStorage
import hudiidx.table.HudiType
import hudiidx.{Causes, Fixtures, InvalidOption}
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.spark.sql.functions._
import org.apache.spark.sql.types._
import org.apache.spark.sql.DataFrame

/** Vectors, blobs and what Spark 3.5 has of variants: indexes keep nothing of them but how many are null, and writes keep them as
  * they are. That rows are stock Hudi's is compared with all other fixtures'.
  */
final class HudiTypesSuite extends SkippingSuite {
  private val tables = Seq("v9-vectors-cow", "v9-vectors-mor")
  private val own = Seq("vf", "vd", "vi", "content")

  private def api(table: String, options: (String, String)*): HudiIdxApi =
    new HudiIdxApi(spark, table, options.toMap.asJava)

  /** Rows as texts, by their own columns. */
  private def data(table: String): Vector[String] = {
    val frame = read(table)
    rows(frame.select(frame.columns.filterNot(_.startsWith("_hoodie_")).sorted.map(col): _*))
  }

  tables.foreach { name =>
    test(s"$name: an index of all columns holds no bounds of them, but how many are null") {
      val table = Fixtures.copy(name)
      api(table, "hudiidx.columns" -> "*").create()
      val stats = spark.read.format("hudiidx").option("view", "column_stats").load(table)
      val ours = stats.where(own.map(c => s"column = '$c' or column like '$c.%'").mkString(" or ")).collect()
      assert(ours.nonEmpty)
      ours.foreach { r =>
        assert(r.getAs[Any]("min") == null && r.getAs[Any]("max") == null, r)
        assert(r.getAs[Any]("nulls") != null, r)
      }
      Seq("vf is null", "vd is not null", "content is null", "content.type = 'INLINE'").foreach { where =>
        withClue(where)(assert(rows(read(table).where(where)) === rows(read(table, off).where(where))))
      }
    }
  }

  test("blooms, value sets and expressions of them are refused by name, and nothing is made") {
    val table = Fixtures.copy("v9-vectors-cow")
    for {
      (kind, column) <- Seq(
        "hudiidx.bloom.columns" -> "vf",
        "hudiidx.values.columns" -> "vi",
        "hudiidx.bloom.columns" -> "content.data",
        "hudiidx.values.columns" -> "content.type",
        "hudiidx.columns" -> "size(vd)",
        "hudiidx.columns" -> "length(content.data)",
        "hudiidx.bloom.columns" -> "upper(content.reference.external_path)"
      )
    } withClue(s"$kind=$column: ") {
      val e = intercept[InvalidOption](api(table, kind -> column).create())
      val name =
        if (column.contains("content")) "a blob" else if (column.contains("(")) "array<double>" else "a vector"
      assert(e.getMessage.contains(name) && e.getMessage.contains(column.takeWhile(_ != '(')))
    }
    assert(!Files.exists(Paths.get(s"$table/.hoodie/hudiidx/versions")))
    api(table, "hudiidx.columns" -> "vf,content.data,n").create()
    assert(skipped(read(table).where("n > 100000")) > 0)
  }

  test("an upsert, and a compaction behind it, write the types as they were, and other rows stay") {
    val table = Fixtures.copy("v9-vectors-mor")
    val schema = read(table).schema
    val before = data(table).size
    val save = read(table)
      .where("id < 'k000012'")
      .drop(schema.fieldNames.filter(_.startsWith("_hoodie_")): _*)
      .withColumn("ts", col("ts") + 100000)
      .withColumn("vf", expr("if(id = 'k000001', transform(sequence(1, 8), i -> float(i * 0.5)), vf)"))
      .localCheckpoint()
    save.write.format("hudiidx").mode("append").save(table)
    def written = read(table).where("id < 'k000012'").select(save.columns.map(col): _*)
    assert(rows(written) === rows(save))
    assert(data(table).size === before)
    assert(read(table).schema === schema)
    val all = data(table)
    CompactionApi.compact(spark, table, Map.empty[String, String], "schedule_and_execute", None)
    assert(data(table) === all)
    def vectors(options: (String, String)*) = rows(read(table, options: _*).select("id", "vf", "vd", "vi", "content"))
    assert(vectors("hoodie.datasource.query.type" -> "read_optimized") === vectors())
    val stock = "vf:VECTOR(8),vd:VECTOR(4, DOUBLE),vi:VECTOR(6, INT8)"
    assert(
      footers(table).count(_.get(HudiType.VectorColumnsKey) == stock) > footers(Fixtures.table("v9-vectors-mor"))
        .count(_.get(HudiType.VectorColumnsKey) == stock)
    )
  }

  private def footers(table: String): Seq[java.util.Map[String, String]] =
    Fixtures.filesBelow(table).filter(f => f.endsWith(".parquet") && !f.startsWith(".hoodie")).map { f =>
      val opened = LocalStorage.open(s"$table/$f")
      val reader = ParquetFileReader.open(new ReaderInputFile(opened))
      try reader.getFileMetaData.getKeyValueMetaData
      finally {
        reader.close()
        opened.close()
      }
    }

  private def marked(frame: DataFrame, marks: (String, String)*): DataFrame = marks.foldLeft(frame) {
    case (f, (column, mark)) =>
      f.withMetadata(column, new MetadataBuilder().putString(HudiType.MetadataKey, mark).build())
  }

  test("files are left out by how many vectors are null, in base files and in logs") {
    val halves = vectors(0 until 40).withColumn("p", expr("if(n < 20, 'none', 'all')"))
    val rows = halves.withColumn("vf", expr("if(n < 20, null, array(float(n), float(1), float(2)))"))
    Seq("false", "true").foreach { inLogs =>
      val table = made(
        marked(rows, ofVectors: _*),
        "hoodie.datasource.write.partitionpath.field" -> "p",
        "hudiidx.write.log.inserts" -> inLogs
      )
      api(table, "hudiidx.columns" -> "*").create()
      Seq("vf is null", "vf is not null", "not (vf is null)", "vf is null and n > 3").foreach { where =>
        val found = read(table).where(where)
        withClue(s"$where, log inserts $inLogs: ") {
          assert(skipped(found) > 0)
          assert(this.rows(found) === this.rows(read(table, off).where(where)))
        }
      }
      assert(read(table).where("vf is null or vf[0] > 30").count() === 29)
    }
  }

  private def made(rows: DataFrame, options: (String, String)*): String = {
    val table = Fixtures.newFolder("types").resolve("t").toString
    rows.write
      .format("hudiidx")
      .option("hoodie.table.name", "t")
      .option("hoodie.datasource.write.recordkey.field", "id")
      .option("hoodie.datasource.write.precombine.field", "n")
      .options(options.toMap)
      .mode("append")
      .save(table)
    table
  }

  private def vectors(ids: Range): DataFrame = spark
    .range(ids.head.toLong, ids.last.toLong + 1)
    .selectExpr(
      "cast(id as string) as id",
      "id as n",
      "if(id % 5 = 1, null, array(cast(id as float), float('NaN'), float('-0.0'))) as vf",
      "array(cast(id as double), double('infinity')) as vd",
      "array(cast(id as tinyint), cast(-128 as tinyint), cast(127 as tinyint)) as vi"
    )

  private val ofVectors = Seq("vf" -> "VECTOR(3)", "vd" -> "VECTOR(2, DOUBLE)", "vi" -> "VECTOR(3, INT8)")

  test("marked columns of a new table are of Hudi's types, by inserts to base files and by log blocks") {
    val table = made(marked(vectors(0 until 20), ofVectors: _*))
    marked(vectors(10 until 30), ofVectors: _*)
      .withColumn("n", col("n") + 100)
      .write
      .format("hudiidx")
      .mode("append")
      .save(table)
    val found = read(table)
    ofVectors.foreach { case (column, mark) =>
      val field = found.schema(column)
      assert(field.metadata.getString(HudiType.MetadataKey) === mark)
      assert(!field.dataType.asInstanceOf[ArrayType].containsNull)
    }
    val wanted = rows(vectors(0 until 10).union(vectors(10 until 30).withColumn("n", col("n") + 100)))
    assert(rows(found.select("id", "n", "vf", "vd", "vi")) === wanted)
  }

  Seq(
    "another length" -> "array(float(1), float(2))",
    "a null element" -> "array(float(1), cast(null as float), float(2))"
  ).foreach { case (what, value) =>
    test(s"a vector of $what is refused by the column's name, and the table stays as it was") {
      val table = made(marked(vectors(0 until 20), ofVectors: _*))
      val before = Answer.of(read(table))
      val wrong = vectors(5 until 6).withColumn("vf", expr(value))
      val e = intercept[Exception](wrong.write.format("hudiidx").mode("append").save(table))
      val refused = Causes.ours(e).get
      assert(refused.isInstanceOf[InvalidOption] && refused.getMessage.contains("vf"))
      assert(refused.getMessage.contains("elements") || refused.getMessage.contains("null"))
      assert(Answer.of(read(table)) === before)
    }
  }

  test(
    "a mark that the column's values do not fit, or of which no column is made, is refused before there is a table"
  ) {
    Seq("VECTOR(3, DOUBLE)" -> "vf", "BLOB" -> "vf", "VARIANT" -> "vf", "VECTOR(2)" -> "n").foreach {
      case (mark, column) =>
        val e = intercept[InvalidOption](made(marked(vectors(0 until 3), column -> mark)))
        assert(e.getMessage.contains(s"column $column") && e.getMessage.contains(mark))
    }
    val marks =
      Seq(new MetadataBuilder().putLong(HudiType.MetadataKey, 3), new MetadataBuilder().putNull(HudiType.MetadataKey))
    marks.foreach { mark =>
      val rows = vectors(0 until 3).withMetadata("vf", mark.build())
      assert(intercept[InvalidOption](made(rows)).getMessage.startsWith("column vf is marked hudi_type"))
    }
  }
}
