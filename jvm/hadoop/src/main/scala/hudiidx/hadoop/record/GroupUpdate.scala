package hudiidx.hadoop.record

import java.util.BitSet

import hudiidx.record._
import hudiidx.store.{IndexFile, IndexStore, IndexVersion}
import hudiidx.sync._

/** A hash group after an update.
  *
  *  @param gained mappings more than before, as far as its files tell
  */
private[record] final case class ChangedGroup(files: Vector[IndexFile], ranges: Int, gained: Long)

/** Writes an update's changes into the hash groups: a delta each, and where the rules say so merged deltas, a new base, or
  * two groups for one. Groups that the changes do not reach keep their files.
  */
private[record] final class GroupUpdate(
    engine: TaskEngine,
    state: IndexState,
    before: IndexVersion,
    groups: Vector[RecordGroup],
    folder: ChangeFolder
) {
  private val dir = state.store.dir

  def run(runs: Vector[String], dictionary: GrowingDictionary): Vector[ChangedGroup] = {
    val deltas = engine.run(s"write record changes of ${groups.size} hash groups", groups.zipWithIndex)(
      GroupUpdate.deltas(dir, state.instant, before, folder.path, runs)
    )
    val grown = groups.zip(deltas).map { case (g, delta) =>
      (g.copy(deltas = g.deltas ++ delta.map(_.file)), delta.fold(0L)(d => d.stats.entries - 2 * d.stats.removes))
    }
    val due = grown.filter(g => GroupUpdate.step(g._1) != GroupStep.Keep).map(_._1)
    val live = if (due.isEmpty) new BitSet else liveOrdinals(dictionary)
    val stepped = engine.run("merge record changes", due)(GroupUpdate.steps(dir, state.instant, live))
    val replaced = due.map(_.range).zip(stepped).toMap
    grown.map { case (group, gained) =>
      replaced.get(group.range) match {
        case Some(files) =>
          val ranges = math.max(1, files.count(_.kind == RecordKind.Base))
          ChangedGroup(files, ranges, gained)
        case None => ChangedGroup(group.files, 1, gained)
      }
    }
  }

  /** Ordinals whose file groups a reader of any instant may still see: those that have files. */
  private def liveOrdinals(dictionary: GrowingDictionary): BitSet = {
    val live = new BitSet
    var partition: String = null
    var ids = Set.empty[String]
    dictionary.foreachCurrent { (ordinal, group) =>
      if (group.partitionPath != partition) {
        partition = group.partitionPath
        ids = state.view.source.files(partition).iterator.map(_.fileId).toSet
      }
      if (ids(group.fileId)) live.set(ordinal)
    }
    live
  }
}

private object GroupUpdate {
  private val plan = RecordPlan()

  def step(group: RecordGroup): GroupStep =
    plan.step(group.base.fold(0L)(_.sizeBytes), group.deltas.map(_.sizeBytes), group.range)

  def deltas(
      dir: String,
      instant: String,
      before: IndexVersion,
      folder: String,
      runs: Vector[String]
  ): (TableAccess, (RecordGroup, Int)) => Option[WrittenGroup] = { case (access, (group, number)) =>
    val store = new IndexStore(access.storage, dir)
    val index = RecordIndex.open(before, store, access.cache)
    try
      new GroupWriter(store, instant).deltaOfRuns(
        group.range,
        number,
        runs.map(name => () => ChangeTasks.open(access, folder, name)),
        index
      )
    finally index.close()
  }

  /** The files of a group, or of the two that it became. */
  def steps(dir: String, instant: String, live: BitSet): (TableAccess, RecordGroup) => Vector[IndexFile] = {
    (access, group) =>
      val writer = new GroupWriter(new IndexStore(access.storage, dir), instant)
      step(group) match {
        case GroupStep.Keep              => group.files
        case GroupStep.MergeDeltas(from) =>
          group.base.toVector ++ group.deltas.take(from) :+ writer.mergeDeltas(group, from).file
        case GroupStep.NewBase => Vector(writer.newBase(Seq(group), live.get).file)
        case GroupStep.Split   =>
          val (lower, upper) = writer.split(group, live.get)
          Vector(lower.file, upper.file)
      }
  }
}
