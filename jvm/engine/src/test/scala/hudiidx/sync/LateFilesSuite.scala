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

  /** Whichever of the steps an update comes behind. */
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
