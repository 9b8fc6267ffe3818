package hudiidx.spark.write

import java.nio.file.{Files, Paths}

import hudiidx.spark.{HudiIdxCatalog, SparkSuite}
import hudiidx.{Fixtures, InvalidOption}
import org.apache.spark.sql.DataFrame

/** `_hoodie_is_deleted` in rows that are written: true deletes, and no other value may look so. */
final class DeleteMarkSuite extends SparkSuite {
  private val options = Map(
    "hoodie.table.name" -> "t",
    "hoodie.datasource.write.recordkey.field" -> "id",
    "hoodie.datasource.write.precombine.field" -> "ts"
  )
  private val others = Seq("'false'", "'true'", "0", "1", "CAST(1 AS BIGINT)", "array(true)", "1.5D")

  private def newPath(): String = Fixtures.newFolder("mark").resolve("t").toString

  private def rows(mark: String): DataFrame =
    spark.range(3).selectExpr("CAST(id AS STRING) AS id", "1L AS ts", s"$mark AS _hoodie_is_deleted")

  private def save(frame: DataFrame, path: String, more: (String, String)*): Unit =
    frame.write.format("hudiidx").options(options ++ more).mode("append").save(path)

  private def refused(frame: DataFrame)(write: => Any): Unit = {
    val said = intercept[InvalidOption](write).getMessage
    val kind = frame.schema("_hoodie_is_deleted").dataType.simpleString
    assert(
      said.contains(s"column _hoodie_is_deleted is $kind: ") && said.contains("cast it to boolean before the write"),
      said
    ): Unit
  }

  test("a mark of deletes that is not boolean is refused by name and type, and no table is made") {
    val path = newPath()
    others.foreach { mark =>
      refused(rows(mark))(save(rows(mark), path))
      refused(rows(mark))(new StreamSink(options + ("path" -> path)).addBatch(0, rows(mark)))
    }
    spark.conf.set("spark.sql.catalog.hudiidx", classOf[HudiIdxCatalog].getName)
    refused(rows("''"))(
      spark.sql(
        s"CREATE TABLE hudiidx.`$path` (id STRING, _hoodie_is_deleted STRING) TBLPROPERTIES (primaryKey = 'id')"
      )
    )
    refused(rows("''")) {
      rows("''").createOrReplaceTempView("marked")
      spark.sql(s"CREATE TABLE hudiidx.`$path` TBLPROPERTIES (primaryKey = 'id') AS SELECT * FROM marked")
    }
    assert(!Files.exists(Paths.get(path)))
  }

  test("one that comes to a table with a boolean mark, or with none, is refused, and the table stays as it was") {
    for (first <- Seq(rows("false"), rows("false").drop("_hoodie_is_deleted"))) {
      val path = newPath()
      save(first, path)
      val before = Fixtures.filesBelow(path)
      others.foreach { mark =>
        refused(rows(mark))(save(rows(mark), path))
        refused(rows(mark))(save(rows(mark), path, "hoodie.datasource.write.operation" -> "insert_overwrite_table"))
      }
      assert(Fixtures.filesBelow(path) === before)
      assert(read(path).count() === 3)
    }
    val path = newPath()
    save(rows("nullif(id = 7, true)"), path)
    save(rows("id = 1"), path)
    save(rows("CAST('false' AS BOOLEAN)").where("id = 2"), path)
    save(rows("NULL").where("id = 0"), path)
    assert(read(path).count() === 2)
  }
}
