package hudiidx.spark.write

import java.nio.file.Files

import hudiidx.engine.Tables
import hudiidx.storage.LocalStorage
import hudiidx.write.{HeartbeatOptions, OpenWrite}
import hudiidx.{Fixtures, InvalidOption, UnsupportedTable, WriteConflict}
import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.functions.{col, expr, lit, udf}

/** Writes that are refused, by mode, option, columns, table or another writer, or that fail: nothing of them stays. */
final class RefusedWritesSuite extends SavedTables {
  test("columns that rows add are the table's from then on; missing or unfit ones are refused") {
    val path = newPath()
    save(rows(0 until 6, 1), path, made(9))
    save(rows(3 until 9, 2).withColumn("more", lit(7)), path, base)
    assert(read(path).where("more = 7").count() === 6 && read(path).where("more is null").count() === 3)
    val missing = intercept[InvalidOption](save(rows(0 until 1, 3), path, base))
    assert(missing.getMessage.contains("more"))
    val unfit = intercept[InvalidOption](save(rows(0 until 1, 3).withColumn("more", lit("x")), path, base))
    assert(unfit.getMessage.contains("column more is string, in the table it is int"))
    assert(
      !LocalStorage.list(s"$path/.hoodie/timeline").exists(f => f.name.endsWith("requested") && isPending(path, f.name))
    )
  }

  private def isPending(path: String, requested: String): Boolean = {
    val instant = requested.takeWhile(_ != '.')
    !LocalStorage.list(s"$path/.hoodie/timeline").exists(_.name.startsWith(s"${instant}_"))
  }

  test("a write whose task fails takes all of it away, and the table takes the next one") {
    val path = newPath()
    val failing = udf { (id: Long) =>
      if (id == 5 && org.apache.spark.TaskContext.get() != null) throw new IllegalStateException("no more")
      s"v$id"
    }
    val ids = spark.range(0, 9, 1, 3).withColumn("v", failing(col("id")))
    val frame = ids.selectExpr("concat('k00', id) as id", "concat('p', id % 3) as p", "id as ts", "v")
    intercept[Exception](save(frame, path, made(9)))
    assert(!Files.exists(java.nio.file.Paths.get(path)), "the first write")
    save(rows(0 until 3, 1), path, made(9))
    val before = Fixtures.filesBelow(path).toSet
    intercept[Exception](save(frame, path, base))
    val left = Fixtures.filesBelow(path).filterNot(before)
    assert(left.filterNot(_.endsWith(".hoodie_partition_metadata")) === Vector.empty)
    save(rows(0 until 9, 2), path, base)
    assert(values(path).size === 9)
  }

  test("a first write that names fields the rows lack, or can make no keys of, makes no table, and the next one can") {
    val path = newPath()
    val wrong =
      Seq("recordkey", "partitionpath", "precombine").map(f => s"hoodie.datasource.write.$f.field" -> "nope") :+
        ("hoodie.datasource.write.recordkey.field" -> "price")
    for (option <- wrong; mode <- Seq("append", "overwrite", "errorifexists")) {
      val given = rows(0 until 3, 1).withColumn("price", lit(1.5))
      val error = intercept[InvalidOption](save(given, path, made(9, option), mode)).getMessage
      assert(
        error.contains(option._2) && (option._2 == "price" || error.contains("they have id, p, ts, v, price")),
        error
      )
      assert(!Files.exists(java.nio.file.Paths.get(path)), s"$option, $mode")
    }
    for (key <- Seq("array(id)", "map('a', id)", "struct(id)", "binary(id)")) {
      val given = rows(0 until 3, 1).withColumn("key", expr(key))
      val option = "hoodie.datasource.write.recordkey.field" -> "key"
      val error = intercept[InvalidOption](save(given, path, made(9, option), "append")).getMessage
      assert(error.contains("key fields: column key: the text of") && !Files.exists(java.nio.file.Paths.get(path)), key)
    }
    save(rows(0 until 3, 1), path, made(9))
    assert(values(path).size === 3)
  }

  test("save modes") {
    val path = newPath()
    save(rows(0 until 6, 1), path, made(9), "errorifexists")
    intercept[InvalidOption](save(rows(0 until 6, 2), path, made(9), "errorifexists"))
    save(rows(0 until 6, 2), path, made(9), "ignore")
    assert(values(path).values.forall(_.startsWith("v1-")))
    val unfit =
      intercept[InvalidOption](save(rows(0 until 6, 2), newPath(), base - "hoodie.table.name", "overwrite"))
    assert(unfit.getMessage.contains("hoodie.table.name"))
    val bad = rows(0 until 6, 2).withColumn("v", expr("map(1, v)"))
    assert(intercept[InvalidOption](save(bad, path, made(9), "overwrite")).getMessage.contains("column v"))
    assert(values(path).size === 6)
    save(rows(3 until 9, 2), path, made(9), "overwrite")
    assert(values(path).keySet === (3 until 9).map(i => f"k$i%03d").toSet)
  }

