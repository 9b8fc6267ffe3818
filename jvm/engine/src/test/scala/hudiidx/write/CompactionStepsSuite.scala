package hudiidx.write

import hudiidx.TestSettings.isLong
import hudiidx.log.{BlockRules, SliceLog}
import hudiidx.storage._
import hudiidx.sync.{IndexOptions, IndexerSuite, TableContext, TableSnapshot}
import hudiidx.table._
import hudiidx.write.format.{BaseContent, CompletedWrite, WrittenFile}
import hudiidx.{Fixtures, TableChanged, TableFormats, WriteConflict, WriteFailed}
import org.scalatest.funsuite.AnyFunSuite
import scala.util.Try

/** Compactions that end at any step: rows are there all the time, writers go on, and the next compaction finishes. Base files
  * hold keys as plain text here: what stands in them is no matter of steps.
  */
class CompactionStepsSuite extends AnyFunSuite {
  import CompactionStepsSuite._
  import WriteStepsSuite.{keys => _, _}

  for (version <- TableFormats.written; fault <- Fault.All if isLong || version == 9 || fault == Fault.After)
    test(
      s"version $version: killed ${fault.toString.toLowerCase} every step, a compaction changes no row and is finished later"
    ) {
      val steps = new FaultyStorage(LocalStorage, Int.MaxValue, fault)
      compact(steps, written(version), slow)
      assert(steps.mutatingCalls >= 12)
      (1 to steps.mutatingCalls).foreach { step =>
        val path = written(version)
        WriteStepsSuite.dying(step, fault)(compact(_, path, slow))
        assert(keys(path) === Vector("a", "b"), s"step $step")
        Thread.sleep(3) // the dead writer's heartbeat is past
        write(LocalStorage, path, "c")
        assert(keys(path) === Vector("a", "b", "c"), s"step $step")
        compact(LocalStorage, path, quick)
        assert(keys(path) === Vector("a", "b", "c"), s"step $step")
        write(LocalStorage, path, "d")
        assert(keys(path) === Vector("a", "b", "c", "d"), s"step $step")
        val left = Fixtures.filesBelow(path)
        assert(left.filter(f => f.contains("/.temp/") || f.contains("/.heartbeat/")) === Vector.empty, s"step $step")
        assert(left.count(_.endsWith(".parquet")) === 3, s"step $step")
      }
    }

