package hudiidx.sync

import hudiidx._
import hudiidx.manifest._
import hudiidx.store._
import hudiidx.table.{TableListing, ViewTimeline}
import java.time.Clock
import org.slf4j.LoggerFactory

/** What a create or update did.
  *
  *  @param version    the version in force afterwards
  *  @param instants   requested times of the instants taken in
  *  @param merged     a new master manifest was written
  *  @param rebuilt    the table was listed anew
  *  @param published  false: the index was in step already
  *  @param rebases    times that another writer was first and the work was done again on its version
  *  @param lagMillis  how long before the version was published the oldest of `instants` had completed; None: there is none,
  *                    or the table was listed anew
  */
final case class SyncResult(
    version: IndexVersion,
    instants: Vector[String],
    merged: Boolean,
    rebuilt: Boolean,
    published: Boolean,
    rebases: Int,
    lagMillis: Option[Long] = None
)

/** Makes an index and keeps it in step. Needs no lock: of two writers that finish at once one publishes, the other re-bases
  *  (design §3.1). A crash at any step leaves the version before; its files are orphans that a later update removes.
  */
final class Indexer(
    access: TableAccess,
    tablePath: String,
    options: IndexOptions,
    scanner: PartitionScanner = LocalScanner,
    parts: Vector[IndexPart] = Vector.empty,
    clock: Clock = Clock.systemUTC()
) {
  private val log = LoggerFactory.getLogger(classOf[Indexer])
  private val path = tablePath.stripSuffix("/")
  private val store = new IndexStore(access.storage, options.indexDir(path))
  private val publisher = new VersionPublisher(store, options.retention, clock)

  /** Makes the index from the table's files, whether there is one or not, then takes in what completed meanwhile. Like
    *  `update`: IndexNotWritable if the index folder refuses a write; the version before stays in force. InvalidOption if the
    *  folder cannot be that of an index, or holds other files and no index.
    */
  def create(): SyncResult = {
    store.requireOwn(path)
    store.requireUnused()
    val built = build(0)
    val after = update()
    after.copy(instants = built.instants ++ after.instants, rebuilt = true, published = true, lagMillis = None)
  }

  /** Takes in the instants completed since the current version. Makes the index anew where the version cannot be brought
    *  up (damaged, of another table or an earlier format, instants missing); IndexNotFound if there is none, DamagedIndex
    *  if a later hudiidx wrote it in a format that this one does not know.
    */
  def update(): SyncResult = {
    store.requireOwn(path)
    update(0)
  }

  private def requireTries(rebases: Int): Unit = if (rebases > Indexer.MaxRebases)
    throw new WriteConflict(
      s"${store.dir}: other writers were first $rebases times; run `hudiidx update $path` again later"
    )

  private def update(rebases: Int): SyncResult = {
    requireTries(rebases)
    store.current() match {
      case Current.Absent => absent()
      // Two writers of different formats would make the index anew in turn.
      case Current.Unreadable(reasons, true, _) => throw new DamagedIndex(reasons.mkString("; "), isLater = true)
      case Current.Unreadable(reasons, _, None) =>
        rebuild(rebases, reasons.mkString("; ") + "; if it had a record index, `hudiidx add-index` makes that anew")
      case Current.Unreadable(reasons, _, _)  => rebuild(rebases, reasons.mkString("; "))
      case Current.Found(version, passedOver) =>
        val table = TableContext.load(access, path)
        // Numbers of versions that cannot be read are taken all the same.
        val next = if (passedOver.isEmpty) version.number + 1 else store.nextNumber()
        SyncPlan.of(version, table) match {
          case Standing.Unsound(fallback) => rebuild(rebases, fallback.why)
          case Standing.Sound(unseen)     => advance(Base(table, version, next), unseen, rebases)
        }
    }
  }

  /** Makes a part, or makes it anew, as of the version in force, brought up to the timeline first. IndexNotFound without
    * an index.
    */
  def addPart(part: IndexPart): SyncResult = {
    store.requireOwn(path)
    addPart(part, 0)
  }

  private def addPart(part: IndexPart, rebases: Int): SyncResult = {
    val synced = update(rebases)
    val began = clock.millis()
    // Taken before the version is read: whoever publishes from here on takes the number.
    val number = store.nextNumber()
    val version = inForce()
    val table = TableContext.load(access, path)
    val isInStep = SyncPlan.of(version, table) match {
      case Standing.Sound(unseen) => unseen.isEmpty
      case _                      => false
    }
    val published =
      if (!isInStep) None
      else {
        val made = showingProgress { progress =>
          IndexState.opened(store, table, version, progress.of(0, 1))(part.build(_, Some(version)))
        }
        val kept = version.files.filterNot(part.owns) ++ made.files
        val properties = version.properties.filterNot(p => part.owns(p._1)) ++ made.properties
        val next = publisher.versionOf(table, kept, properties, number)
        if (publisher.publish(next, made.leftovers, began)) Some(next) else None
      }
    published match {
      case Some(next) => synced.copy(version = next, published = true)
      case None       => addPart(part, rebases + 1)
    }
  }

  /** Publishes a version without the part, or with what is left of it; the same version if there is nothing to drop.
    * IndexNotFound without an index.
    */
  def dropPart(part: IndexPart): IndexVersion = setPart(part)(part.drop)

  /** Publishes a version whose files and properties of a part are these, of the version in force; the same version if they are
    * so already. IndexNotFound without an index.
    */
  def setPart(part: IndexPart)(to: IndexVersion => PartFiles): IndexVersion = {
    store.requireOwn(path)
    val began = clock.millis()
    val number = store.nextNumber()
    val version = inForce()
    val left = to(version)
    val files = version.files.filterNot(part.owns) ++ left.files
    val properties = version.properties.filterNot(p => part.owns(p._1)) ++ left.properties
    if (files.toSet == version.files.toSet && properties == version.properties) version
    else {
      val next = version.copy(
        number = number,
        files = files,
        properties = properties,
        createdAtMillis = clock.millis()
      )
      if (publisher.publish(next, left.leftovers, began)) next else setPart(part)(to)
    }
  }

  /** Removes versions beyond those that the retention keeps, and files that no version names and no writer may need: their
    * names. Each update does so too. IndexNotFound without an index, IndexNotWritable if one cannot be removed.
    */
  def expire(): Vector[String] = {
    store.requireOwn(path)
    try store.expire(inForce().number, options.retention, clock.millis())
    catch {
      case e: java.io.IOException =>
        throw new IndexNotWritable(s"${store.dir}: old files cannot be removed ($e); make the folder writable", e)
    }
  }

  private def inForce(): IndexVersion = store.current() match {
    case Current.Found(version, _)               => version
    case Current.Absent                          => absent()
    case Current.Unreadable(reasons, isLater, _) => throw new DamagedIndex(reasons.mkString("; "), isLater = isLater)
  }

  /** NotAHudiTable where there is no table either. */
  private def absent(): Nothing = {
    TableContext.load(access, path): Unit
    throw new IndexNotFound(s"$path: there is no index in ${store.dir}; run `hudiidx create $path`")
  }

  private def rebuild(rebases: Int, why: String): SyncResult = {
    log.warn("{}: making the index in {} anew: {}", path, store.dir, why)
    build(rebases)
  }

  /** What an update goes out from, and the number that its version shall have. */
  private case class Base(table: TableContext, version: IndexVersion, nextNumber: Long)

  private def advance(base: Base, unseen: Vector[UnseenInstant], rebases: Int): SyncResult =
    if (unseen.isEmpty)
      SyncResult(base.version, Vector.empty, merged = false, rebuilt = false, published = false, rebases)
    else {
      val effects = new InstantEffects
      unseen.foreach(u => effects.take(u.instant, u.content))
      effects.resolveSizes(base.table.storage, path)
      val result =
        try publishChanges(base, effects.changes, unseen, rebases)
        catch { case e: DamagedIndex => Some(rebuild(rebases, e.getMessage)) }
      result.getOrElse(update(rebases + 1))
    }

  /** None if another writer published first. */
  private def publishChanges(
      base: Base,
      changes: TableChanges,
      unseen: Vector[UnseenInstant],
      rebases: Int
  ): Option[SyncResult] = {
    val began = clock.millis()
    requireParts(base.version)
    val open = OpenIndex.open(store, base.version, access.cache)
    try {
      val writer = new ManifestUpdate(store, open, options)
      val written = writer.write(changes, base.table)
      val manifest = written.copy(
        files = written.files.filter(f => ManifestKind.All(f.kind)),
        properties = written.properties.filter { case (name, _) => name.startsWith(ManifestProperty.Prefix) }
      )
      val kept = parts.filter(_.isIn(base.version))
      val others =
        withView(manifest, base.table, base.nextNumber, kept, None)(updatedPart(_, _, base.version, unseen))
      publish(base.table, manifest, others, base.nextNumber, began).map { next =>
        SyncResult(
          next,
          unseen.map(_.instant.requestedTime),
          written.merged,
          rebuilt = false,
          published = true,
          rebases,
          SyncLag.millis(unseen, base.table, clock.millis())
        )
      }
    } finally open.close()
  }

  /** A part that is damaged is made anew; the manifest stays. */
  private def updatedPart(
      part: IndexPart,
      state: IndexState,
      before: IndexVersion,
      unseen: Vector[UnseenInstant]
  ): PartFiles =
    try part.update(state, before, unseen)
    catch {
      case e: DamagedIndex =>
        log.warn("{}: making a part of the index in {} anew: {}", path, store.dir, e.getMessage)
        part.build(state, Some(before))
    }

  private def build(rebases: Int): SyncResult = {
    val table = TableContext.load(access, path)
    showingProgress(build(table, _, rebases))
  }

  private def showingProgress[A](work: BuildProgress => A): A = {
    val progress = new BuildProgress(store, clock.millis())
    try {
      progress.begin()
      work(progress)
    } finally progress.end()
  }

  /** Writes master manifest, partition index and version from the table's files. */
  private def build(table: TableContext, progress: BuildProgress, rebases: Int): SyncResult = {
    requireTries(rebases)
    val began = clock.millis()
    val view = ViewTimeline.load(table.config, table.timeline, table.contents, table.history.completionTime(_))
    val listing = TableSnapshot.listingOf(table, view, scanner.folders, isFollowed = true)
    val number = store.nextNumber()
    val written = fromMetadata(table, listing, progress).getOrElse(
      writeMaster(table, listing.partitions, progress, scanner.scan(listing, _))
    )
    val before = store.current() match {
      case Current.Found(version, _) if version.table == table.identity               => Some(version)
      case Current.Unreadable(_, _, Some(earlier)) if earlier.table == table.identity =>
        Some(earlier.copy(files = Vector.empty))
      case _ => None
    }
    before.foreach(requireParts)
    val others =
      withView(written, table, number, parts, Some(progress))((part, state) => part.build(state, before))
    publish(table, written, others, number, began) match {
      case Some(version) =>
        SyncResult(
          version,
          table.completed.map(_.requestedTime),
          merged = false,
          rebuilt = true,
          published = true,
          rebases
        )
      // The other writer may not know of the parts that this index is to have.
      case None if others.exists(_.files.nonEmpty) && !parts.forall(_.isIn(inForce())) => build(rebases + 1)
      case None                                                                        =>
        publisher.discard(others.flatMap(_.leftovers))
        update(rebases + 1)
    }
  }

  /** None where the files must come from a listing; so also where Hudi's metadata table is damaged, unless it was asked for. */
  private def fromMetadata(
      table: TableContext,
      listing: TableListing,
      progress: BuildProgress
  ): Option[WrittenFiles] =
    try
      MetadataScan.open(table, listing.lister.rules, options.source).map { metadata =>
        try writeMaster(table, metadata.partitions, progress, metadata.scan)
        finally metadata.close()
      }
    catch {
      case e: DamagedTable if options.source == "auto" =>
        log.warn(s"$path: files are listed, since Hudi's metadata table cannot be read: ${e.getMessage}")
        None
    }

  private def writeMaster(
      table: TableContext,
      partitions: Vector[String],
      progress: BuildProgress,
      scan: Int => Iterator[EncodedPartition]
  ): WrittenFiles = {
    val shape = ManifestShape.choose(partitions.size.toLong * ManifestShape.UsualFiles, partitions.size.toLong)
    val show = progress.of(0, 1 + parts.size)
    MasterFiles.write(store, table, shape)(progress.following(scan(shape.entriesPerPage), partitions.size, show))
  }

  /** What the parts make of the table as a manifest has it that is written and not yet published. The manifest was the first
    * step of the progress, each part is one more.
    */
  private def withView(
      manifest: WrittenFiles,
      table: TableContext,
      number: Long,
      parts: Vector[IndexPart],
      progress: Option[BuildProgress]
  )(make: (IndexPart, IndexState) => PartFiles): Vector[PartFiles] =
    if (parts.isEmpty) Vector.empty
    else {
      val version = publisher.versionOf(table, manifest.files, manifest.properties, number)
      IndexState.opened(store, table, version, _ => ()) { state =>
        parts.zipWithIndex.map { case (part, i) =>
          val show = progress.map(_.of(1 + i, 1 + parts.size))
          make(part, show.fold(state)(s => state.copy(show = s)))
        }
      }
    }

  /** A writer that does not know a part of the index would publish it stale. */
  private def requireParts(version: IndexVersion): Unit =
    version.files.find(f => !ManifestKind.All(f.kind) && !parts.exists(_.owns(f))).foreach { f =>
      throw new IllegalStateException(
        s"${store.dir}: index version ${version.number} has a ${f.kind}, which this writer cannot keep in step"
      )
    }

  private def publish(
      table: TableContext,
      manifest: WrittenFiles,
      others: Vector[PartFiles],
      number: Long,
      began: Long
  ): Option[IndexVersion] = {
    val files = manifest.files ++ others.flatMap(_.files)
    val version = publisher.versionOf(table, files, manifest.properties ++ others.flatMap(_.properties), number)
    if (publisher.publish(version, others.flatMap(_.leftovers), began)) Some(version) else None
  }
}

object Indexer {
  private val MaxRebases = 20
  val Writer = "hudiidx 0.1.0"
}
