package hudiidx.engine.record

import java.util.BitSet

import hudiidx.record._
import hudiidx.storage.CarriedFiles
import hudiidx.store.{IndexFile, IndexStore, IndexVersion}
import hudiidx.sync._

/** The hash groups after an update.
  *
  *  @param files  of all groups, a group's deltas oldest first
  *  @param groups how many there are
  *  @param gained mappings more than before, by the counts of files
  *  @param deltas counts of the update's changes
  *  @param stored deltas that a store has
  */
private[record] final case class ChangedGroups(
    files: Vector[IndexFile],
    groups: Int,
    gained: Long,
    deltas: Vector[RecordFileStats] = Vector.empty,
    stored: Vector[IndexFile] = Vector.empty
)

/** A hash group, by its number, and the runs that have changes of it.
  *
  *  @param folder where its delta goes that only serves to make a new base at once; None: the delta is to stay
  */
private[record] final case class GroupChange(
    number: Int,
    range: HashRange,
    runs: Vector[IndexFile],
    folder: Option[String]
)

/** Groups to be written anew: one, or neighbours that become one.
  *
  *  @param mostParts so many groups may come of it
  */
private[record] final case class GroupJob(groups: Vector[HashGroup], step: GroupStep, mostParts: Int) {

  /** Only then it matters which mappings live. */
  def writesBase: Boolean = step == GroupStep.NewBase || step == GroupStep.Split
}

/** Writes an update's changes into the hash groups: a delta each, and where the rules say so merged deltas, a new base, two
  * groups or more for one, or one for neighbours. Groups that the changes do not reach keep their files.
  *
  *  @param folder   of files that serve only this update, below the index folder
  *  @param firstDay mappings of records from before it are left out of new bases; None: there is no window
  */
