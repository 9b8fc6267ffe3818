package hudiidx.sync

import hudiidx.IndexNotWritable
import hudiidx.hfile.BlockCache
import hudiidx.storage._
import hudiidx.sync.build.{Indexer, SyncResult}
import hudiidx.table.{FooterNames, TableConfig}
import hudiidx.timeline.{Action, ArchivedTimeline, TimelineHistory}
import java.nio.charset.StandardCharsets.ISO_8859_1
import java.nio.file.{Files, Path}
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks
import scala.collection.JavaConverters._

/** Create, update and read over tables whose timelines are written action by action; the truth is a listing. */
class IndexerSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import IndexerSuite._

  private sealed trait Deed
  private case class Write(plan: List[FakeWrite], complete: Boolean) extends Deed
  private case class Replace(partition: String, pick: Int) extends Deed
  private case class RollBack(ofPending: Boolean) extends Deed
  private case class Restore(count: Int) extends Deed
  private case object Clean extends Deed
  private case object CompletePending extends Deed
  private case object Update extends Deed

  private val fakeWrite = for {
    p <- Gen.oneOf("a", "b/c", "d=1", "e")
    group <- Gen.choose(-1, 3)
    log <- Gen.prob(0.5)
    size <- Gen.choose(1, 500)
  } yield FakeWrite(p, group, log, size)

  private val deed: Gen[Deed] = Gen.frequency(
    6 -> Gen.zip(Gen.choose(1, 5).flatMap(Gen.listOfN(_, fakeWrite)), Gen.prob(0.8)).map { case (w, c) => Write(w, c) },
    2 -> Gen.const(CompletePending),
    2 -> Gen.prob(0.5).map(RollBack),
    1 -> Gen.choose(1, 3).map(Restore),
    1 -> Gen.const(Clean),
    1 -> Gen.zip(Gen.oneOf("a", "b/c"), Gen.choose(0, 3)).map { case (p, n) => Replace(p, n) },
    3 -> Gen.const(Update)
  )

  for (version <- Seq(6, 9); isFar <- Seq(false, true))
    test(
      s"on version $version random timelines give the listing's files and views, the index stale or updated step by step" +
        (if (isFar) ", on a store that is far" else "")
    ) {
      forAll(Gen.choose(4, 14).flatMap(Gen.listOfN(_, deed)), Gen.choose(0, 4), minSuccessful(25)) {
        (deeds, mergeMin) =>
          withTable(version) { table =>
            val access = accessOf(if (isFar) new FarStorage(LocalStorage) else LocalStorage)
            val options = IndexOptions(strict = true, mergeMinFiles = mergeMin)
            table.write(Seq(FakeWrite("a", -1, isLog = false, 10)), complete = true)
            new Indexer(access, table.path, options).create()
            deeds.foreach { d =>
              perform(d, table, new Indexer(access, table.path, options))
              checkAgainstListing(access, table, options)
            }
            new Indexer(access, table.path, options).update()
            assert(IndexInfo.of(access, table.path, options).state === IndexInfo.Ready)
            checkAgainstListing(access, table, options)
            checkAgainstRebuild(access, table)
          }
      }
    }

  for (version <- Seq(6, 9); isInStep <- Seq(true, false))
    test(
      s"on version $version a group that two overwrites replaced is so since the earlier one, and stays so when the later one is taken back, in step: $isInStep"
    ) {
      withTable(version) { table =>
        val access = accessOf(LocalStorage)
        val options = IndexOptions(strict = true)
        def updated(): Unit = if (isInStep) new Indexer(access, table.path, options).update(): Unit
        table.write(Seq(FakeWrite("a", -1, isLog = false, 10)), complete = true)
        val first = table.files("a").keys.head
        table.replace("a", 0)
        if (isInStep) new Indexer(access, table.path, options).create(): Unit
        table.replace("a", 1) // of the group before and that of the first overwrite the former
        if (isInStep) updated() else new Indexer(access, table.path, options).create(): Unit
        def opened[A](read: TableSnapshot => A): A = {
          val snapshot = TableSnapshot.open(access, table.path, options)
          try read(snapshot)
          finally snapshot.close()
        }
        def live: Set[String] = opened(_.source.files("a").filter(_.replacedAt.isEmpty).map(_.fileName).toSet)
        assert(table.files("a").size === 3 && !live(first))
        val between = opened { snapshot =>
          val earlier = snapshot.table.timeline.completed.filter(_.action == Action.ReplaceCommit).head
          snapshot.view.latestBaseFiles("a", Some(earlier.requestedTime)).map(_.fileName)
        }
        assert(between.size === 1 && !between.contains(first))
        for (left <- Seq(2, 1)) {
          table.rollback(ofPending = false)
          updated()
          checkAgainstListing(access, table, options)
          assert(table.files("a").size === left && live.size === 1 && live(first) === (left == 1))
        }
        checkAgainstRebuild(access, table)
      }
    }

  test("a crash before, in or after any write of create or update leaves the last version, and the next run finishes") {
    for (fault <- Fault.All; step <- 1 to 8) withTable(9) { table =>
      table.write(Seq(FakeWrite("a", -1, isLog = false, 10)), complete = true)
      crash(table, step, fault)(_.create())
      new Indexer(accessOf(LocalStorage), table.path, IndexOptions()).create()
      table.write(Seq(FakeWrite("b", -1, isLog = false, 10)), complete = true)
      crash(table, step, fault)(_.update())
      val strict = IndexOptions(strict = true)
      checkAgainstListing(accessOf(LocalStorage), table, strict)
      new Indexer(accessOf(LocalStorage), table.path, IndexOptions()).update()
      assert(IndexInfo.of(accessOf(LocalStorage), table.path, strict).state === IndexInfo.Ready)
      checkAgainstListing(accessOf(LocalStorage), table, strict)
    }
  }

  test("two updates at once: one publishes, the other re-bases, and both are in step") {
    withTable(9) { table =>
      val access = accessOf(LocalStorage)
      table.write(Seq(FakeWrite("a", -1, isLog = false, 10)), complete = true)
      new Indexer(access, table.path, IndexOptions()).create()
      (0 until 5).foreach { round =>
        table.write(Seq(FakeWrite(s"r$round", -1, isLog = false, 10)), complete = true)
        val results = new java.util.concurrent.ConcurrentLinkedQueue[SyncResult]
        val threads = (0 until 4).map(_ =>
          new Thread(() => {
            results.add(new Indexer(accessOf(LocalStorage), table.path, IndexOptions()).update()); ()
          })
        )
        threads.foreach(_.start())
        threads.foreach(_.join())
        assert(results.size === 4)
        assert(IndexInfo.of(access, table.path, IndexOptions()).state === IndexInfo.Ready)
        checkAgainstListing(access, table, IndexOptions(strict = true))
      }
    }
  }

  for (version <- Seq(6, 9); job <- Seq("create", "update"))
    test(
      s"on version $version what completes between any two steps of $job is laid over it, and the next update has it"
    ) {
      meanwhile.foreach { deed =>
        var step = 0
        var wasReached = true
        while (wasReached) {
          step += 1
          withTable(version) { table =>
            val access = accessOf(LocalStorage)
            Seq(FakeWrite("a", -1, isLog = false, 10), FakeWrite("b/c", -1, isLog = false, 10))
              .foreach(w => table.write(Seq(w, w.copy(isLog = true, group = 0)), complete = true))
            val ofPending = deed == CompletePending || deed == RollBack(ofPending = true)
            table.write(Seq(FakeWrite("a", 0, isLog = false, 20)), complete = !ofPending)
            if (job == "update") {
              new Indexer(access, table.path, IndexOptions()).create()
              table.write(Seq(FakeWrite("e", -1, isLog = false, 30)), complete = true)
            }
            var calls = 0
            val storage = new DenyingStorage(
              LocalStorage,
              (_, _) => {
                calls += 1
                if (calls == step) perform(deed, table, null)
                false
              }
            )
            val indexer = new Indexer(accessOf(storage), table.path, IndexOptions())
            if (job == "create") indexer.create() else indexer.update()
            wasReached = calls >= step
            checkAgainstListing(access, table, IndexOptions(strict = true))
            new Indexer(access, table.path, IndexOptions()).update()
            assert(IndexInfo.of(access, table.path, IndexOptions()).state === IndexInfo.Ready, s"$deed at step $step")
            checkAgainstListing(access, table, IndexOptions(strict = true))
          }
        }
        assert(step > 5)
      }
    }

  /** What others do while an index is made. */
  private val meanwhile: Vector[Deed] = Vector(
    Write(List(FakeWrite("a", -1, isLog = false, 40), FakeWrite("b/c", 0, isLog = true, 50)), complete = true),
    Replace("a", 0),
    CompletePending,
    RollBack(ofPending = true)
  )

  private def perform(d: Deed, table: FakeTable, indexer: Indexer): Unit = d match {
    case Write(plan, complete) => table.write(plan, complete); ()
    case Replace(p, pick)      => table.replace(p, pick)
    case RollBack(ofPending)   => table.rollback(ofPending)
    case Restore(count)        => table.restore(count)
    case Clean                 => table.clean()
    case CompletePending       => table.completePending()
    case Update                => indexer.update(); ()
  }

  private def crash(table: FakeTable, step: Int, fault: Fault)(work: Indexer => Any): Unit =
    try { work(new Indexer(accessOf(new FaultyStorage(LocalStorage, step, fault)), table.path, IndexOptions())); () }
    catch { case e: IndexNotWritable if e.getCause.isInstanceOf[InjectedFault] => () }

  private def checkAgainstRebuild(access: TableAccess, table: FakeTable): Unit = {
    val elsewhere = IndexOptions(strict = true, indexPath = Some(table.dir.resolve("rebuilt-index").toString))
    new Indexer(access, table.path, elsewhere.copy(source = "listing")).create()
    val (stepwise, rebuilt) = (
      TableSnapshot.open(access, table.path, IndexOptions(strict = true)),
      TableSnapshot.open(access, table.path, elsewhere)
    )
    try assert(Verifier.compare(stepwise.source, rebuilt.source).differences === Vector.empty)
    finally { stepwise.close(); rebuilt.close() }
  }
}

