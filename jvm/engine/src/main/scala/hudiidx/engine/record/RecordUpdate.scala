package hudiidx.engine.record

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
    settings: RecordSettings,
    unseen: Vector[UnseenInstant]
) {
  private val shared = RecordTable.of(state, settings.windowDays)
  private val writer = new HashGroupWriter(state.store, state.instant)
  private val groups = HashGroup.of(before)
  private val ranges = groups.map(_.range)
  private val folder = new ChangeFolder(state.store)
  private val dirtyWork = new DirtyWork(state, before, shared.config, shared.isDated)

  /** DamagedIndex if a file of the index is damaged as far as it is read, or gone. */
  def run(): PartFiles = {
    state.requireFiles(before.files.filter(f => RecordKind.All(f.kind)))
    val dirty = DirtyGroups.of(before.coverage, unseen, shared.isDated)
    val dictionary =
      new GrowingDictionary(state, writer, before.files.filter(_.kind == RecordKind.Groups), isHeld = true)
    val works = dirtyWork.works(dirty, dictionary)
    if (works.isEmpty) PartFiles(before.files.filter(f => RecordKind.All(f.kind)), ownProperties, Vector.empty)
    else {
      var mayBeFilled = true
      try {
        val runs = changes(works, dictionary)
        val changed =
          new HashGroupUpdate(engine, state, before, groups, settings, folder.name, shared.firstDay)
            .run(runs, dictionary)
        mayBeFilled = (runs.stored(state.store.dir) ++ changed.stored).exists(folder.isOf)
        dictionary.settle(settings.plan)
        PartFiles(changed.files ++ dictionary.segments, properties(changed, dictionary.size), Vector.empty)
      } finally if (mayBeFilled) folder.clear()
    }
  }

  private def changes(works: Vector[DirtyGroup], dictionary: GrowingDictionary): ChangeRuns = {
    val runs = ChangeTasks.write(engine, shared, state.store.dir, folder.name, ranges, numbered(works, dictionary))
    runs ++ retried(runs.unknown, dictionary)
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
  private def retried(unknown: Vector[FileGroup], dictionary: GrowingDictionary): ChangeRuns =
    if (unknown.isEmpty) ChangeRuns(Vector.empty, Vector.empty)
    else {
      val slices = dirtyWork.slices(unknown)
      val works = slices.zip(dictionary.renew(slices.map(s => FileGroup(s.partitionPath, s.fileId)))).map {
        case (slice, ordinal) => NumberedWork(ordinal, GroupWork.All(slice))
      }
      ChangeTasks.write(engine, shared, state.store.dir, folder.name, ranges, works)
    }

  private def ownProperties: Map[String, String] = before.properties.filter(_._1.startsWith(RecordProperty.Prefix))

  private def properties(changed: ChangedGroups, ordinals: Int): Map[String, String] =
    ownProperties ++ settings.properties ++ Map(
      RecordProperty.Groups -> changed.groups.toString,
      RecordProperty.Mappings -> math.max(0L, before.long(RecordProperty.Mappings) + changed.gained).toString,
      RecordProperty.NextOrdinal -> ordinals.toString
    ) ++ RecordPart.repeated(changed.deltas)
}
