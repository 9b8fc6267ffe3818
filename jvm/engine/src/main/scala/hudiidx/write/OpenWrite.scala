package hudiidx.write

import hudiidx.write.format.{CommitContent, CompletedFiles, CompletedWrite}
import hudiidx.{Log, WriteConflict}
import hudiidx.storage.Storage
import hudiidx.sync.{TableAccess, TableContext}
import hudiidx.table.listing.MetadataTable
import hudiidx.table.{PropertiesFile, TableConfig}
import scala.util.control.NonFatal

/** A write to a table from its request to its end: a deltacommit, a replacecommit, or a planned compaction that is run. Nothing of it is visible
  * before `complete`, and `abandon` takes all of it away. A process that ends meanwhile leaves requested and inflight files,
  * markers and a heartbeat, by which the next writer, ours or stock's, rolls it back.
  *
  * @param table as of a moment after the request: what completed before it is in, and, without a lock, nothing else was
  *              pending
  * @param lock  None: one writer at a time
  */
final class OpenWrite private[write] (
    val table: TableContext,
    val instant: String,
    kind: WriteKind,
    beating: Beating,
    lock: Option[TableLock]
) {
  private val log = Log.of(classOf[OpenWrite])

  private def storage: Storage = table.storage

  /** What its tasks are known by. */
  def writer: String = beating.writer

  private def epochs: Epochs = new Epochs(storage, table.tablePath)

  /** Is it this table that was read, whatever its name there? Links, mounts and schemes give a table many names; where the record
    * of this write is, is its table.
    */
  def isOf(read: TableContext): Boolean = read.tablePath == table.tablePath ||
    new Epochs(read.storage, read.tablePath).read(instant, beating.epoch).contains(beating.open)

  val markers: Markers = new Markers(storage, table.tablePath, table.config.format, instant)

  private val decision = new WriteDecision(table, instant, kind, beating)

  /** Says that files are about to be written. */
  def start(): Unit =
    if (!appear(decision.file(WriteDecision.Inflight))) throw decision.lostError("it was started by another writer")

  /** A store that tells nothing of a file may make it yet. */
  private var mayAppear = false

  /** Makes a file of the timeline that says that the write goes on; false if there is one. */
  private def appear(path: String, content: Array[Byte] = Array.emptyByteArray): Boolean =
    try storage.publish(path, content)
    catch {
      case e: Throwable =>
        mayAppear = true
        throw e
    }

  /** Does a part of the write; if that fails, rolls back whatever the write has done. */
  def abortOnFailure[A](part: => A): A =
    try part
    catch { case e: Throwable => throw failed(e) }

  /** Takes it back, but where it may be visible, of which nothing goes; tells of a store that failed what becomes of it. */
  private def failed(because: Throwable): Throwable = {
    val isGone = abandon(because)
    if (decision.mayBeVisible) because
    else {
      val left =
        if (!isGone) FailedWrite.nothingCountsAfter(beating.lease)
        else if (kind.keepsPlan) FailedWrite.PlanStays
        else "nothing of it counts, and nothing is left of it"
      FailedWrite.of(because, table.tablePath, kind.told(Some(instant)), left)
    }
  }

  /** False if something of it may be left. */
  private def abandon(because: Throwable): Boolean =
    try {
      if (decision.mayBeVisible) beating.close() else abandon()
      true
    } catch {
      case NonFatal(e) =>
        because.addSuppressed(e)
        false
    }

  /** Makes the write visible, whole. Files of attempts that did not count are removed before. WriteConflict, and nothing of
    * the write is left, if another writer took it for a failed one, or wrote to the same file groups meanwhile. Where the
    * store does not say what came of a step that decides, the write stays as it is, and a WriteUnknown says so: the next
    * writer completes it if it is decided, and rolls it back if it is not.
    *
    * @param recheck called if records came meanwhile, with the table as it is now; for what file groups do not tell
    */
  def complete(write: CompletedWrite, recheck: TableContext => Unit = _ => ()): Unit =
    finish(write)(publishAll(write, recheck))

  /** Makes another table of the path, with the write as its first one, in one step. Errors as `complete`; whatever another writer did or
    * does is a WriteConflict.
    */
  def remake(write: CompletedWrite, made: NewTable): Unit = {
    finish(write) {
      settleFiles(write)
      lock.fold(publishAnew(write, made))(_.heldFor(instant)(publishAnew(write, made)))
    }
    // Of the table that was; no property names it any more.
    try storage.delete(MetadataTable.path(table.tablePath)): Unit
    catch { case NonFatal(e) => log.warn("{}: Hudi's old metadata table stays: {}", table.tablePath, e.toString: Any) }
  }

  private def finish(write: CompletedWrite)(publication: => Unit): Unit = {
    abortOnFailure(publication)
    beating.close()
    try markers.end(write.files.map(_.path).toSet, beating.epoch + 1)
    catch {
      case NonFatal(e) => log.warn("{}: the next write removes what is left of {}: {}", table.tablePath, instant, e)
    }
  }

  /** Nothing but the files that count stays. */
  private def settleFiles(write: CompletedWrite): Unit = {
    val counted = write.files.map(_.path).toSet
    val marked = markers.all
    if (!counted.subsetOf(marked.map(_.path).toSet)) throw decision.lostError("its markers are gone")
    markers.deleteOthers(counted, marked)
  }

  private def publishAnew(write: CompletedWrite, made: NewTable): Unit = {
    val now = TableContext.load(table.access, table.tablePath)
    new ConcurrentWrites(table, now).check(instant, write)
    now.timeline.instants.filter(PendingWrites.isWrite).find(_.requestedTime != instant).foreach { i =>
      throw decision.lostError(
        s"${i.requestedTime} of another writer is pending, which would be lost with the table that was"
      )
    }
    decision.requireInflight()
    val old = now.config.properties
    val config = TableConfig.of(now.config.file, RemadeTable.properties(made, instant))
    val dir = RemadeTable.timelineDir(table.tablePath, instant)
    val done = CompletedFiles.path(dir, config, instant, kind.completed, CompletedFiles.next(now, config))
    storage.publish(s"$dir/$instant.${kind.pending}.requested", kind.requested)
    storage.publish(s"$dir/$instant.${kind.pending}${WriteDecision.Inflight}", Array.emptyByteArray)
    if (!decision.isPublished(done, CommitContent.of(write, config.format, instant)))
      throw decision.lostError("it is complete already")
    lock.foreach(_.requireHeld())
    val properties = PropertiesFile.text(config.properties)
    decision.decide(TableConfig.propertiesFile(table.tablePath), properties, WriteDecision.Inflight)
    decision.requirePending(WriteDecision.Inflight)
    try RemadeTable.become(storage, table.tablePath, properties)
    catch {
      case NonFatal(e) => throw Epochs.unknown(table.tablePath, s"the table that $instant makes anew is there", e)
    }
    try decision.requirePending(WriteDecision.Inflight)
    catch {
      case e: WriteConflict =>
        val text = "the properties of the table before are back"
        decision.known(text)(
          PropertiesFile.update(storage, table.tablePath)(_ => old ++ OpenWrite.WithoutMetadataTable)
        )
        throw e
    }
  }

  private def publishAll(write: CompletedWrite, recheck: TableContext => Unit): Unit = {
    settleFiles(write)
    lock match {
      case _ if kind.keepsPlan => lock.fold(publishCompaction(write))(_.heldFor(instant)(publishCompaction(write)))
      case None                => publish(write, table)
      case Some(lock)          => lock.heldFor(instant)(publishWithOthers(write, recheck))
    }
  }

  /** Writes that began after its plan do not touch the slices that a compaction merges. What it merged may be rolled back: stock
    * Hudi does so beside it.
    */
  private def publishCompaction(write: CompletedWrite): Unit = {
    val now = TableContext.load(table.access, table.tablePath)
    WriteGround.requireStill(table, now, s"the compaction $instant")
    publish(write, now)
  }

  private def publishWithOthers(write: CompletedWrite, recheck: TableContext => Unit): Unit = {
    val now = TableContext.load(table.access, table.tablePath)
    val others = new ConcurrentWrites(table, now)
    others.check(instant, write)
    if (others.haveInserts) recheck(now)
    publish(write, now)
  }

  /** @param now the timeline that the write's completion is behind */
  private def publish(write: CompletedWrite, now: TableContext): Unit = {
    if (write.properties.nonEmpty) {
      decision.requireInflight()
      PropertiesFile.update(storage, table.tablePath)(_ ++ write.properties)
    }
    val changes = write.files.map(f => FileChange(f.partitionPath, f.fileName, Some(f.sizeBytes)))
    val keepsKeys = kind == WriteKind.Compaction
    // Who rolled the write back before its commit there did not see it.
    val hasMetadata = MetadataTableWriter.commit(now, instant, changes, keepsKeys, () => decision.requireInflight())
    if (hasMetadata) decision.requireInflight()
    lock.foreach(_.requireHeld())
    val content = CommitContent.of(write, table.config.format, instant)
    val path =
      CompletedFiles.path(table.timeline.dir, table.config, instant, kind.completed, CompletedFiles.next(now))
    decision.complete(path, content, WriteDecision.Inflight)
  }

  /** Plans something beside it: by a write that is nothing but alone, and is rolled back then. */
  private[write] def publishPlan(path: String, content: Array[Byte]): Unit =
    decision.complete(path, content, WriteDecision.Requested)

  /** Stops beating, and does no more. */
  private[write] def stop(): Unit = beating.close()

  /** Rolls back whatever the write has done. A compaction that another writer took over is that one's. */
  def abandon(): Unit = {
    beating.close()
    val over = Epoch.Over(writer)
    val behind = beating.epoch + 1
    epochs.follow(instant, beating.epoch, beating.open, over) match {
      case Some(`over`) => takeBack(behind)
      // Decided, but another, stock Hudi too, has removed its pending file since; or that was upon a plan.
      case Some(d: Epoch.Decided) if d.writer == writer =>
        if (kind.keepsPlan) epochs.publish(instant, behind + 1, over): Unit
        takeBack(behind + 1)
      case Some(_: Epoch.Over) if !kind.keepsPlan => takeBack(behind)
      // Its records went: before it was on the timeline, or by one who ended it, and did all but what came after that.
      case None if !kind.keepsPlan && !isComplete => takeBack(behind)
      case _                                      => ()
    }
  }

  private def isComplete: Boolean =
    CompletedFiles.of(storage, table.timeline.dir, table.config, instant, kind.completed).nonEmpty

  private def takeBack(last: Int): Unit =
    if (kind.keepsPlan) Rollback.takeBackToPlan(table, instant, last)
    else if (!mayAppear) Rollback.takeBackWhole(table, instant, kind, last)
    // The next writer removes the records, a term later: until then what appears is known to be over.
    else Rollback.takeBack(table, instant, kind, () => true)

}

