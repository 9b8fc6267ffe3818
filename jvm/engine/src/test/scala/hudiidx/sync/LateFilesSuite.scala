package hudiidx.sync

import hudiidx.sync.build.Indexer
import org.scalatest.funsuite.AnyFunSuite

/** Files that come, or go, behind what the timeline says of their group: an index that sees some of the steps at once, and others one by one,
  * has the files of a listing after each.
  */
class LateFilesSuite extends AnyFunSuite {
  import IndexerSuite._

  private type Step = FakeTable => Unit

  private val first: Step = table =>
    table.write(
      Seq(FakeWrite("a", -1, isLog = false, 10), FakeWrite("b", -1, isLog = false, 10)),
      complete = true
    ): Unit

  private def begun(isLog: Boolean): Step = _.write(Seq(FakeWrite("a", 0, isLog, 200)), complete = false): Unit

  /** Of the one group of a partition. */
  private val replaced: Step = _.replace("a", 0)

  private val orders: Vector[(String, Vector[Step])] = Vector(
    "a base file that comes to a group after its replacement" ->
      Vector(begun(isLog = false), replaced, _.cleanReplaced(), _.completePending()),
    "a base file that comes before its replaced group is cleaned" ->
      Vector(begun(isLog = false), replaced, _.completePending(), _.cleanReplaced()),
    "a log file that comes to a group after its replacement" ->
      Vector(begun(isLog = true), replaced, _.cleanReplaced(), _.completePending()),
    "a log file that is rolled back after its group was replaced" ->
      Vector(begun(isLog = true), replaced, _.rollback(ofPending = true), _.cleanReplaced())
  )

  for (version <- Seq(6, 9); (what, steps) <- orders)
    test(s"version $version: $what is replaced with it") {
      check(version, first +: steps)
    }

  // On version 6 each run of a restore adds to the logs, and names them.
  for ((version, isLog) <- Seq(6 -> false, 9 -> false, 9 -> true)) {
    val written = if (isLog) "log" else "base"
    test(
      s"version $version: a restore that says nothing of the $written files which a run before removed takes them from an index"
    ) {
      val more: Step =
        table => table.write(Seq(FakeWrite("a", 0, isLog, 200), FakeWrite("b", 0, isLog, 200)), complete = true): Unit
      check(version, Vector(first, more, _.restore(1, removedBefore = Set("a")), more))
    }
  }

  private def added(table: FakeTable): Unit =
    table.write(Seq(FakeWrite("a", -1, isLog = false, 30)), complete = true): Unit

  /** A commit whose request comes when later ones are complete, and have been seen. */
  private def late(time: Array[String]): Step = table =>
    table.writeAt(time(0), Seq(FakeWrite("a", -1, isLog = false, 50)), complete = true): Unit

  for (version <- Seq(6, 9); left <- Seq(1, 2, 4))
    test(
      s"version $version: a commit of an early time that is archived before an index has seen it is taken in, $left stay"
    ) {
      val time = new Array[String](1)
      def begun: Step = table => {
        first(table)
        time(0) = table.tick()
        added(table)
        added(table)
      }
      check(version, Vector(begun, late(time), added, added, _.archive(left), added))
    }

  for (version <- Seq(6, 9); more <- Seq(0, 1))
    test(
      s"version $version: commits that are archived past a savepoint are taken in, with $more others that were seen"
    ) {
      def saved: Step = table => {
        val instant = table.write(Seq(FakeWrite("a", -1, isLog = false, 10)), complete = true)
        table.savepoint(instant)
        (0 until more).foreach(_ => added(table))
      }
      check(version, Vector(saved, added, added, added, _.archive(1), added))
    }

  private def more(pick: Int): Step = table =>
    table.write(Seq(FakeWrite("a", pick, isLog = false, 40)), complete = true): Unit

  for (version <- Seq(6, 9); replaces <- Seq(false, true))
    test(
      s"version $version: files that were cleaned do not come back with commits that were archived past a savepoint" +
        (if (replaces) ", replaced ones neither" else "")
    ) {
      def saved: Step = table => {
        table.savepoint(table.write(Seq(FakeWrite("b", -1, isLog = false, 10)), complete = true))
        added(table)
      }
      def changed: Step = if (replaces) _.replace("a", 0) else more(0)
      def cleaned: Step = if (replaces) _.cleanReplaced() else _.clean()
      check(version, Vector(saved, changed, cleaned, added, _.archive(1), added, _.archive(1), added))
    }

  for (version <- Seq(6, 9); isLog <- Seq(false, true); isDeleted <- Seq(false, true))
    test(
      s"version $version: what a ${if (isLog) "log" else "base"} file adds to a replaced group that a savepoint keeps counts once the " +
        s"replacement is archived" + (if (isDeleted) ", the savepoint deleted" else "")
    ) {
      val saved = new Array[String](1)
      def begun: Step = table => {
        saved(0) = table.write(Seq(FakeWrite("a", -1, isLog = false, 10)), complete = true)
        table.savepoint(saved(0))
      }
      def revived: Step =
        table => table.write(Seq(FakeWrite("a", 0, isLog, 200), FakeWrite("a", 1, isLog, 210)), complete = true): Unit
      def unsaved: Step = table => {
        table.deleteSavepoint(saved(0))
        table.archive(1)
      }
      val ended: Vector[Step] = if (isDeleted) Vector(unsaved) else Vector.empty
      val before = Vector[Step](begun, replaced, added, _.archive(1))
      check(version, before ++ ended ++ Vector[Step](revived, added, _.archive(1), added))
    }

  /** Whichever of the steps an update comes after. */
  private def check(version: Int, steps: Vector[Step]): Unit =
    for (updates <- 0 until (1 << (steps.size - 1))) withTable(version) { table =>
      val access = FakeArchive.access(table.archived.toVector)
      steps.head(table)
      new Indexer(access, table.path, IndexOptions()).create()
      steps.tail.zipWithIndex.foreach { case (step, i) =>
        step(table)
        checkAgainstListing(access, table, IndexOptions())
        if ((updates & (1 << i)) != 0) {
          new Indexer(access, table.path, IndexOptions()).update()
          checkAgainstListing(access, table, IndexOptions(strict = true))
        }
      }
    }
}
