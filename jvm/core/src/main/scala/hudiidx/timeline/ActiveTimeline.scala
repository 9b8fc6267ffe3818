package hudiidx.timeline

import java.time.ZoneId

import hudiidx.storage.FileInfo

/** The instants on a table's active timeline, one entry each in its highest state, by (requested time, action).
  *
  *  @param dir    folder of the instant files: `<table>/.hoodie`, or the timeline folder of layout 2
  *  @param layout 1 (table version 6) or 2 (8 and later)
  *  @param modified when the files of completed instants were last modified, in epoch milliseconds by file name; of those alone
  *                  whose completion time does not tell the moment
  *  @param unfinished files of instants that hudiidx has not given their name yet, or never will: their writer was killed; and those
  *                  that say that a plan is run which is not there any more
  *  @param listed  files of completed instants as the listing showed them, by name
  */
final class ActiveTimeline(
    val dir: String,
    val layout: Int,
    val instants: Vector[Instant],
    modified: Map[String, Long] = Map.empty,
    val unfinished: Vector[FileInfo] = Vector.empty,
    listed: Map[String, FileInfo] = Map.empty
) {

  /** The file of a completed instant, which nobody changes any more; None where no listing showed it with content. */
  def file(name: String): Option[FileInfo] = listed.get(name).filter(_.sizeBytes > 0)

  val completed: Vector[Instant] = instants.filter(_.isCompleted)

  /** Completed instants that write data: commit, deltacommit, replacecommit. */
  val completedWrites: Vector[Instant] = completed.filter(i => Action.Writes(i.action))

  private val savepoints: Set[String] = instants.collect {
    case i if i.action == Action.Savepoint => i.requestedTime
  }.toSet

  /** Smallest requested time of a completed write that is not a savepoint's: archiving moves past savepointed commits and
    *  leaves holes. None where there is no such write.
    */
  val start: Option[String] = completedWrites.collectFirst { case i if !savepoints(i.requestedTime) => i.requestedTime }

  private val completedWriteTimes: Set[String] = completedWrites.map(_.requestedTime).toSet

  def isCompletedWrite(instantTime: String): Boolean = completedWriteTimes(instantTime)

  /** When a completed instant completed, in epoch milliseconds: by its completion time, read in the table's zone, or else, as
    *  layout 1 has none, by its file, which also tells which of two moments a completion time means. None where neither is
    *  known.
    */
  def completedMillis(instant: Instant, zone: ZoneId): Option[Long] = instant.completionTime match {
    case Some(time) => InstantTime.toMillis(time, zone, near = modified.get(instant.fileName))
    case None       => modified.get(instant.fileName)
  }

  def pending(action: String): Vector[Instant] = instants.filter(i => !i.isCompleted && i.action == action)
}
