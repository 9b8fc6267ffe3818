package hudiidx.engine.record

import java.util.concurrent.atomic.LongAdder

import hudiidx.DamagedIndex
import hudiidx.record._
import hudiidx.record.page.EntryCursor
import hudiidx.store.{IndexStore, IndexVersion}
import hudiidx.sync._
import hudiidx.table.{FileGroup, FileSlice, TableConfig}

/** How record keys are found in a table as of one moment: which index version, and which file groups must be asked by their
  * files instead. Decided once and sent to tasks, so that all of them, retried ones too, answer alike.
  *
  *  @param version  with a record index; None: every visible slice is among `slices`
  *  @param fallback why there is no version
  *  @param dirty    file groups whose keys the index does not know as of this moment
  *  @param slices   those that hold the keys of the dirty groups, or of the table
  *  @param asOf     requested time of the reader's instant; None: the latest
  *  @param windowDays days of the index's window: a key without a location may then be in the table, but is not in the window
  */
final class RecordIndexSnapshot private[record] (
    val indexDir: String,
    val version: Option[IndexVersion],
    val fallback: Option[Fallback],
    val dirty: Set[FileGroup],
    val slices: Vector[FileSlice],
    private[record] val table: RecordTable,
    val asOf: Option[String],
    val windowDays: Option[Int]
) extends Serializable {
  def config: TableConfig = table.config

  /** True for the day of a record that counts, see [[RecordTable]]. */
  private[record] def isInWindow(day: Int): Boolean = table.isInWindow(day)

  /** Slices as locations name them. */
  @transient lazy val sliceGroups: Vector[VisibleGroup] =
    slices.map(s => VisibleGroup(s.partitionPath, s.fileId, s.baseInstantTime))

  /** Bytes of the files to be read. */
  val sliceBytes: Long = slices.iterator.map(SliceInput.bytes).sum

  /** True if they are read in this process: tasks would take longer to start. */
  def isSmall: Boolean = sliceBytes <= KeyScan.LocalBytes
}

object RecordIndexSnapshot {

  /** The moment, and its index opened, which must be closed; None where it has none. IndexNotFound, StaleIndex or DamagedIndex
    * in strict mode where the index cannot be used.
    */
  def open(
      snapshot: TableSnapshot,
      options: IndexOptions,
      asOf: Option[String]
  ): (RecordIndexSnapshot, Option[IndexedKeys]) = {
    val store = new IndexStore(snapshot.table.storage, options.indexDir(snapshot.tablePath))
    def without(code: String, why: String): (RecordIndexSnapshot, Option[IndexedKeys]) = {
      val own = Fallback(code, why)
      if (snapshot.use.fallback.isEmpty) own.warn(snapshot.tablePath, store.dir, options.strict)
      val reason = snapshot.use.fallback.getOrElse(own)
      (scanning(snapshot, store.dir, reason, tableOf(snapshot, store, None, asOf), None), None)
    }
    snapshot.use.version.filter(RecordIndex.isIn) match {
      case Some(version) =>
        try indexed(snapshot, store, version, asOf)
        catch { case e: DamagedIndex => without(FallbackCode.DamagedRecordIndex, e.getMessage) }
      case None => without(FallbackCode.NoRecordIndex, "the index has no record index")
    }
  }

  /** The moment without its index, a file of which failed (law 5: that costs time, not rows); DamagedIndex in strict mode. The
    * index's window stays in force: answers are those that the index would give.
    */
  def withoutIndex(
      moment: RecordIndexSnapshot,
      snapshot: TableSnapshot,
      strict: Boolean,
      why: String
  ): RecordIndexSnapshot = {
    val reason = Fallback(FallbackCode.DamagedRecordIndex, why)
    reason.warn(snapshot.tablePath, moment.indexDir, strict)
    scanning(snapshot, moment.indexDir, reason, moment.table, moment.windowDays)
  }

  private def indexed(
      snapshot: TableSnapshot,
      store: IndexStore,
      version: IndexVersion,
      asOf: Option[String]
  ): (RecordIndexSnapshot, Option[IndexedKeys]) = {
    val index = RecordIndex.open(version, store, snapshot.table.access.cache)
    try {
      val table = tableOf(snapshot, store, index.windowDays, asOf)
      val uncovered = new UncoveredFileGroups(snapshot, version, index, asOf, table.isDated)
      val moment = new RecordIndexSnapshot(
        store.dir,
        Some(version),
        None,
        uncovered.groups,
        uncovered.slices,
        table,
        asOf,
        index.windowDays
      )
      (moment, Some(new IndexedKeys(moment, index, snapshot)))
    } catch {
      case e: Throwable =>
        index.close()
        throw e
    }
  }

