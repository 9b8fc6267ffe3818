package hudiidx.engine.logindex

import hudiidx.Fixtures
import hudiidx.engine.column.SlottedEngine
import hudiidx.engine.record.RecordFaultSuite.{copy, current, quick}
import hudiidx.engine.{Tables, TimelineCut}
import hudiidx.hfile.BlockCache
import hudiidx.log.{CountedBlock, LogBlockKind, LogFile}
import hudiidx.logindex._
import hudiidx.storage._
import hudiidx.store.IndexStore
import hudiidx.sync._
import hudiidx.sync.build.Indexer
import hudiidx.table.FileGroup
import org.scalatest.funsuite.AnyFunSuite

/** The index of log blocks as a part of an index: made, followed, merged, and killed at any step. */
final class LogPartSuite extends AnyFunSuite {
  import LogPartSuite._

  private def indexer(storage: Storage, table: String): Indexer = {
    val access = Tables.access(storage, new BlockCache(1 << 20))
    val part = new LogPart(new SlottedEngine(access, 2), Some(true), shareBytes = 1L)
    new Indexer(access, table, quick, LocalScanner, Vector(part))
  }

  for (name <- Seq("v6-mor-part", "v6-mor-rollback", "v8-mor-part", "v9-mor-part", "v9-mor-log-compaction"))
    test(s"$name: updates keep a tail of every block of the latest slices, and let go of the others") {
      val table = Fixtures.copy(name)
      val cut = new TimelineCut(table)
      val from = cut.size / 3
      cut.showFirst(from)
      indexer(LocalStorage, table).create()
      val counts = (from to cut.size).map { n =>
        cut.showFirst(n)
        indexer(LocalStorage, table).update()
        withClue(s"$n of ${cut.size}: ")(assertIndexed(table))
      }
      assert(counts.max > 0)
      // What a merge of all would keep is what a new one has.
      indexer(LocalStorage, table).create()
      assert(assertIndexed(table) === counts.last)
      val store = new IndexStore(LocalStorage, IndexStore.defaultDir(table))
      val version = current(table).get
      store.expire(version.number, quick.retention, System.currentTimeMillis() + 1)
      val named = version.files.map(_.name).toSet + f"versions/${version.number}%020d.json"
      assert(Fixtures.filesBelow(store.dir).toSet === named)
    }

  test("files of which nothing is alive are left out") {
    val table = Fixtures.copy("v9-mor-part")
    indexer(LocalStorage, table).create()
    val version = current(table).get
    val access = Tables.access(LocalStorage, new BlockCache(1 << 20))
    val store = new IndexStore(LocalStorage, IndexStore.defaultDir(table))
    val files = version.files.filter(_.kind == LogIndex.Kind)
    assert(files.size === 1)
    val reader = store.openWhole(files.head)
    try {
      val file = LogIndexFile.open(reader, access.cache)
      val names = file.groups().flatMap(_._2.places.map(_.file)).toSet
      assert(names.size > 1)
      val (all, same) = LogIndexMerge.liveBytes(file, _ => names)
      assert(all === same && all > 0)
      assert(LogIndexMerge.liveBytes(file, _ => Set.empty)._1 === 0)
      val (some, _) = LogIndexMerge.liveBytes(file, _ => names.take(1))
      assert(some > 0 && some < all)
    } finally reader.close()
  }

  for ((job, n) <- Seq("create", "update").zipWithIndex)
    test(s"killed before, in or behind any write step of $job: the index is whole, and the next run ends well") {
      val ready = Fixtures.copy("v9-mor-part")
      if (job == "update") {
        val cut = new TimelineCut(ready)
        cut.showFirst(cut.size - 2)
        indexer(LocalStorage, ready).create()
        cut.showAll()
      }
      def run(storage: Storage, path: String): Unit =
        (if (job == "create") indexer(storage, path).create() else indexer(storage, path).update()): Unit
      val counting = new FaultyStorage(LocalStorage, Int.MaxValue, Fault.Before)
      run(counting, copy(ready))
      (1 to counting.mutatingCalls).foreach { step =>
        val path = copy(ready)
        val faulty = new FaultyStorage(LocalStorage, step, Fault.All((step + n) % Fault.All.size))
        try run(faulty, path)
        catch { case e: hudiidx.IndexNotWritable => assert(e.getCause.isInstanceOf[InjectedFault]) }
        assert(faulty.hasFailed)
        if (current(path).isEmpty) indexer(LocalStorage, path).create() else indexer(LocalStorage, path).update()
        assert(assertIndexed(path) > 0)
      }
    }
}

object LogPartSuite extends org.scalatest.Assertions {

  private def holdsKeys(kind: LogBlockKind): Boolean = kind match {
    case LogBlockKind.AvroData | LogBlockKind.HFileData | LogBlockKind.ParquetData | LogBlockKind.Delete => true
    case _                                                                                               => false
  }

  private def blocksOf(path: String): Vector[BlockPlace] = {
    val reader = LocalStorage.open(path)
    try LogFile.blocks(reader).filter(b => holdsKeys(b.kind)).map(b => BlockPlace.of(CountedBlock(path, b))).toVector
    finally reader.close()
  }

  /** Every block of the latest slices has a tail that can be read, and few files hold them. The number of blocks. */
  def assertIndexed(table: String): Int = {
    val version = current(table).get
    assert(LogIndex.isIn(version))
    assert(version.files.count(_.kind == LogIndex.Kind) <= 9)
    val access = Tables.access(LocalStorage, new BlockCache(1 << 20))
    val snapshot = TableSnapshot.open(access, table, IndexOptions(strict = true))
    val index = LogIndex.open(new IndexStore(LocalStorage, IndexStore.defaultDir(table)), version, access.cache)
    try
      snapshot.view.partitions
        .flatMap(snapshot.view.latestMergedFileSlices(_))
        .map { slice =>
          val kept = index.kept(FileGroup(slice.partitionPath, slice.fileId))
          slice.logFiles
            .filterNot(_.fileName.endsWith(".cdc"))
            .map { f =>
              val path = Storage.join(Storage.join(table, slice.partitionPath), f.fileName)
              val blocks = blocksOf(path)
              // Hudi 0.15 appends to files that stay when a write has failed: what is not committed need not be known.
              val committed = blocks.filter(b => snapshot.viewTimeline.isCommitted(b.instant))
              assert(committed.filterNot(kept.places) === Vector.empty, path)
              assert(blocks.nonEmpty || kept.places.forall(_.file != f.fileName))
              blocks.size
            }
            .sum
        }
        .sum
    finally {
      index.close()
      snapshot.close()
    }
  }
}
