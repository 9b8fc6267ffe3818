package hudiidx.hadoop.record

import hudiidx.DamagedIndex
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
  private val writer = new GroupWriter(state.store, state.instant)
  private val groups = RecordGroup.of(before)
  private val ranges = groups.map(_.range)
  private val folder = new ChangeFolder(state.store)

  /** DamagedIndex if a file of the index is damaged as far as it is read, or gone. */
  def run(): PartFiles = {
    requireFiles()
    val dirty = DirtyGroups.of(before.coverage, unseen)
    val dictionary = new GrowingDictionary(state, writer, before.files.filter(_.kind == RecordKind.Groups))
    val works = new DirtyWork(state, shared.config).works(dirty, dictionary)
    if (works.isEmpty) PartFiles(before.files.filter(f => RecordKind.All(f.kind)), ownProperties, Vector.empty)
    else {
      try {
        val changed = change(works, dictionary)
        dictionary.settle(settings.plan)
        PartFiles(changed.files ++ dictionary.segments, properties(changed, dictionary.size), Vector.empty)
      } finally folder.clear()
    }
  }

  private def change(works: Vector[DirtyGroup], dictionary: GrowingDictionary): ChangedGroups = {
    val runs = ChangeTasks.write(engine, shared, state.store.dir, folder.name, ranges, numbered(works, dictionary))
    val names = runs.flatMap(_.names) ++ retried(runs.flatMap(_.unknown), dictionary)
    new GroupUpdate(engine, state, before, groups, settings).run(names, dictionary)
  }

  /** One listing tells of all files whether they are there, whole by their size. */
  private def requireFiles(): Unit = {
    val there = state.table.storage.list(state.store.dir).map(f => f.name -> f.sizeBytes).toMap
    before.files.filter(f => RecordKind.All(f.kind) && !there.get(f.name).contains(f.sizeBytes)).foreach { f =>
      throw new DamagedIndex(
        s"${state.store.dir}/${f.name}: the file is gone or cut short; `hudiidx create` makes a new index"
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
      ChangeTasks.write(engine, shared, state.store.dir, folder.name, ranges, works).flatMap(_.names)
    }

  private def ownProperties: Map[String, String] = before.properties.filter(_._1.startsWith(RecordProperty.Prefix))

  private def properties(changed: ChangedGroups, ordinals: Int): Map[String, String] =
    ownProperties ++ settings.properties ++ Map(
      RecordProperty.Groups -> changed.groups.toString,
      RecordProperty.Mappings -> math.max(0L, before.long(RecordProperty.Mappings) + changed.gained).toString,
      RecordProperty.NextOrdinal -> ordinals.toString
    )
}
