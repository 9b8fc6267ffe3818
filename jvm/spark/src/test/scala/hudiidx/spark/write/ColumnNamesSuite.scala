package hudiidx.spark.write

import java.nio.file.{Files, Paths}

import hudiidx.spark.{HudiIdxCatalog, SparkSuite}
import hudiidx.{AvroSchemas, Fixtures, InvalidOption}
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.lit

/** Names of columns in rows that are written: Hudi keeps them in Avro, which does not take all of Spark's. */
final class ColumnNamesSuite extends SparkSuite {
  private val refused = Seq("a-b" -> "a_b", "1x" -> "_1x", "a b" -> "a_b", "a.b" -> "a_b", "" -> "_", "x\u00b2" -> "x_")

  private def rows(column: String): DataFrame = spark.range(3).selectExpr("id", "id AS n", s"id AS `$column`")

  private def save(frame: DataFrame, path: String): Unit = {
    val options = Map(
      "hoodie.table.name" -> "t",
      "hoodie.datasource.write.recordkey.field" -> "id",
      "hoodie.datasource.write.precombine.field" -> "n"
    )
    frame.write.format("hudiidx").options(options).mode("append").save(path)
  }

  private def told(name: String, proposed: String)(write: => Any): Unit = {
    val said = intercept[InvalidOption](write).getMessage
    assert(
      said.startsWith(s"column '$name': ") && said.contains(s"withColumnRenamed('$name', '$proposed')"),
      said
    ): Unit
  }

  test("a column whose name Avro refuses is refused by its name, and no table is made") {
    refused.foreach { case (name, proposed) =>
      val path = Fixtures.newFolder("names").resolve("t").toString
      told(name, proposed)(save(rows(name), path))
      assert(!Files.exists(Paths.get(path)))
    }
    val path = Fixtures.newFolder("names").resolve("t").toString
    val nested =
      Seq("named_struct('b-c', id)" -> "s", "named_struct('t', map('k', array(named_struct('b-c', id))))" -> "s.t")
    nested.foreach { case (struct, within) =>
      val frame = spark.range(3).selectExpr("id", "id AS n", s"$struct AS s")
      val said = intercept[InvalidOption](save(frame, path)).getMessage
      assert(
        said.startsWith(s"column '$within.b-c': ") && said.contains("a cast of column s to a type that has 'b_c'"),
        said
      )
      assert(!said.contains("withColumnRenamed"))
    }
    val cast = spark.range(3).selectExpr("id", "id AS n", "CAST(named_struct('b-c', id) AS STRUCT<b_c: BIGINT>) AS s")
    save(cast, Fixtures.newFolder("names").resolve("t").toString)
    spark.conf.set("spark.sql.catalog.hudiidx", classOf[HudiIdxCatalog].getName)
    told("a-b", "a_b")(
      spark.sql(s"CREATE TABLE hudiidx.`$path` (id BIGINT, `a-b` INT) TBLPROPERTIES (primaryKey = 'id')")
    )
    assert(!Files.exists(Paths.get(path)))
  }

  test("a new column whose type would have the name of another column's type is refused") {
    val table = AvroSchemas.parse(
      """{"type":"record","name":"t","fields":[{"name":"a","type":{"type":"record","name":"t.b","fields":[{"name":"x","type":"int"}]}}]}"""
    )
    val rows = spark.sql("SELECT named_struct('x', 1) AS a, named_struct('y', 'z') AS b").schema
    val said = intercept[InvalidOption](WriteSchema.merged(table, rows, "t", "")).getMessage
    assert(said.contains("would be named t.b, as that of another column is"), said)
    val others = spark.sql("SELECT named_struct('x', 1) AS a, named_struct('y', 'z') AS c").schema
    assert(WriteSchema.merged(table, others, "t", "").struct.fieldNames === Array("a", "c"))
  }

  test("one that a table is to get is refused, the table stays as it was, and names in other scripts are taken") {
    val path = Fixtures.newFolder("names").resolve("t").toString
    save(rows("größe_1"), path)
    val before = Fixtures.filesBelow(path)
    refused.foreach { case (name, proposed) =>
      told(name, proposed)(save(rows("größe_1").withColumn(name, lit(1L)), path))
    }
    assert(Fixtures.filesBelow(path) === before)
    assert(read(path).select("größe_1").count() === 3)
  }
}