  private def scanning(
      snapshot: TableSnapshot,
      indexDir: String,
      reason: Fallback,
      table: RecordTable,
      windowDays: Option[Int]
  ): RecordIndexSnapshot = {
    val slices = snapshot.view.partitions.flatMap(p => snapshot.view.latestMergedFileSlices(p, table.asOf))
    new RecordIndexSnapshot(indexDir, None, Some(reason), Set.empty, slices, table, table.asOf, windowDays)
  }

  private def tableOf(
      snapshot: TableSnapshot,
      store: IndexStore,
      windowDays: Option[Int],
      asOf: Option[String]
  ): RecordTable =
    RecordTable.of(IndexState(snapshot.table, snapshot.view, store), windowDays, asOf)
}

/** A record index opened in one process, and what a reader sees of it at one moment: locations in file groups that are clean
  * and have a visible slice. Safe for several threads.
  *
  *  @param snapshot of the same moment, by the same index version
  */
final class IndexedKeys private[record] (moment: RecordIndexSnapshot, val index: RecordIndex, snapshot: TableSnapshot)
    extends AutoCloseable {
  private val instants = new SliceInstants(snapshot.view, moment.asOf)
  private val notLiveCount = new LongAdder

  /** Of all lookups so far, whoever made them. */
  def work: IndexWork = {
    val c = index.counters
    IndexWork(c.groupsOpened, c.filesOpened, c.pagesRead, c.bytesRead, notLiveCount.sum)
  }

  def locate(keys: PackedKeys): Locations = {
    val found = index.lookup(keys)
    val located = LocationLookup.locate(
      found,
      index.dictionary,
      instants,
      (_, at, group) => moment.isInWindow(found.stamps(at)) && !moment.dirty(group)
    )
    notLiveCount.add(found.ordinals.length.toLong - located.places.length)
    located
  }

  /** DamagedIndex if a file is gone or cut, or the dictionary cannot be opened; looks into no file of keys. */
  def requireFiles(): Unit = {
    index.requireFiles()
    index.dictionary: Unit
  }

  /** Keys of one hash group with each of their locations, in the order of key codes. Must be closed. */
  def scan(group: Int): LocationCursor = new LocationCursor(index.scan(group), moment.isInWindow(_), visible)

  /** The file group of an ordinal as a reader sees it; null if he does not. */
  private def visible(ordinal: Int): VisibleGroup = {
    val named = index.dictionary(ordinal)
    val instant = if (moment.dirty(named) || !index.dictionary.isCurrent(ordinal)) null else instants(named)
    if (instant == null) null else VisibleGroup(named.partitionPath, named.fileId, instant)
  }

  override def close(): Unit = index.close()
}

object IndexedKeys {

  /** In a process that was sent the moment; None if it has no index. */
  def open(moment: RecordIndexSnapshot, snapshot: TableSnapshot): Option[IndexedKeys] = moment.version.map { version =>
    val store = new IndexStore(snapshot.table.storage, moment.indexDir)
    new IndexedKeys(moment, RecordIndex.open(version, store, snapshot.table.access.cache), snapshot)
  }
}

/** Walks keys with their locations. */
final class LocationCursor private[record] (
    entries: EntryCursor,
    isInWindow: Int => Boolean,
    visible: Int => VisibleGroup
) extends AutoCloseable {
  private val seen = new java.util.HashMap[Integer, VisibleGroup]
  private var group: VisibleGroup = _

  def next(): Boolean = {
    group = null
    while (group == null && entries.next())
      if (!entries.isRemove && isInWindow(entries.stamp)) {
        val ordinal: Integer = entries.ordinal
        if (!seen.containsKey(ordinal)) seen.put(ordinal, visible(ordinal))
        group = seen.get(ordinal)
      }
    group != null
  }

  /** As UTF-8. */
  def key: Array[Byte] = entries.keyBytes

  def location: VisibleGroup = group

  override def close(): Unit = entries.close()
}
