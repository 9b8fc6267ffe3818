package hudiidx.api

import hudiidx.InvalidOption
import hudiidx.column.{IndexKind, IndexSpec}
import hudiidx.engine.column.{ColumnChange, ColumnPart, ColumnSettings, ColumnVerifier, ColumnVerifyResult}
import hudiidx.engine.logindex.LogPart
import hudiidx.engine.record.{RecordPart, RecordVerifier, RecordVerifyOptions, RecordVerifyResult}
import hudiidx.store.{IndexStore, IndexVersion}
import hudiidx.symlink.{SymlinkExport, SymlinkPart, SymlinkResult}
import hudiidx.sync._
import hudiidx.sync.build.{Indexer, SyncResult}

/** What was done to an index, and how long it took. */
final case class TimedSync(result: SyncResult, elapsedMillis: Long)

/** What comparisons of an index with its table found; None: the part was not asked for. */
final case class Verified(
    files: VerifyResult,
    record: Option[RecordVerifyResult] = None,
    columns: Option[ColumnVerifyResult] = None
) {
  def ok: Boolean = files.ok && record.forall(_.ok) && columns.forall(_.ok)
}

/** The index of one table: what can be done to it. Commands, writers, procedures and stock Hudi's index class call it; for other
  * languages its answers become JSON.
  *
  *  @param path qualified
  */
final class TableIndex(access: TableAccess, path: String, options: IndexOptions, workers: IndexWorkers) {

  /** Makes the index. */
  def create(): TimedSync = timed(following(indexer.create()))

  /** Makes a part of the index, or makes it anew; `kind` is one of [[TableIndex.Kinds]]: the record index, or the index of log
    * blocks. A record index has the mode of `hudiidx.record.mode`, else that which it had, else it is global. IndexNotFound if
    * there is no index, InvalidOption for a kind that is unknown.
    */
  def addIndex(kind: String): TimedSync = {
    TableIndex.checkKind(kind)
    val engine = workers.tasks
    val part =
      if (kind == TableIndex.Logs) new LogPart(engine, Some(true))
      else recordPart(engine, Some(IndexOptions.GlobalMode))
    timed(indexer.addPart(part))
  }

  /** Removes a part of the index. No such part is no error. */
  def dropIndex(kind: String): TimedSync = {
    TableIndex.checkKind(kind)
    val engine = new LocalEngine(access)
    dropped(if (kind == TableIndex.Logs) new LogPart(engine, Some(false)) else recordPart(engine))
  }

  private def dropped(part: IndexPart): TimedSync = timed {
    val number = new IndexStore(access.storage, options.indexDir(path)).nextNumber()
    val after = indexer.dropPart(part)
    SyncResult(after, Vector.empty, merged = false, rebuilt = false, published = after.number >= number, rebases = 0)
  }

  /** Makes indexes on columns, or makes them anew: [[IndexSpec]]s with semicolons between them, or expressions of columns.
    * IndexNotFound if there is no index, InvalidOption for a column or kind that is not there.
    *
    *  @param wait false: they are made in the background, or by a later `update` if this process ends before that
    */
  def addColumns(specs: String, wait: Boolean): TimedSync =
    if (wait) timed(addColumns(asked(specs)))
    else {
      val noted = noteColumns(specs)
      BackgroundWork.start(path, specs)(addColumns(asked(specs)))
      noted
    }

  /** Leaves indexes on columns to be made by the next `update`. */
  def noteColumns(specs: String): TimedSync = {
    val change = ColumnChange.Add(asked(specs), later = true)
    timed(indexer.addPart(columnPart(new LocalEngine(access), change)))
  }

  private def asked(specs: String): Vector[IndexSpec] = IndexSpec.asked(specs, IndexKind.Range)

  private def addColumns(specs: Vector[IndexSpec]): SyncResult =
    indexer.addPart(columnPart(workers.tasks, ColumnChange.Add(specs)))

  /** Removes indexes on columns, in the same form; kind `any` stands for every kind. No such index is no error. */
  def dropColumns(specs: String): TimedSync = {
    val table = TableContext.load(access, path)
    val change = ColumnChange.Drop(
      IndexSpec.asked(specs, ColumnSettings.AnyKind),
      ColumnSettings.columnsOf(table),
      workers.expressions.map(_.of(table.config, table.schema()))
    )
    dropped(columnPart(new LocalEngine(access), change))
  }

