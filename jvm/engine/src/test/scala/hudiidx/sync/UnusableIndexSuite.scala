package hudiidx.sync

import hudiidx.storage.LocalStorage
import hudiidx.sync.build.Indexer
import hudiidx.{DamagedIndex, Fixtures, IndexNotFound, StaleIndex, UnsupportedTable}
import java.nio.file.{Files, Paths}
import org.scalatest.funsuite.AnyFunSuite

/** Indexes that are absent, damaged or of another table: readers list and say why, strict ones raise. */
class UnusableIndexSuite extends AnyFunSuite {
  import IndexerSuite._

  test(
    "without an index, with a damaged one and with one of another table a reader lists, says why, and strict raises"
  ) {
    withTable(9) { table =>
      val access = accessOf(LocalStorage)
      table.write(Seq(FakeWrite("a", -1, isLog = false, 10), FakeWrite("b", -1, isLog = false, 11)), complete = true)
      expectFallback(access, table, FallbackCode.NoIndex)
      intercept[IndexNotFound](TableSnapshot.open(access, table.path, IndexOptions(strict = true)))
      intercept[IndexNotFound](new Indexer(access, table.path, IndexOptions()).update())
      new Indexer(access, table.path, IndexOptions()).create()
      val properties = table.dir.resolve(".hoodie/hoodie.properties")
      val text = Files.readString(properties)
      Files.writeString(properties, text.replace("table.name=fake", "table.name=other"))
      expectFallback(access, table, FallbackCode.ForeignIndex)
      intercept[StaleIndex](TableSnapshot.open(access, table.path, IndexOptions(strict = true)))
      Files.writeString(properties, text)
      val version = table.dir.resolve(".hoodie/hudiidx/versions").toFile.listFiles().head.toPath
      val whole = Files.readAllBytes(version)
      Files.write(version, whole.take(whole.length / 2))
      expectFallback(access, table, FallbackCode.DamagedIndex)
      intercept[DamagedIndex](TableSnapshot.open(access, table.path, IndexOptions(strict = true)))
      assert(new Indexer(access, table.path, IndexOptions()).update().rebuilt)
      assert(TableSnapshot.open(access, table.path, IndexOptions(strict = true)).use.fallback === None)
    }
  }

  test("a table made anew under an index that is elsewhere is noticed before anybody has written to it") {
    withTable(9) { table =>
      val access = accessOf(LocalStorage)
      table.write(Seq(FakeWrite("a", -1, isLog = false, 10)), complete = true)
      val kept = IndexOptions(indexPath = Some(Fixtures.newFolder("hudiidx-outside").toString))
      new Indexer(access, table.path, kept).create()
      withTable(9) { empty =>
        val snapshot = TableSnapshot.open(access, empty.path, kept)
        assert(snapshot.view.partitions.isEmpty && snapshot.use.fallback.map(_.code) === Some(FallbackCode.TimelineGap))
        intercept[StaleIndex](TableSnapshot.open(access, empty.path, kept.copy(strict = true)))
        assert(new Indexer(access, empty.path, kept).update().rebuilt)
        assert(TableSnapshot.open(access, empty.path, kept.copy(strict = true)).view.partitions.isEmpty)
      }
    }
  }

  test("a table that becomes one of version 10 is refused, keeps its index, and has it again as version 9") {
    withTable(9) { table =>
      val access = accessOf(LocalStorage)
      table.write(Seq(FakeWrite("a", -1, isLog = false, 10)), complete = true)
      new Indexer(access, table.path, IndexOptions()).create()
      val properties = table.dir.resolve(".hoodie/hoodie.properties")
      val index = table.dir.resolve(".hoodie/hudiidx").toString
      def files = Fixtures.filesBelow(index).sorted.map(f => f -> Files.readAllBytes(Paths.get(index, f)).toVector)
      val (text, before) = (Files.readString(properties), files)
      Files.writeString(properties, text.replace("table.version=9", "table.version=10"))
      def indexer = new Indexer(access, table.path, IndexOptions())
      Seq[() => Any](
        () => indexer.update(),
        () => indexer.create(),
        () => TableSnapshot.open(access, table.path, IndexOptions())
      ).foreach { call =>
        assert(intercept[UnsupportedTable](call()).getMessage.contains("version is 10"))
        assert(files === before)
      }
      Files.writeString(properties, text)
      val snapshot = TableSnapshot.open(access, table.path, IndexOptions(strict = true))
      assert(snapshot.use.fallback === None && snapshot.view.partitions === Vector("a"))
      snapshot.close()
    }
  }

  test("a table made anew under an index is noticed") {
    withTable(9) { table =>
      val access = accessOf(LocalStorage)
      table.write(Seq(FakeWrite("a", -1, isLog = false, 10)), complete = true)
      val kept = IndexOptions(indexPath = Some(Fixtures.newFolder("hudiidx-outside").toString))
      new Indexer(access, table.path, kept).create()
      withTable(9) { other =>
        (0 until 3).foreach(_ => other.tick())
        other.write(Seq(FakeWrite("z", -1, isLog = false, 10)), complete = true)
        val snapshot = TableSnapshot.open(access, other.path, kept)
        assert(snapshot.use.fallback.map(_.code) === Some(FallbackCode.TimelineGap))
        assert(snapshot.view.partitions === Vector("z"))
      }
    }
  }

  test("a flipped byte or a cut in any file of the index costs the index, never the answer") {
    withTable(9) { table =>
      (0 until 3).foreach(i =>
        table.write(Seq(FakeWrite(s"p$i", -1, isLog = false, 10), FakeWrite("p0", 0, isLog = true, 5)), complete = true)
      )
      val access = accessOf(LocalStorage)
      new Indexer(access, table.path, IndexOptions()).create()
      table.write(Seq(FakeWrite("p1", -1, isLog = false, 10)), complete = true)
      new Indexer(access, table.path, IndexOptions()).update()
      val random = new scala.util.Random(7)
      indexFiles(table).foreach { name =>
        val file = table.dir.resolve(".hoodie/hudiidx").resolve(name)
        val whole = Files.readAllBytes(file)
        (0 until 40).foreach { i =>
          val at = if (i == 0) 0 else random.nextInt(whole.length)
          val bad =
            if (i % 4 == 3) whole.take(at)
            else { val b = whole.clone(); b(at) = (b(at) ^ (1 << random.nextInt(8))).toByte; b }
          Files.write(file, bad)
          checkAgainstListing(accessOf(LocalStorage), table, IndexOptions())
        }
        Files.write(file, whole)
      }
      checkAgainstListing(access, table, IndexOptions(strict = true))
    }
  }

  private def expectFallback(access: TableAccess, table: FakeTable, code: String): Unit = {
    val snapshot = TableSnapshot.open(access, table.path, IndexOptions())
    try {
      assert(snapshot.use.fallback.map(_.code) === Some(code))
      checkAgainstListing(access, table, IndexOptions())
    } finally snapshot.close()
  }
}
