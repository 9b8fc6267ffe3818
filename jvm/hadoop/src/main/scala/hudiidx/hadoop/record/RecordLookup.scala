package hudiidx.hadoop.record

import hudiidx.record._
import hudiidx.store.{IndexStore, IndexVersion, InstantId}
import hudiidx.sync._
import hudiidx.table.{FileGroup, FileSlice, FileSystemView}
import hudiidx.timeline.Action

/** What became of keys that were looked up.
  *
  *  @param scannedSlices file slices whose key columns were read, since the index has not taken in what changed them
  */
final case class LookupUse(
    indexVersion: Option[Long],
    scannedSlices: Int,
    fallback: Option[Fallback]
)

/** Finds record keys in a table as of one moment: in the record index, and in the files of those file groups whose keys the
  * index does not know as of that moment. Without a usable index all files are read. Exact either way (law 3, law 4).
  *
  *  @param snapshot of the table; with its index where that is usable
  *  @param asOf     requested time of the reader's instant; None: the latest
  */
final class RecordLookup private (
    snapshot: TableSnapshot,
    index: Option[RecordIndex],
    dirty: Set[FileGroup] => Vector[FileSlice],
    unknownTo: IndexedDirt,
    engine: TaskEngine,
    table: RecordTable,
    val asOf: Option[String],
    fallback: Option[Fallback]
) extends AutoCloseable {
  private val instants = new SliceInstants(snapshot.view, asOf)
  private lazy val slices: Vector[FileSlice] = dirty(unknownTo.groups)

  def use: LookupUse = LookupUse(index.map(_.version.number), slices.size, fallback)

  def counters: Option[RecordCounters] = index.map(_.counters)

  def windowDays: Option[Int] = index.flatMap(_.windowDays)

  def locate(keys: PackedKeys): Locations = {
    val indexed = index.map { i =>
      LocationLookup.locate(i.lookup(keys), i.dictionary, instants, (_, _, group) => !unknownTo.groups(group))
    }
    if (slices.isEmpty && indexed.isDefined) indexed.get
    else LookupMerge.merge(keys.count, indexed, KeyScan.find(engine, table, slices, keys), slices)
  }

  override def close(): Unit = {
    index.foreach(_.close())
    snapshot.close()
  }
}

/** File groups whose keys an index does not know as of an instant. */
final case class IndexedDirt(groups: Set[FileGroup])

object RecordLookup {

  /** IndexNotFound, StaleIndex or DamagedIndex in strict mode where the index cannot be used. */
  def open(
      context: TableContext,
      options: IndexOptions,
      asOf: Option[String],
      engine: TaskEngine
  ): RecordLookup = {
    val snapshot = TableSnapshot.of(context, options)
    val store = new IndexStore(context.storage, options.indexDir(context.tablePath))
    snapshot.use.version.filter(RecordIndex.isIn) match {
      case Some(version) => indexed(snapshot, store, version, asOf, engine)
      case None          =>
        val reason =
          snapshot.use.fallback.getOrElse(Fallback(FallbackCode.NoRecordIndex, "the index has no record index"))
        if (snapshot.use.fallback.isEmpty) reason.warn(context.tablePath, store.dir, options.strict)
        scanning(snapshot, store, asOf, engine, reason)
    }
  }

  private def indexed(
      snapshot: TableSnapshot,
      store: IndexStore,
      version: IndexVersion,
      asOf: Option[String],
      engine: TaskEngine
  ): RecordLookup = {
    val index = RecordIndex.open(version, store, snapshot.table.access.cache)
    val dirt = new Dirt(snapshot, version, index, asOf)
    val table = tableOf(snapshot, store, index.windowDays, asOf)
    new RecordLookup(snapshot, Some(index), dirt.slices, IndexedDirt(dirt.groups), engine, table, asOf, None)
  }

  private def scanning(
      snapshot: TableSnapshot,
      store: IndexStore,
      asOf: Option[String],
      engine: TaskEngine,
      reason: Fallback
  ): RecordLookup = {
    def all(groups: Set[FileGroup]): Vector[FileSlice] =
      snapshot.view.partitions.flatMap(p => snapshot.view.latestMergedFileSlices(p, asOf))
    val table = tableOf(snapshot, store, None, asOf)
    new RecordLookup(snapshot, None, all, IndexedDirt(Set.empty), engine, table, asOf, Some(reason))
  }

  private def tableOf(
      snapshot: TableSnapshot,
      store: IndexStore,
      windowDays: Option[Int],
      asOf: Option[String]
  ): RecordTable =
    RecordTable.of(IndexState(snapshot.table, snapshot.view, store), windowDays, asOf)
}

/** The file groups whose keys an index does not know as of an instant: those that instants changed which it has not taken in, or
  * which came after the reader's; and as of an earlier instant those that had gone before the index was made.
  */
private final class Dirt(snapshot: TableSnapshot, version: IndexVersion, index: RecordIndex, asOf: Option[String]) {
  private val context = snapshot.table
  private val view: FileSystemView = snapshot.view

  private val unseen: Vector[UnseenInstant] = SyncPlan.of(version, context) match {
    case Standing.Sound(missing) => missing
    case _                       => Vector.empty // the snapshot would not use the index
  }

  private val later: Vector[UnseenInstant] = asOf.toVector.flatMap { t =>
    val seen = unseen.map(u => InstantId(u.instant.requestedTime, u.instant.action)).toSet
    context.completed
      .filter(i => i.requestedTime > t && !seen(InstantId(i.requestedTime, i.action)))
      .map(i => new UnseenInstant(i, () => context.contents.of(i)))
  }

  private val touched = DirtyGroups.of(version.coverage, unseen ++ later)

  private def hasStrangers: Boolean =
    touched.revives || later.exists(_.instant.action == Action.ReplaceCommit) || asOf.isDefined

  val groups: Set[FileGroup] = touched.touches.keySet ++ (if (hasStrangers) strangers else Set.empty)

  /** Visible groups that the index has no ordinal of. */
  private def strangers: Set[FileGroup] =
    view.partitions.iterator
      .flatMap(p => view.latestMergedFileSlices(p, asOf).iterator.map(s => FileGroup(p, s.fileId)))
      .filter(g => index.dictionary.find(g).isEmpty)
      .toSet

  def slices(of: Set[FileGroup]): Vector[FileSlice] =
    of.groupBy(_.partitionPath).toVector.sortBy(_._1).flatMap { case (partition, wanted) =>
      view.latestMergedFileSlices(partition, asOf).filter(s => wanted(FileGroup(partition, s.fileId)))
    }
}

/** Puts together what the index and a scan of files found. */
private object LookupMerge {

  def merge(
      keys: Int,
      indexed: Option[Locations],
      scanned: Vector[ScannedKey],
      slices: Vector[FileSlice]
  ): Locations = {
    val known = indexed.fold(Vector.empty[VisibleGroup])(_.groups.toVector)
    val groups = known ++ slices.map(s => VisibleGroup(s.partitionPath, s.fileId, s.baseInstantTime))
    val byKey = scanned.groupBy(_.key)
    val starts = new Array[Int](keys + 1)
    val places = Array.newBuilder[Int]
    (0 until keys).foreach { k =>
      indexed.foreach(l => (l.starts(k) until l.starts(k + 1)).foreach(at => places += l.places(at)))
      val more = byKey.getOrElse(k, Vector.empty)
      more.foreach(s => places += known.size + s.slice)
      starts(k + 1) = starts(k) + more.size + indexed.fold(0)(_.count(k))
    }
    new Locations(starts, places.result(), groups)
  }
}
