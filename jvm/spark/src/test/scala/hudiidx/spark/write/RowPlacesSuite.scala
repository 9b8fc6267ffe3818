package hudiidx.spark.write

import hudiidx.timeline.WriteStat
import org.scalatest.funsuite.AnyFunSuite

final class RowPlacesSuite extends AnyFunSuite {
  private def stat(name: String, bytes: Long, rows: Long) =
    WriteStat("f", "p", Some(s"p/$name"), None, None, bytes, rows, rows, 0, 0)

  test(
    "the newest commit of files that are large enough tells the size of a record; sizes that no file has do not count"
  ) {
    val large = stat("a.parquet", 2000, 10)
    val small = stat("b.parquet", 10, 1)
    val forged = stat("c.parquet", 1L << 46, 1)
    val log = stat(".a.log.1", 500, 5)
    def found(inLogs: Boolean, commits: Vector[WriteStat]*) = RowPlaces.recordBytes(commits.iterator, inLogs, 100)
    assert(found(inLogs = false, Vector(small), Vector(large, log, forged)) === Some(200))
    assert(found(inLogs = true, Vector(large, log)) === Some(100))
    assert(found(inLogs = false, Vector(forged), Vector(stat("d.parquet", -5, 1))) === None)
  }
}
