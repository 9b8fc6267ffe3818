package hudiidx.sync

import hudiidx.DamagedIndex
import hudiidx.manifest.ManifestChanges
import hudiidx.storage.Storage
import hudiidx.store.{Coverage, InstantId}
import hudiidx.table.{FileEntry, FileName}
import hudiidx.table.listing.{ListingRules, SizeCheck}
import hudiidx.timeline._

/** Turns completed instants into changes of the table's files, taken in the order in which they completed.
  *  Format notes §3.3.
  */
final class InstantEffects {
  val changes = new ManifestChanges
  private var removed = Set.empty[String]
  // With the bytes that they have at least.
  private var unsized = Set.empty[FileEntry]
  private var unnamed = Option.empty[String]

  /** Requested times of the instants that a rollback or restore took off the timeline. */
  def removedInstants: Set[String] = removed

  /** The first instant that wrote rows and does not say to which file: what changed is not known then. */
  def unnamedWrite: Option[String] = unnamed

  /** @param isArchived it is no longer on the active timeline */
  def take(instant: Instant, content: InstantContent, isArchived: Boolean = false): Unit = instant.action match {
    case Action.Commit | Action.DeltaCommit | Action.ReplaceCommit => write(instant, content.commit, isArchived)
    case Action.Clean                                              => clean(content.clean)
    case Action.Rollback                                           => rollback(content.rollback)
    case Action.Restore                                            =>
      val restore = content.restore
      removed ++= restore.removedInstants
      restore.rollbacks.foreach(rollback)
    case _ => ()
  }

  /** Asks storage for sizes of log files of failed writes, which a rollback's metadata does not tell (it says 1), and of base files
    * of which a commit tells a size that hardly is one. Such a file that is gone by now is dropped. DamagedTable for a base file that is
    * shorter than its commit tells.
    */
  def resolveSizes(storage: Storage, tablePath: String): Unit = {
    unsized.flatMap(SizeCheck.measuredWhole(storage, tablePath, _)).foreach(f => changes.of(f.partitionPath).add(f))
    unsized = Set.empty
  }

  /** Ends what replacements did that an index version covers and that were rolled back since, but for file groups that another
    * one on the timeline replaced too. Views skip their marks while the timeline begins before them; later they would take
    * them for those of archived instants.
    */
  def unmark(coverage: Coverage, table: TableContext): Unit = {
    val takenBack = removed.filter(t => coverage.covers(InstantId(t, Action.ReplaceCommit)))
    if (takenBack.nonEmpty) {
      val others = ListingRules.replacements(table.timeline.completedWrites, table.contents)
      changes.unmark(
        takenBack,
        (partition, fileId) => Option(others.get(partition)).flatMap(g => Option(g.get(fileId)))
      )
    }
  }

  private def write(instant: Instant, metadata: CommitMetadata, isArchived: Boolean): Unit = {
    metadata.writeStats.foreach { stat =>
      if (stat.isUnnamed) unnamed = unnamed.orElse(Some(instant.requestedTime))
      stat.fileName.foreach(name => add(instant, stat.partitionPath, name, stat.fileSizeBytes))
      stat.cdcFiles.foreach { case (name, size) => add(instant, stat.partitionPath, name, size) }
    }
    instant.replaces(metadata).foreach { case (partition, fileIds) =>
      fileIds.foreach { id =>
        if (isArchived) changes.replaceArchived(partition, id, instant.requestedTime, isCovered = false)
        else changes.of(partition).replace(id, instant.requestedTime)
      }
    }
  }

  private def add(instant: Instant, partition: String, name: String, size: Long): Unit =
    FileName.parse(partition, name, size).foreach { entry =>
      val own = !entry.isBase && entry.instantTime == instant.requestedTime
      if (entry.isBase && !FileEntry.isUsual(size)) unsized += entry
      else changes.of(partition).add(if (own) entry.copy(completionTime = instant.completionTime) else entry)
    }

  private def clean(metadata: CleanMetadata): Unit = metadata.partitions.foreach { case (partition, cleaned) =>
    val change = changes.of(partition)
    cleaned.deletedFileNames.foreach(change.clean)
    if (cleaned.isPartitionDeleted) change.cleanAll()
  }

  private def rollback(metadata: RollbackMetadata): Unit = {
    removed ++= metadata.commitsRolledBack
    metadata.partitions.foreach { case (partition, rolledBack) =>
      val change = changes.of(partition)
      rolledBack.deletedFileNames.foreach(change.remove)
      rolledBack.logFiles.foreach { case (name, size) => FileName.parse(partition, name, size).foreach(change.add) }
      unsized ++= rolledBack.failedLogFiles.keys.flatMap(FileName.parse(partition, _, 0L))
    }
  }
}

object InstantEffects {