object OpenWrite {

  /** Who took the write for dead may have taken parts of it out. */
  private val WithoutMetadataTable =
    Map(TableConfig.MetadataPartitions -> "", TableConfig.InflightMetadataPartitions -> "")

  /** Requests a write. Failed writes of ours are rolled back before.
    *
    * @param kind no compaction
    * @param lock shared with other writers that may be at work; None: whoever else is at work is a WriteConflict
    */
  def begin(
      access: TableAccess,
      tablePath: String,
      heartbeat: HeartbeatOptions,
      lock: Option[LockOptions] = None,
      kind: WriteKind = WriteKind.Delta
  ): OpenWrite = {
    val own = access.ofWriter(tablePath)
    val shared = lock.map(new TableLock(own.storage, tablePath, _))
    def requested = request(own, tablePath, heartbeat, shared, kind)
    FailedWrite.typed(tablePath, kind.told(None))(shared.fold(requested)(_.held(requested)))
  }

  private def request(
      access: TableAccess,
      tablePath: String,
      heartbeat: HeartbeatOptions,
      lock: Option[TableLock],
      kind: WriteKind
  ): OpenWrite = {
    val heartbeats = new Heartbeats(access.storage, tablePath)
    val known = heartbeats.all
    val found = TableContext.load(access, tablePath)
    val isChanged = new PendingWrites(found, heartbeats, known, heartbeat).settle(isAlone = lock.isEmpty)
    val before = if (isChanged) TableContext.load(access, tablePath) else found
    val instant = CompletedFiles.next(before, known.map(_.instant).toSet)
    val beating = heartbeats.start(instant, heartbeat)
    val asked = new OpenWrite(before, instant, kind, beating, lock)
    var isOurs = true
    try {
      val requested = s"${before.timeline.dir}/$instant.${kind.pending}.requested"
      if (!asked.appear(requested, kind.requested)) {
        isOurs = false
        throw conflict(tablePath, instant, "has the same instant")
      }
      // What others requested before this request is seen now, and they see this one.
      val table = TableContext.load(access, tablePath)
      if (table.timeline.dir != before.timeline.dir) throw conflict(tablePath, instant, "made the table anew")
      if (lock.isEmpty) requireAlone(table, instant)
      new OpenWrite(table, instant, kind, beating, lock)
    } catch {
      case e: Throwable =>
        if (isOurs) throw asked.failed(e)
        heartbeats.leave(instant, beating)
        throw e
    }
  }