  test("tables and options that are not served are refused before anything is written") {
    def refused(table: String, words: String*): Unit = {
      val path = Fixtures.copy(table)
      val before = Fixtures.filesBelow(path)
      val e = intercept[UnsupportedTable](save(rows(0 until 1, 1), path, Map.empty))
      words.foreach(w => assert(e.getMessage.contains(w), e.getMessage))
      assert(Fixtures.filesBelow(path) === before)
    }
    refused("v9-cow-part", "copy-on-write", "hoodie.index.class=hudiidx.hudi.RecordIndex")
    refused("v8-mor-part", "versions 6 and 9")
    refusedBuckets("v6-mor-bucket")
    refusedBuckets("v9-mor-bucket")
    def wrong(options: (String, String)*): String =
      intercept[InvalidOption](save(rows(0 until 1, 1), newPath(), made(9) ++ options)).getMessage
    assert(wrong("hoodie.datasource.write.operation" -> "merge").contains("unsupported value 'merge'"))
    assert(wrong("hoodie.datasource.write.table.type" -> "COPY_ON_WRITE").contains("MERGE_ON_READ tables"))
    assert(wrong("hoodie.write.table.version" -> "7").contains("6, 9"))
    assert(wrong("hudiidx.write.globl" -> "true").contains("hudiidx.write.global"))
    assert(wrong("hoodie.datasource.write.recordkey.field" -> "").contains("hoodie.datasource.write.recordkey.field"))
    assert(wrong("hoodie.index.type" -> "BUCKET").contains("hash of the key"))
    assert(wrong("hoodie.datasource.write.recordkey.field" -> "none").contains("none"))
    val path = newPath()
    save(rows(0 until 1, 1), path, made(9))
    val other =
      intercept[InvalidOption](save(rows(0 until 1, 1), path, Map("hoodie.datasource.write.recordkey.field" -> "v")))
    assert(other.getMessage.contains("leave the option out"))
    val withoutKey = rows(0 until 1, 1).withColumn("id", lit(null).cast("string"))
    assert(causes(intercept[Exception](save(withoutKey, path, base))).exists(_.contains("no record key")))
  }

  /** As file ids tell, and as the properties do of tables that Hudi's SQL made. */
  private def refusedBuckets(table: String): Unit = {
    val path = Fixtures.copy(table)
    val file = java.nio.file.Paths.get(path, ".hoodie", "hoodie.properties")
    val plain = Files.readString(file).linesIterator.filterNot(_.startsWith("hoodie.table.metadata")).mkString("\n")
    def refusal(properties: String): String = {
      Files.writeString(file, properties)
      val before = Fixtures.filesBelow(path)
      val e = intercept[UnsupportedTable](save(rows(0 until 1, 1), path, Map.empty))
      assert(Fixtures.filesBelow(path).toSet.diff(before.toSet) === Set.empty)
      e.getMessage
    }
    assert(refusal(plain).contains("bucket index"))
    assert(refusal(plain + "\nhoodie.bucket.index.num.buckets=2\n").contains("hoodie.index.type=BUCKET"))
  }

  test("a table whose properties alone say that writes go by a hash is read, and not written") {
    val marks =
      Seq("hoodie.index.type=BUCKET", "hoodie.bucket.index.num.buckets=2", "hoodie.storage.layout.type=BUCKET")
    (marks :+ "hoodie.storage.layout.type=DEFAULT").foreach { mark =>
      val path = newPath()
      save(rows(0 until 3, 1), path, made(9))
      val file = java.nio.file.Paths.get(path, ".hoodie", "hoodie.properties")
      Files.writeString(file, Files.readString(file) + s"\n$mark\n")
      if (marks.contains(mark)) {
        val e = intercept[UnsupportedTable](save(rows(3 until 4, 1), path, Map.empty))
        assert(e.getMessage.contains("hoodie.index.type=BUCKET"))
      } else save(rows(3 until 4, 1), path, Map.empty)
      assert(read(path).count() === (if (marks.contains(mark)) 3 else 4))
    }
  }

  private def causes(e: Throwable): Vector[String] =
    Iterator.iterate(e)(_.getCause).takeWhile(_ != null).map(t => String.valueOf(t.getMessage)).toVector

  test("another writer at work is a conflict, early") {
    val path = newPath()
    save(rows(0 until 6, 1), path, made(9))
    val other = OpenWrite.begin(Tables.access(new Configuration), path, HeartbeatOptions())
    val e = intercept[WriteConflict](save(rows(0 until 6, 2), path, base))
    assert(e.getMessage.contains(other.instant))
    other.abandon()
    save(rows(0 until 6, 2), path, base)
    assert(values(path).values.forall(_.startsWith("v2-")))
  }
}
