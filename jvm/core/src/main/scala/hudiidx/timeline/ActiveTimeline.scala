package hudiidx.timeline

/** The instants on a table's active timeline, one entry each in its highest state, by (requested time, action).
  *
  *  @param dir    folder of the instant files: `<table>/.hoodie`, or the timeline folder of layout 2
  *  @param layout 1 (table version 6) or 2 (8 and later)
  */
final class ActiveTimeline(val dir: String, val layout: Int, val instants: Vector[Instant]) {

  val completed: Vector[Instant] = instants.filter(_.isCompleted)

  /** Completed instants that write data: commit, deltacommit, replacecommit. */
  val completedWrites: Vector[Instant] = completed.filter(i => ActiveTimeline.WriteActions(i.action))

  private val savepoints: Set[String] = instants.collect {
    case i if i.action == Action.Savepoint => i.requestedTime
  }.toSet

  /** Smallest requested time that is not a savepoint's: archiving moves past savepointed commits and leaves holes.
    *  None on an empty timeline.
    */
  val start: Option[String] = instants.collectFirst { case i if !savepoints(i.requestedTime) => i.requestedTime }

  private val completedWriteTimes: Map[String, Instant] = completedWrites.map(i => i.requestedTime -> i).toMap

  def isCompletedWrite(instantTime: String): Boolean = completedWriteTimes.contains(instantTime)

  /** True if the instant is a completed write or lies before the start: an archived instant counts as committed, since
    *  archiving never leaves a failed write behind. Format notes §2.4.
    */
  def isCommitted(instantTime: String): Boolean =
    isCompletedWrite(instantTime) || start.exists(instantTime < _)

  /** Completion time of a completed write on this timeline. */
  def completionTime(instantTime: String): Option[String] =
    completedWriteTimes.get(instantTime).flatMap(_.completionTime)

  def pending(action: String): Vector[Instant] = instants.filter(i => !i.isCompleted && i.action == action)

  def lastCompletedWrite: Option[Instant] = completedWrites.lastOption
}

object ActiveTimeline {
  private val WriteActions = Set(Action.Commit, Action.DeltaCommit, Action.ReplaceCommit)
}
