package hudiidx.spark.write

import java.nio.file.{Files, Path}

import scala.collection.JavaConverters._

import hudiidx.{Fixtures, InvalidOption}
import hudiidx.spark.SparkSuite

/** Values of partition columns become folders. */
final class PartitionNamesSuite extends SparkSuite {
  private val options = Map(
    "hoodie.table.name" -> "t",
    "hoodie.datasource.write.recordkey.field" -> "id",
    "hoodie.datasource.write.partitionpath.field" -> "p",
    "hoodie.datasource.write.precombine.field" -> "ts"
  )
  private val hostile =
    Seq("../other/evil", "..", "a//b", "a/", "x/./y", ".", "/abs", "s3a://b/x", ".hoodie/timeline", "a/../../other")

  private def save(path: Path, more: (String, String)*)(rows: (String, String, Long)*): Unit = {
    import spark.implicits._
    rows.toDF("id", "p", "ts").write.format("hudiidx").options(options ++ more).mode("append").save(path.toString)
  }

  private def below(folder: Path): Set[String] = {
    val walk = Files.walk(folder)
    try walk.iterator.asScala.map(f => folder.relativize(f).toString).toSet
    finally walk.close()
  }

  for (version <- Seq("6", "9"))
    test(s"version $version: rows whose partition would be elsewhere are refused, and nothing is made anywhere") {
      val folder = Fixtures.newFolder("partitions")
      val table = folder.resolve("t")
      save(table, "hoodie.write.table.version" -> version)(("a", "p", 1))
      hostile.foreach { value =>
        val before = below(folder)
        val said = intercept[InvalidOption](save(table)(("b", "q", 1), ("c", value, 1))).getMessage
        assert(said.contains(s"p = '$value'"))
        assert(below(folder) === before)
      }
      save(table)(("b", "q/r", 1))
      assert(read(table.toString).count() === 2)
    }

  test("with url encoding such values are names of folders, as stock Hudi writes them") {
    val table = Fixtures.newFolder("partitions").resolve("t")
    save(table, "hoodie.datasource.write.partitionpath.urlencode" -> "true")(("a", "../b:c", 1), ("b", "/x", 1))
    assert(Files.isDirectory(table.resolve("..%2Fb%3Ac")) && Files.isDirectory(table.resolve("%2Fx")))
    assert(read(table.toString).select("p").collect().map(_.getString(0)).toSet === Set("../b:c", "/x"))
  }
}
