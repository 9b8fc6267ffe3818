package hudiidx.sync

import hudiidx.storage.{CountingStorage, LocalStorage, StorageCounts}
import hudiidx.sync.build.Indexer
import hudiidx.timeline.InstantTime
import java.nio.file.Files
import java.nio.file.attribute.FileTime
import java.time.ZoneId
import org.scalatest.funsuite.AnyFunSuite

/** What an update reads, writes and removes, and how far behind it says that the index was. */
class IndexUpdateSuite extends AnyFunSuite {
  import IndexerSuite._

  test("an update writes a delta and a version, nothing else, and lists no partition") {
    withTable(9) { table =>
      (0 until 20).foreach(i => table.write(Seq(FakeWrite(s"p$i", -1, isLog = false, 10)), complete = true))
      val counting = new CountingStorage(LocalStorage)
      val access = accessOf(counting)
      new Indexer(access, table.path, IndexOptions()).create()
      val before = indexFiles(table)
      table.write(Seq(FakeWrite("p3", -1, isLog = false, 10)), complete = true)
      val listsBefore = counting.counts.list
      val result = new Indexer(access, table.path, IndexOptions()).update()
      assert(!result.merged && !result.rebuilt && result.instants.size === 1)
      val added = indexFiles(table) -- before
      assert(added.size === 2)
      assert(added.exists(_.endsWith(".delta_manifest")) && added.exists(_.endsWith(".json")))
      // timeline, versions (current, and again to expire), index folder: the same for any number of partitions
      assert(counting.counts.list - listsBefore <= 4)
    }
  }

  test("an update with nothing to do lists timeline and versions, and reads properties and version: no more") {
    withTable(9) { table =>
      (0 until 20).foreach(i => table.write(Seq(FakeWrite(s"p$i", -1, isLog = false, 10)), complete = true))
      val counting = new CountingStorage(LocalStorage)
      val access = accessOf(counting)
      new Indexer(access, table.path, IndexOptions()).create()
      counting.reset()
      assert(!new Indexer(access, table.path, IndexOptions()).update().published)
      assert(counting.counts.copy(bytesRead = 0) === StorageCounts(2, 0, 0, 0, 2, 0, 0, 0, 0))
    }
  }

  for (version <- Seq(6, 9))
    test(s"on version $version the lag of an update counts from the first completion among the instants it takes in") {
      withTable(version) { table =>
        val access = accessOf(LocalStorage)
        def indexer = new Indexer(access, table.path, IndexOptions())
        def write(partition: String) = table.write(Seq(FakeWrite(partition, -1, isLog = false, 10)), complete = true)
        write("a")
        assert(indexer.create().lagMillis === None)
        assert(indexer.update().lagMillis === None)
        val first = Seq(write("b"), write("c")).zipWithIndex.map { case (w, i) => completedAt(table, w, i) }.min
        val before = System.currentTimeMillis() - first
        val told = IndexInfo.of(access, table.path, IndexOptions()).lagSeconds
        val lag = indexer.update().lagMillis.get
        val after = System.currentTimeMillis() - first
        assert(before <= lag && lag <= after)
        assert(before / 1000 <= told && told <= after / 1000)
        assert(IndexInfo.of(access, table.path, IndexOptions()).lagSeconds === 0)
      }
    }

  /** When a deltacommit completed: on version 9 its name tells, on version 6 its file, which is given a time here. */
  private def completedAt(table: FakeTable, instant: String, n: Int): Long =
    if (table.version == 6) {
      val millis = System.currentTimeMillis() - (n + 1) * 5000000L
      Files.setLastModifiedTime(table.dir.resolve(s".hoodie/$instant.deltacommit"), FileTime.fromMillis(millis))
      millis
    } else {
      val names = table.dir.resolve(".hoodie/timeline").toFile.list()
      val name = names.find(_.startsWith(s"${instant}_")).get
      InstantTime.toMillis(name.drop(instant.length + 1).takeWhile(_ != '.'), ZoneId.systemDefault()).get
    }

  test("old versions and the files of crashed writers are removed by retention") {
    withTable(9) { table =>
      val access = accessOf(LocalStorage)
      table.write(Seq(FakeWrite("a", -1, isLog = false, 10)), complete = true)
      val quick = IndexOptions(retention = hudiidx.store.Retention(2, 0, 0))
      new Indexer(access, table.path, quick).create()
      Files.writeString(table.dir.resolve(".hoodie/hudiidx/20200101000000000.0123456789.master_manifest"), "x")
      (0 until 4).foreach { i =>
        table.write(Seq(FakeWrite(s"p$i", -1, isLog = false, 10)), complete = true)
        new Indexer(access, table.path, quick).update()
      }
      assert(indexFiles(table).count(_.endsWith(".json")) === 2)
      assert(!indexFiles(table).exists(_.contains(".0123456789.")))
      assert(indexFiles(table).count(_.endsWith(".delta_manifest")) === 2)
      checkAgainstListing(access, table, IndexOptions(strict = true))
    }
  }
}
