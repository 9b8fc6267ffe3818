package hudiidx.write

import hudiidx.write.format.{CompactionPlan, CompletedFiles}
import hudiidx.{Elapsed, Log, WriteConflict}
import hudiidx.storage.Storage
import hudiidx.sync.{TableAccess, TableContext}
import hudiidx.table.{FileName, FileSlice}
import hudiidx.timeline.{Action, Instant, InstantState, PlannedFileGroup}
import java.io.FileNotFoundException
import java.nio.file.NoSuchFileException
import java.util.UUID
import scala.util.Try

/** Compactions: first a plan on the timeline, from which on logs of its file groups go to the slice of the compaction's instant,
  * then base files, of which nothing is visible until all are. Writes go on between the two. Format notes §3.3, §4.6.
  */
object OpenCompaction {
  private val log = Log.of(classOf[OpenWrite])

  /** Plans one. None if there is nothing to plan.
    *
    * @param lock   shared with other writers, which see the plan when they commit; None: a writer at work is a WriteConflict,
    *               since on version 6 what it writes would be in neither slice
    * @param choose slices with logs, of groups that no pending plan has, by the table as of a moment at which nobody plans or
    *               commits
    */
  def schedule(access: TableAccess, tablePath: String, heartbeat: HeartbeatOptions, lock: Option[LockOptions] = None)(
      choose: TableContext => Vector[FileSlice]
  ): Option[String] =
    FailedWrite.typed(tablePath, WriteKind.Planning.told(None), "a plan that is there is run by the next one") {
      scheduled(access.ofWriter(tablePath), tablePath, heartbeat, lock, choose)
    }

  private def scheduled(
      access: TableAccess,
      tablePath: String,
      heartbeat: HeartbeatOptions,
      lock: Option[LockOptions],
      choose: TableContext => Vector[FileSlice]
  ): Option[String] = lock match {
    case Some(options) =>
      val epochs = new Epochs(access.storage, tablePath)
      val lock = new TableLock(access.storage, tablePath, options)
      val name = s"${Heartbeats.Plan}${UUID.randomUUID}"
      val open = Epoch.Open(name)
      epochs.publish(name, 1, open)
      try
        lock.heldFor(name) {
          planOf(TableContext.load(access, tablePath), choose) { (path, content) =>
            lock.requireHeld()
            val decided = epochs.decided(name, None, path)(content)
            if (!epochs.follow(name, 1, open, decided).contains(decided))
              throw new WriteConflict(s"$path: the lock was taken by another writer while this one had it; try again")
            access.storage.publish(path, content) || WriteDecision.isThere(access.storage, path, content)
          }
        }
      finally epochs.remove(name, Vector(1, 2))
    case None =>
      // As long as this write stands on the timeline no other begins.
      val alone = OpenWrite.begin(access, tablePath, heartbeat, kind = WriteKind.Planning)
      val planned = alone.abortOnFailure(planOf(alone.table, choose) { (path, content) =>
        alone.publishPlan(path, content)
        true
      })
      alone.abandon()
      planned
  }

  /** @param publish false if another has the instant */
  private def planOf(table: TableContext, choose: TableContext => Vector[FileSlice])(
      publish: (String, Array[Byte]) => Boolean
  ): Option[String] = {
    val slices = choose(table)
    if (slices.isEmpty) None
    else {
      val begun = new Heartbeats(table.storage, table.tablePath).all.map(_.instant).toSet
      val instant = CompletedFiles.next(table, begun)
      val path = s"${table.timeline.dir}/$instant.${Action.Compaction}.requested"
      if (!publish(path, CompactionPlan.content(slices, table.config.format)))
        throw new WriteConflict(s"$path: another compaction was planned at the same instant; try again")
      Some(instant)
    }
  }

  /** The table, where all compactions that were decided are complete. */
  def settled(access: TableAccess, tablePath: String, heartbeat: HeartbeatOptions): TableContext =
    FailedWrite.typed(tablePath, "the look for compactions") {
      val own = access.ofWriter(tablePath)
      val heartbeats = new Heartbeats(own.storage, tablePath)
      val known = heartbeats.all
      val table = TableContext.load(own, tablePath)
      val pending = new PendingWrites(table, heartbeats, known, heartbeat)
      if (pending.completeCompactions()) TableContext.load(own, tablePath) else table
    }

  /** Those that are planned, oldest first; some may be running. */
  def planned(table: TableContext): Vector[Instant] = table.timeline.pending(Action.Compaction)

  /** Starts a planned one. What a failed try of ours left is removed before. WriteConflict if somebody runs it, or may.
    *
    * @param plan of `planned`, of the same table
    */
  def begin(
      table: TableContext,
      plan: Instant,
      heartbeat: HeartbeatOptions,
      lock: Option[LockOptions] = None
  ): OpenWrite =
    FailedWrite.typed(table.tablePath, WriteKind.Compaction.told(Some(plan.requestedTime)), FailedWrite.PlanStays) {
      begun(table.ofWriter, plan, heartbeat, lock)
    }

