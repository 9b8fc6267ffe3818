package hudiidx.write

import hudiidx.WriteConflict
import hudiidx.sync.TableContext
import hudiidx.table.TableConfig
import hudiidx.timeline.{Action, Instant}
import org.slf4j.LoggerFactory

/** Writes that somebody began and did not end. Ours whose heartbeat stopped are rolled back; whether a stock writer is still
  * at work nobody can tell, so it is left to stock Hudi.
  */
private[write] final class PendingWrites(table: TableContext, heartbeats: Heartbeats, options: HeartbeatOptions) {
  private val log = LoggerFactory.getLogger(classOf[OpenWrite])
  private val known = heartbeats.all

  /** @param isAlone a pending write that may be alive is a WriteConflict */
  def settle(isAlone: Boolean): Unit = {
    val now = System.currentTimeMillis()
    val pending = table.timeline.instants.filter(PendingWrites.isWrite)
    pending.foreach { i =>
      known.find(_.instant == i.requestedTime) match {
        case Some(beat) if beat.isOurs && isSilent(beat, now) =>
          log.warn(
            "{}: the write {} failed, its writer is silent; it is rolled back",
            table.tablePath,
            i.requestedTime: Any
          )
          Rollback.run(table, i.requestedTime, WriteKind.of(i))
        case _ if !isAlone             => ()
        case Some(beat) if beat.isOurs => throw alive(i, s"was alive ${(now - beat.lastMillis) / 1000} s ago")
        case _                         => throw PendingWrites.isAtWork(table.tablePath, i)
      }
    }
    // Compactions and clusterings go on beside writes.
    sweep(table.timeline.instants.filterNot(_.isCompleted).map(_.requestedTime).toSet, now)
  }

  private def isSilent(beat: Heartbeat, now: Long): Boolean = now - beat.lastMillis > options.expiryMillis

  /** Heartbeats and markers of writes that are no more: their writers ended between two steps of the end. */
  private def sweep(pending: Set[String], now: Long): Unit =
    known.filter(b => b.isOurs && !pending(b.instant) && isSilent(b, now)).foreach { b =>
      new Markers(table.storage, table.tablePath, table.config.version, b.instant).delete()
      heartbeats.delete(b.instant)
    }

  private def alive(i: Instant, how: String): WriteConflict = new WriteConflict(
    s"${table.tablePath}: another writer's ${i.action} ${i.requestedTime} is pending, it $how; write again when it is done, " +
      s"or, if that writer ended, when it has been silent for ${options.expiryMillis / 1000} s: then it is rolled back"
  )
}

private[write] object PendingWrites {
  private val Actions = Set(Action.Commit, Action.DeltaCommit, Action.ReplaceCommit, Action.Restore, Action.Indexing)

  /** Who builds a part of the metadata table would take a write that has its delta commit there for one that it need not
    * look at. Plans of compaction and clustering stand beside writes; before version 8 those of clustering look like other
    * replacements.
    */
  def isWrite(i: Instant): Boolean = !i.isCompleted && Actions(i.action)

  /** A writer that is not ours may be at work. */
  def isAtWork(tablePath: String, i: Instant): WriteConflict = {
    val ended =
      if (i.action == Action.Indexing) "drop that index with stock Hudi (HoodieIndexer: --mode dropindex)"
      else "stock Hudi rolls it back with its next write (or hudi-cli: commit rollback)"
    new WriteConflict(
      s"$tablePath: the ${i.action} ${i.requestedTime} of another writer is pending; write again when it is done. If that " +
        s"writer ended, $ended"
    )
  }
}

/** Takes a pending write of ours away, a compaction back to its plan. Each step may be the last one of a process: the next rollback does the rest. */
private[write] object Rollback {

  /** The write's writer may be alive after all, and complete it at any step of this one: it says first that the write is over,
    * which the writer asks behind its completion. WriteConflict if there is one by then; one that comes later is taken away,
    * also where its writer ends before it asks.
    */
  def run(table: TableContext, instant: String, kind: WriteKind): Unit = {
    val storage = table.storage
    val markers = new Markers(storage, table.tablePath, table.config.version, instant)
    def completions =
      OpenWrite.completions(storage, table.timeline.dir, table.config, instant, kind.completed)
    new Heartbeats(storage, table.tablePath).end(instant)
    def isRemade: Boolean = kind == WriteKind.Replace &&
      TableConfig.read(storage, table.tablePath).timelineDir(table.tablePath) != table.timeline.dir
    if (completions.nonEmpty || isRemade)
      throw new WriteConflict(
        s"${table.tablePath}: the write $instant of a late writer completed just now; write again"
      )
    markers.deleteOthers(Set.empty)
    MetadataTableWriter.undo(storage, table.tablePath, instant)
    // The inflight file goes before the requested one, so that what is left is pending until the end.
    val states = if (kind.keepsPlan) Vector(".inflight") else Vector(".inflight", ".requested")
    states.foreach(state => storage.delete(s"${table.timeline.dir}/$instant.${kind.pending}$state"))
    completions.foreach(storage.delete)
    markers.clear(Set.empty)
  }
}
