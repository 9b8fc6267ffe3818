package hudiidx.write

import hudiidx.WriteConflict
import hudiidx.storage.Storage
import hudiidx.sync.{TableAccess, TableContext}
import hudiidx.table.{MetadataTable, PropertiesFile, TableConfig}
import hudiidx.timeline._
import org.slf4j.LoggerFactory
import scala.util.Try
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
  private val log = LoggerFactory.getLogger(classOf[OpenWrite])

  private def storage: Storage = table.storage

  /** What its tasks are known by. */
  def writer: String = beating.writer

  private val heartbeats = new Heartbeats(storage, table.tablePath)

  val markers: Markers = new Markers(storage, table.tablePath, table.config.version, instant)

  private def file(extension: String): String = s"${table.timeline.dir}/$instant.${kind.pending}$extension"

  /** Says that files are about to be written. */
  def start(): Unit =
    if (!storage.publish(file(OpenWrite.Inflight), Array.emptyByteArray)) throw lost("it was started by another writer")

  /** From then on the write may be visible. */
  private var isPublishing = false

  /** Does a part of the write; if that fails, takes back whatever the write has done. */
  def orAbandon[A](part: => A): A =
    try part
    catch {
      case e: Throwable =>
        abandon(e)
        throw e
    }

  private def abandon(because: Throwable): Unit =
    try abandon()
    catch { case NonFatal(e) => because.addSuppressed(e) }

  /** Makes the write visible, whole. Files of attempts that did not count are removed before. WriteConflict, and nothing of
    * the write is left, if another writer took it for a failed one, or wrote to the same file groups meanwhile. Where the
    * store does not say whether the write is visible, it stays as it is: the next writer finds it done, or rolls it back.
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
      lock.fold(publishAnew(write, made))(_.held(publishAnew(write, made)))
    }
    // Of the table that was; no property names it any more.
    try storage.delete(MetadataTable.path(table.tablePath)): Unit
    catch { case NonFatal(e) => log.warn("{}: Hudi's old metadata table stays: {}", table.tablePath, e.toString: Any) }
  }

  private def finish(write: CompletedWrite)(publication: => Unit): Unit = {
    try publication
    catch {
      case e: Throwable =>
        if (isPublishing) beating.close() else abandon(e)
        throw e
    }
    beating.close()
    try markers.end(write.files.map(_.path).toSet)
    catch {
      case NonFatal(e) => log.warn("{}: the next write removes what is left of {}: {}", table.tablePath, instant, e)
    }
  }

  /** Nothing but the files that count stays. */
  private def settleFiles(write: CompletedWrite): Unit = {
    val counted = write.files.map(_.path).toSet
    val marked = markers.all
    if (!counted.subsetOf(marked.map(_.path).toSet)) throw lost("its markers are gone")
    markers.deleteOthers(counted, marked)
  }

  private def publishAnew(write: CompletedWrite, made: NewTable): Unit = {
    val now = TableContext.load(table.access, table.tablePath)
    new ConcurrentWrites(table, now).check(instant, write)
    now.timeline.instants.filter(PendingWrites.isWrite).find(_.requestedTime != instant).foreach { i =>
      throw lost(s"${i.requestedTime} of another writer is pending, which would be lost with the table that was")
    }
    requireInflight()
    val old = now.config.properties
    val config = TableConfig.of(now.config.file, RemadeTable.properties(made, instant))
    val dir = RemadeTable.timelineDir(table.tablePath, instant)
    val done = OpenWrite.completedPath(dir, config, instant, kind.completed, OpenWrite.next(now, config))
    storage.publish(s"$dir/$instant.${kind.pending}.requested", kind.requested)
    storage.publish(s"$dir/$instant.${kind.pending}${OpenWrite.Inflight}", Array.emptyByteArray)
    if (!isPublished(done, CommitContent.of(write, config.version, instant))) throw lost("it is complete already")
    isPublishing = true
    PropertiesFile.update(storage, table.tablePath)(_ => config.properties)
    // No heartbeat: who saw the new table swept it. Who takes the write back says so first, and removes the inflight file.
    if (heartbeats.owner(instant).exists(_ != writer) || storage.status(file(OpenWrite.Inflight)).isEmpty) {
      PropertiesFile.update(storage, table.tablePath)(_ => old ++ OpenWrite.WithoutMetadataTable)
      isPublishing = false
      throw lost("it was silent for too long")
    }
  }

  private def publishAll(write: CompletedWrite, recheck: TableContext => Unit): Unit = {
    settleFiles(write)
    lock match {
      case _ if kind.keepsPlan => lock.fold(publishCompaction(write))(_.held(publishCompaction(write)))
      case None                => publish(write, table)
      case Some(lock)          => lock.held(publishBesideOthers(write, recheck, lock))
    }
  }

  /** Writes that began behind its plan do not touch the slices that a compaction merges. What it merged may be taken back: stock
    * Hudi does so beside it.
    */
  private def publishCompaction(write: CompletedWrite): Unit = {
    val now = TableContext.load(table.access, table.tablePath)
    WriteGround.requireStill(table, now, s"the compaction $instant")
    publish(write, now)
  }

  private def publishBesideOthers(write: CompletedWrite, recheck: TableContext => Unit, lock: TableLock): Unit = {
    val now = TableContext.load(table.access, table.tablePath)
    val others = new ConcurrentWrites(table, now)
    others.check(instant, write)
    if (others.haveInserts) recheck(now)
    lock.requireHeld()
    publish(write, now)
  }

  /** @param now the timeline that the write's completion is behind */
  private def publish(write: CompletedWrite, now: TableContext): Unit = {
    requireInflight()
    if (write.properties.nonEmpty) PropertiesFile.update(storage, table.tablePath)(_ ++ write.properties)
    val changes = write.files.map(f => FileChange(f.partitionPath, f.fileName, Some(f.sizeBytes)))
    MetadataTableWriter.commit(now, instant, changes, keepsKeys = kind == WriteKind.Compaction)
    requireInflight() // who rolled the write back before its commit there did not see it
    val content = CommitContent.of(write, table.config.version, instant)
    val path =
      OpenWrite.completedPath(table.timeline.dir, table.config, instant, kind.completed, OpenWrite.next(now))
    isPublishing = true
    if (!isPublished(path, content)) throw lost("it is complete already")
    if (!isMine(path)) {
      storage.delete(path)
      isPublishing = false
      throw lost("it was silent for too long")
    }
  }

  /** False if another writer took this one for dead meanwhile, and removes its files, or has. Who does so says so first and then
    * looks for a completion, so that one of the two sees the other. No heartbeat: it was swept behind the completion, or the
    * other one has run the same compaction to its end.
    */
  private def isMine(completion: String): Boolean = Try {
    def isAlone =
      OpenWrite.completions(storage, table.timeline.dir, table.config, instant, kind.completed) == Vector(completion)
    storage.status(file(OpenWrite.Inflight)).isDefined && heartbeats.owner(instant).fold(isAlone)(_ == writer)
  }.getOrElse(true)

  /** A store may lose its answer, or get the same twice: what is there then is this write's. */
  private def isPublished(path: String, content: Array[Byte]): Boolean = {
    def isThere = Try(java.util.Arrays.equals(storage.readAll(path), content)).getOrElse(false)
    try storage.publish(path, content) || isThere
    catch { case NonFatal(_) if isThere => true }
  }

  private def requireInflight(): Unit =
    if (storage.status(file(OpenWrite.Inflight)).isEmpty) throw lost("its inflight file is gone")

  /** Stops beating, and does no more. */
  private[write] def stop(): Unit = beating.close()

  /** Takes back whatever the write has done. A compaction that another writer took over is that one's. */
  def abandon(): Unit = {
    beating.close()
    if (!kind.keepsPlan || heartbeats.isOpen(instant, writer)) Rollback.run(table, instant, kind)
  }

  private def lost(why: String): WriteConflict = new WriteConflict(
    s"${table.tablePath}: the write $instant was taken from this writer: $why; write again"
  )
}