object IndexerSuite extends org.scalatest.Assertions {
  private val histories: HistoryOpener = new HistoryOpener {
    override def open(storage: Storage, tablePath: String, config: TableConfig): TimelineHistory =
      if (config.timelineLayout == 1) new ArchivedTimeline(storage, config.archiveDir(tablePath))
      else TimelineHistory.Empty
  }

  def accessOf(storage: Storage): TableAccess =
    new TableAccess(storage, histories, FooterNames, new BlockCache(1 << 20))

  /** With one file, and an index of it. */
  def indexed(table: FakeTable): Unit = {
    table.write(Seq(FakeWrite("a", -1, isLog = false, 10)), complete = true)
    new Indexer(accessOf(LocalStorage), table.path, IndexOptions()).create(): Unit
  }

  def withTable(version: Int)(use: FakeTable => Unit): Unit = {
    val dir = Files.createTempDirectory("hudiidx-fake")
    try use(new FakeTable(dir, version))
    finally delete(dir)
  }

  def indexFiles(table: FakeTable): Set[String] = {
    val root = table.dir.resolve(".hoodie/hudiidx")
    val walk = Files.walk(root)
    try walk.iterator.asScala.filter(Files.isRegularFile(_)).map(p => root.relativize(p).toString).toSet
    finally walk.close()
  }

