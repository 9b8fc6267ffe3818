package hudiidx.timeline

/** States of an instant, in the order in which it passes through them. */
sealed abstract class InstantState(val ordinal: Int, val name: String) extends Product with Serializable
object InstantState {
  case object Requested extends InstantState(0, "REQUESTED")
  case object Inflight extends InstantState(1, "INFLIGHT")
  case object Completed extends InstantState(2, "COMPLETED")
}

/** Action names as they stand in instant file names. */
object Action {
  val Commit = "commit"
  val DeltaCommit = "deltacommit"
  val Compaction = "compaction"
  val LogCompaction = "logcompaction"
  val ReplaceCommit = "replacecommit"
  val Clustering = "clustering"
  val Clean = "clean"
  val Rollback = "rollback"
  val Restore = "restore"
  val Savepoint = "savepoint"
  val Indexing = "indexing"

  /** Of completed instants that write data. */
  val Writes: Set[String] = Set(Commit, DeltaCommit, ReplaceCommit)

  /** Of pending ones that run a plan, which stays in the requested file. */
  val Plans: Set[String] = Set(Compaction, LogCompaction, Clustering)

  /** Of pending ones that will. */
  val PendingWrites: Set[String] = Writes ++ Plans
}

/** One action on the table, in its highest state on storage.
  *
  *  @param requestedTime  instant time as text (17 digits, old tables 14); ordered as a string
  *  @param action         for completed instants the name in the file (a completed compaction is a `commit`)
  *  @param completionTime layout 2: from the file name, or the file's modification time where the name has none;
  *                        layout 1: None. Always None when pending
  *  @param fileName       name of the instant file below the timeline folder
  */
final case class Instant(
    requestedTime: String,
    action: String,
    state: InstantState,
    completionTime: Option[String],
    fileName: String
) {
  def isCompleted: Boolean = state == InstantState.Completed

  /** File ids by partition path that it replaces, of what its content says: replacecommits alone replace anything. */
  def replaces(content: CommitMetadata): Map[String, Vector[String]] =
    if (action == Action.ReplaceCommit) content.replacedFileIds else Map.empty
}
