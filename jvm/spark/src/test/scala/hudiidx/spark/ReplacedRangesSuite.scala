package hudiidx.spark

import hudiidx.{Fixtures, TableFormats}
import hudiidx.hfile.BlockCache
import hudiidx.engine.Tables
import hudiidx.storage.LocalStorage
import hudiidx.sync.TableContext

/** Ranges of a table whose file groups gave their place to others. */
final class ReplacedRangesSuite extends SparkSuite {

  private def times(path: String): Vector[String] = {
    val timeline = TableContext.load(Tables.access(LocalStorage, new BlockCache(0)), path).timeline
    timeline.completedWrites.map(i => i.completionTime.getOrElse(i.requestedTime))
  }

  private def ids(path: String, begin: String, end: String): Set[String] = {
    val range = Seq(
      "hoodie.datasource.query.type" -> "incremental",
      "hoodie.datasource.read.begin.instanttime" -> begin,
      "hoodie.datasource.read.end.instanttime" -> end
    )
    read(path, range: _*).select("id").collect().map(_.getString(0)).toSet
  }

  for (version <- TableFormats.written)
    test(s"version $version: a range has what its commits wrote and what its end had not replaced yet") {
      val path = Fixtures.newFolder("replaced").resolve("t").toString
      Seq(0, 2).foreach(n => writeKeys(path, version, n until n + 4))
      writeKeys(path, version, 20 until 24, "overwrite")
      writeKeys(path, version, 22 until 26)
      val Vector(first, second, replaced, last) = times(path)
      def keys(of: Range*): Set[String] = of.flatten.map(i => s"k$i").toSet
      assert(ids(path, "000", first) === keys(0 until 4))
      assert(ids(path, "000", second) === keys(0 until 6))
      assert(ids(path, first, second) === keys(2 until 6))
      assert(ids(path, first, replaced) === keys(20 until 24))
      assert(ids(path, second, last) === keys(20 until 26))
    }
}
