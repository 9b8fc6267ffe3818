package hudiidx.write

import hudiidx.write.format.CompletedFiles
import hudiidx.{Elapsed, Log, WriteConflict}
import hudiidx.sync.TableContext
import hudiidx.table.TableConfig
import hudiidx.timeline.{Action, Instant, InstantName}

/** Writes that somebody began and did not end. What their writers decided is completed; ours that fell silent are rolled back;
  * whether a stock writer is still at work nobody can tell, so it is left to stock Hudi.
  *
  * @param known as listed before the table was loaded: of a plan that is on the timeline by then no record is taken for left over
  */
private[write] final class PendingWrites(
    table: TableContext,
    heartbeats: Heartbeats,
    known: Vector[Heartbeat],
    options: HeartbeatOptions
) {
  private val log = Log.of(classOf[OpenWrite])

  /** True if a write has become complete by it.
    *
    * @param isAlone a pending write that may be alive is a WriteConflict
    */
  def settle(isAlone: Boolean): Boolean = {
    val now = System.currentTimeMillis()
    val pending = table.timeline.instants.filter(PendingWrites.isWrite)
    val completed = pending.filter { i =>
      known.find(_.instant == i.requestedTime).filter(_.isOurs) match {
        case Some(beat)      => settleOurs(i, beat, now, isAlone)
        case None if isAlone => throw PendingWrites.isAtWork(table.tablePath, i)
        case None            => false
      }
    }
    // Compactions and clusterings go on beside writes.
    sweep(table.timeline.instants.filterNot(_.isCompleted).map(_.requestedTime).toSet, now)
    sweepTimeline(now)
    completeCompactions() | completed.nonEmpty
  }

  /** Those that are decided; true if there was one. */
  def completeCompactions(): Boolean = {
    val now = System.currentTimeMillis()
    table.timeline
      .pending(Action.Compaction)
      .filter { i =>
        known
          .find(_.instant == i.requestedTime)
          .exists(b => decided(b).exists(complete(i.requestedTime, b, WriteKind.Compaction, now, _)))
      }
      .nonEmpty
  }

  private def decided(beat: Heartbeat): Option[Epoch.Decided] =
    if (beat.last < 2) None
    else heartbeats.epochs.inForce(beat).collect { case d: Epoch.Decided => d }

  private def complete(instant: String, beat: Heartbeat, kind: WriteKind, now: Long, d: Epoch.Decided): Boolean = {
    log.warn("{}: the write {} was decided and is not complete; it is completed", table.tablePath, instant: Any)
    heartbeats.epochs.complete(instant, beat.last, d)
    if (isSilent(beat, now)) Rollback.finish(table, beat, kind, beat.last, d)
    Rollback.isCompletion(d)
  }

  /** True if it is complete now. */
  private def settleOurs(i: Instant, beat: Heartbeat, now: Long, isAlone: Boolean): Boolean = {
    if (isSilent(beat, now)) SameTime.requireNone(table, i.requestedTime, i.action)
    decided(beat) match {
      case Some(d)                                          => complete(i.requestedTime, beat, WriteKind.of(i), now, d)
      case _ if isSilent(beat, now) && isShared(i, isAlone) => false
      case _ if isSilent(beat, now)                         =>
        log.warn(
          "{}: the write {} failed, its writer is silent; it is rolled back",
          table.tablePath,
          i.requestedTime: Any
        )
        Rollback.run(table, beat, WriteKind.of(i))
      case _ if isAlone => throw alive(i, s"was alive ${Elapsed.text(now - beat.lastMillis)} ago")
      case _            => false
    }
  }

  /** A write that only stock Hudi can roll back stays pending beside those of several writers. */
  private def isShared(i: Instant, isAlone: Boolean): Boolean =
    Rollback.shared(table, i.requestedTime).exists { e =>
      if (isAlone) throw e
      log.warn("{}", e.getMessage)
      true
    }

  private def isSilent(beat: Heartbeat, now: Long): Boolean = options.lease.isOver(now - beat.lastMillis)

  /** Heartbeats, records and markers of writes that are not pending: they ended, or their writers did before the request. */
  private def sweep(pending: Set[String], now: Long): Unit =
    known
      .filter(b => b.isOurs && b.instant != LockOrder.Name && !pending(b.instant) && isSilent(b, now))
      .filterNot(endIfOpen)
      .foreach { b =>
        new Markers(table.storage, table.tablePath, table.config.format, b.instant).delete()
        heartbeats.remove(b.instant, b.epochs)
      }

  /** True if a write was open; it is over now. Its writer may be alive and about to request it: then it takes its files back by
    * the markers, or the next writer does, to whom the record says that it is over. A term later neither is needed.
    */
  private def endIfOpen(b: Heartbeat): Boolean = heartbeats.epochs.inForce(b).exists {
    case open: Epoch.Open =>
      heartbeats.epochs.follow(b.instant, b.last, open, Epoch.Over("sweep"))
      true
    case _ => false
  }

  /** What killed writers left beside instants of the timeline, without a name of their own or a plan. One that is as old as a writer
    * may be silent is no living writer's, unless its heartbeat says so.
    */
  private def sweepTimeline(now: Long): Unit = {
    val layout = table.timeline.layout
    val alive = known.filterNot(isSilent(_, now)).map(_.instant).toSet
    table.timeline.unfinished
      .filter(f => options.lease.isOver(now - f.modifiedMillis))
      .filterNot(f => InstantName.left(f.name, layout).exists(i => alive(i.requestedTime)))
      .foreach(f => table.storage.deleteOne(f.path))
  }

  private def alive(i: Instant, how: String): WriteConflict = new WriteConflict(
    s"${table.tablePath}: another writer's ${i.action} ${i.requestedTime} is pending, it $how; write again when it is done, " +
      s"or, if that writer ended, when it has been silent for ${Elapsed.text(options.lease.termMillis)}: then it is rolled back"
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

/** Ends pending writes of ours. Each step may be the last one of a process: the next one who comes does the rest. */
private[write] object Rollback {

  /** Takes a write away whose writer is taken for dead, and may be alive after all: a record says first that it never completes,
    * unless one says already that it does; then it is completed. True if it is complete.
    */
  def run(table: TableContext, beat: Heartbeat, kind: WriteKind): Boolean =
    if (beat.isEarlier) {
      runEarlier(table, beat.instant, kind)
      false
    } else if (beat.epochs.headOption.exists(_ > 1)) {
      // Records go by ascending numbers, the first while nothing is pending: the request came after that, and never completes.
      takeBackWhole(table, beat.instant, kind, beat.last)
      false
    } else
      end(table, beat) match {
        case Some(d: Epoch.Decided) =>
          finish(table, beat, kind, beat.last + 1, d)
          isCompletion(d)
        case None => false
        case _    =>
          takeBackWhole(table, beat.instant, kind, beat.last + 1)
          false
      }

  private def end(table: TableContext, beat: Heartbeat): Option[Epoch] = {
    val epochs = new Epochs(table.storage, table.tablePath)
    epochs.end(beat.instant, beat.last, "rollback") match {
      case Some(Epoch.Cut) =>
        // Its writer was told of no success, and did nothing by it.
        epochs.remove(beat.instant, Vector(beat.last))
        if (beat.last == 1) Some(Epoch.Over("rollback")) else epochs.end(beat.instant, beat.last - 1, "rollback")
      case other => other
    }
  }

  /** A plan may be decided by a write that is nothing else. */
  def isCompletion(d: Epoch.Decided): Boolean = !d.path.endsWith(".requested")

  /** Removes what is left beside a write that was decided, and whose writer is silent. */
  def finish(table: TableContext, beat: Heartbeat, kind: WriteKind, last: Int, d: Epoch.Decided): Unit =
    if (isCompletion(d)) {
      new Markers(table.storage, table.tablePath, table.config.format, beat.instant).delete()
      new Heartbeats(table.storage, table.tablePath).removeTo(beat.instant, last)
    } else takeBackWhole(table, beat.instant, kind, last)

  /** Removes a write that never completes, and its records: nobody begins it again.
    *
    * @param last number of them
    */
  def takeBackWhole(table: TableContext, instant: String, kind: WriteKind, last: Int): Unit = {
    takeBack(table, instant, kind, () => true)
    new Heartbeats(table.storage, table.tablePath).removeTo(instant, last)
  }

  /** Takes a compaction back to its plan. Its records stay, so that no late one of an earlier try takes a later try for its own;
    * that its heartbeat is gone says that the next may begin at once.
    *
    * @param last number of the record by which this is done
    */
  def takeBackToPlan(table: TableContext, instant: String, last: Int): Unit = {
    val heartbeats = new Heartbeats(table.storage, table.tablePath)
    takeBack(table, instant, WriteKind.Compaction, () => heartbeats.of(instant).exists(_.last == last))
    heartbeats.stop(instant)
  }

  /** None if nobody has appended to a file of the write. */
  def shared(table: TableContext, instant: String): Option[WriteConflict] = {
    val markers = new Markers(table.storage, table.tablePath, table.config.format, instant)
    shared(table, markers, markers.all, instant)
  }

  private def shared(table: TableContext, markers: Markers, announced: Vector[Marked], instant: String) =
    announced.find(m => markers.isShared(m.path)).map(m => SharedLogs.conflict(table.tablePath, instant, m.path))

  /** Removes what a write has done that never completes; a compaction stays planned. Its records stay. WriteConflict, and all stays, if
    * stock Hudi has appended to one of its files.
    *
    * @param isMine asked before anything goes that another try of the same write may have made as well
    */
  def takeBack(table: TableContext, instant: String, kind: WriteKind, isMine: () => Boolean): Unit = {
    val storage = table.storage
    val markers = new Markers(storage, table.tablePath, table.config.format, instant)
    val announced = markers.all
    def requireMine(): Unit = if (!isMine())
      throw new WriteConflict(s"${table.tablePath}: another writer took the write $instant over; write again")
    SameTime.requireNone(table, instant, kind.pending)
    requireMine()
    shared(table, markers, announced, instant).foreach(throw _)
    markers.deleteOthers(Set.empty, announced)
    // Another, stock Hudi too, may have run the same plan to its end: what is pending of it is no more.
    val isComplete = kind.keepsPlan &&
      CompletedFiles.of(storage, table.timeline.dir, table.config, instant, kind.completed).nonEmpty
    if (!isComplete) takeBackSteps(table, instant, kind)
    markers.delete()
  }

  private def takeBackSteps(table: TableContext, instant: String, kind: WriteKind): Unit = {
    val storage = table.storage
    MetadataTableWriter.undo(storage, table.tablePath, instant)
    // The inflight file goes before the requested one, so that what is left is pending until the end.
    val states = if (kind.keepsPlan) Vector(".inflight") else Vector(".inflight", ".requested")
    states.foreach(state => storage.delete(s"${table.timeline.dir}/$instant.${kind.pending}$state"))
  }

  /** The same of a write of a release that kept no records: its writer reads the heartbeat behind its completion, and so one of
    * the two sees the other. WriteConflict if it is complete by then; a completion that comes later is taken away.
    */
  def runEarlier(table: TableContext, instant: String, kind: WriteKind): Unit = {
    val storage = table.storage
    def completions = CompletedFiles.of(storage, table.timeline.dir, table.config, instant, kind.completed)
    def isRemade: Boolean = kind == WriteKind.Replace &&
      TableConfig.read(storage, table.tablePath).timelineDir(table.tablePath) != table.timeline.dir
    val heartbeats = new Heartbeats(storage, table.tablePath)
    heartbeats.endEarlier(instant)
    if (completions.nonEmpty || isRemade)
      throw new WriteConflict(
        s"${table.tablePath}: the write $instant of a late writer completed just now; write again"
      )
    takeBack(table, instant, kind, () => true)
    completions.foreach(storage.delete)
    heartbeats.stop(instant)
  }
}
