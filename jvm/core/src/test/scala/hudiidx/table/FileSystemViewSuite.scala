package hudiidx.table

import hudiidx.{Figures, TableFormat, TableFormats, TestSettings}
import hudiidx.timeline.{Action, ActiveTimeline, Instant, InstantState, InstantTime}
import java.time.ZoneOffset
import org.scalacheck.{Gen, Shrink}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

final class FileSystemViewSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import FileSystemViewSuite._

  private implicit val dontShrink: Shrink[ViewModel] = Shrink.shrinkAny

  for (version <- Seq(6, 8, 9))
    test(s"every view of a random partition of version $version equals the literal rules, at every instant") {
      forAll(models(version), minSuccessful(100)) { model =>
        val view = viewOf(model)
        (None +: instants.map(Some(_))).foreach { max =>
          assert(view.allBaseFiles("p", max) === model.allBaseFiles(max))
          assert(view.latestBaseFiles("p", max) === model.latestBaseFiles(max))
          assert(view.allFileGroups("p", max) === model.allFileGroups(max))
          assert(view.allReplacedFileGroups("p", max) === model.allReplacedFileGroups(max))
          assert(view.allFileSlices("p", max) === model.allFileSlices(max))
          assert(view.latestFileSlices("p", max) === model.latestFileSlices(max))
          assert(view.latestUncompactedFileSlices("p", max) === model.latestUncompactedFileSlices(max))
          assert(view.latestMergedFileSlices("p", max) === model.latestMergedFileSlices(max))
        }
        Figures.add("view calls held against the literal rules", 8L * (1 + instants.size))
      }
    }

  test("log file 10 comes after log file 9, and a log without a token before one with it") {
    val files = Vector(10, 9, 1).map(v => entry("g", t(1), FileKind.Log, v)) :+
      entry("g", t(1), FileKind.Log, 9).copy(writeToken = "")
    val model = ViewModel(6, Map(t(1) -> t(1)), Set.empty, Map.empty, files)
    val logs = viewOf(model).latestFileSlices("p").head.logFiles
    assert(logs.map(_.version) === Vector(1, 9, 9, 10))
    assert(logs(1).fileName.endsWith(".log.9"))
  }

  test("a change-data file stands in its slice, behind the log file of the same version and token") {
    val files = Vector(
      entry("g", t(1), FileKind.Parquet, 0),
      entry("g", t(1), FileKind.CdcLog, 1),
      entry("g", t(1), FileKind.Log, 1)
    )
    for (version <- Seq(6, 9)) {
      val view = viewOf(ViewModel(version, Map(t(1) -> t(1)), Set.empty, Map.empty, files))
      assert(view.latestFileSlices("p").flatMap(_.logFiles).map(_.fileName.endsWith(".cdc")) === Vector(false, true))
    }
  }

  test("a log requested before and completed after a compaction was scheduled belongs to the new slice") {
    val files = Vector(entry("g", t(1), FileKind.Parquet, 0), entry("g", t(2), FileKind.Log, 1))
    val model = ViewModel(9, Map(t(1) -> t(1), t(2) -> t(4)), Set.empty, Map("g" -> t(3)), files)
    assert(viewOf(model).latestFileSlices("p").map(s => (s.baseInstantTime, s.logFiles.size)) === Vector((t(3), 1)))
    assert(viewOf(model).latestUncompactedFileSlices("p").head.logFiles.isEmpty)
    assert(
      viewOf(model).latestMergedFileSlices("p").map(s => (s.baseInstantTime, s.logFiles.size)) === Vector((t(1), 1))
    )
  }

  test("on an upgraded table a log with its slice's instant in the name stays in that slice") {
    val files = Vector(
      entry("g", t(1), FileKind.Parquet, 0),
      entry("g", t(1), FileKind.Log, 1),
      entry("g", t(2), FileKind.Parquet, 0)
    )
    // Copying the table before the upgrade gave the first commit a completion time behind the second one's request.
    val model = ViewModel(9, Map(t(1) -> t(9), t(2) -> t(9)), Set.empty, Map.empty, files)
    val slices = viewOf(model).allFileSlices("p")
    assert(slices.map(s => (s.baseInstantTime, s.logFiles.size)) === Vector((t(1), 1), (t(2), 0)))
  }

  test("on a downgraded table log files that were named by their own writes stay in the slices that they had") {
    val files = Vector(
      entry("g", t(1), FileKind.Parquet, 0),
      entry("g", t(2), FileKind.Log, 1),
      entry("g", t(4), FileKind.Log, 1), // requested before the compaction was scheduled, completed behind that
      entry("g", t(8), FileKind.Log, 1),
      entry("logs", t(2), FileKind.Log, 1),
      entry("logs", t(8), FileKind.Log, 1)
    )
    val completed = Map(t(1) -> t(1), t(2) -> t(2), t(4) -> t(6), t(8) -> t(8))
    val view = viewOf(ViewModel(6, completed, Set.empty, Map("g" -> t(5)), files))
    assert(
      view.allFileSlices("p").map(s => (s.fileId, s.baseInstantTime, s.logFiles.size)) ===
        Vector(("g", t(1), 1), ("g", t(5), 2), ("logs", t(2), 2))
    )
    assert(view.latestMergedFileSlices("p").map(_.logFiles.size) === Vector(3, 2))
    assert(view.latestFileSlices("p").map(_.instantOfLogs) === Vector(t(8), t(8)))
  }

  test(
    "on version 6 log files that bear a compaction's instant make a slice of their own where its base file is gone"
  ) {
    val files = Vector(entry("g", t(1), FileKind.Parquet, 0), entry("g", t(2), FileKind.Log, 1))
    def slices(action: String) = {
      val done = Vector(t(1) -> Action.DeltaCommit, t(2) -> action, t(3) -> Action.DeltaCommit)
      val instants = done.map { case (at, a) => Instant(at, a, InstantState.Completed, None, s"$at.$a") }
      val timeline = new ActiveTimeline("d", 1, instants)
      val view = new FileSystemView(source(files), ViewTimeline(timeline, TableFormat.V6, mergeOnRead = true))
      view.allFileSlices("p").map(s => (s.baseInstantTime, s.logFiles.size))
    }
    assert(slices(Action.Commit) === Vector((t(1), 0), (t(2), 1)))
    assert(slices(Action.DeltaCommit) === Vector((t(1), 1)))
  }

  test("on version 6 the files of instants tell when these completed, and history what is archived") {
    val file = Instant(t(2), Action.DeltaCommit, InstantState.Completed, None, "2.deltacommit")
    val millis = InstantTime.toMillis(t(5), ZoneOffset.UTC).get
    val timeline = new ActiveTimeline("d", 1, Vector(file), Map("2.deltacommit" -> millis))
    val properties =
      Map("hoodie.table.name" -> "t", "hoodie.table.version" -> "6", "hoodie.table.timeline.timezone" -> "UTC")
    val config = TableConfig.of("t/.hoodie/hoodie.properties", properties)
    val known = ViewTimeline.withFileTimes(timeline, config, i => if (i == t(1)) Some(t(3)) else None)
    assert(known(t(2)) === Some(t(5)) && known(t(1)) === Some(t(3)) && known(t(4)).isEmpty)
  }

  test("an archived log's completion time comes from its entry, else from history, else it is its requested time") {
    val base = Vector(entry("g", t(1), FileKind.Parquet, 0), entry("g", t(3), FileKind.Parquet, 0))
    val log = entry("g", t(2), FileKind.Log, 1)
    val timeline = activeTimeline(Map(t(8) -> t(8)), Set.empty, Map.empty)
    def slicesOf(file: FileEntry, history: String => Option[String]) =
      new FileSystemView(
        source(base :+ file),
        ViewTimeline(timeline, TableFormat.V9, mergeOnRead = true, history = history)
      )
        .allFileSlices("p")
        .map(_.logFiles.size)
    assert(slicesOf(log.copy(completionTime = Some(t(4))), _ => None) === Vector(0, 1))
    assert(slicesOf(log, _ => Some(t(5))) === Vector(0, 1))
    assert(slicesOf(log, _ => None) === Vector(1, 0))
  }

  test("a replacement by an instant that is not on the timeline does not count") {
    val file = entry("g", t(1), FileKind.Parquet, 0).copy(replacedAt = Some(t(3)))
    val without = ViewModel(9, Map(t(1) -> t(1), t(5) -> t(5)), Set.empty, Map.empty, Vector(file))
    assert(viewOf(without).latestBaseFiles("p").size === 1)
    val replaced = without.copy(completed = without.completed + (t(3) -> t(3)))
    assert(viewOf(replaced).latestBaseFiles("p").isEmpty)
    assert(viewOf(replaced).latestBaseFiles("p", Some(t(2))).size === 1)
    assert(viewOf(replaced).allReplacedFileGroups("p") === Vector(FileGroup("p", "g")))
  }

  test("a deltacommit on a copy-on-write table is invisible") {
    val timeline = activeTimeline(Map(t(2) -> t(2)), Set.empty, Map.empty)
    val cow = ViewTimeline(timeline, TableFormat.V9, mergeOnRead = false)
    assert(!cow.isCommitted(t(2)) && cow.lastInstant.isEmpty)
  }

  test("archiving past a savepointed commit leaves a hole whose instants stay committed") {
    val kept = Vector(t(2), t(6)).map(x => Instant(x, Action.Commit, InstantState.Completed, Some(x), x))
    val savepoint = Instant(t(2), Action.Savepoint, InstantState.Completed, Some(t(3)), "s")
    val clean = Instant(t(1), Action.Clean, InstantState.Completed, Some(t(1)), "c")
    val timeline = new ActiveTimeline("d", 2, Vector(clean, kept(0), savepoint, kept(1)))
    val view = ViewTimeline(timeline, TableFormat.V9, mergeOnRead = false)
    assert(view.startInstant === Some(t(6)))
    assert(view.isCommitted(t(4)) && !view.isCommitted(t(7)))
  }

  test(
    "hundreds of thousands of files of one group and of many groups pass through every call without quadratic work"
  ) {
    val size = TestSettings.upTo(200000, 60000)
    val one = Vector.tabulate(size) { i =>
      val kind = if (i % 2 == 0) FileKind.Parquet else FileKind.Log
      FileEntry("p", "g", f"2026${i / 2}%013d", "0-1-2", kind, if (i % 2 == 0) 0 else 1, i.toLong)
    }
    val many = one.zipWithIndex.map { case (f, i) => f.copy(fileId = f"g${(i / 2) * 7919 % 100003}%06d") }
    val completed = Map("20270000000000000" -> "20270000000000000")
    for (files <- Seq(one, many); version <- Seq(6, 9)) {
      val view = viewOf(ViewModel(version, completed, Set.empty, Map.empty, files))
      assert(view.allFileSlices("p").map(s => s.logFiles.size + s.baseFile.size).sum === size)
      assert(view.latestMergedFileSlices("p").size === view.allFileGroups("p").size)
      assert(view.iterate(view.allBaseFiles(_)).size === size / 2)
    }
  }
}