private[record] final class HashGroupUpdate(
    engine: TaskEngine,
    state: IndexState,
    before: IndexVersion,
    groups: Vector[HashGroup],
    settings: RecordSettings,
    folder: String,
    firstDay: Option[Int]
) {
  private val dir = state.store.dir

  def run(changes: ChangeRuns, dictionary: GrowingDictionary): ChangedGroups = {
    val (deltas, carried) = writeDeltas(changes)
    val byGroup = deltas.map(d => d.range -> d.file).toMap
    val grown = groups.map(g => byGroup.get(g.range).fold(g)(file => g.copy(deltas = g.deltas :+ file)))
    val jobs = HashGroupUpdate.jobs(settings.plan, grown, settings.leastGroups.getOrElse(1))
    val live = LiveMappings(if (jobs.exists(_.writesBase)) liveOrdinals(dictionary) else new BitSet, firstDay)
    val shares = Shares.ofBytes(jobs, engine.parallelism)(_.groups.map(_.sizeBytes).sum)
    val done = engine
      .run(s"merge changes of ${jobs.size} hash groups", shares)(
        HashGroupUpdate.steps(dir, state.instant, settings.plan, live, carried)
      )
      .flatten
    val rewritten = jobs.flatMap(_.groups.map(_.range)).toSet
    val kept = grown.filterNot(g => rewritten(g.range))
    // Such a file goes when the update ends.
    require(!kept.exists(_.files.exists(_.name.startsWith(folder))), s"a delta in $folder is not merged")
    ChangedGroups(
      kept.flatMap(_.files) ++ done.flatMap(_.files),
      kept.size + done.map(_.groups).sum,
      deltas.map(d => d.stats.entries - 2 * d.stats.removes).sum + done.map(_.gained).sum,
      deltas.map(_.stats),
      Carrying.stored(deltas.map(_.file), dir, carried)
    )
  }

  /** A delta each for the groups that runs have entries of and that these change, and the content of those that no store has; other
    * groups are not looked at.
    */
  private def writeDeltas(from: ChangeRuns): (Vector[WrittenGroup], Map[String, Array[Byte]]) = {
    val named = from.runs.flatMap(r => r.groups.map(_ -> r.file)).groupBy(_._1)
    val changes = named.toVector.sortBy(_._1).map { case (n, found) =>
      val group = groups(n)
      val isPassing =
        settings.plan.rewritesAtOnce(group.base.fold(0L)(_.sizeBytes), group.deltas.map(_.sizeBytes), group.range)
      GroupChange(n, group.range, found.map(_._2), if (isPassing) Some(folder) else None)
    }
    val written = engine.run(
      s"write record changes of ${changes.size} hash groups",
      Shares.ofBytes(changes, engine.parallelism)(_ => 1L)
    )(HashGroupUpdate.deltas(dir, state.instant, before, from.carried, changes.size))
    (written.flatMap(_._1), written.flatMap(_._2).toMap)
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

private[record] object HashGroupUpdate {

  private def step(plan: RecordPlan, group: HashGroup): GroupStep =
    plan.step(group.base.fold(0L)(_.sizeBytes), group.deltas.map(_.sizeBytes), group.range)

  /** What is to be written anew.
    *
    *  @param leastGroups merges leave at least so many
    */
  def jobs(plan: RecordPlan, groups: Vector[HashGroup], leastGroups: Int): Vector[GroupJob] = {
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
      carried: Map[String, Array[Byte]],
      groups: Int
  ): (TableAccess, Vector[GroupChange]) => (Vector[WrittenGroup], Map[String, Array[Byte]]) = { (access, share) =>
    val carrying = new CarriedFiles(access.storage, carried)
    val store = new IndexStore(carrying, dir)
    val index = RecordIndex.open(before, store, access.cache)
    val runs = new BufferedRuns(store)
    val isCarrying = Carrying.isFor(access.storage, dir, groups)
    def writer(c: GroupChange) = {
      val isSmall = isCarrying && CarriedFiles.isSmall(c.runs.map(_.sizeBytes).sum)
      new HashGroupWriter(if (isSmall) store else new IndexStore(access.storage, dir), instant)
    }
    try {
      val written = share.flatMap(c =>
        writer(c).deltaOfRuns(c.range, c.number, c.runs.map(run => () => runs.open(run)), index, c.folder)
      )
      (written, carrying.made)
    } finally index.close()
  }

  def steps(
      dir: String,
      instant: String,
      plan: RecordPlan,
      live: LiveMappings,
      carried: Map[String, Array[Byte]]
  ): (TableAccess, Vector[GroupJob]) => Vector[ChangedGroups] = { (access, share) =>
    val store = new IndexStore(new CarriedFiles(access.storage, carried), dir)
    val rewrite = new GroupRewrite(store, new HashGroupWriter(store, instant), plan, live)
    share.map(rewrite.run)
  }
}

/** Mappings that readers may still ask for; sent to tasks.
  *
  *  @param ordinals of file groups that have files
  *  @param firstDay of the window
  */
private[record] final case class LiveMappings(ordinals: BitSet, firstDay: Option[Int]) {
  def apply(ordinal: Int, stamp: Int): Boolean =
    ordinals.get(ordinal) && (firstDay.isEmpty || stamp == 0 || stamp >= firstDay.get)
}

/** Carries out a job. */
private final class GroupRewrite(store: IndexStore, writer: HashGroupWriter, plan: RecordPlan, live: LiveMappings) {

  def run(job: GroupJob): ChangedGroups = {
    val group = job.groups.head
    job.step match {
      case GroupStep.Keep              => ChangedGroups(group.files, 1, 0)
      case GroupStep.MergeDeltas(from) =>
        val merged = writer.mergeDeltas(group, from)
        val before = writer.mappings(group.deltas.drop(from))
        val after = merged.stats.entries - 2 * merged.stats.removes
        ChangedGroups(group.base.toVector ++ group.deltas.take(from) :+ merged.file, 1, after - before)
      case GroupStep.NewBase => changed(job, Vector(writer.newBase(job.groups, live(_, _))))
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
  private def split(group: HashGroup, mostParts: Int): Vector[WrittenGroup] = {
    val (lower, upper) = writer.split(group, live(_, _))
    Vector(lower, upper).flatMap { half =>
      if (mostParts < 4 || !plan.splits(half.file.sizeBytes, half.range)) Vector(half)
      else {
        val parts = split(HashGroup(half.range, Some(half.file), Vector.empty), mostParts / 2)
        store.delete(half.file)
        parts
      }
    }
  }
}
