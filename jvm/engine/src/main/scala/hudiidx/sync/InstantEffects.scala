package hudiidx.sync

import hudiidx.manifest.ManifestChanges
import hudiidx.storage.Storage
import hudiidx.store.{Coverage, InstantId}
import hudiidx.table.FileName
import hudiidx.table.listing.ListingRules
import hudiidx.timeline._

/** Turns completed instants into changes of the table's files, taken in the order in which they completed.
  *  Format notes §3.3.
  */
final class InstantEffects {
  val changes = new ManifestChanges
  private var removed = Set.empty[String]
  private var unsized = Set.empty[(String, String)]

  /** Requested times of the instants that a rollback or restore took off the timeline. */
  def removedInstants: Set[String] = removed

  def take(instant: Instant, content: InstantContent): Unit = instant.action match {
    case Action.Commit | Action.DeltaCommit | Action.ReplaceCommit => write(instant, content.commit)
    case Action.Clean                                              => clean(content.clean)
    case Action.Rollback                                           => rollback(content.rollback)
    case Action.Restore                                            =>
      val restore = content.restore
      removed ++= restore.removedInstants
      restore.rollbacks.foreach(rollback)
    case _ => ()
  }

  /** Asks storage for sizes of log files of failed writes, which a rollback's metadata does not tell (it says 1). Such a
    *  file that is gone by now is dropped.
    */
  def resolveSizes(storage: Storage, tablePath: String): Unit = {
    unsized.foreach { case (partition, name) =>
      val found = storage.status(Storage.join(Storage.join(tablePath, partition), name))
      found.flatMap(f => FileName.parse(partition, name, f.sizeBytes)).foreach(changes.of(partition).add)
    }
    unsized = Set.empty
  }

  /** Ends what replacements did that an index version covers and that were taken back since, but for file groups that another
    * one on the timeline replaced too. Views pass their marks over while the timeline begins before them; later they would take
    * them for those of archived instants.
    */
  def unmark(coverage: Coverage, table: TableContext): Unit = {
    val takenBack = removed.filter(t => coverage.covers(InstantId(t, Action.ReplaceCommit)))
    if (takenBack.nonEmpty) {
      val others = ListingRules.replacements(table.timeline, table.contents)
      changes.unmark(
        takenBack,
        (partition, fileId) => Option(others.get(partition)).flatMap(g => Option(g.get(fileId)))
      )
    }
  }

  private def write(instant: Instant, metadata: CommitMetadata): Unit = {
    metadata.writeStats.foreach { stat =>
      stat.fileName.foreach(name => add(instant, stat.partitionPath, name, stat.fileSizeBytes))
      stat.cdcFiles.foreach { case (name, size) => add(instant, stat.partitionPath, name, size) }
    }
    metadata.replacedFileIds.foreach { case (partition, fileIds) =>
      fileIds.foreach(id => changes.of(partition).replace(id, instant.requestedTime))
    }
  }

  private def add(instant: Instant, partition: String, name: String, size: Long): Unit =
    FileName.parse(partition, name, size).foreach { entry =>
      val own = !entry.isBase && entry.instantTime == instant.requestedTime
      changes.of(partition).add(if (own) entry.copy(completionTime = instant.completionTime) else entry)
    }

  private def clean(metadata: CleanMetadata): Unit = metadata.partitions.foreach { case (partition, cleaned) =>
    val change = changes.of(partition)
    cleaned.deletedFileNames.foreach(change.remove)
    if (cleaned.isPartitionDeleted) change.clear()
  }

  private def rollback(metadata: RollbackMetadata): Unit = {
    removed ++= metadata.commitsRolledBack
    metadata.partitions.foreach { case (partition, rolledBack) =>
      val change = changes.of(partition)
      rolledBack.deletedFileNames.foreach(change.remove)
      rolledBack.logFiles.foreach { case (name, size) => FileName.parse(partition, name, size).foreach(change.add) }
      unsized ++= rolledBack.failedLogFiles.keys.map(name => partition -> name)
    }
  }
}

object InstantEffects {

  /** What changed since an index version. */
  def since(coverage: Coverage, unseen: Vector[UnseenInstant], table: TableContext): ManifestChanges = {
    val effects = new InstantEffects
    unseen.foreach(u => effects.take(u.instant, u.content))
    effects.resolveSizes(table.storage, table.tablePath)
    effects.unmark(coverage, table)
    effects.changes
  }
}
