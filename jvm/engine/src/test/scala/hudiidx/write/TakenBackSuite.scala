package hudiidx.write

import hudiidx.storage.LocalStorage
import hudiidx.sync.{IndexOptions, IndexerSuite, TableContext, TableSnapshot}
import hudiidx.table.{FileKind, FileName}
import hudiidx.write.format.CompletedWrite
import hudiidx.{Fixtures, TableFormats, WriteConflict}
import org.scalatest.funsuite.AnyFunSuite

/** Which writes are rolled back and which are a conflict, and what comes late of one that is over: it goes again. */
class TakenBackSuite extends AnyFunSuite {
  import WriteStepsSuite._

  for (version <- TableFormats.written)
    test(s"version $version: a writer that may be alive is a conflict, and so is stock's") {
      val table = newTable(version)
      val open = OpenWrite.begin(IndexerSuite.accessOf(LocalStorage), table, slow)
      val alive = intercept[WriteConflict](OpenWrite.begin(IndexerSuite.accessOf(LocalStorage), table, slow))
      assert(alive.getMessage.contains(open.instant) && alive.getMessage.contains("write again"))
      open.abandon()
      val requested = s"${open.table.timeline.dir}/20200101000000000.deltacommit.requested"
      LocalStorage.publish(requested, Array.emptyByteArray)
      val stocks = intercept[WriteConflict](OpenWrite.begin(IndexerSuite.accessOf(LocalStorage), table, quick))
      assert(stocks.getMessage.contains("stock Hudi rolls it back"))
      LocalStorage.delete(requested)
      write(LocalStorage, table, "a")
      assert(keys(table) === Set("a"))
    }

  for (version <- TableFormats.written)
    test(
      s"version $version: a writer that is taken for dead when its write is decided is told that it is complete, once it is"
    ) {
      val table = newTable(version)
      write(LocalStorage, table, "a")
      val late = publishing(
        """\.deltacommit$""",
        (_, publish) => {
          Thread.sleep(3)
          write(LocalStorage, table, "b")
          publish()
        }
      )
      write(late, table, "c", slow)
      assert(keys(table) === Set("a", "b", "c"))
      Thread.sleep(3)
      write(LocalStorage, table, "d")
      assert(keys(table) === Set("a", "b", "c", "d"))
      assert(Fixtures.filesBelow(table).count(_.contains(".log.")) === 4)
    }

  for (version <- TableFormats.written)
    test(s"version $version: a write of an earlier build, which kept no records, is rolled back when it is silent") {
      val table = newTable(version)
      write(LocalStorage, table, "a")
      val dir = OpenWrite.begin(IndexerSuite.accessOf(LocalStorage), table, slow)
      val timeline = dir.table.timeline.dir
      dir.abandon()
      val earlier = s"$timeline/20200101000000000.deltacommit.requested"
      LocalStorage.publish(earlier, Array.emptyByteArray)
      LocalStorage.publish(s"$table/.hoodie/.heartbeat/20200101000000000", "0123456789abcdef".getBytes)
      assert(intercept[WriteConflict](write(LocalStorage, table, "b", slow)).getMessage.contains("was alive"))
      Thread.sleep(3)
      write(LocalStorage, table, "b")
      assert(keys(table) === Set("a", "b") && LocalStorage.status(earlier).isEmpty)
      assert(LocalStorage.list(s"$table/.hoodie/.heartbeat").isEmpty)
    }

  test("a writer whose instant another one has leaves that one alone") {
    val table = newTable(9)
    var taken = ""
    val late = publishing(
      """\.requested$""",
      (path, publish) => {
        taken = path
        LocalStorage.publish(path, Array.emptyByteArray) && publish()
      }
    )
    intercept[WriteConflict](OpenWrite.begin(IndexerSuite.accessOf(late), table, slow))
    assert(LocalStorage.status(taken).isDefined)
  }

  for (version <- TableFormats.written; (how, end) <- ends)
    test(s"version $version: a file of a task that outlives its write, $how, goes again") {
      val table = newTable(version)
      val open = OpenWrite.begin(IndexerSuite.accessOf(LocalStorage), table, slow)
      open.start()
      open.markers.write(open.writer, "p", FileName.render("kept-0", open.instant, "0-1-1", FileKind.Log, 1))(_ => ())
      intercept[WriteConflict](open.markers.write(open.writer, "p", "late.parquet") { out =>
        out.write(1)
        end(open)
      })
      intercept[WriteConflict](open.markers.write(open.writer, "p", "later.parquet")(_ => ()))
      // A task that is stopped ends in the midst of its file.
      intercept[IllegalStateException](
        open.markers.write(open.writer, "p", "late-and-stopped.parquet")(_ =>
          throw new IllegalStateException("stopped")
        )
      )
      val left = Fixtures.filesBelow(table)
      assert(left.filter(f => f.contains("late") || f.contains("/.temp/") || f.contains("/.heartbeat/")).isEmpty, how)
      assert(LocalStorage.list(s"$table/.hoodie/.temp").isEmpty, how)
      write(LocalStorage, table, "a", slow)
      assert(keys(table) === Set("a"))
    }

  for (version <- TableFormats.written)
    test(s"version $version: who listed an overwrite that was rolled back since reads on") {
      val table = newTable(version)
      write(LocalStorage, table, "a", slow)
      val open = OpenWrite.begin(IndexerSuite.accessOf(LocalStorage), table, slow, kind = WriteKind.Replace)
      val listed = TableContext.load(IndexerSuite.accessOf(LocalStorage), table)
      open.abandon()
      val view = TableSnapshot.of(listed, IndexOptions(enabled = false)).view
      assert(view.partitions.flatMap(p => view.latestFileSlices(p)).size === 1)
    }

  for (version <- TableFormats.written)
    test(s"version $version: the next writer takes back a request that came after its writer's records were removed") {
      val table = newTable(version)
      val open = OpenWrite.begin(IndexerSuite.accessOf(LocalStorage), table, slow)
      val (epochs, heartbeats) = (new Epochs(LocalStorage, table), new Heartbeats(LocalStorage, table))
      open.stop()
      epochs.remove(open.instant, Vector(1))
      // Its writer found that out, and the store did not let it remove what it had put.
      assert(epochs.publish(open.instant, 2, Epoch.Over(open.writer)))
      heartbeats.stop(open.instant)
      Thread.sleep(2)
      write(LocalStorage, table, "next", LateWriteSuite.silentAtOnce)
      assert(keys(table) === Set("next"))
      assert(heartbeats.all === Vector.empty)
    }

  test("a write that somebody rolled back does not complete") {
    val table = newTable(9)
    val open = OpenWrite.begin(IndexerSuite.accessOf(LocalStorage), table, slow)
    open.start()
    LocalStorage.delete(s"${open.table.timeline.dir}/${open.instant}.deltacommit.inflight")
    intercept[WriteConflict](open.complete(CompletedWrite("UPSERT", schema.toString, Vector.empty)))
    assert(keys(table) === Set.empty)
  }
}
