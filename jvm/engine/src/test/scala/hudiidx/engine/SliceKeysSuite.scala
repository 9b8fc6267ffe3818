package hudiidx.engine

import hudiidx.engine.record.SliceKeysOptions
import hudiidx.engine.record.SliceKeys
import hudiidx.engine.record.KeySink
import java.nio.charset.StandardCharsets.UTF_8

import scala.collection.mutable

import hudiidx.hfile.BlockCache
import hudiidx.storage.LocalStorage
import hudiidx.store.IndexVersion
import hudiidx.sync._
import hudiidx.sync.build.Indexer
import hudiidx.table._
import hudiidx.timeline.{Instant, InstantContents}
import hudiidx.{DamagedTable, Figures, Fixtures}
import org.scalatest.funsuite.AnyFunSuite

/** Live keys of file slices, and their changes from instant to instant, on every table that stock Hudi wrote. */
class SliceKeysSuite extends AnyFunSuite {
  import SliceKeysSuite._

  for (name <- Fixtures.sampled(this)) {
    test(s"$name: keys of every slice are stock Hudi's, now and as of each instant") {
      val table = Fixtures.table(name)
      val snapshot = TableSnapshot.open(access, table, IndexOptions(enabled = false))
      val answers = Fixtures.json(name)
      try {
        val found = liveRows(snapshot, table, None)
        if (answers.path("snapshot").has("count")) assert(found.size === answers.path("snapshot").path("count").asInt)
        if (answers.has("key_location")) {
          val stock = LogKeysFixtureSuite.keyLocations(answers.path("key_location"))
          if (stock.size == found.size) assert(found.sorted === stock.sorted)
          else assert(stock.toSet -- found === Set.empty)
          Figures.add("keys of files where stock Hudi has them", stock.size.toLong)
        }
        LogKeysFixtureSuite.stockKeys(answers.path("snapshot").path("rows")).foreach { stock =>
          assert(found.map(_._1).sorted === stock.sorted)
        }
        StockAnswers.elements(answers.path("time_travel")).filter(_.has("count")).foreach { answer =>
          val asOf = answer.path("as_of").asText()
          assert(liveRows(snapshot, table, Some(asOf)).size === answer.path("count").asInt, s"as of $asOf")
        }
      } finally snapshot.close()
    }

    test(s"$name: changes read at any instant lead from the keys of any earlier one to the keys then") {
      val steps = new Steps(Fixtures.copy(name))
      val known = steps.all.filter(s => s.keys.isDefined && s.canBe)
      for {
        (later, n) <- known.zipWithIndex
        earlier <- (if (n % 3 == 0) Vector(n - 1, n / 2, 0) else Vector(n - 1)).filter(i => i >= 0 && i < n).distinct
      } assert(steps.update(known(earlier), later) === later.visibleKeys, s"from $earlier to $n of those known")
    }
  }

  for (
    name <- Fixtures.sampled(
      this,
      Fixtures.good.filter(
        _.matches("v[89]-(cow-part|cow-replace|mor-part|mor-event|moved-mor|virtual-cow|mor-log-only)")
      ),
      oneOf = 2
    )
  )
    test(s"$name: a rollback of a write that was taken in leads back to the keys before it") {
      val numbers = new Steps(Fixtures.copy(name)).undoable
      assert(numbers.nonEmpty)
      // Replacements in full, since groups come back with them.
      val tried = if (name.endsWith("replace")) numbers else numbers.takeRight(2)
      tried.foreach { n =>
        val steps = new Steps(Fixtures.copy(name))
        val after = steps.rollBack(n)
        assert(steps.update(steps.all(n), after) === steps.all(n - 1).visibleKeys, s"behind $n instants")
      }
    }
}

private object SliceKeysSuite {
  type Keys = Map[FileGroup, Set[String]]

  /** Small, so that the fixtures take several passes; bounded below by what a page of a Parquet file takes. */
  private val options = SliceKeysOptions(days = true, budgetBytes = 5000)

  def access: TableAccess = Tables.access(LocalStorage, new BlockCache(4 << 20))

  private final class Collected extends KeySink {
    val added = mutable.ArrayBuffer.empty[String]
    val removed = mutable.ArrayBuffer.empty[String]

    override def add(bytes: Array[Byte], from: Int, length: Int, day: Int, mayBeDeleted: Boolean): Unit =
      added += new String(bytes, from, length, UTF_8)

    override def remove(bytes: Array[Byte], from: Int, length: Int): Unit =
      removed += new String(bytes, from, length, UTF_8)
  }

  private def slicesOf(snapshot: TableSnapshot, asOf: Option[String]): Vector[FileSlice] =
    snapshot.view.partitions.flatMap(snapshot.view.latestMergedFileSlices(_, asOf))

  private def sliceKeys(snapshot: TableSnapshot, table: String, asOf: Option[String]): SliceKeys =
    new SliceKeys(
      LocalStorage,
      table,
      snapshot.config,
      TableMergeRules.blocks(snapshot.config, snapshot.viewTimeline, asOf),
      options
    )

  /** (key, partition path, file id) of every row. */
  def liveRows(snapshot: TableSnapshot, table: String, asOf: Option[String]): Vector[(String, String, String)] = {
    val keys = sliceKeys(snapshot, table, asOf)
    slicesOf(snapshot, asOf).flatMap { slice =>
      val found = new Collected
      keys.live(slice)(found)
      found.added.toVector.map((_, slice.partitionPath, slice.fileId))
    }
  }