  /** What changed since an index version. DamagedIndex where the version and its instants do not make up the table. */
  def since(coverage: Coverage, unseen: Vector[UnseenInstant], table: TableContext): ManifestChanges = {
    val effects = new InstantEffects
    table.contents.fetch(unseen.map(_.instant))
    unseen.foreach(u => effects.take(u.instant, u.content, u.isArchived))
    effects.unnamedWrite.foreach { instant =>
      throw new DamagedIndex(s"instant $instant wrote rows to a file that it does not name: an index cannot follow it")
    }
    effects.removedInstants.find(table.timeline.completedWrites.map(_.requestedTime).toSet).foreach { instant =>
      throw new DamagedIndex(
        s"instant $instant is on the timeline, and a rollback took it off: an index cannot follow that"
      )
    }
    unseen.foreach(u => doubtRollbacks(u, table, effects.changes))
    effects.resolveSizes(table.storage, table.tablePath)
    effects.unmark(coverage, table)
    replaceLate(coverage, unseen, table, effects.changes)
    def isCovered(time: String) = TableContext.Writes.exists(a => coverage.covers(InstantId(time, a)))
    replaceArchived(coverage, table, effects)
    effects.changes.rollBack(effects.removedInstants.filter(isCovered), table.config.format.logsOfOneWrite)
    effects.changes
  }

  /** Of the replacements that the index covers those that were archived since: by then what they replaced is cleaned, but for what a
    * savepoint keeps.
    */
  private def replaceArchived(coverage: Coverage, table: TableContext, effects: InstantEffects): Unit = {
    val active = table.timeline.instants.map(_.requestedTime).toSet ++ effects.removedInstants
    val gone = coverage.covered.collect {
      case i if i.action == Action.ReplaceCommit && !active(i.requestedTime) => i.requestedTime
    }
    if (gone.nonEmpty)
      table.archivedFrom(gone.min).filter(a => gone.contains(a.requestedTime)).map(UnseenInstant.archived).foreach {
        u =>
          for ((partition, fileIds) <- u.instant.replaces(u.content.commit); id <- fileIds)
            effects.changes.replaceArchived(partition, id, u.instant.requestedTime, isCovered = true)
      }
  }

  /** What comes to a group that another writer replaced meanwhile is replaced with it, as in a listing. A replacement that the index covers
    * may be such a one if it is later than the request of a write that comes now, as a compaction's plan. Those among the unseen mark the
    * group themselves.
    */
  private def replaceLate(
      coverage: Coverage,
      unseen: Vector[UnseenInstant],
      table: TableContext,
      changes: ManifestChanges
  ): Unit = {
    def isCovered(i: Instant) = coverage.covers(InstantId(i.requestedTime, i.action))
    val covered = table.timeline.completedWrites.filter(i => i.action == Action.ReplaceCommit && isCovered(i))
    // It decodes rollbacks: most tables have no replacement.
    val first = if (covered.isEmpty) None else requestOfFirst(unseen)
    val late = covered.filter(i => first.exists(i.completionTime.getOrElse(i.requestedTime) > _))
    if (late.nonEmpty) {
      table.contents.fetch(late)
      changes.replaceAdded(ListingRules.replacements(late, table.contents))
    }
  }

  /** Of the writes, and of those whose logs a rollback adds. */
  private def requestOfFirst(unseen: Vector[UnseenInstant]): Option[String] = {
    def rolledBack(u: UnseenInstant) = u.instant.action match {
      case Action.Rollback => u.content.rollback.commitsRolledBack
      case Action.Restore  => u.content.restore.rollbacks.flatMap(_.commitsRolledBack)
      case _               => Vector.empty
    }
    unseen
      .filter(u => TableContext.Relevant(u.instant.action) && u.instant.action != Action.Clean)
      .flatMap(u => rolledBack(u) :+ u.instant.requestedTime)
      .reduceOption((a, b) => if (a < b) a else b)
  }

  /** A rollback removes what its commits wrote. A log of several commits bears the time of its slice, and tells nothing. */
  private def doubtRollbacks(unseen: UnseenInstant, table: TableContext, changes: ManifestChanges): Unit = {
    val rollbacks = unseen.instant.action match {
      case Action.Rollback => Vector(unseen.content.rollback)
      case Action.Restore  => unseen.content.restore.rollbacks
      case _               => Vector.empty
    }
    for {
      rollback <- rollbacks
      ofRollback = rollback.commitsRolledBack.toSet
      (partition, rolledBack) <- rollback.partitions
      name <- rolledBack.deletedFileNames
      file <- FileName.parse(partition, name, 0L)
      if (file.isBase || table.config.format.logsOfOneWrite) && !ofRollback(file.instantTime)
    } changes.of(partition).doubt(name)
  }
}
