package hudiidx.engine

import hudiidx.hfile.BlockCache
import hudiidx.storage.LocalStorage
import hudiidx.sync.TableContext
import hudiidx.timeline.{Action, ActiveTimeline, Instant, InstantState}
import hudiidx.write.WriteGround
import hudiidx.{Fixtures, WriteConflict}
import org.scalatest.funsuite.AnyFunSuite

/** Writes that were read and stand no more on the active timeline: archived ones are there, others were rolled back. */
final class WriteGroundSuite extends AnyFunSuite {
  private def load(name: String): TableContext =
    TableContext.load(Tables.access(LocalStorage, new BlockCache(0)), Fixtures.table(name))

  /** As the table was read when these were still on its timeline. */
  private def before(now: TableContext, more: Vector[Instant]): TableContext = {
    val timeline = new ActiveTimeline(now.timeline.dir, now.timeline.layout, more ++ now.timeline.instants)
    new TableContext(now.access, now.tablePath, now.config, timeline, now.contents, now.history)
  }

  private def completed(time: String): Instant =
    Instant(time, Action.DeltaCommit, InstantState.Completed, Some(time), s"$time.deltacommit")

  for (name <- Seq("v6-archived-cow", "v8-archived-cow", "v9-archived-mor"))
    test(s"$name: writes that were archived since they were read are no loss, one that is nowhere is") {
      val now = load(name)
      val archived = now.history
        .instantsFrom("")
        .filter(i => TableContext.Writes(i.action))
        .map(i => completed(i.requestedTime))
        .toVector
      assert(archived.size > 2)
      assert(WriteGround.lost(before(now, archived), now) === None)
      WriteGround.requireStill(before(now, archived), now, "a test")
      val nowhere = completed((archived.last.requestedTime.toLong + 1).toString)
      val read = before(now, archived :+ nowhere)
      assert(WriteGround.lost(read, now).exists(_.contains(nowhere.requestedTime)))
      assert(
        intercept[WriteConflict](WriteGround.requireStill(read, now, "a test")).getMessage.contains("run it again")
      )
    }

  test("a table under the same path that is another one is no ground") {
    val (one, other) = (load("v9-cow-part"), load("v9-mor-part"))
    assert(WriteGround.lost(one, other).exists(_.contains("made anew")))
    assert(WriteGround.lost(one, one) === None)
  }
}
