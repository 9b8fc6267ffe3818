package hudiidx.sync

import hudiidx.TestSettings.{isLong, seed}
import hudiidx.storage.{Fault, FaultyStorage, LocalStorage}
import hudiidx.store.Retention
import hudiidx.sync.build.Indexer
import hudiidx.{Figures, IndexNotFound}
import org.scalatest.funsuite.AnyFunSuite

/** Processes that die by SIGKILL in the middle of a write. */
class KillSuite extends AnyFunSuite {
  import IndexerSuite._

  private val strict = IndexOptions(strict = true)
  private val quick = IndexOptions(retention = Retention(1, 0, 0))

  test("a create killed while it writes the master manifest leaves no index, and the next create finishes") {
    withTable(9) { table =>
      table.write(Seq(FakeWrite("a", -1, isLog = false, 10)), complete = true)
      kill(table, "create", ".master_manifest", "within")
      assert(temporaryFiles(table) > 0)
      intercept[IndexNotFound](TableSnapshot.open(accessOf(LocalStorage), table.path, strict))
      checkAgainstListing(accessOf(LocalStorage), table, IndexOptions())
      new Indexer(accessOf(LocalStorage), table.path, IndexOptions()).create()
      finish(table)
    }
  }

  test("an update killed while it writes its delta leaves the version before, and the next update finishes") {
    withTable(9) { table =>
      behind(table)
      kill(table, "update", ".delta_manifest", "within")
      answersAsVersion(table, 1)
      finish(table)
    }
  }

  test("an update with merge killed while it publishes leaves the version before, and the next update finishes") {
    withTable(9) { table =>
      behind(table)
      kill(table, "merge", f"versions/${2}%020d.json", "within")
      answersAsVersion(table, 1)
      finish(table)
    }
  }

  test("an update killed right behind its publishing has published") {
    withTable(9) { table =>
      behind(table)
      kill(table, "update", f"versions/${2}%020d.json", "behind")
      answersAsVersion(table, 2)
      assert(IndexInfo.of(accessOf(LocalStorage), table.path, strict).state === IndexInfo.Ready)
      finish(table)
    }
  }

  for (work <- Seq("create", "update", "merge"); fault <- Fault.All)
    test(
      s"$work killed ${fault.toString.toLowerCase} any write step: the version before or the new one, the next run ends well"
    ) {
      val counting = new FaultyStorage(LocalStorage, Int.MaxValue, fault)
      withTable(9) { table =>
        before(table, work)
        KilledWriter.work(counting, table.path, work)
      }
      val steps = counting.mutatingCalls
      val chosen = if (isLong) 1 to steps else Seq(1 + Math.floorMod(seed, steps.toLong).toInt)
      chosen.foreach { step =>
        withTable(9) { table =>
          before(table, work)
          KilledWriter.kill("hudiidx.sync.KilledWriter", Seq(table.path, work, step.toString, fault.toString))
          Figures.add("processes killed at a write step", 1)
          checkAgainstListing(accessOf(LocalStorage), table, IndexOptions())
          try new Indexer(accessOf(LocalStorage), table.path, IndexOptions()).update(): Unit
          catch { case _: IndexNotFound => new Indexer(accessOf(LocalStorage), table.path, IndexOptions()).create() }
          finish(table)
        }
      }
    }

  private def before(table: FakeTable, work: String): Unit =
    if (work == "create") table.write(Seq(FakeWrite("a", -1, isLog = false, 10)), complete = true): Unit
    else behind(table)

  private def behind(table: FakeTable): Unit = {
    table.write(Seq(FakeWrite("a", -1, isLog = false, 10)), complete = true)
    new Indexer(accessOf(LocalStorage), table.path, IndexOptions()).create()
    table.write(Seq(FakeWrite("b", -1, isLog = false, 10)), complete = true): Unit
  }

  private def answersAsVersion(table: FakeTable, number: Long): Unit = {
    val snapshot = TableSnapshot.open(accessOf(LocalStorage), table.path, strict)
    try assert(snapshot.use.version.map(_.number) === Some(number))
    finally snapshot.close()
    checkAgainstListing(accessOf(LocalStorage), table, strict)
  }

  /** The next run ends in step, and one that cleans leaves nothing of the killed process. */
  private def finish(table: FakeTable): Unit = {
    table.write(Seq(FakeWrite("c", -1, isLog = false, 10)), complete = true)
    val version = new Indexer(accessOf(LocalStorage), table.path, quick).update().version
    assert(IndexInfo.of(accessOf(LocalStorage), table.path, strict).state === IndexInfo.Ready)
    checkAgainstListing(accessOf(LocalStorage), table, strict)
    assert(indexFiles(table) === version.files.map(_.name).toSet + f"versions/${version.number}%020d.json")
  }

  private def temporaryFiles(table: FakeTable): Int = indexFiles(table).count(_.endsWith(".tmp"))

  private def kill(table: FakeTable, work: String, file: String, where: String): Unit =
    KilledWriter.kill("hudiidx.sync.KilledWriter", Seq(table.path, work, file, where))
}
