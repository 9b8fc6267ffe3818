package hudiidx.table

import hudiidx.Fixtures
import hudiidx.log.{LogBlock, LogFile => LogBlocks, SliceLog}
import hudiidx.storage.{CountingStorage, LocalStorage}
import hudiidx.timeline.WriteStat
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class LogReachSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val stats: Gen[Vector[WriteStat]] = Gen
    .listOf(for (start <- Gen.choose(0L, 40L); size <- Gen.choose(0L, 60L)) yield stat(start, size))
    .map(_.toVector)

  private def stat(start: Long, size: Long): WriteStat =
    WriteStat("f", "p", Some("p/.f_1.log.1_0-0-0"), None, None, size, 0L, 0L, 0L, 0L, logOffset = start)

  test("an offset is covered up to the greatest size behind a write that covers it, as each write by itself tells") {
    forAll(stats, Gen.choose(0L, 70L)) { (all: Vector[WriteStat], offset: Long) =>
      val covering = all.filter(w => w.logOffset <= offset && offset < w.fileSizeBytes)
      val wanted = if (covering.isEmpty) None else Some(covering.map(_.fileSizeBytes).max)
      assert(new LogReach(all).endOver(offset) === wanted)
      assert(new LogReach(all).isEmpty === all.isEmpty)
    }
  }
  test("commits are read once for all files in doubt, and again once there is another commit") {
    for (name <- Seq("v6-no-mdt-mor", "v9-no-mdt-mor")) {
      val table = Fixtures.copy(name)
      val storage = new CountingStorage(LocalStorage)
      val check = new LogCheck(TableConfig.read(storage, table), asStock = true)
      val logs = storage.filesBelow(table).map(_.path).filter(f => f.contains(".log.") && !f.contains("/.hoodie/"))
      val blocks = logs.map(f => f -> LogBlocks.blocks(SliceLog.open(storage, f)).next())
      def readsOf(doubted: (String, LogBlock)): Long = {
        storage.reset()
        check.judgeOf(storage, doubted._1).uncommitted(doubted._2)
        storage.counts.open + storage.counts.readAll
      }
      val first = readsOf(blocks.head)
      assert(first > 0 && blocks.tail.nonEmpty && blocks.tail.map(readsOf).toSet === Set(0L))
      val commits =
        LocalStorage.list(TableConfig.read(storage, table).timelineDir(table)).filter(_.name.contains("deltacommit"))
      LocalStorage.delete(commits.filter(f => f.name.endsWith("commit")).last.path)
      assert(blocks.map(readsOf) === (first - 1) +: blocks.tail.map(_ => 0L))
    }
  }
}