object OpenWrite {
  private val Inflight = ".inflight"

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
    val shared = lock.map(new TableLock(access.storage, tablePath, _))
    def requested = request(access, tablePath, heartbeat, shared, kind)
    shared.fold(requested)(_.held(requested))
  }

  private def request(
      access: TableAccess,
      tablePath: String,
      heartbeat: HeartbeatOptions,
      lock: Option[TableLock],
      kind: WriteKind
  ): OpenWrite = {
    val before = TableContext.load(access, tablePath)
    val heartbeats = new Heartbeats(access.storage, tablePath)
    new PendingWrites(before, heartbeats, heartbeat).settle(isAlone = lock.isEmpty)
    val instant = next(before)
    val beating = heartbeats.start(instant, heartbeat)
    var isBegun = false
    var isOurs = true
    try {
      val requested = s"${before.timeline.dir}/$instant.${kind.pending}.requested"
      if (!access.storage.publish(requested, kind.requested)) {
        isOurs = false
        throw conflict(tablePath, instant, "has the same instant")
      }
      // What others requested before this request is seen now, and they see this one.
      val table = TableContext.load(access, tablePath)
      if (table.timeline.dir != before.timeline.dir) throw conflict(tablePath, instant, "made the table anew")
      if (lock.isEmpty) requireAlone(table, instant)
      isBegun = true
      new OpenWrite(table, instant, kind, beating, lock)
    } finally
      if (!isBegun) {
        beating.close()
        if (isOurs) Rollback.run(before, instant, kind)
      }
  }

  /** Takes a table away that its maker could not fill; false, and it stays, if others have written to it or are at work. Who begins
    * meanwhile meets this one's write, or no table.
    *
    * @param options of its writers
    */
  def takeBack(
      access: TableAccess,
      tablePath: String,
      heartbeat: HeartbeatOptions,
      options: Option[LockOptions]
  ): Boolean = {
    val lock = options.map(new TableLock(access.storage, tablePath, _))
    def now: Boolean = {
      val open = request(access, tablePath, heartbeat, lock, WriteKind.Delta)
      val isAlone = open.table.timeline.instants.forall(_.requestedTime == open.instant)
      if (isAlone) {
        open.stop()
        // From then on it is no table.
        access.storage.delete(TableConfig.propertiesFile(tablePath))
        access.storage.delete(tablePath)
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

  /** The completed files of an instant, by path; one at most, unless two writers took it for theirs. */
  private[write] def completions(
      storage: Storage,
      dir: String,
      config: TableConfig,
      instant: String,
      action: String
  ): Vector[String] =
    if (config.timelineLayout == 1) Vector(s"$dir/$instant.$action").filter(storage.status(_).isDefined)
    else
      storage
        .list(dir)
        .map(_.name)
        .filter(n => n.startsWith(s"${instant}_") && n.endsWith(s".$action"))
        .map(n => s"$dir/$n")

  /** @param completion time, where the timeline's layout names it */
  private[write] def completedPath(
      dir: String,
      config: TableConfig,
      instant: String,
      action: String,
      completion: => String
  ): String =
    if (config.timelineLayout == 1) s"$dir/$instant.$action" else s"$dir/${instant}_$completion.$action"

  /** Behind all that the timeline has. */
  private[write] def next(table: TableContext): String = next(table, table.config)

  /** As instants of a table with these properties are written. */
  private def next(table: TableContext, as: TableConfig): String = {
    val all = table.timeline.instants.flatMap(i => i.completionTime.toVector :+ i.requestedTime)
    val last = if (all.isEmpty) "" else all.max
    InstantTime.next(last, System.currentTimeMillis(), as.timelineZone)
  }
}
