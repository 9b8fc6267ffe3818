package hudiidx.sync

import hudiidx.Log
import hudiidx._
import hudiidx.manifest.ManifestChanges
import hudiidx.storage.{FileInfo, Storage}
import hudiidx.store.{Current, IndexFile, IndexStore, IndexVersion}
import hudiidx.table._
import hudiidx.table.listing.{FolderScan, TableListing}
import java.io.IOException

/** How a snapshot came to its files.
  *
  *  @param version        the index version in use; None behind a fallback
  *  @param unseenInstants completed instants laid over that version from their own metadata
  *  @param passedOver     newer versions that could not be read, as messages
  */
final case class IndexUse(
    version: Option[IndexVersion],
    unseenInstants: Vector[String],
    fallback: Option[Fallback],
    passedOver: Vector[String]
)

/** A table as of one moment: its pinned timeline, and its files from the index or from the listing that stands in for it.
  *  Law 4 (never stale): instants that completed after the index version are taken from their own metadata. Law 5 (derived):
  *  whatever is wrong with the index costs time, never rows.
  */
final class TableSnapshot private (
    val table: TableContext,
    val source: FileSource,
    val viewTimeline: ViewTimeline,
    initialUse: IndexUse,
    open: Option[OpenIndex],
    overlay: Option[ManifestChanges]
) extends AutoCloseable {
  def tablePath: String = table.tablePath
  def config: TableConfig = table.config
  def timeline: hudiidx.timeline.ActiveTimeline = table.timeline

  val view: FileSystemView = new FileSystemView(source, viewTimeline)

  /** The use of the index so far: a file of it that fails while it is read turns up here as a fallback. */
  def use: IndexUse = source match {
    case s: GuardedSource if s.fallback.isDefined => initialUse.copy(version = None, fallback = s.fallback)
    case _                                        => initialUse
  }

  /** True if the partition may have files that the index version does not list: from instants after it, or since the table is
    * listed instead.
    */
  def mayHaveMore(partitionPath: String): Boolean =
    use.version.isEmpty || !overlay.exists(_.get(partitionPath).isEmpty)

  override def close(): Unit = open.foreach(_.close())
}

object TableSnapshot {

  /** Opens the table. Errors of the table itself are raised; an index that cannot be used is one warning, or in strict mode
    *  IndexNotFound, DamagedIndex or StaleIndex.
    */
  def open(access: TableAccess, tablePath: String, options: IndexOptions): TableSnapshot = {
    val (table, found) = opening(access, tablePath.stripSuffix("/"), options)
    of(table, options, found = found)
  }

  /** The table, and what its index was found to be meanwhile: `of` takes both. None where the index is not to be used. */
  def opening(access: TableAccess, path: String, options: IndexOptions): (TableContext, Option[Current]) =
    if (notUsed(options).isDefined) (TableContext.load(access, path), None)
    else {
      val store = new IndexStore(access.storage, options.indexDir(path))
      Storage.both(access.storage, path)(TableContext.load(access, path), found(store, options))
    }

  /** What the index is now; None where it is not to be used.
    *
    * @param wanted files of the index's version that will be opened
    * @param listed its versions, where they were listed a moment ago
    */
  def found(
      store: IndexStore,
      options: IndexOptions,
      wanted: IndexFile => Boolean = OpenIndex.needs,
      listed: Option[Vector[FileInfo]] = None
  ): Option[Current] =
    if (notUsed(options).isDefined) None
    else {
      val current = listed.fold(store.current())(store.current(_))
      current match {
        case Current.Found(version, _) => store.fetchEnds(version.files.filter(wanted))
        case _                         => ()
      }
      Some(current)
    }

  /** @param version the index version to use, where another process has chosen it; None: the current one
    * @param found   the current one, where it was looked for a moment ago
    */
  def of(
      table: TableContext,
      options: IndexOptions,
      version: Option[IndexVersion] = None,
      found: Option[Current] = None
  ): TableSnapshot = {
    val view = ViewTimeline.load(table.config, table.timeline, table.contents, t => table.history.completionTime(t))
    val store = new IndexStore(table.storage, options.indexDir(table.tablePath))
    val warn = new FallbackWarning(table.tablePath, store.dir, options.strict)
    lazy val listing = listingOf(table, view, damagedAsStock = options.damagedAsStock)
    val chosen = version.map(Current.Found(_, Vector.empty))
    indexOf(table, store, options, chosen.orElse(found).orElse(TableSnapshot.found(store, options))) match {
      case Left(fallback) =>
        // A table without a commit has nothing to list: its first write is no matter for a warning.
        val isNew = fallback.code == FallbackCode.NoIndex && table.completed.isEmpty
        if (!isNew || options.strict) warn.raiseOrLog(fallback, None)
        new TableSnapshot(table, listing, view, IndexUse(None, Vector.empty, Some(fallback), Vector.empty), None, None)
      case Right((index, unseen, overlay, passedOver)) =>
        val source = new GuardedSource(index.source(overlay), () => listing, warn)
        val use = IndexUse(Some(index.version), unseen.map(_.instant.requestedTime), None, passedOver)
        new TableSnapshot(table, source, view, use, Some(index), Some(overlay))
    }
  }

  def listingOf(
      table: TableContext,
      view: ViewTimeline,
      scan: FolderScan = FolderScan.InProcess,
      damagedAsStock: Boolean = false,
      isFollowed: Boolean = false
  ): TableListing = {
    val (storage, path) = (table.storage, table.tablePath)
    table.contents.fetch(table.timeline.completed)
    TableListing(storage, path, table.config, table.timeline, table.contents, view, scan, damagedAsStock, isFollowed)
  }

