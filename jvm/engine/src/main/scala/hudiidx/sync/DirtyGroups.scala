package hudiidx.sync

import hudiidx.store.{Coverage, InstantId}
import hudiidx.table.{FileGroup, FileKind, FileName}
import hudiidx.timeline.{Action, CommitMetadata, RestoreMetadata, RollbackMetadata}
import scala.collection.mutable

/** What instants did to one file group, as far as its keys may have changed by it.
  *
  * @param created      a write made the group: the index can know no keys of it from before
  * @param rolledBack   a write that the index has taken in was rolled back or restored away
  * @param compacted    a compaction wrote a base file; the live keys stay, if it merges as readers do
  * @param inserts      rows that writes inserted by new base files
  * @param updates      rows that writes updated in new base files; 0 unless commit times count, see [[DirtyGroups]]
  * @param deletes      rows that writes deleted by new base files
  * @param previousBase instant of the base file that the first of these inserts or deletes went out from
  * @param logFiles     names of the log files that they wrote to, in the order of the instants
  * @param instants     requested times of the writes, those that only updated included: an updated row bears their instant,
  *                     whoever inserted it
  * @param compactions  requested times of the compactions, since rows may bear theirs; empty unless commit times count
  */
final case class GroupTouch(
    created: Boolean = false,
    rolledBack: Boolean = false,
    compacted: Boolean = false,
    inserts: Long = 0,
    updates: Long = 0,
    deletes: Long = 0,
    previousBase: Option[String] = None,
    logFiles: Vector[String] = Vector.empty,
    instants: Set[String] = Set.empty,
    compactions: Set[String] = Set.empty
) {
  def mayChangeKeys: Boolean = compacted || wasWritten

  /** @param mergesAlike compactions keep live keys as readers see them, see [[GroupWork]] */
  def mayChangeKeys(mergesAlike: Boolean): Boolean =
    wasWritten || (compacted && !mergesAlike) || compactions.nonEmpty

  private def wasWritten: Boolean =
    created || rolledBack || inserts > 0 || updates > 0 || deletes > 0 || logFiles.nonEmpty
}

/** The file groups whose live keys may differ between an index and the table: those that the instants which the index has
  * not taken in touched with inserts, deletes, log blocks or compactions. Any other group has the keys that it had, since an
  * update keeps them and a clean removes none that are live. Replaced groups need nothing: they have no visible slice.
  * Where commit times count (the index has a window of days) a group that rows were updated in differs too.
  *
  * @param revives a replacement that the index knows was rolled back: groups are visible again that nothing here names, and
  *                of which the index may never have taken in what came before the replacement. So every visible group is to be
  *                read as one that was created
  */
final case class DirtyGroups(touches: Map[FileGroup, GroupTouch], revives: Boolean)

object DirtyGroups {

  /** Those of an index that covers these instants and has yet to take in others, which stand in the order in which they
    * completed. Reads the others' metadata.
    *
    * @param dated commit times of rows count as well
    */
  def of(coverage: Coverage, unseen: Vector[UnseenInstant], dated: Boolean = false): DirtyGroups = {
    def covers(time: String, action: String) = coverage.covers(InstantId(time, action))
    def isCovered(time: String) = TableContext.Writes.exists(covers(time, _))
    val builder = new DirtyGroupsBuilder(isCovered(_), covers(_, Action.ReplaceCommit), dated)
    unseen.foreach { u =>
      u.instant.action match {
        case write if TableContext.Writes(write) => builder.write(u.instant.requestedTime, u.content.commit)
        case Action.Rollback                     => builder.rollback(u.content.rollback)
        case Action.Restore                      => builder.restore(u.content.restore)
        case _                                   => ()
      }
    }
    builder.result
  }
}

/** Gathers the dirty groups from the metadata of instants, taken in the order in which they completed. Format notes §3.2, §3.3.
  *
  * @param isCovered  true for the requested time of a completed write that the index has taken in
  * @param isReplaced as `isCovered`, and the write may be a replacecommit
  * @param dated      commit times of rows count as well
  */
final class DirtyGroupsBuilder(isCovered: String => Boolean, isReplaced: String => Boolean, dated: Boolean = false) {
  private val touches = mutable.LinkedHashMap.empty[FileGroup, GroupTouch]
  private val logged = mutable.HashSet.empty[(FileGroup, String)]
  private var revives = false

  def result: DirtyGroups =
    DirtyGroups(touches.iterator.filter { case (_, touch) => touch.mayChangeKeys }.toMap, revives)

  /** A completed commit, deltacommit or replacecommit. */
  def write(instantTime: String, metadata: CommitMetadata): Unit = {
    val compaction = metadata.operationType.contains("COMPACT")
    for {
      stat <- metadata.writeStats
      name <- stat.fileName
      entry <- FileName.parse(stat.partitionPath, name, stat.fileSizeBytes)
    } {
      val group = FileGroup(stat.partitionPath, entry.fileId)
      if (entry.kind == FileKind.CdcLog) ()
      else if (!entry.isBase)
        touch(group) { t =>
          val names = if (logged.add(group -> name)) t.logFiles :+ name else t.logFiles
          t.copy(logFiles = names, instants = t.instants + instantTime)
        }
      else if (compaction)
        touch(group)(t =>
          t.copy(compacted = true, compactions = t.compactions ++ (if (dated) Some(instantTime) else None))
        )
      else if (stat.prevCommit.isEmpty) touch(group)(t => t.copy(created = true, instants = t.instants + instantTime))
      else {
        val changes = stat.numInserts > 0 || stat.numDeletes > 0
        touch(group) { t =>
          t.copy(
            inserts = t.inserts + stat.numInserts,
            updates = t.updates + (if (dated) stat.numUpdateWrites else 0),
            deletes = t.deletes + stat.numDeletes,
            previousBase = t.previousBase.orElse(stat.prevCommit.filter(_ => changes)),
            instants = t.instants + instantTime
          )
        }
      }
    }
  }

  /** A completed rollback. What the index never took in cannot have left keys in it. */
  def rollback(metadata: RollbackMetadata): Unit = {
    if (tookIn(metadata)) undo(metadata)
    revived(metadata.commitsRolledBack)
  }

  /** A completed restore. Stock Hudi's upgrade of a table from version 6 compacts it first. A restore to before that names the
    * compaction's base files, but not the logs below them, whose writes it rolls back as well: their groups are in what it undid
    * of a compaction that the index may never have taken in.
    */
  def restore(metadata: RestoreMetadata): Unit = {
    if (metadata.removedInstants.exists(isCovered) || metadata.rollbacks.exists(tookIn))
      metadata.rollbacks.foreach(undo)
    revived(metadata.undone)
  }

  // Older releases may leave the list empty.
  private def tookIn(metadata: RollbackMetadata): Boolean =
    metadata.commitsRolledBack.isEmpty || metadata.commitsRolledBack.exists(isCovered)

  private def undo(metadata: RollbackMetadata): Unit = metadata.partitions.foreach { case (partition, files) =>
    val names = files.deletedFileNames ++ files.logFiles.keys ++ files.failedLogFiles.keys
    names.flatMap(FileName.parse(partition, _, 0)).foreach { entry =>
      touch(FileGroup(partition, entry.fileId))(_.copy(rolledBack = true))
    }
  }

  private def revived(instantTimes: Iterable[String]): Unit = if (instantTimes.exists(isReplaced)) revives = true

  private def touch(group: FileGroup)(change: GroupTouch => GroupTouch): Unit =
    touches(group) = change(touches.getOrElse(group, GroupTouch()))
}
