package hudiidx.write

import hudiidx.storage._
import hudiidx.sync.{IndexOptions, IndexerSuite, TableContext, TableSnapshot}
import hudiidx.timeline.InstantTime
import hudiidx.{TableFormats, WriteFailed, WriteUnknown}
import java.io.IOException
import org.scalatest.funsuite.AnyFunSuite
import scala.util.Try

/** Disks that are full and stores that do not answer: whoever writes is told what became of it, and so it is. */
class WriteAnswersSuite extends AnyFunSuite {
  import WriteStepsSuite._

  for (version <- TableFormats.written; (how, job) <- jobs)
    test(s"version $version: wherever in $how the disk fills up, an error of ours says what became of it") {
      def filled(): String = {
        val table = newTable(version)
        write(LocalStorage, table, "a", slow)
        table
      }
      val all = new FillingStorage(LocalStorage, Int.MaxValue)
      val whole = filled()
      job(all, whole)
      val (before, after) = (Set("a"), keys(whole))
      var told = Set.empty[String]
      var refused = 0
      (0 until all.writes).foreach { room =>
        val table = filled()
        val full = new FillingStorage(LocalStorage, room)
        val said = Try(job(full, table)).failed.toOption
        told ++= said.map(_.getClass.getSimpleName)
        val now = keys(table)
        said.foreach { e =>
          assert(e.getMessage.contains(table) && e.getMessage.contains("No space left on device"), s"room for $room")
          if (e.isInstanceOf[WriteFailed])
            assert(
              e.getMessage.contains(if (how == "a write") " deltacommit " else " replacecommit "),
              s"room for $room"
            )
        }
        val next = said match {
          case None                  => after
          case Some(e: WriteFailed)  => before.ensuring(now == before && e.getMessage.contains("make room there"), e)
          case Some(_: WriteUnknown) => if (decided(table).isEmpty) now else after
          case Some(e)               => fail(s"room for $room: $e", e)
        }
        val early = if (Try(write(LocalStorage, table, "y", slow)).isSuccess) Set("y") else Set.empty
        said.collect { case e: WriteFailed if early.isEmpty => e }.foreach { e =>
          assert(e.getMessage.contains("the first write after 120 s removes what is left of it"), s"room for $room")
          refused += 1
        }
        Thread.sleep(3)
        write(LocalStorage, table, "z")
        assert(keys(table) === next ++ early + "z", s"room for $room")
        requireNothingOfWrites(table, s"room for $room")
      }
      assert(told === Set("WriteFailed", "WriteUnknown") && refused > 0)
    }

  for (version <- TableFormats.written)
    test(s"version $version: the instant of a write that failed before its request stands in no other's way") {
      val table = newTable(version)
      // A clock that is ahead: until then each next instant is the one behind it.
      val ahead = InstantTime.format(System.currentTimeMillis() + 3600000L, java.time.ZoneOffset.UTC)
      LocalStorage.publish(
        s"${TableContext.load(IndexerSuite.accessOf(LocalStorage), table).timeline.dir}/$ahead.rollback.requested",
        Array.emptyByteArray
      )
      (1 to 2).foreach(_ => intercept[WriteFailed](write(new FillingStorage(LocalStorage, 1), table, "a", slow)))
      write(LocalStorage, table, "b", slow)
      assert(keys(table) === Set("b"))
      intercept[WriteFailed](write(new FillingStorage(LocalStorage, 1), table, "c", slow))
      val slices = (now: TableContext) => {
        val view = TableSnapshot.of(now, IndexOptions(enabled = false)).view
        view.partitions.flatMap(view.latestFileSlices(_))
      }
      val access = IndexerSuite.accessOf(LocalStorage)
      val planned = OpenCompaction.schedule(access, table, slow, Some(LockOptions()))(slices).toVector
      val plan = OpenCompaction.planned(OpenCompaction.settled(access, table, slow))
      assert(plan.map(_.requestedTime) === planned)
      OpenCompaction.begin(TableContext.load(access, table), plan.head, slow).abandon()
    }

  for (version <- TableFormats.written)
    test(s"version $version: a write whose completion has no answer, or is sent twice, is complete") {
      val answers = Vector[Boolean => Boolean](_ => throw new IOException("no answer"), _ => false)
      answers.foreach { answer =>
        val table = newTable(version)
        write(publishing("""\.deltacommit$""", (_, done) => answer(done())), table, "a", slow)
        assert(keys(table) === Set("a"))
        write(LocalStorage, table, "b", slow)
        assert(keys(table) === Set("a", "b"))
      }
    }

  test(
    "a write that fails in a part of it is taken back at once; one that is decided is completed by the next writer"
  ) {
    val table = newTable(9)
    val open = OpenWrite.begin(IndexerSuite.accessOf(LocalStorage), table, slow)
    intercept[IllegalStateException](open.abortOnFailure(throw new IllegalStateException("for one reason or another")))
    write(LocalStorage, table, "a", slow)
    val refused = publishing("""\.deltacommit$""", (_, _) => throw new IOException("refused"))
    intercept[WriteUnknown](write(refused, table, "b", quick))
    Thread.sleep(3)
    assert(keys(table) === Set("a"))
    write(LocalStorage, table, "c")
    assert(keys(table) === Set("a", "b", "c"))
  }

  for (version <- TableFormats.written)
    test(s"version $version: a write that may be visible is not rolled back, though the store tells nothing of it") {
      val table = newTable(version)
      val silent = new PassingStorage(LocalStorage) {
        private def isCompletion(path: String) = path.endsWith(".deltacommit")
        override def readAll(path: String): Array[Byte] =
          if (isCompletion(path)) throw new IOException("no answer") else super.readAll(path)
        override def publish(path: String, content: Array[Byte]): Boolean = {
          val isDone = super.publish(path, content)
          if (isCompletion(path)) throw new IOException("no answer")
          isDone
        }
      }
      intercept[WriteUnknown](write(silent, table, "a"))
      assert(keys(table) === Set("a"))
      Thread.sleep(3)
      write(LocalStorage, table, "b")
      assert(keys(table) === Set("a", "b"))
    }

  for (version <- TableFormats.written)
    test(
      s"version $version: a store that does not say whether a complete write was rolled back is an error, and the write stays"
    ) {
      val table = newTable(version)
      var isComplete = false
      val silent = new PassingStorage(LocalStorage) {
        override def publish(path: String, content: Array[Byte]): Boolean = {
          val isDone = super.publish(path, content)
          isComplete = isComplete || path.endsWith(".deltacommit")
          isDone
        }
        override def status(path: String): Option[FileInfo] =
          if (isComplete && path.endsWith(".inflight")) throw new IOException("no answer") else super.status(path)
      }
      val told = intercept[WriteUnknown](write(silent, table, "a"))
      assert(told.getMessage.contains("does not say whether") && told.getMessage.contains("before you write it again"))
      assert(keys(table) === Set("a"))
      Thread.sleep(3)
      write(LocalStorage, table, "b")
      assert(keys(table) === Set("a", "b"))
    }
}
