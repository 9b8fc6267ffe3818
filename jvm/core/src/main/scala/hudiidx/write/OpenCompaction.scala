package hudiidx.write

import hudiidx.WriteConflict
import hudiidx.storage.Storage
import hudiidx.sync.{TableAccess, TableContext}
import hudiidx.table.{FileName, FileSlice}
import hudiidx.timeline.{Action, Instant, InstantState, PlannedFileGroup}
import org.slf4j.LoggerFactory

/** Compactions: first a plan on the timeline, from which on logs of its file groups go to the slice of the compaction's instant,
  * then base files, of which nothing is visible until all are. Writes go on between the two. Format notes §3.3, §4.6.
  */
object OpenCompaction {
  private val log = LoggerFactory.getLogger(classOf[OpenWrite])

  /** Plans one. None if there is nothing to plan.
    *
    * @param lock   shared with other writers, which see the plan when they commit; None: a writer at work is a WriteConflict,
    *               since on version 6 what it writes would be in neither slice
    * @param choose slices with logs, of groups that no pending plan has, by the table as of a moment at which nobody plans or
    *               commits
    */
  def schedule(access: TableAccess, tablePath: String, heartbeat: HeartbeatOptions, lock: Option[LockOptions] = None)(
      choose: TableContext => Vector[FileSlice]
  ): Option[String] = lock match {
    case Some(options) =>
      new TableLock(access.storage, tablePath, options).held(publish(TableContext.load(access, tablePath), choose))
    case None =>
      // As long as this write stands on the timeline no other begins.
      val alone = OpenWrite.begin(access, tablePath, heartbeat)
      try publish(alone.table, choose)
      finally alone.abandon()
  }

  private def publish(table: TableContext, choose: TableContext => Vector[FileSlice]): Option[String] = {
    val slices = choose(table)
    val instant = OpenWrite.next(table)
    if (slices.isEmpty) None
    else {
      val path = s"${table.timeline.dir}/$instant.${Action.Compaction}.requested"
      if (!table.storage.publish(path, CompactionPlan.content(slices, table.config.version)))
        throw new WriteConflict(s"$path: another compaction was planned at the same instant; try again")
      Some(instant)
    }
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
  ): OpenWrite = {
    val heartbeats = new Heartbeats(table.storage, table.tablePath)
    val instant = plan.requestedTime
    takeBack(table, plan, heartbeats.all.find(_.instant == instant), heartbeat)
    val beating = heartbeats.start(instant, heartbeat)
    val shared = lock.map(new TableLock(table.storage, table.tablePath, _))
    var isBegun = false
    try {
      val open = new OpenWrite(table, instant, WriteKind.Compaction, beating, shared)
      open.start()
      requirePlan(table, instant)
      val left = strays(table, instant)
      // What was listed while this writer had the compaction is not of one that took it over.
      if (!heartbeats.isOpen(instant, open.writer))
        throw conflict(table, instant, "it took this one for dead")
      left.foreach(table.storage.delete)
      isBegun = true
      open
    } finally if (!isBegun) beating.close()
  }

  private def takeBack(table: TableContext, plan: Instant, beat: Option[Heartbeat], options: HeartbeatOptions): Unit = {
    val silence = System.currentTimeMillis() - beat.fold(0L)(_.lastMillis)
    val isRunning = plan.state == InstantState.Inflight
    beat match {
      case Some(b) if b.isOurs && silence > options.expiryMillis =>
        if (isRunning)
          log.warn(
            "{}: the compaction {} failed, its writer is silent; it is run again",
            table.tablePath,
            plan.requestedTime: Any
          )
        Rollback.run(table, plan.requestedTime, WriteKind.Compaction)
      case Some(b) if b.isOurs =>
        throw conflict(
          table,
          plan.requestedTime,
          s"it was alive ${silence / 1000} s ago; wait for it, or, if it ended, until it has been silent for " +
            s"${options.expiryMillis / 1000} s: then this command runs it again"
        )
      case _ if isRunning =>
        throw conflict(
          table,
          plan.requestedTime,
          "stock Hudi began it; wait for it, or, if it ended, let stock Hudi run its compaction once more"
        )
      case _ => ()
    }
  }

  /** A restore takes plans away, and what they would merge; what was started without one must not stay. */
  private def requirePlan(table: TableContext, instant: String): Unit = {
    val file = s"${table.timeline.dir}/$instant.${Action.Compaction}"
    if (table.storage.status(s"$file.requested").isEmpty) {
      table.storage.delete(s"$file.inflight")
      throw new WriteConflict(s"${table.tablePath}: the plan of the compaction $instant was taken back; run it again")
    }
  }

  private def conflict(table: TableContext, instant: String, why: String): WriteConflict =
    new WriteConflict(s"${table.tablePath}: the compaction $instant is run by another: $why")

  /** Base files of this instant that a try left which nobody took back: with ours they would be two of one slice. */
  private def strays(table: TableContext, instant: String): Vector[String] =
    for {
      (partition, planned) <- groups(table, instant).groupBy(_.partitionPath).toVector
      ids = planned.map(_.fileId).toSet
      file <- table.storage.list(Storage.join(table.tablePath, partition)).filterNot(_.isDirectory)
      entry <- FileName.parse(partition, file.name, file.sizeBytes)
      if entry.isBase && entry.instantTime == instant && ids(entry.fileId)
    } yield file.path

  /** What its plan says. */
  def groups(table: TableContext, instant: String): Vector[PlannedFileGroup] =
    planned(table).find(_.requestedTime == instant).fold(Vector.empty[PlannedFileGroup])(table.contents.compactionPlan)
}
