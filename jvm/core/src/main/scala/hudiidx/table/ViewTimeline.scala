package hudiidx.table

import hudiidx.{TableChanged, TableFormat}
import hudiidx.timeline.{Action, ActiveTimeline, Instant, InstantContents, InstantTime}
import java.io.FileNotFoundException
import java.nio.file.NoSuchFileException
import java.util.{HashMap => JMap, HashSet => JSet}

/** File groups named by the plans of pending instants, each with the requested time of its instant. */
final case class PendingPlans(compaction: Map[FileGroup, String], clustering: Map[FileGroup, String])

object PendingPlans {
  val None: PendingPlans = PendingPlans(Map.empty, Map.empty)
}

/** All that a timeline says about what is visible, pinned: it never changes after it is made. Format notes §2.4, §5.
  *
  *  The visible timeline is that of stock Hudi's own queries: completed commits and replacecommits, on merge-on-read
  *  tables also completed deltacommits, and compactions in any state.
  *
  *  @param history completion time of an instant that is no longer on the active timeline; None where unknown.
  *                 Asked again for each log file that needs it, so it should remember its answers
  */
final class ViewTimeline private (
    val format: TableFormat,
    val mergeOnRead: Boolean,
    val plans: PendingPlans,
    completions: JMap[String, String],
    baseWrites: JSet[String],
    pendingCompactions: JSet[String],
    pendingWrites: JSet[String],
    start: String,
    val lastInstant: Option[String],
    undone: JSet[String],
    // Opens files, so it is not sent along: listing rules, which are sent, never ask it.
    @transient private val history: String => Option[String]
) extends Serializable {

  /** Log files of version 6 bear the instant of their slice, those of later versions the instant of their write. */
  val slicesByName: Boolean = !format.logsOfOneWrite

  /** True if a log file of this instant is known to bear that of its slice: on version 6, where it is a compaction's or another's
    * that writes base files alone. Its slice may have lost its base file.
    */
  private[table] def isOfSlice(instant: String): Boolean = slicesByName && baseWrites.contains(instant)

  private val compactionByPartition: JMap[String, JMap[String, String]] = {
    val byPartition = new JMap[String, JMap[String, String]]()
    plans.compaction.foreach { case (group, instant) =>
      byPartition.computeIfAbsent(group.partitionPath, _ => new JMap[String, String]()).put(group.fileId, instant)
    }
    byPartition
  }

  /** The start of the visible timeline: an instant before it was archived. None on an empty timeline. */
  def startInstant: Option[String] = Option(start)

  /** True if files of this instant are there for readers: it completed, or it is older than the timeline's start, where
    *  archiving leaves completed instants only. An instant that the timeline shows pending is never committed.
    */
  def isCommitted(instant: String): Boolean =
    completions.containsKey(instant) || (isBeforeStart(instant) && !pendingWrites.contains(instant))

  /** True if a file slice of this instant is visible: as `isCommitted`, or a compaction that is still pending. */
  def isVisible(instant: String): Boolean = isCommitted(instant) || pendingCompactions.contains(instant)

  /** True for an instant that a restore took off the timeline of a table since version 8. Blocks of it may lie in log files that
    * version 6 named, each for several writes: a restore to before the table's upgrade leaves them there.
    */
  def isUndone(instant: String): Boolean = undone.contains(instant) && !completions.containsKey(instant)

  def isPendingWrite(instant: String): Boolean = pendingWrites.contains(instant)

  def isPendingCompaction(instant: String): Boolean = pendingCompactions.contains(instant)

  /** The same without history, for tasks elsewhere: they cannot reach the archive, and a listing does not need it. */
  def withoutHistory: ViewTimeline = new ViewTimeline(
    format,
    mergeOnRead,
    plans,
    completions,
    baseWrites,
    pendingCompactions,
    pendingWrites,
    start,
    lastInstant,
    undone,
    ViewTimeline.NoHistory
  )

  private def isBeforeStart(instant: String): Boolean = start != null && instant.compareTo(start) < 0

  /** When the writer of a committed file completed. In order: active timeline, what the source knows, history, and for
    *  instants that none of them knows the requested time itself. Never earlier than the requested time.
    */
  def completionTime(file: FileEntry): String = {
    val instant = file.instantTime
    val active = completions.get(instant)
    val known =
      if (active != null && !active.isEmpty) active
      else if (file.completionTime.isDefined) file.completionTime.get
      else history(instant).getOrElse(instant)
    // A completion time of another length cannot be ordered against requested times; one before the request can only
    // come from a clock or zone that changed.
    if (known.length != instant.length || known.compareTo(instant) < 0) instant else known
  }

  /** Completion time of a write that is completed on the active timeline; None for others, and where layout 1 keeps none. */
  def activeCompletionTime(instant: String): Option[String] = Option(completions.get(instant)).filter(_.nonEmpty)

  /** Pending compaction instants of one partition by file id; null if there are none. */
  private[table] def compactionsOf(partitionPath: String): JMap[String, String] =
    compactionByPartition.get(partitionPath)
}