  /** Takes a table away that its maker could not fill; false, and it stays, if others have written to it or are at work. Who begins
    * meanwhile meets this one's write, or no table.
    *
    * @param options of its writers
    * @param made    the folder that was made for it: the table's own, or Hudi's in one that holds other files
    */
  def takeBack(
      given: TableAccess,
      tablePath: String,
      heartbeat: HeartbeatOptions,
      options: Option[LockOptions],
      made: String
  ): Boolean = {
    val access = given.ofWriter(tablePath)
    val lock = options.map(new TableLock(access.storage, tablePath, _))
    def now: Boolean = {
      val open = request(access, tablePath, heartbeat, lock, WriteKind.Delta)
      val isAlone = open.table.timeline.instants.forall(_.requestedTime == open.instant)
      if (isAlone) {
        open.stop()
        // From then on it is no table.
        access.storage.delete(TableConfig.propertiesFile(tablePath))
        NewTable.remove(access.storage, tablePath, made)
      } else open.abandon()
      isAlone
    }
    try lock.fold(now)(_.held(now))
    catch { case _: WriteConflict => false }
  }

  private def requireAlone(table: TableContext, instant: String): Unit = {
    val others = table.timeline.instants.filter(_.requestedTime != instant)
    others.filter(PendingWrites.isWrite).foreach(i => throw conflict(table.tablePath, i.requestedTime, "is at work"))
    others.filter(i => i.requestedTime > instant || i.completionTime.exists(_ > instant)).foreach { i =>
      throw conflict(table.tablePath, i.requestedTime, "began meanwhile")
    }
  }

  private def conflict(tablePath: String, other: String, does: String): WriteConflict =
    new WriteConflict(s"$tablePath: another writer ($other) $does; write again when it is done: one writer at a time")
}
