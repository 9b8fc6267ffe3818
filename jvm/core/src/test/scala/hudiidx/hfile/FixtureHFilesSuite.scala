package hudiidx.hfile

import hudiidx.storage.LocalStorage
import hudiidx.{DamagedTable, Fixtures}
import org.scalatest.funsuite.AnyFunSuite

final class FixtureHFilesSuite extends AnyFunSuite {
  test("every base HFile of the fixtures' metadata tables is read in full, and each of its keys is found") {
    val versions = scala.collection.mutable.Map.empty[String, Int].withDefaultValue(0)
    for (table <- Fixtures.good; file <- Fixtures.filesBelow(Fixtures.table(table)) if file.endsWith(".hfile")) {
      val disk = LocalStorage.open(s"${Fixtures.table(table)}/$file")
      try {
        val reader = HFileReader.open(disk, new BlockCache, new DamagedTable(_))
        val keys = HFiles.drain(reader.scan()).map(_._1.toArray)
        assert(keys.length === reader.entryCount, file)
        assert(reader.getAll(keys.toArray).forall(_ != null), file)
        assert(reader.fileInfo.contains("schema"), file)
        versions(table.take(2)) += 1
      } finally disk.close()
    }
    assert(Seq("v6", "v8", "v9").forall(versions(_) > 10), versions)
  }
}