  /** A table as of a number of its instants, oldest completion first.
    *
    * @param keys None if a later clean took files that a reader needed then
    */
  final case class Step(
      version: IndexVersion,
      table: TableContext,
      slices: Map[FileGroup, FileSlice],
      files: Map[String, Array[FileEntry]],
      reader: SliceKeys,
      keys: Option[Keys]
  ) {
    def visibleKeys: Keys = keys.get

    /** Archiving leaves writes on the active timeline: one that has other instants alone is no table's. */
    def canBe: Boolean = table.timeline.start.isDefined || table.timeline.completed.isEmpty
  }

  /** Every step of a table's timeline, listed from the instants' metadata alone: a listing would miss cleaned files. */
  final class Steps(table: String) {
    private val indexOptions = IndexOptions(strict = true, source = "listing")
    private val timeline = new TimelineCut(table)
    private val config = TableConfig.read(LocalStorage, table)
    private val contents = new InstantContents(LocalStorage, config.timelineDir(table))
    private val mergesAlike = GroupWork.mergesAlike(config)

    val all: Vector[Step] = {
      timeline.showFirst(0)
      val indexer = new Indexer(access, table, indexOptions)
      indexer.create()
      val steps = (0 to timeline.size).toVector.map { n =>
        timeline.showFirst(n)
        val version = indexer.update().version
        val snapshot = TableSnapshot.open(access, table, indexOptions)
        try stepOf(version, snapshot)
        finally snapshot.close()
      }
      timeline.showAll()
      steps
    }

    /** Numbers of steps whose last instant is a write that a rollback can undo. */
    def undoable: Vector[Int] =
      (1 until all.size).toVector.filter { n =>
        val steps = Vector(all(n - 1), all(n))
        steps.forall(s => s.keys.isDefined && s.table.timeline.start.isDefined) && lastWrite(n).isDefined
      }

    private def lastWrite(n: Int): Option[Instant] =
      all(n).table.completed
        .diff(all(n - 1).table.completed)
        .find(i => TableContext.Writes(i.action) && !contents.commit(i).operationType.contains("COMPACT"))

    /** Undoes the last write of a step for good. */
    def rollBack(n: Int): Step = {
      val write = lastWrite(n).get
      timeline.showFirst(n)
      Rollbacks.rollBack(table, write)
      val snapshot = TableSnapshot.open(access, table, IndexOptions(enabled = false))
      try stepOf(all(n).version, snapshot)
      finally snapshot.close()
    }

    private def stepOf(version: IndexVersion, snapshot: TableSnapshot): Step = {
      val slices = slicesOf(snapshot, None).map(s => FileGroup(s.partitionPath, s.fileId) -> s).toMap
      val files = snapshot.view.partitions.map(p => p -> snapshot.source.files(p)).toMap
      val reader = sliceKeys(snapshot, table, None)
      val keys =
        try Some(slices.map { case (group, slice) => group -> liveKeys(reader, slice) })
        catch { case _: DamagedTable => None }
      Step(version, snapshot.table, slices, files, reader, keys)
    }

    private def liveKeys(reader: SliceKeys, slice: FileSlice): Set[String] = {
      val found = new Collected
      reader.live(slice)(found)
      found.added.toSet
    }

    /** The earlier step's keys, led to the later one as an index would be: keys of groups that are visible then. */
    def update(earlier: Step, later: Step): Keys = {
      val state = mutable.Map(earlier.visibleKeys.toSeq: _*)
      val dirty = dirtyGroups(earlier, later)
      dirty.touches.foreach { case (group, touch) =>
        def baseOn(instant: String) = later.files
          .getOrElse(group.partitionPath, Array.empty[FileEntry])
          .find(f => f.isBase && f.fileId == group.fileId && f.instantTime == instant)
          .map(f => BaseFile(f.partitionPath, f.fileId, f.instantTime, f.fileName, f.sizeBytes))
        val work = GroupWork.of(touch, later.slices.get(group), baseOn, config.populateMetaFields, mergesAlike)
        val changes = new Collected
        later.reader.settled(work) match {
          case all: GroupWork.All =>
            later.reader.changes(all)(changes)
            state(group) = changes.added.toSet
          case other =>
            later.reader.changes(other)(changes)
            val both = changes.added.toSet.intersect(changes.removed.toSet)
            require(both.isEmpty, s"both added and removed: $both")
            if (other != GroupWork.Unchanged)
              state(group) = state.getOrElse(group, Set.empty[String]) ++ changes.added -- changes.removed
        }
      }
      if (dirty.revives)
        later.slices.foreach { case (group, slice) => state.getOrElseUpdate(group, liveKeys(later.reader, slice)) }
      later.slices.keys.map(group => group -> state.getOrElse(group, Set.empty[String])).toMap
    }

    private def dirtyGroups(earlier: Step, later: Step): DirtyGroups = SyncPlan.of(earlier.version, later.table) match {
      case IndexStatus.Usable(unseen)     => DirtyGroups.of(earlier.version.coverage, unseen)
      case IndexStatus.Diverged(fallback) => throw new AssertionError(fallback.why)
    }
  }
}