  /** Contents of all files below a folder, by their paths from there. */
  def filesBelow(folder: Path): Map[String, String] = {
    val walk = Files.walk(folder)
    try
      walk.iterator.asScala
        .filter(Files.isRegularFile(_))
        .map(f => folder.relativize(f).toString -> Files.readString(f, ISO_8859_1))
        .toMap
    finally walk.close()
  }

  /** Partitions, files and views through the index equal those of a listing, and the files equal what the test wrote. */
  def checkAgainstListing(access: TableAccess, table: FakeTable, options: IndexOptions): Unit = {
    val indexed = TableSnapshot.open(access, table.path, options)
    val listed = TableSnapshot.open(access, table.path, options.copy(enabled = false))
    try {
      assert(Verifier.compare(indexed.source, listed.source).differences === Vector.empty)
      table.files.filter(_._2.nonEmpty).foreach { case (p, files) =>
        assert(indexed.source.files(p).map(e => e.fileName -> e.sizeBytes.toInt).toMap === files.toMap)
      }
      indexed.view.partitions.foreach { p =>
        assert(indexed.view.latestMergedFileSlices(p) === listed.view.latestMergedFileSlices(p))
        hudiidx.table.SlicesOfSizes.check(indexed.view, p)
        assert(indexed.view.latestBaseFiles(p) === listed.view.latestBaseFiles(p))
        indexed.table.timeline.completed.map(i => Some(i.requestedTime)).foreach { at =>
          assert(indexed.view.latestBaseFiles(p, at) === listed.view.latestBaseFiles(p, at))
        }
        assert(indexed.view.allFileSlices(p) === listed.view.allFileSlices(p))
      }
    } finally { indexed.close(); listed.close() }
  }

  def delete(dir: Path): Unit = {
    val walk = Files.walk(dir)
    try walk.iterator.asScala.toVector.reverse.foreach(Files.deleteIfExists)
    finally walk.close()
  }
}