  /** Takes in what completed since, and makes what [[addColumns]] left to be made. IndexNotFound if there is no index. */
  def update(): TimedSync = timed(following {
    val synced = indexer.update()
    val pending = if (BackgroundWork.isOn(path)) Vector.empty else makeable(synced.version)
    if (pending.isEmpty) synced
    else {
      val made = addColumns(pending)
      made.copy(
        instants = synced.instants ++ made.instants,
        published = true,
        lagMillis = (synced.lagMillis ++ made.lagMillis).reduceOption(_ max _)
      )
    }
  })

  /** What is noted, and what nobody can use any more since an earlier build made it. */
  private def makeable(version: IndexVersion): Vector[IndexSpec] = {
    val specs = ColumnSettings.of(version)
    if (specs == settled || !ColumnSettings.mayBeMakeable(version)) Vector.empty
    else {
      val found = ColumnSettings.makeable(version, TableContext.load(access, path), workers.expressions)
      if (found.isEmpty && specs.pending.isEmpty) settled = specs
      found
    }
  }

  /** Indexes of which nothing is to be made, so that they are not resolved time and again. */
  @volatile private var settled = ColumnSettings(Vector.empty)

  /** Brings the symlink manifests up that the index keeps in step, if it does. */
  private def following(done: SyncResult): SyncResult = {
    symlinks.follow(done.version)
    done
  }

  /** Writes symlink manifests, as [[hudiidx.symlink.SymlinkExport.now]]. */
  def exportSymlinks(folder: Option[String], readOptimized: Boolean, keep: Option[Boolean]): SymlinkResult =
    symlinks.now(folder.map(workers.qualified), readOptimized, keep)

  private def symlinks: SymlinkExport = new SymlinkExport(access, path, options)

  /** Compares the index with a fresh listing, and, if it is asked for, the record index with the table's keys, and with Hudi's own
    * record index where there is one, and the indexes on columns with the table's files. IndexNotFound if there is no such
    * index, IndexNotWritable if the folder for sorted keys takes no files.
    *
    *  @param samples most differences of a kind that are told one by one
    *  @param scratch folder for sorted keys; None: the index folder
    */
  def verify(
      record: Boolean = false,
      columns: Boolean = false,
      samples: Int = TableIndex.Samples,
      scratch: Option[String] = None
  ): Verified = {
    val (files, table) = workers.verified(path, options.copy(enabled = true, strict = true))
    val asked = RecordVerifyOptions(samples, scratch.map(workers.qualified))
    def ofColumns = new ColumnVerifier(workers.tasks, samples, workers.expressions)
    Verified(
      files,
      if (record) Some(new RecordVerifier(workers.tasks, asked).verify(table, options)) else None,
      if (columns) Some(ofColumns.verify(table, options)) else None
    )
  }

  /** Removes index versions beyond those that are kept, and files that no version names: names of the files. IndexNotFound if
    * there is no index.
    */
  def expire(): Vector[String] = indexer.expire()

  /** Removes the index and nothing else; false if there was none. InvalidOption if the folder holds files of others alone, or cannot be
    * that of an index; IndexNotWritable if it is a link.
    */
  def drop(): Boolean = {
    val store = new IndexStore(access.storage, options.indexDir(path))
    store.requireOwn(path)
    val isDropped = store.drop()
    if (!isDropped && access.storage.list(store.dir).nonEmpty)
      throw new InvalidOption(
        s"${store.dir}: the folder holds no index but other files; remove it by hand if it is not needed"
      )
    isDropped
  }

  private def indexer: Indexer = {
    val engine = workers.tasks
    val parts =
      Vector(
        recordPart(engine),
        columnPart(engine, ColumnChange.Whole),
        new LogPart(engine, options.logs),
        SymlinkPart
      )
    new Indexer(access, path, options, workers.scanner, parts)
  }

  private def columnPart(engine: TaskEngine, change: ColumnChange): ColumnPart =
    new ColumnPart(engine, options.columns, change, workers.expressions)

  private def recordPart(engine: TaskEngine, orElse: Option[String] = None): RecordPart =
    new RecordPart(engine, options.record, orElse)

  private def timed(work: => SyncResult): TimedSync = {
    val from = System.nanoTime()
    val done = work
    TimedSync(done, (System.nanoTime() - from) / 1000000)
  }
}

object TableIndex {
  private val Logs = "logs"

  /** Differences of a kind that are told one by one, unless asked otherwise. */
  val Samples = 20

  /** Parts of an index beside the manifest. */
  val Kinds: Vector[String] = Vector("record", Logs)

  private def checkKind(kind: String): Unit =
    if (!Kinds.contains(kind))
      throw new InvalidOption(s"unknown index kind '$kind'; expected one of: ${Kinds.mkString(", ")}")
}