  private type Usable = (OpenIndex, Vector[UnseenInstant], ManifestChanges, Vector[String])

  private def indexOf(
      table: TableContext,
      store: IndexStore,
      options: IndexOptions,
      current: => Option[Current]
  ): Either[Fallback, Usable] = notUsed(options).toLeft(current.getOrElse(Current.Absent)).flatMap {
    case Current.Found(version, passedOver) =>
      SyncPlan.of(version, table) match {
        case IndexStatus.Usable(unseen) => overlaid(table, store, version, unseen, passedOver)
        case IndexStatus.Diverged(fallback) if fallback.code == FallbackCode.TimelineGap =>
          usableBefore(table, store, version).getOrElse(Left(fallback))
        case IndexStatus.Diverged(fallback) => Left(fallback)
      }
    case Current.Unreadable(reasons, _, _) => Left(Fallback(FallbackCode.DamagedIndex, reasons.mkString("; ")))
    case Current.Absent                    => Left(Fallback(FallbackCode.NoIndex, "there is no index"))
  }

  /** Why no index is to be used. */
  private def notUsed(options: IndexOptions): Option[Fallback] =
    if (!options.enabled) Some(Fallback(FallbackCode.Disabled, s"${IndexOptions.Enabled} is false"))
    // The index names files that may be gone, and stock Hudi does not know them.
    else if (options.damagedAsStock)
      Some(
        Fallback(FallbackCode.Disabled, s"${LogCheck.OptionName} is ${LogCheck.AsStock}: files are listed as they lie")
      )
    else None

  /** An update that came between the reading of the timeline and of the index covers instants that this timeline does not have
    * yet: an earlier version does not.
    */
  private def usableBefore(
      table: TableContext,
      store: IndexStore,
      version: IndexVersion
  ): Option[Either[Fallback, Usable]] =
    store
      .before(version.number)
      .map(v => v -> SyncPlan.of(v, table))
      .collectFirst { case (v, IndexStatus.Usable(unseen)) => overlaid(table, store, v, unseen, Vector.empty) }

  private def overlaid(
      table: TableContext,
      store: IndexStore,
      version: IndexVersion,
      unseen: Vector[UnseenInstant],
      passedOver: Vector[String]
  ): Either[Fallback, Usable] = {
    def unusable(why: String) = Left(Fallback(FallbackCode.DamagedIndex, why))
    val changes =
      try Right(InstantEffects.since(version.coverage, unseen, table))
      catch { case e: DamagedIndex => unusable(e.getMessage) }
    changes.flatMap { changed =>
      try Right((credible(OpenIndex.open(store, version, table.access.cache), changed), unseen, changed, passedOver))
      catch {
        case e: DamagedIndex => unusable(e.getMessage)
        case e: IOException  => unusable(e.toString)
      }
    }
  }

  /** Partitions are held against changes as they are read; where instants that the index covers were rolled back all are at once, for
    * record keys too, and so are those of which archived instants replaced file groups.
    */
  private def credible(index: OpenIndex, changes: ManifestChanges): OpenIndex =
    try {
      if (changes.isToBeHeldFirst) changes.requireCredible(index.source(new ManifestChanges))
      index
    } catch {
      case e: Throwable =>
        index.close()
        throw e
    }
}

/** Says once why the index is not used; in strict mode raises it. */
private[sync] final class FallbackWarning(tablePath: String, indexDir: String, strict: Boolean) {
  private val log = Log.of(classOf[TableSnapshot])

  def raiseOrLog(fallback: Fallback, cause: Option[Throwable]): Unit =
    if (fallback.code != FallbackCode.Disabled) {
      FallbackCounters.count(indexDir, fallback.code)
      val message = fallback.message(tablePath, indexDir, strict)
      if (strict) throw error(fallback.code, message, cause.orNull)
      log.warn("{}", message)
    }

  private def error(code: String, message: String, cause: Throwable): HudiIdxException = code match {
    case FallbackCode.NoIndex | FallbackCode.NoRecordIndex => new IndexNotFound(message, cause)
    case FallbackCode.DamagedIndex | FallbackCode.ReadFailed | FallbackCode.DamagedRecordIndex |
        FallbackCode.DamagedColumnIndex =>
      new DamagedIndex(message, cause)
    case _ => new StaleIndex(message, cause)
  }
}

/** Files from the index until a read of it fails; from then on from the listing. */
private[sync] final class GuardedSource(index: FileSource, listing: () => FileSource, warn: FallbackWarning)
    extends FileSource {
  @volatile private var failed: Option[Fallback] = None

  def fallback: Option[Fallback] = failed

  override def partitions: Vector[String] = guarded(_.partitions)

  override def files(partitionPath: String): Array[FileEntry] = guarded(_.files(partitionPath))

  override def filesOfSizes(partitionPath: String, sizes: Array[Long]): FilesFound =
    guarded(_.filesOfSizes(partitionPath, sizes))

  private def guarded[A](call: FileSource => A): A =
    if (failed.isDefined) call(listing())
    else
      try call(index)
      catch {
        case e: DamagedIndex => fallBack(Fallback(FallbackCode.DamagedIndex, e.getMessage), e, call)
        case e: IOException  => fallBack(Fallback(FallbackCode.ReadFailed, e.toString), e, call)
      }

  private def fallBack[A](reason: Fallback, e: Exception, call: FileSource => A): A = {
    synchronized {
      if (failed.isEmpty) {
        warn.raiseOrLog(reason, Some(e))
        failed = Some(reason)
      }
    }
    call(listing())
  }
}