object ViewTimeline {

  private val NoHistory: String => Option[String] = _ => scala.None

  private val CowActions = Set(Action.Commit, Action.ReplaceCommit)

  /** With the plans of the timeline's pending compactions and clusterings. Errors as `InstantContents`; TableChanged if a plan went away
    * since the timeline was listed: what was written since may go by it.
    */
  def load(
      config: TableConfig,
      timeline: ActiveTimeline,
      contents: InstantContents,
      history: String => Option[String]
  ): ViewTimeline = {
    val compaction = for {
      instant <- timeline.pending(Action.Compaction)
      group <- stillThere(config, instant)(contents.compactionPlan(instant))
    } yield FileGroup(group.partitionPath, group.fileId) -> instant.requestedTime
    // On layout 1 a pending clustering has the name of a replacecommit; only its plan tells.
    val clustering = for {
      instant <- timeline.pending(Action.Clustering) ++ timeline.pending(Action.ReplaceCommit)
      group <- stillThere(config, instant)(contents.clusteringPlan(instant)).getOrElse(Vector.empty)
    } yield FileGroup(group.partitionPath, group.fileId) -> instant.requestedTime
    ViewTimeline(
      timeline,
      config.format,
      config.isMergeOnRead,
      PendingPlans(compaction.toMap, clustering.toMap),
      withFileTimes(timeline, config, history),
      if (config.format.logsOfOneWrite) restoredAway(timeline, contents) else Vector.empty
    )
  }

  private def stillThere[A](config: TableConfig, plan: Instant)(read: => A): A =
    try read
    catch {
      case e @ (_: NoSuchFileException | _: FileNotFoundException) =>
        throw new TableChanged(
          s"${config.file}: the plan of the ${plan.action} ${plan.requestedTime} went away while the table was being read, since it was rolled " +
            "back or archived; read the table again",
          e
        )
    }

  private def restoredAway(timeline: ActiveTimeline, contents: InstantContents): Vector[String] =
    timeline.completed.filter(_.action == Action.Restore).flatMap(contents.restore(_).undone)

  /** Layout 1 has completion times in none of its names. A downgrade by stock Hudi, which leaves log files of version 8
    * or later behind a pending compaction, gives them to the files of the instants as the times of their last change. A
    * copy of such a table that lost these has later ones: all log files are in the last slice then, and lose nothing.
    */
  private[table] def withFileTimes(
      timeline: ActiveTimeline,
      config: TableConfig,
      history: String => Option[String]
  ): String => Option[String] =
    if (timeline.layout != 1) history
    else {
      lazy val times = timeline.completedWrites.flatMap { i =>
        val millis = timeline.completedMillis(i, config.timelineZone)
        millis.map(m => i.requestedTime -> InstantTime.format(m, config.timelineZone))
      }.toMap
      instant => times.get(instant).orElse(history(instant))
    }

  def apply(
      timeline: ActiveTimeline,
      format: TableFormat,
      mergeOnRead: Boolean,
      plans: PendingPlans = PendingPlans.None,
      history: String => Option[String] = NoHistory,
      undone: Vector[String] = Vector.empty
  ): ViewTimeline = {
    val actions = if (mergeOnRead) Action.Writes else CowActions
    val completed = timeline.completed.filter(i => actions(i.action))
    val pending = timeline.instants.filter(i => !i.isCompleted && Action.PendingWrites(i.action))
    val compactions = pending.filter(_.action == Action.Compaction).map(_.requestedTime)
    val visible = (completed.map(_.requestedTime) ++ compactions).sorted
    val savepoints = timeline.instants.collect { case i if i.action == Action.Savepoint => i.requestedTime }.toSet
    // Archiving moves past savepointed commits, so they do not mark the start unless nothing else is left.
    val start = visible.find(t => !savepoints(t)).orElse(visible.headOption).orNull
    val completions = new JMap[String, String]()
    completed.foreach(i => completions.put(i.requestedTime, i.completionTime.getOrElse("")))
    new ViewTimeline(
      format,
      mergeOnRead,
      plans,
      completions,
      setOf(completed.filter(_.action != Action.DeltaCommit).map(_.requestedTime)),
      setOf(compactions),
      setOf(pending.map(_.requestedTime).filter(t => !completions.containsKey(t))),
      start,
      visible.lastOption,
      setOf(undone),
      history
    )
  }

  private def setOf(values: Vector[String]): JSet[String] = {
    val set = new JSet[String]()
    values.foreach(set.add)
    set
  }
}
