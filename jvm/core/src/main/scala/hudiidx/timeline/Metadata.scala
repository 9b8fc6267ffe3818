package hudiidx.timeline

import hudiidx.DamagedTable

/** What one write did to one file. `path` is relative to the table's base path; None in inflight profiles.
  *
  *  @param logOffset of a log file: where this write began in it
  *  @param cdcFiles change-data files of the same write: name without folder -> size in bytes (`cdcStats`)
  */
final case class WriteStat(
    fileId: String,
    partitionPath: String,
    path: Option[String],
    prevCommit: Option[String],
    baseFile: Option[String],
    fileSizeBytes: Long,
    numWrites: Long,
    numInserts: Long,
    numUpdateWrites: Long,
    numDeletes: Long,
    cdcFiles: Map[String, Long] = Map.empty,
    logOffset: Long = 0L
) {

  /** Rows were inserted or changed. */
  def gotRows: Boolean = numInserts > 0 || numUpdateWrites > 0

  /** The file's name without its folder. */
  def fileName: Option[String] = path.map(p => p.substring(p.lastIndexOf('/') + 1)).filter(_.nonEmpty)

  /** It wrote rows or deletes, and does not say to which file. Stock Hudi passes such stats over. */
  def isUnnamed: Boolean = fileName.isEmpty && (numWrites > 0 || numDeletes > 0)

  /** As `fileName`; DamagedTable for a completed write that says of rows that they are there, and not in which file. */
  def requireFileName(instant: String, table: String): Option[String] = {
    if (isUnnamed)
      throw new DamagedTable(
        s"$table: the commit $instant wrote rows of file group '$fileId' in partition '$partitionPath' and does not name their file, so that " +
          "what it changed cannot be told; read a snapshot, or roll the commit back with Hudi"
      )
    fileName
  }
}

/** Looks at what a commit says that it wrote, and raises where that cannot be read here. */
trait WrittenCheck {

  /** @param source the file of the instant, for messages */
  def apply(source: String, stat: WriteStat): Unit
}

object WrittenCheck {
  val None: WrittenCheck = new WrittenCheck {
    override def apply(source: String, stat: WriteStat): Unit = ()
  }
}

/** Content of a completed commit, deltacommit, replacecommit, compaction or clustering. Format notes §3.1. */
final case class CommitMetadata(
    writeStats: Vector[WriteStat],
    replacedFileIds: Map[String, Vector[String]],
    extraMetadata: Map[String, String],
    operationType: Option[String]
)

object CommitMetadata {
  val Empty: CommitMetadata = CommitMetadata(Vector.empty, Map.empty, Map.empty, None)
}

/** Files that a clean removed: names only, by partition path. */
final case class CleanMetadata(partitions: Map[String, CleanedPartition], earliestCommitToRetain: Option[String])

final case class CleanedPartition(deletedFileNames: Vector[String], isPartitionDeleted: Boolean)

/** A rollback's effect by partition path; file names without folders, sizes in bytes.
  *
  * @param startTime when it began, as an instant
  */
final case class RollbackMetadata(
    commitsRolledBack: Vector[String],
    partitions: Map[String, RolledBackPartition],
    startTime: Option[String] = None
)

/** @param logFiles log files written by the rollback itself (command blocks), with sizes
  *  @param failedLogFiles log files of the failed commit that stay on storage (version 6), with sizes that may be wrong
  */
final case class RolledBackPartition(
    deletedFileNames: Vector[String],
    logFiles: Map[String, Long],
    failedLogFiles: Map[String, Long]
)

/** @param removedInstants requested times of the instants that the restore took off the timeline
  * @param rollbacks       in the order in which they ran: one may add to a log file that a later one removes
  */
final case class RestoreMetadata(removedInstants: Vector[String], rollbacks: Vector[RollbackMetadata]) {

  /** Requested times of all that it undid. */
  def undone: Vector[String] = removedInstants ++ rollbacks.flatMap(_.commitsRolledBack)
}

/** One file group of a compaction or clustering plan.
  *
  * @param baseFile name of the slice's base file, if it has one
  * @param logFiles names of its log files
  */
final case class PlannedFileGroup(
    partitionPath: String,
    fileId: String,
    baseInstantTime: Option[String],
    baseFile: Option[String] = None,
    logFiles: Vector[String] = Vector.empty
)
