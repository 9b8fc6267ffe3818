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

  /** Smallest requested time of a completed write that is not a savepoint's: archiving moves past savepointed commits and
    *  leaves holes. None where there is no such write.
    */
  val start: Option[String] = completedWrites.collectFirst { case i if !savepoints(i.requestedTime) => i.requestedTime }

  private val completedWriteTimes: Set[String] = completedWrites.map(_.requestedTime).toSet

  def isCompletedWrite(instantTime: String): Boolean = completedWriteTimes(instantTime)

  def pending(action: String): Vector[Instant] = instants.filter(i => !i.isCompleted && i.action == action)
}

object ActiveTimeline {
  private val WriteActions = Set(Action.Commit, Action.DeltaCommit, Action.ReplaceCommit)
}
