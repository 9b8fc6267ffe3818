package hudiidx.sync.build

import hudiidx.Log
import hudiidx._
import hudiidx.column.NeverColumns
import hudiidx.store._
import hudiidx.sync.{
  IndexOptions,
  IndexPart,
  IndexStatus,
  LocalScanner,
  ManifestKind,
  PartFiles,
  PartitionScanner,
  SyncLag,
  SyncPlan,
  TableAccess,
  TableContext,
  UnseenInstant
}
import hudiidx.table.TableConfig
import java.time.Clock
import scala.annotation.tailrec

/** What a create or update did.
  *
  *  @param version    the version in force afterwards
  *  @param instants   requested times of the instants taken in
  *  @param merged     a new master manifest was written
  *  @param rebuilt    the table was listed anew
  *  @param published  false: the index was in step already
  *  @param rebases    times that another writer was first, and what was made was brought up to its version
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
    tableAccess: TableAccess,
    tablePath: String,
    options: IndexOptions,
    scanner: PartitionScanner = LocalScanner,
    parts: Vector[IndexPart] = Vector.empty,
    clock: Clock = Clock.systemUTC()
) {
  private val log = Log.of(classOf[Indexer])
  private val path = tablePath.stripSuffix("/")
  private val behind = new WriteBehind(tableAccess.storage)
  private val access = tableAccess.over(behind)
  private val store = new IndexStore(access.storage, options.indexDir(path))
  private val drafts = new Drafts(path, store, access, options, parts, clock)
  private val build = new IndexBuild(drafts, options, scanner, parts)

  /** Makes the index from the table's files, whether there is one or not, then takes in what completed meanwhile. Like
    *  `update`: IndexNotWritable if the index folder refuses a write; the version before stays in force. InvalidOption if the
    *  folder cannot be that of an index, or holds other files and no index.
    */
  def create(): SyncResult = own {
    store.requireUnused()
    NeverNames.forget(path)
    val built = build.run(0).result
    val after = update()
    after.copy(instants = built.instants ++ after.instants, rebuilt = true, published = true, lagMillis = None)
  }

  /** Takes in the instants completed since the current version. Makes the index anew where the version cannot be brought
    *  up (damaged, of another table or an earlier format, instants missing); IndexNotFound if there is none, DamagedIndex
    *  if a later hudiidx wrote it in a format that this one does not know.
    */
  def update(): SyncResult = own(looked(sync(0).result))

  /** What is done to an index folder, which must be one; where that fails nothing of it is on its way any more. */
  private def own[A](work: => A): A =
    try {
      store.requireOwn(path)
      work
    } finally behind.abandon()

  /** The same where nothing else of the table is looked at: of one that is not read the index stays as it is. */
  private def ofRead[A](work: => A): A = {
    TableConfig.read(access.storage, path): Unit
    own(work)
  }

  /** Says so where the index folder is more open than the table now. What was made anew was looked at then. */
  private def looked(done: SyncResult): SyncResult = {
    if (done.published && !done.rebuilt) IndexRights.look(store, path)
    done
  }

  private def sync(rebases: Int): Synced = {
    drafts.requireTries(rebases)
    val (base, table, isLater) = drafts.look()
    base.requireRead() match {
      case Current.Absent => absent()
      // Two writers of different formats would make the index anew in turn.
      case Current.Unreadable(reasons, true, _) => throw new DamagedIndex(reasons.mkString("; "), isLater = true)
      case Current.Unreadable(reasons, _, None) =>
        rebuild(rebases, reasons.mkString("; ") + "; if it had a record index, `hudiidx add-index` makes that anew")
      case Current.Unreadable(reasons, _, _) => rebuild(rebases, reasons.mkString("; "))
      case Current.Found(version, _)         =>
        val (now, status) = planned(version, table.get, isLater)
        status match {
          case IndexStatus.Diverged(fallback) => rebuild(rebases, fallback.why)
          case IndexStatus.Usable(unseen)     => ruled(Base(now, version, base.next, unseen), rebases)
        }
    }
  }

  /** What the version lacks. A timeline that was read beside it may be older than it, which is enough to tell that nothing is to be
    * done; what is published is as of one that was read after it.
    */
  private def planned(version: IndexVersion, table: TableContext, isLater: Boolean): (TableContext, IndexStatus) =
    SyncPlan.of(version, table) match {
      case IndexStatus.Usable(unseen) if unseen.isEmpty => (table, IndexStatus.Usable(unseen))
      case status if isLater                            => (table, status)
      case _                                            =>
        val now = drafts.table()
        (now, SyncPlan.of(version, now))
    }

  /** Makes a part, or makes it anew, in step with the timeline, on top of the version that is in force then. IndexNotFound
    * without an index.
    */
  def addPart(part: IndexPart): SyncResult = own(looked(new PartAddition(part, drafts, sync, () => inForce()).run()))

  /** Publishes a version without the part, or with what is left of it; the same version if there is nothing to drop.
    * IndexNotFound without an index.
    */
  def dropPart(part: IndexPart): IndexVersion = setPart(part)(part.drop)

  /** Publishes a version whose files and properties of a part are these, of the version in force; the same version if they are
    * so already. IndexNotFound without an index.
    */
  def setPart(part: IndexPart)(to: IndexVersion => PartFiles): IndexVersion = ofRead(setPart(part, to, 0))

  @tailrec
  private def setPart(part: IndexPart, to: IndexVersion => PartFiles, rebases: Int): IndexVersion = {
    drafts.requireTries(rebases)
    val began = clock.millis()
    val (version, number) = inForce()
    val left = to(version)
    val has = PartFiles.of(part, version)
    if (left.files.toSet == has.files.toSet && left.properties == has.properties) version
    else
      drafts.publish(version, part, left, number, began) match {
        case Some(next) => next
        case None       => setPart(part, to, rebases + 1)
      }
  }

  /** Removes versions beyond those that the retention keeps, and files that no version names and no writer may need: their
    * names. Each update does so too. IndexNotFound without an index, IndexNotWritable if one cannot be removed.
    */
  def expire(): Vector[String] = ofRead {
    try VersionPublisher.expire(store, inForce()._1, options.retention, clock.millis())
    catch {
      case e: java.io.IOException =>
        throw new IndexNotWritable(s"${store.dir}: old files cannot be removed ($e); make the folder writable", e)
    }
  }

  /** The version in force, and the number of the next. */
  private def inForce(): (IndexVersion, Long) = {
    val base = store.base()
    base.requireRead() match {
      case Current.Found(version, _)               => (version, base.next)
      case Current.Absent                          => absent()
      case Current.Unreadable(reasons, isLater, _) => throw new DamagedIndex(reasons.mkString("; "), isLater = isLater)
    }
  }

  /** NotAHudiTable where there is no table either. */
  private def absent(): Nothing = {
    TableContext.load(access, path): Unit
    throw new IndexNotFound(
      s"$path: there is no index in ${store.dir}; run ${IndexStore.command("create", path, store.dir).quoted}"
    )
  }

  private def rebuild(rebases: Int, why: String): Synced = {
    log.warn("{}: making the index in {} anew: {}", path, store.dir, why)
    build.run(rebases)
  }

  /** A rule that the version does not have yet is kept from now on; what it has of forbidden columns goes at once. */
  private def ruled(base: Base, rebases: Int): Synced = {
    val had = NeverColumns.of(base.version)
    val rule = drafts.never(Some(base.version))
    rule.requireNoPartition(base.table.config)
    if (base.unseen.nonEmpty || !had.covers(rule) || NeverNames.isNew(path))
      NeverNames.warn(rule, base.table)
    if (had.covers(rule)) advance(base, rebases)
    else if (parts.exists(p => p.isIn(base.version) && p.holds(base.version, rule.of(base.table.config))))
      rebuild(rebases, s"it may hold values of ${rule.text}, of which none are to be held (${NeverColumns.OptionName})")
    else {
      drafts.forget(Some(base.version), rule)
      drafts.publishRule(base.version, rule, base.nextNumber, clock.millis()) match {
        case None       => sync(rebases + 1)
        case Some(next) =>
          val done = advance(base.copy(version = next, nextNumber = next.number + 1), rebases)
          done.copy(result = done.result.copy(published = true))
      }
    }
  }

  /** What an update goes out from, what it takes in, and the number that its version shall have. */
  private case class Base(
      table: TableContext,
      version: IndexVersion,
      nextNumber: Long,
      unseen: Vector[UnseenInstant]
  )

  private def advance(base: Base, rebases: Int): Synced =
    if (base.unseen.isEmpty)
      try {
        drafts.requireCredible(base.version, base.table)
        val result = SyncResult(base.version, Vector.empty, merged = false, rebuilt = false, published = false, rebases)
        Synced(result, base.table)
      } catch { case e: DamagedIndex => rebuild(rebases, e.getMessage) }
    else {
      val result =
        try {
          val (changes, listed) = drafts.changesAndFolder(base.unseen, base.version, base.table)
          val began = clock.millis()
          drafts.requireParts(base.version)
          published(drafts.of(base.version, base.table, changes, base.unseen, listed), base, began, rebases)
        } catch { case e: DamagedIndex => Some(rebuild(rebases, e.getMessage)) }
      result.getOrElse(sync(rebases + 1))
    }

  /** None if another writer published first and took instants in: what is left to take in is less then. */
  @tailrec
  private def published(draft: Draft, base: Base, began: Long, rebases: Int): Option[Synced] =
    drafts.publish(draft, base.nextNumber, began) match {
      case Some(next) =>
        val instants = base.unseen.map(_.instant.requestedTime)
        val lag = SyncLag.millis(base.unseen, base.table, clock.millis())
        val merged = draft.manifest.merged
        val result = SyncResult(next, instants, merged, rebuilt = false, published = true, rebases, lag)
        Some(Synced(result, base.table))
      case None =>
        drafts.requireTries(rebases + 1)
        val (latest, number) = inForce()
        ontoSameInstants(latest, draft, base) match {
          case Some((version, now)) =>
            published(now, base.copy(version = version, nextNumber = number), began, rebases + 1)
          case None => None
        }
    }

  /** The draft on top of a version that others made of its base, if that has taken in no instant: the parts that they changed
    * are brought up from what they are there, the others are as they were made.
    */
  private def ontoSameInstants(version: IndexVersion, draft: Draft, base: Base): Option[(IndexVersion, Draft)] = {
    def manifest(v: IndexVersion) = v.files.filter(f => ManifestKind.All(f.kind))
    val isSame = version.table == base.version.table && version.coverage == base.version.coverage &&
      NeverColumns.of(version) == NeverColumns.of(base.version) && manifest(version) == manifest(base.version)
    if (!isSame) None
    else {
      drafts.requireParts(version)
      val changed = parts.filter(p => PartFiles.of(p, version) != PartFiles.of(p, base.version))
      val again = drafts.made(draft.manifest, draft.table, changed.filter(_.isIn(version)), None)(
        drafts.updated(_, _, version, base.unseen)
      )
      val kept = draft.parts.filterNot(p => changed.contains(p._1))
      Some(version -> draft.copy(parts = kept ++ again))
    }
  }
}

object Indexer {
  val Writer: String = s"hudiidx ${BuildInfo.Version}"
}