  for (version <- TableFormats.written) {
    test(
      s"version $version: a plan that is rolled back after a reader listed the timeline is told as a change of the table"
    ) {
      val path = written(version)
      val instant = plan(LocalStorage, path, slow).get
      val listed = TableContext.load(IndexerSuite.accessOf(LocalStorage), path)
      LocalStorage.deleteOne(s"${listed.timeline.dir}/$instant.compaction.requested")
      val said = intercept[TableChanged](slices(listed)).getMessage
      assert(said.contains(s"compaction $instant") && said.contains("read the table again"))
      assert(
        intercept[WriteConflict](OpenCompaction.groups(listed, OpenCompaction.planned(listed).head)).getMessage
          .contains(instant)
      )
      assert(keys(path) === Vector("a", "b"))
    }

    test(s"version $version: a compaction that may be alive is a conflict, and so is stock's; writers go on") {
      val path = written(version)
      plan(LocalStorage, path, slow)
      val table = TableContext.load(IndexerSuite.accessOf(LocalStorage), path)
      val open = OpenCompaction.begin(table, OpenCompaction.planned(table).head, slow)
      assert(intercept[WriteConflict](runPlanned(LocalStorage, path, slow)).getMessage.contains("was alive"))
      write(LocalStorage, path, "c", slow)
      open.abandon()
      runPlanned(LocalStorage, path, slow)
      assert(keys(path) === Vector("a", "b", "c"))
      plan(LocalStorage, path, slow)
      val stocks = OpenCompaction.planned(TableContext.load(IndexerSuite.accessOf(LocalStorage), path)).head
      LocalStorage.publish(s"${table.timeline.dir}/${stocks.requestedTime}.compaction.inflight", Array.emptyByteArray)
      assert(intercept[WriteConflict](runPlanned(LocalStorage, path, quick)).getMessage.contains("stock Hudi"))
    }

    test(s"version $version: a plan whose place another took, and has left since, is a conflict") {
      val path = written(version)
      val taken = publishing("compaction.requested", (_, _) => false)
      assert(intercept[WriteConflict](plan(taken, path, slow, Some(LockOptions()))).getMessage.contains("was planned"))
      assert(plan(LocalStorage, path, slow, Some(LockOptions())).isDefined)
      assert(keys(path) === Vector("a", "b"))
    }

    test(s"version $version: a compaction whose heartbeat others remove while it begins is begun all the same") {
      for (times <- Seq(1, 3, Int.MaxValue)) {
        val path = written(version)
        val instant = plan(LocalStorage, path, slow).get
        val heartbeat = s"$path/.hoodie/.heartbeat/$instant"
        LocalStorage.publish(heartbeat, Array.emptyByteArray)
        var left = times
        val removing = new PassingStorage(LocalStorage) {
          override def touch(file: String): Unit = {
            if (file == heartbeat && left > 0) {
              left -= 1
              deleteOne(file)
            }
            super.touch(file)
          }
          override def writeInPlace(file: String)(content: java.io.OutputStream => Unit): Unit = {
            if (file == heartbeat && left > 0) publish(file, Array.emptyByteArray)
            super.writeInPlace(file)(content)
          }
        }
        if (times < Int.MaxValue) runPlanned(removing, path, slow)
        else assert(intercept[WriteFailed](runPlanned(removing, path, slow)).getMessage.contains(heartbeat))
        left = 0
        assert(keys(path) === Vector("a", "b"), s"$times times")
      }
    }

    test(
      s"version $version: a heartbeat of which the store has but a part is ours: silent, its compaction is run again"
    ) {
      val path = written(version)
      plan(LocalStorage, path, slow)
      val table = TableContext.load(IndexerSuite.accessOf(LocalStorage), path)
      val open = OpenCompaction.begin(table, OpenCompaction.planned(table).head, slow)
      Seq(open.writer, "hudiidx: is over").foreach { content =>
        LocalStorage.replace(s"$path/.hoodie/.heartbeat/${open.instant}", content.take(8).getBytes("US-ASCII"))
        assert(intercept[WriteConflict](runPlanned(LocalStorage, path, slow)).getMessage.contains("was alive"))
      }
      Thread.sleep(3) // past
      runPlanned(LocalStorage, path, quick)
      intercept[WriteConflict](open.complete(CompletedWrite("UPSERT", schema.toString, Vector.empty)))
      assert(keys(path) === Vector("a", "b"))
    }

    test(s"version $version: planned beside a writer that shares the lock, a compaction loses nothing of it") {
      val path = written(version)
      val lock = Some(LockOptions())
      val open = OpenWrite.begin(IndexerSuite.accessOf(LocalStorage), path, slow, lock)
      open.start()
      val slice = slices(open.table).head
      val (named, number) = if (version == 6) (slice.baseInstantTime, 2) else (open.instant, 1)
      val name = FileName.render(slice.fileId, named, "0-1-3", FileKind.Log, number)
      val file = logFile(open, slice.fileId, name, "c")
      assert(plan(LocalStorage, path, slow, lock).isDefined)
      def complete() = open.complete(CompletedWrite("UPSERT", schema.toString, Vector(file)))
      if (version == 6) assert(intercept[WriteConflict](complete()).getMessage.contains(slice.fileId)) else complete()
      val kept = if (version == 6) Vector("a", "b") else Vector("a", "b", "c")
      assert(keys(path) === kept)
      runPlanned(LocalStorage, path, slow)
      assert(keys(path) === kept)
    }

    test(s"version $version: wherever in a planning or a compaction the disk fills up, the error says in which") {
      val works = Seq[(String, String => Any, (Storage, String) => Unit)](
        ("planning", _ => (), plan(_, _, slow): Unit),
        ("compaction", plan(LocalStorage, _, slow), runPlanned(_, _, slow))
      )
      for ((what, before, work) <- works) {
        def ready(): String = {
          val path = written(version)
          before(path)
          path
        }
        val all = new FillingStorage(LocalStorage, Int.MaxValue)
        work(all, ready())
        val said = (0 until all.writes).flatMap { room =>
          Try(work(new FillingStorage(LocalStorage, room), ready())).failed.toOption.collect { case e: WriteFailed =>
            e.getMessage
          }
        }
        val named = if (what == "planning") "the planning of a compaction failed" else "the compaction [0-9]+ failed"
        assert(said.nonEmpty && said.forall(s"/t: $named ".r.findFirstIn(_).isDefined), s"$what: $said")
      }
    }

    test(s"version $version: a compaction whose plan, or a write that it merges, was taken back is not done") {
      val path = written(version)
      plan(LocalStorage, path, slow)
      val table = TableContext.load(IndexerSuite.accessOf(LocalStorage), path)
      val planned = OpenCompaction.planned(table).head
      val request = s"${table.timeline.dir}/${planned.requestedTime}.compaction.requested"
      val content = LocalStorage.readAll(request)
      LocalStorage.delete(request)
      assert(intercept[WriteConflict](OpenCompaction.begin(table, planned, quick)).getMessage.contains("rolled back"))
      assert(LocalStorage.list(table.timeline.dir).forall(!_.name.contains("compaction")))
      LocalStorage.publish(request, content)
      Thread.sleep(5) // the heartbeat is past
      val open = OpenCompaction.begin(table, planned, quick)
      val last = table.timeline.completedWrites.last
      LocalStorage.delete(s"${table.timeline.dir}/${last.fileName}")
      val e = intercept[WriteConflict](open.complete(CompletedWrite("COMPACT", schema.toString, Vector.empty)))
      assert(e.getMessage.contains(last.requestedTime) && e.getMessage.contains("run it again"))
      assert(LocalStorage.list(table.timeline.dir).forall(!_.name.endsWith(".commit")) && keys(path) === Vector("a"))
      assert(OpenCompaction.planned(TableContext.load(IndexerSuite.accessOf(LocalStorage), path)).size === 1)
    }

    test(
      s"version $version: a plan that is taken back while it is read is a conflict, and nothing of the compaction stays"
    ) {
      val path = written(version)
      plan(LocalStorage, path, slow)
      var isLoaded = false
      val storage = new PassingStorage(LocalStorage) {
        override def readAll(file: String): Array[Byte] = {
          if (isLoaded && file.endsWith(".compaction.requested")) LocalStorage.delete(file)
          super.readAll(file)
        }
      }
      val table = TableContext.load(IndexerSuite.accessOf(storage), path)
      isLoaded = true
      val e = intercept[WriteConflict](OpenCompaction.begin(table, OpenCompaction.planned(table).head, slow))
      assert(e.getMessage.contains("rolled back; run it again"))
      assert(LocalStorage.list(table.timeline.dir).forall(!_.name.contains("compaction")))
      assert(keys(path) === Vector("a", "b"))
    }

    test(s"version $version: a compaction whose lock was taken meanwhile does not complete, and stays planned") {
      val path = written(version)
      plan(LocalStorage, path, slow)
      var isLost = false
      val losing = new PassingStorage(LocalStorage) {
        override def status(f: String): Option[FileInfo] = {
          if (isLost && f.endsWith(".compaction.inflight"))
            LocalStorage.replace(s"$path/.hoodie/lock", "another's".getBytes)
          super.status(f)
        }
      }
      val table = TableContext.load(IndexerSuite.accessOf(losing), path)
      val open = OpenCompaction.begin(table, OpenCompaction.planned(table).head, slow, Some(LockOptions()))
      isLost = true
      val lost = intercept[WriteConflict](open.complete(CompletedWrite("COMPACT", schema.toString, Vector.empty)))
      assert(lost.getMessage.contains("the lock was taken"))
      LocalStorage.delete(s"$path/.hoodie/lock")
      assert(keys(path) === Vector("a", "b"))
      runPlanned(LocalStorage, path, slow)
      assert(keys(path) === Vector("a", "b"))
    }

    test(s"version $version: nothing is planned while a writer is at work, nor a group twice") {
      val path = written(version)
      val other = OpenWrite.begin(IndexerSuite.accessOf(LocalStorage), path, slow)
      intercept[WriteConflict](plan(LocalStorage, path, slow))
      other.abandon()
      assert(plan(LocalStorage, path, slow).isDefined)
      assert(plan(LocalStorage, path, slow) === None)
    }
  }
}

