package hudiidx.hadoop.record

import java.util.BitSet

import hudiidx.record._
import hudiidx.storage.Storage
import hudiidx.store.{IndexFile, IndexStore, IndexVersion}
import hudiidx.sync._

/** The hash groups after an update.
  *
  *  @param files  of all groups, a group's deltas oldest first
  *  @param groups how many there are
  *  @param gained mappings more than before, by the counts of files
  */
private[record] final case class ChangedGroups(files: Vector[IndexFile], groups: Int, gained: Long)

/** Groups to be written anew: one, or neighbours that become one.
  *
  *  @param mostParts so many groups may come of it
  */
private[record] final case class GroupJob(groups: Vector[RecordGroup], step: GroupStep, mostParts: Int)

/** Writes an update's changes into the hash groups: a delta each, and where the rules say so merged deltas, a new base, two
  * groups or more for one, or one for neighbours. Groups that the changes do not reach keep their files.
  */
private[record] final class GroupUpdate(
    engine: TaskEngine,
    state: IndexState,
    before: IndexVersion,
    groups: Vector[RecordGroup],
    settings: RecordSettings
) {
  private val dir = state.store.dir

  def run(runs: Vector[String], dictionary: GrowingDictionary): ChangedGroups = {
    val deltas = engine.run(s"write record changes of ${groups.size} hash groups", groups.zipWithIndex)(
      GroupUpdate.deltas(dir, state.instant, before, runs)
    )
    val grown = groups.zip(deltas).map { case (g, delta) => g.copy(deltas = g.deltas ++ delta.map(_.file)) }
    val jobs = GroupUpdate.jobs(settings.plan, grown, settings.leastGroups.getOrElse(1))
    val live = if (jobs.isEmpty) new BitSet else liveOrdinals(dictionary)
    val done = engine.run("merge record changes", jobs)(GroupUpdate.steps(dir, state.instant, settings.plan, live))
    val rewritten = jobs.flatMap(_.groups.map(_.range)).toSet
    val kept = grown.filterNot(g => rewritten(g.range))
    ChangedGroups(
      kept.flatMap(_.files) ++ done.flatMap(_.files),
      kept.size + done.map(_.groups).sum,
      deltas.flatten.map(d => d.stats.entries - 2 * d.stats.removes).sum + done.map(_.gained).sum
    )
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

private[record] object GroupUpdate {

  private def step(plan: RecordPlan, group: RecordGroup): GroupStep =
    plan.step(group.base.fold(0L)(_.sizeBytes), group.deltas.map(_.sizeBytes), group.range)

  /** What is to be written anew.
    *
    *  @param leastGroups merges leave at least so many
    */
  def jobs(plan: RecordPlan, groups: Vector[RecordGroup], leastGroups: Int): Vector[GroupJob] = {
    val steps = groups.map(step(plan, _))
    val splits = steps.count(_ == GroupStep.Split)
    // Runs name their group in a few bits, so the number of groups has an end.
    val mostParts = if (splits == 0) 1 else 1 + (HashRange.MaxGroups - groups.size) / splits
    val due = groups.indices.filter(i => steps(i) == GroupStep.NewBase).toSet
    val joined = plan.neighbours(groups.map(_.sizeBytes), due, leastGroups)
    val inJoined = joined.flatten.toSet
    val single = groups.indices.filterNot(inJoined).filter(steps(_) != GroupStep.Keep).map { i =>
      val allowed = if (mostParts > 1) steps(i) else step(plan.withoutSplits, groups(i))
      GroupJob(Vector(groups(i)), allowed, mostParts)
    }
    joined.map(run => GroupJob(run.map(groups).toVector, GroupStep.NewBase, 1)) ++ single.filter(
      _.step != GroupStep.Keep
    )
  }

  def deltas(
      dir: String,
      instant: String,
      before: IndexVersion,
      runs: Vector[String]
  ): (TableAccess, (RecordGroup, Int)) => Option[WrittenGroup] = { case (access, (group, number)) =>
    val store = new IndexStore(access.storage, dir)
    val index = RecordIndex.open(before, store, access.cache)
    try
      new GroupWriter(store, instant).deltaOfRuns(
        group.range,
        number,
        runs.map(name => () => access.storage.open(Storage.join(dir, name))),
        index
      )
    finally index.close()
  }

  def steps(dir: String, instant: String, plan: RecordPlan, live: BitSet): (TableAccess, GroupJob) => ChangedGroups = {
    (access, job) =>
      val store = new IndexStore(access.storage, dir)
      new GroupRewrite(store, new GroupWriter(store, instant), plan, live).run(job)
  }
}

/** Carries out a job. */
private final class GroupRewrite(store: IndexStore, writer: GroupWriter, plan: RecordPlan, live: BitSet) {

  def run(job: GroupJob): ChangedGroups = {
    val group = job.groups.head
    job.step match {
      case GroupStep.Keep              => ChangedGroups(group.files, 1, 0)
      case GroupStep.MergeDeltas(from) =>
        val merged = writer.mergeDeltas(group, from)
        val before = writer.mappings(group.deltas.drop(from))
        val after = merged.stats.entries - 2 * merged.stats.removes
        ChangedGroups(group.base.toVector ++ group.deltas.take(from) :+ merged.file, 1, after - before)
      case GroupStep.NewBase => changed(job, Vector(writer.newBase(job.groups, live.get)))
      case GroupStep.Split   => changed(job, split(group, job.mostParts))
    }
  }

  private def changed(job: GroupJob, bases: Vector[WrittenGroup]): ChangedGroups =
    ChangedGroups(
      bases.map(_.file),
      bases.size,
      bases.map(_.stats.entries).sum - writer.mappings(job.groups.flatMap(_.files))
    )

  /** Two halves, and halves of these as long as they are due: an update may bring many times a group's size. */
  private def split(group: RecordGroup, mostParts: Int): Vector[WrittenGroup] = {
    val (lower, upper) = writer.split(group, live.get)
    Vector(lower, upper).flatMap { half =>
      if (mostParts < 4 || !plan.splits(half.file.sizeBytes, half.range)) Vector(half)
      else {
        val parts = split(RecordGroup(half.range, Some(half.file), Vector.empty), mostParts / 2)
        store.delete(half.file)
        parts
      }
    }
  }
}
