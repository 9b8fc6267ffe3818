package hudiidx.hive

import java.nio.file.{Files, Paths}

import hudiidx.storage.LocalStorage
import hudiidx.sync.{IndexOptions, Indexer}
import hudiidx.hadoop.Tables
import hudiidx.{Fixtures, HudiIdxException}
import org.apache.hadoop.conf.Configuration
import org.scalatest.funsuite.AnyFunSuite

/** One input format and one job over tables that follow one another under a path. */
final class HiveLongLivedSuite extends AnyFunSuite {

  test("a reader that has read another table under the path reads the one that is there; splits of the other say so") {
    val place = Paths.get(Fixtures.newFolder("place").toString, "t").toString
    val format = new HudiIdxInputFormat
    val job = HiveTables.job(Seq(place))
    var before = Vector.empty[HudiIdxSplit]
    for (name <- Vector("v6-mor-part", "v9-mor-part", "v6-cow-part", "v8-cow-part"); isIndexed <- Seq(false, true)) {
      LocalStorage.delete(place)
      Files.move(Paths.get(Fixtures.copy(name)), Paths.get(place))
      if (isIndexed) new Indexer(Tables.access(new Configuration()), place, IndexOptions()).create()
      val stock = Fixtures.json(name).get("snapshot").get("count").asInt
      assert(HiveTables.rows(job, format = format).length === stock, name)
      before.foreach(s => intercept[HudiIdxException](HiveTables.rowsOf(s, job, format)))
      before =
        if (isIndexed) HiveTables.splits(job, format = format).map(_.asInstanceOf[HudiIdxSplit]) else Vector.empty
    }
  }
}
