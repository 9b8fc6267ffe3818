package hudiidx.spark.write

import hudiidx.InvalidOption
import hudiidx.spark.HudiIdxCatalog
import hudiidx.spark.write.options.{WriteOperation, WriteOptions}
import org.apache.spark.sql.DataFrameWriterV2
import org.apache.spark.sql.Row

/** Options that a write itself has count, whoever hands them on: `df.writeTo` too. */
final class StatedOptionsSuite extends SavedTables {
  private val catalog = "spark.sql.catalog.hudiidx"
  private val deletes = WriteOptions.Operation -> WriteOperation.Delete.name

  private def written(path: String, ids: Range, options: (String, String)*): DataFrameWriterV2[Row] =
    rows(ids, 2).writeTo(s"hudiidx.`$path`").options(options.toMap)

  private def withCatalog(body: => Unit): Unit = {
    spark.conf.set(catalog, classOf[HudiIdxCatalog].getName)
    try body
    finally spark.conf.unset(catalog)
  }

  test("writeTo with an operation does that one") {
    withCatalog {
      val path = newPath()
      save(rows(0 until 9, 1), path, base)
      written(path, 0 until 1, deletes).append()
      assert(values(path).keySet === (1 until 9).map(i => f"k$i%03d").toSet)
      written(path, 3 until 4, WriteOptions.Operation.toUpperCase -> "insert_overwrite").append()
      assert(values(path).keySet === Set(1, 2, 3, 4, 5, 7, 8).map(i => f"k$i%03d"))
      written(path, 4 until 5, WriteOptions.Operation -> "insert_overwrite_table").append()
      assert(values(path).keySet === Set("k004"))
      val unknown = intercept[InvalidOption](written(path, 0 until 1, WriteOptions.Operation -> "delte").append())
      assert(unknown.getMessage.contains("delte"))
      assert(values(path).keySet === Set("k004"))
    }
  }

  test("deletes are in nobody's place: writeTo that overwrites or replaces by them is refused") {
    withCatalog {
      val path = newPath()
      save(rows(0 until 9, 1), path, base)
      val writer = written(path, 0 until 1, deletes)
      Seq[() => Unit](() => writer.overwritePartitions(), () => writer.using("hudiidx").replace()).foreach { write =>
        assert(intercept[InvalidOption](write()).getMessage.startsWith(WriteOptions.Operation))
      }
      assert(values(path).size === 9)
    }
  }

  test("writeTo that replaces goes by its options, and refuses those that no release of Hudi has") {
    withCatalog {
      val path = newPath()
      save(rows(0 until 9, 1), path, base)
      val misspelt = "hoodie.datasource.write.precombine.feild"
      val refused = intercept[InvalidOption](written(path, 0 until 1, misspelt -> "ts").using("hudiidx").replace())
      assert(refused.getMessage.startsWith(misspelt) && values(path).size === 9)
      val key = WriteOptions.KeyFields -> "v"
      val other = intercept[InvalidOption](written(path, 0 until 1, key).using("hudiidx").replace())
      assert(other.getMessage.startsWith(WriteOptions.KeyFields) && values(path).size === 9)
      written(path, 0 until 1, key, WriteOptions.Remake -> "true").using("hudiidx").createOrReplace()
      assert(values(path).keySet === Set("v2-0"))
    }
  }

  test("what a write has wins over the session's, in whatever case either is written") {
    val names = Seq[String => String](identity, _.toUpperCase)
    val others = (1 to 40).map(i => s"hoodie.other.$i" -> "1").toMap
    for (own <- names; session <- names; more <- Seq(Map.empty[String, String], others)) {
      val given = Map(own(WriteOptions.Operation) -> "delete")
      val set = Map(session(WriteOptions.Operation) -> "insert", WriteOptions.InsertOperation -> "insert") ++ more
      assert(WriteOptions.of(given, set).operation === WriteOperation.Delete)
      assert(WriteOptions.ofCompaction(given, set).operation === WriteOperation.Delete)
      assert(WriteOptions.ofStatement(set, None, given).operation === WriteOperation.Delete)
    }
  }
}
