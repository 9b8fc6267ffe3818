package hudiidx.engine.record

import hudiidx.DamagedIndex
import hudiidx.record._
import hudiidx.store.{Current, IndexVersion, InstantId}
import hudiidx.sync._
import hudiidx.table.{FileGroup, FileSlice, FileSystemView}
import hudiidx.table.query.TimeTravel
import hudiidx.timeline.Action

/** Finds record keys in a table as of one moment: in the record index, and in the files of those file groups whose keys the
  * index does not know as of that moment. Without a usable index all files are read. Exact either way (law 3, law 4).
  * Not safe for several threads.
  *
  *  @param snapshot of the table; with its index where that is usable
  *  @param engine   reads file slices where they are large, and is made then; small ones are read here
  */
final class RecordLookup private (
    snapshot: TableSnapshot,
    opening: RecordIndexSnapshot,
    openingKeys: Option[IndexedKeys],
    engine: => TaskEngine,
    strict: Boolean
) extends AutoCloseable {
  private var moment: RecordIndexSnapshot = opening
  private var indexed: Option[IndexedKeys] = openingKeys
  private var kept = new KeptSliceKeys(opening, snapshot.table.access)

  /** A file of the index that fails costs the index, not the answer (law 5); in strict mode it is DamagedIndex. */
  def answer(keys: PackedKeys): LookupAnswer = {
    val before = work
    val found = fromIndex(keys)
    val done = if (indexed.isDefined) work.minus(before) else IndexWork.None
    val slices = moment.slices.size
    val wereKept = kept.areHeld
    val locations =
      if (slices == 0 && found.isDefined) found.get
      else
        kept.table match {
          case Some(table) => table.locate(keys, found, moment.sliceGroups)
          case None        => SliceKeyScan.locate(reader, moment, keys, found)
        }
    val (read, held) = if (wereKept) (0, slices) else (slices, 0)
    val use = LookupUse(moment.version.map(_.number), done, read, held, moment.fallback)
    LookupAnswer(locations, moment.windowDays, use)
  }

  def locate(keys: PackedKeys): Locations = answer(keys).locations

  /** Why the index is not used; None while it is. */
  def fallback: Option[Fallback] = moment.fallback

  private def work: IndexWork = indexed.fold(IndexWork.None)(_.work)

  private def reader: TaskEngine = if (moment.isSmall) new LocalEngine(snapshot.table.access) else engine

  private def fromIndex(keys: PackedKeys): Option[Locations] =
    try indexed.map(_.locate(keys))
    catch {
      case e: DamagedIndex        => loseIndex(e.getMessage)
      case e: java.io.IOException => loseIndex(e.toString)
    }

  private def loseIndex(why: String): Option[Nothing] = {
    moment = RecordIndexSnapshot.withoutIndex(moment, snapshot, strict, why)
    kept = new KeptSliceKeys(moment, snapshot.table.access)
    indexed.foreach(_.close())
    indexed = None
    None
  }

  override def close(): Unit = {
    indexed.foreach(_.close())
    snapshot.close()
  }
}

object RecordLookup {

  /** IndexNotFound, StaleIndex or DamagedIndex in strict mode where the index cannot be used. InvalidOption for an instant
    * that stock Hudi does not answer for either.
    *
    * @param found the index, where it was looked for when the context was read
    */
  def open(
      context: TableContext,
      options: IndexOptions,
      asOf: Option[String],
      engine: => TaskEngine,
      found: Option[Current] = None
  ): RecordLookup = {
    asOf.foreach(TimeTravel.check(context.config, context.timeline, context.contents, _))
    val snapshot = TableSnapshot.of(context, options, found = found)
    try {
      val (moment, keys) = RecordIndexSnapshot.open(snapshot, options, asOf)
      new RecordLookup(snapshot, moment, keys, engine, options.strict)
    } catch {
      case e: Throwable =>
        snapshot.close()
        throw e
    }
  }
}

/** The file groups whose keys an index does not know as of an instant: those that instants changed which it has not taken in, or
  * which came after the reader's; and as of an earlier instant those that had gone before the index was made.
  *
  *  @param dated commit times of rows count as well, see [[DirtyGroups]]
  */
private final class UncoveredFileGroups(
    snapshot: TableSnapshot,
    version: IndexVersion,
    index: RecordIndex,
    asOf: Option[String],
    dated: Boolean
) {
  private val context = snapshot.table
  private val view: FileSystemView = snapshot.view

  private val unseen: Vector[UnseenInstant] = SyncPlan.of(version, context) match {
    case IndexStatus.Usable(missing) => missing
    case _                           => Vector.empty // the snapshot would not use the index
  }

  private val later: Vector[UnseenInstant] = asOf.toVector.flatMap { t =>
    val seen = unseen.map(u => InstantId(u.instant.requestedTime, u.instant.action)).toSet
    val active = context.completed.map(i => new UnseenInstant(i, () => context.contents.of(i)))
    (archivedAfter(t) ++ active).filter(u =>
      u.instant.requestedTime > t && !seen(InstantId(u.instant.requestedTime, u.instant.action))
    )
  }

  /** What lies between an instant and the active timeline. */
  private def archivedAfter(instant: String): Vector[UnseenInstant] =
    if (context.timeline.start.exists(_ <= instant)) Vector.empty
    else context.onlyArchivedFrom(instant).map(UnseenInstant.archived)

  private val touched = DirtyGroups.of(version.coverage, unseen ++ later, dated)

  // Of what was there before a later compaction the index need not know: a key may have had more rows than one.
  private val mergesAlike = asOf.isEmpty && RecordPart.mergesAlike(version.properties, context.config, dated)

  val groups: Set[FileGroup] =
    if (touched.revives) visible.toSet
    else
      touched.touches.filter(_._2.mayChangeKeys(mergesAlike)).keySet ++ replacedLater ++
        (if (asOf.isDefined) visible.filter(g => index.dictionary.find(g).isEmpty) else Set.empty)

  private def visible: Iterator[FileGroup] =
    view.partitions.iterator
      .flatMap(p => view.latestMergedFileSlices(p, asOf).iterator.map(s => FileGroup(p, s.fileId)))

  /** Of groups that were replaced an update takes nothing in, not even what came before. */
  private def replacedLater: Set[FileGroup] =
    later.iterator
      .filter(_.instant.action == Action.ReplaceCommit)
      .flatMap(u => u.instant.replaces(u.content.commit))
      .flatMap { case (partition, ids) => ids.map(FileGroup(partition, _)) }
      .toSet

  def slices: Vector[FileSlice] = VisibleSlices.of(view, groups, asOf)
}