private[hudiidx] object CompactionStepsSuite {
  import WriteStepsSuite.{keys => _, _}

  def slices(table: TableContext): Vector[FileSlice] = {
    val view = TableSnapshot.of(table, IndexOptions(enabled = false)).view
    view.partitions.flatMap(p => view.latestMergedFileSlices(p))
  }

  def keysOf(table: TableContext, slice: FileSlice, storage: Storage = LocalStorage): Vector[String] = {
    val folder = s"${table.tablePath}/${slice.partitionPath}/"
    val snapshot = TableSnapshot.of(table, IndexOptions(enabled = false))
    val rules = BlockRules(snapshot.config.format, None, snapshot.viewTimeline.isCommitted)
    val base =
      slice.baseFile.toVector.flatMap(b => new String(storage.readAll(folder + b.fileName)).split('\n').toVector)
    base ++ SliceLog
      .countedBlocks(storage, slice.logFiles.map(l => folder + l.fileName), rules)
      .flatMap(WriteStepsSuite.keysOf(_, storage))
  }

  def keys(path: String, storage: Storage = LocalStorage): Vector[String] = {
    val table = TableContext.load(IndexerSuite.accessOf(storage), path)
    slices(table).flatMap(keysOf(table, _, storage)).sorted
  }

  def plan(
      storage: Storage,
      path: String,
      beats: HeartbeatOptions,
      lock: Option[LockOptions] = None
  ): Option[String] =
    OpenCompaction.schedule(IndexerSuite.accessOf(storage), path, beats, lock) { table =>
      val snapshot = TableSnapshot.of(table, IndexOptions(enabled = false))
      val planned = snapshot.viewTimeline.plans.compaction
      snapshot.view.partitions
        .flatMap(p => snapshot.view.latestFileSlices(p))
        .filter(s => s.logFiles.nonEmpty && !planned.contains(FileGroup(s.partitionPath, s.fileId)))
    }

  def runPlanned(storage: Storage, path: String, beats: HeartbeatOptions): Unit = {
    val table = OpenCompaction.settled(IndexerSuite.accessOf(storage), path, beats)
    OpenCompaction.planned(table).foreach { instant =>
      val planned = OpenCompaction.groups(table, instant)
      val view = TableSnapshot.of(table, IndexOptions(enabled = false)).view
      val open = OpenCompaction.begin(table, instant, beats)
      val files = open.abortOnFailure(planned.map { g =>
        val slice = view.latestUncompactedFileSlices(g.partitionPath).find(_.fileId == g.fileId).get
        require(slice.logFiles.map(_.fileName) == g.logFiles && slice.baseFile.map(_.fileName) == g.baseFile)
        val content = keysOf(table, slice, storage).mkString("\n").getBytes
        val name = FileName.render(g.fileId, open.instant, s"0-1-${System.nanoTime()}", FileKind.Parquet, 0)
        open.markers.write(open.writer, "p", name)(_.write(content))
        WrittenFile(
          "p",
          g.fileId,
          name,
          0,
          slice.baseInstantTime,
          slice.baseFile.fold("")(_.fileName),
          g.logFiles,
          isNewGroup = false,
          content.length.toLong,
          1,
          0,
          0,
          Some(BaseContent(1, 1))
        )
      })
      open.complete(CompletedWrite("COMPACT", schema.toString, files))
    }
  }

  def compact(storage: Storage, path: String, beats: HeartbeatOptions): Unit = {
    plan(storage, path, beats)
    runPlanned(storage, path, beats)
  }

  def written(version: Int): String = {
    val path = newTable(version)
    Seq("a", "b").foreach(write(LocalStorage, path, _))
    path
  }
}
