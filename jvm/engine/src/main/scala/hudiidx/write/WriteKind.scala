package hudiidx.write

import hudiidx.timeline.{Action, Instant}
import hudiidx.write.format.ReplaceRequest

/** What a write is on the timeline.
  *
  * @param pending   action while it is not complete
  * @param completed action from then on
  * @param keepsPlan its requested file is a plan, which outlives a failed try
  */
sealed abstract class WriteKind(val pending: String, val completed: String, val keepsPlan: Boolean) {

  /** What errors call it.
    *
    * @param instant None: it has none yet
    */
  def told(instant: Option[String]): String = instant.fold(s"a $pending")(i => s"the $pending $i")

  /** Of the requested file. */
  private[write] def requested: Array[Byte] = Array.emptyByteArray
}

object WriteKind {
  case object Delta extends WriteKind(Action.DeltaCommit, Action.DeltaCommit, keepsPlan = false)

  /** Takes the place of file groups that are there. */
  case object Replace extends WriteKind(Action.ReplaceCommit, Action.ReplaceCommit, keepsPlan = false) {
    override private[write] def requested: Array[Byte] = ReplaceRequest.content
  }

  /** Stands on the timeline while a compaction is planned, so that no other write begins, and is rolled back. */
  case object Planning extends WriteKind(Action.DeltaCommit, Action.DeltaCommit, keepsPlan = false) {
    override def told(instant: Option[String]): String = "the planning of a compaction"
  }

  case object Compaction extends WriteKind(Action.Compaction, Action.Commit, keepsPlan = true)

  /** Of a pending write that is no compaction. */
  private[write] def of(i: Instant): WriteKind = if (i.action == Action.ReplaceCommit) Replace else Delta
}