  private def begun(
      table: TableContext,
      plan: Instant,
      heartbeat: HeartbeatOptions,
      lock: Option[LockOptions]
  ): OpenWrite = {
    val heartbeats = new Heartbeats(table.storage, table.tablePath)
    val instant = plan.requestedTime
    SameTime.requireNone(table, instant, plan.action)
    val beat = heartbeats.of(instant)
    beat.foreach(requireOver(table, plan, _, heartbeat))
    if (beat.forall(!_.isOurs)) requireNotBegun(table, plan)
    val beating = heartbeats.start(instant, heartbeat, beat.fold(0)(_.last))
    val open =
      new OpenWrite(
        table,
        instant,
        WriteKind.Compaction,
        beating,
        lock.map(new TableLock(table.storage, table.tablePath, _))
      )
    var isStarted = false
    try {
      def isMine = heartbeats.isOpen(instant, open.writer)
      if (beat.exists(_.isOurs)) Rollback.takeBack(table, instant, WriteKind.Compaction, () => isMine)
      open.start()
      isStarted = true
      requirePlan(table, instant)
      val left = strays(table, plan)
      // What was listed while this writer had the compaction is not of one that took it over.
      if (!isMine) throw conflict(table, instant, "it took this one for dead")
      left.foreach(table.storage.delete)
      open
    } catch {
      case e: Throwable =>
        beating.close()
        Try(if (isStarted) open.abandon() else leave(heartbeats, instant, beating)).failed.foreach(e.addSuppressed)
        // A store that lost its answer may have made the inflight file all the same.
        Try(requirePlan(table, instant)).failed.filter(!_.isInstanceOf[WriteConflict]).foreach(e.addSuppressed)
        throw e
    }
  }

  private def requireNotBegun(table: TableContext, plan: Instant): Unit =
    if (plan.state == InstantState.Inflight)
      throw conflict(
        table,
        plan.requestedTime,
        "stock Hudi began it; wait for it, or, if it ended, let stock Hudi run its compaction once more"
      )

  /** What is pending there is another's. */
  private def leave(heartbeats: Heartbeats, instant: String, beating: Beating): Unit = {
    val over = Epoch.Over(beating.writer)
    val isOver = heartbeats.epochs.follow(instant, beating.epoch, beating.open, over).forall(_ == over)
    // Who took it over and ended has removed the heartbeat before this one made it anew.
    if (isOver || beating.isMade) heartbeats.stop(instant)
  }

  /** What is decided is completed; WriteConflict then, and where its writer may be alive. */
  private def requireOver(table: TableContext, plan: Instant, beat: Heartbeat, options: HeartbeatOptions): Unit = {
    val instant = plan.requestedTime
    val epochs = new Epochs(table.storage, table.tablePath)
    val silence = System.currentTimeMillis() - beat.lastMillis
    val isSilent = options.lease.isOver(silence)
    epochs.inForce(beat) match {
      case Some(d: Epoch.Decided) =>
        epochs.complete(instant, beat.last, d)
        if (isSilent) Rollback.finish(table, beat, WriteKind.Compaction, beat.last, d)
        throw conflict(table, instant, "it is complete")
      case Some(_: Epoch.Over) if !beat.beats => ()
      case Some(Epoch.Cut) if isSilent        =>
        epochs.remove(instant, Vector(beat.last))
        throw conflict(table, instant, "what it left is removed; run this one again")
      case _ if beat.isOurs && !isSilent =>
        throw conflict(
          table,
          instant,
          s"it was alive ${Elapsed.text(silence)} ago; wait for it, or, if it ended, until it has been silent for " +
            s"${Elapsed.text(options.lease.termMillis)}: then this command runs it again"
        )
      case _ if beat.isOurs =>
        if (plan.state == InstantState.Inflight)
          log.warn("{}: the compaction {} failed, its writer is silent; it is run again", table.tablePath, instant: Any)
        if (beat.isEarlier) Rollback.runEarlier(table, instant, WriteKind.Compaction)
      case _ => ()
    }
  }

  /** A restore takes plans away, and what they would merge; what was started without one must not stay. */
  private def requirePlan(table: TableContext, instant: String): Unit = {
    val file = s"${table.timeline.dir}/$instant.${Action.Compaction}"
    if (!table.storage.isThere(s"$file.requested")) {
      table.storage.delete(s"$file.inflight")
      throw withoutPlan(table, instant)
    }
  }

  private def withoutPlan(table: TableContext, instant: String): WriteConflict =
    new WriteConflict(s"${table.tablePath}: the plan of the compaction $instant was rolled back; run it again")

  private def conflict(table: TableContext, instant: String, why: String): WriteConflict =
    new WriteConflict(s"${table.tablePath}: the compaction $instant is run by another: $why")

  /** Base files of this instant that a try left which nobody rolled back: with ours they would be two of one slice. */
  private def strays(table: TableContext, plan: Instant): Vector[String] =
    for {
      (partition, planned) <- groups(table, plan).groupBy(_.partitionPath).toVector
      ids = planned.map(_.fileId).toSet
      file <- table.storage.list(Storage.join(table.tablePath, partition)).filterNot(_.isDirectory)
      entry <- FileName.parse(partition, file.name, file.sizeBytes)
      if entry.isBase && entry.instantTime == plan.requestedTime && ids(entry.fileId)
    } yield file.path

  /** What a plan says. WriteConflict if it was rolled back since it was listed. */
  def groups(table: TableContext, plan: Instant): Vector[PlannedFileGroup] =
    try table.contents.compactionPlan(plan)
    catch { case _: NoSuchFileException | _: FileNotFoundException => throw withoutPlan(table, plan.requestedTime) }
}