object FileSystemViewSuite {

  def t(n: Int): String = f"20260101000000$n%03d"

  val instants: Vector[String] = Vector.tabulate(12)(t)

  def entry(id: String, instant: String, kind: FileKind, version: Int): FileEntry =
    FileEntry("p", id, instant, "0-1-2", kind, version, 100L + version)

  def source(all: Vector[FileEntry]): FileSource = new FileSource {
    override def partitions: Vector[String] = Vector("p")
    override def files(partitionPath: String): Array[FileEntry] =
      if (partitionPath == "p") all.toArray else Array.empty[FileEntry]
  }

  /** Odd instants are commits and replacecommits in turn, even ones deltacommits. */
  def activeTimeline(
      completed: Map[String, String],
      pending: Set[String],
      compaction: Map[String, String]
  ): ActiveTimeline = {
    val done = completed.toVector.map { case (instant, completion) =>
      Instant(instant, ViewModel.action(instant), InstantState.Completed, Some(completion), instant)
    }
    val open = pending.toVector.map(Instant(_, Action.DeltaCommit, InstantState.Inflight, None, "i")) ++
      compaction.values.toVector.distinct.map(Instant(_, Action.Compaction, InstantState.Requested, None, "r"))
    new ActiveTimeline("d", 2, (done ++ open).sortBy(_.requestedTime))
  }

