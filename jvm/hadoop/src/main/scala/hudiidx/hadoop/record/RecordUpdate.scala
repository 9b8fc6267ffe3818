package hudiidx.hadoop.record

import hudiidx.record._
import hudiidx.store.IndexVersion
import hudiidx.sync._
import hudiidx.table.FileGroup

/** Brings a record index up to a table: reads the file groups whose keys may have changed, writes what changed as deltas, and
  * merges or splits the hash groups that are due.
  */
private[record] final class RecordUpdate(
    engine: TaskEngine,
    state: IndexState,
    before: IndexVersion,
    unseen: Vector[UnseenInstant]
) {
  private val settings = RecordSettings.of(before)
  private val shared = RecordTable.of(state, settings.windowDays)
  private val writer = new GroupWriter(state.store, state.instant)
  private val groups = RecordGroup.of(before)
  private val ranges = groups.map(_.range)
  private val folder = new ChangeFolder(state.store)

  def run(): PartFiles = {
    val dirty = DirtyGroups.of(before.coverage, unseen)
    val dictionary = new GrowingDictionary(state, writer, before.files.filter(_.kind == RecordKind.Groups))
    val works = new DirtyWork(state, shared.config).works(dirty, dictionary)
    if (works.isEmpty) PartFiles(before.files.filter(f => RecordKind.All(f.kind)), ownProperties, Vector.empty)
    else {
      val runs = ChangeTasks.write(engine, shared, folder.path, ranges, numbered(works, dictionary))
      val renewed = retried(runs.flatMap(_.unknown), dictionary)
      val names = runs.flatMap(_.names) ++ renewed
      val changed = new GroupUpdate(engine, state, before, groups, folder).run(names, dictionary)
      PartFiles(
        changed.flatMap(_.files) ++ dictionary.segments,
        properties(changed, dictionary.size),
        Vector(folder.path)
      )
    }
  }

  /** The ordinal that each file group's keys are to have. All keys of a known group take the place of those it had, so the
    * group takes a new ordinal.
    */
  private def numbered(works: Vector[DirtyGroup], dictionary: GrowingDictionary): Vector[NumberedWork] = {
    val (whole, others) = works.partition(w => w.work.isInstanceOf[GroupWork.All] && w.isKnown)
    val kept = others.zip(dictionary.ordinals(others.map(_.group)))
    val renewed = whole.zip(dictionary.renew(whole.map(_.group)))
    (kept ++ renewed).map { case (w, ordinal) => NumberedWork(ordinal, w.work) }
  }

  /** Work that needed a file which is gone: the file slice is read as it is. */
  private def retried(unknown: Vector[FileGroup], dictionary: GrowingDictionary): Vector[String] =
    if (unknown.isEmpty) Vector.empty
    else {
      val slices = new DirtyWork(state, shared.config).slices(unknown)
      val works = slices.zip(dictionary.renew(slices.map(s => FileGroup(s.partitionPath, s.fileId)))).map {
        case (slice, ordinal) => NumberedWork(ordinal, GroupWork.All(slice))
      }
      ChangeTasks.write(engine, shared, folder.path, ranges, works).flatMap(_.names)
    }

  private def ownProperties: Map[String, String] = before.properties.filter(_._1.startsWith(RecordProperty.Prefix))

  private def properties(groups: Vector[ChangedGroup], ordinals: Int): Map[String, String] =
    ownProperties ++ Map(
      RecordProperty.Groups -> groups.map(_.ranges).sum.toString,
      RecordProperty.Mappings -> math.max(0L, before.long(RecordProperty.Mappings) + groups.map(_.gained).sum).toString,
      RecordProperty.NextOrdinal -> ordinals.toString
    )
}