  def viewOf(model: ViewModel): FileSystemView = {
    val plans = PendingPlans(model.compaction.map { case (id, c) => FileGroup("p", id) -> c }, Map.empty)
    val timeline = activeTimeline(model.completed, model.pending, model.compaction)
    new FileSystemView(
      source(model.files),
      ViewTimeline(timeline, TableFormats.of(model.version), mergeOnRead = true, plans)
    )
  }

  private val fileIds = Vector("a-0", "a-1", "b")

  /** Archived instants 0 and 1; of the others most completed, some in another order than requested, some pending. */
  def models(version: Int): Gen[ViewModel] = for {
    roles <- Gen.listOfN(10, Gen.frequency(6 -> 0, 1 -> 1, 1 -> 2))
    delays <- Gen.listOfN(10, Gen.choose(0, 4))
    compactionAt <- Gen.choose(3, 11)
    compacted <- Gen.someOf(fileIds)
    count <- Gen.choose(0, 30)
    files <- Gen.listOfN(count, entries)
    replaced <- Gen.option(Gen.zip(Gen.oneOf(fileIds), Gen.oneOf(instants)))
  } yield {
    val compaction = compacted.map(_ -> t(compactionAt)).toMap
    val free = instants.drop(2).zip(roles.zip(delays)).filter { case (i, _) => !compaction.values.exists(_ == i) }
    val completed = free.collect { case (i, (0, delay)) => i -> (i.toLong + delay).toString }.toMap
    val pending = free.collect { case (i, (1, _)) => i }.toSet
    val distinct = files.groupBy(f => (f.fileId, f.instantTime, f.kind, f.logVersion)).map(_._2.head).toVector
    val withReplaced = distinct.map(f => f.copy(replacedAt = replaced.collect { case (f.fileId, at) => at }))
    ViewModel(version, completed, pending, compaction, withReplaced)
  }

  private val entries: Gen[FileEntry] = for {
    id <- Gen.oneOf(fileIds)
    instant <- Gen.oneOf(instants)
    kind <- Gen.frequency(3 -> FileKind.Parquet, 5 -> FileKind.Log, 1 -> FileKind.CdcLog)
    logVersion <- Gen.choose(1, 12)
  } yield entry(id, instant, kind, if (kind.isBase) 0 else logVersion)
}
