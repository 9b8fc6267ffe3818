package hudiidx.record

import hudiidx.hfile.BlockCache
import hudiidx.record.page.{EntriesOf, EntryCursor}
import hudiidx.storage.{RandomReader, Storage}
import hudiidx.store.{IndexFile, IndexStore}
import hudiidx.table.FileGroup
import java.io.OutputStream

/** A file of the record index that was written, and what it holds. */
final case class WrittenGroup(range: HashRange, file: IndexFile, stats: RecordFileStats)

/** Writes files of hash groups into an index folder; nothing is visible until a version names them. For executors too: it
  * holds nothing but the door to the folder.
  *
  *  @param instant requested time of the newest instant taken in, for the files' names
  */
final class HashGroupWriter(store: IndexStore, instant: String, shape: RecordShape = RecordShape.Default) {

  /** A base file with all entries of the cursor, which is closed. */
  def base(range: HashRange, entries: EntryCursor): WrittenGroup =
    write(RecordFileName.base(range, instant, IndexStore.newToken()), RecordKind.Base, range, entries)

  /** A delta file likewise.
    *
    *  @param folder below the index folder, of files that serve only this update; None: in the index folder, to stay
    */
  def delta(range: HashRange, entries: EntryCursor, folder: Option[String] = None): WrittenGroup = {
    val name = RecordFileName.delta(range, instant, IndexStore.newToken())
    write(folder.fold(name)(Storage.join(_, name)), RecordKind.Delta, range, entries, isScratch = folder.isDefined)
  }

  /** The base file of group number `group` from its sections of all runs. `open` gives a new reader of each run file; short
    * sections are read at once and their files closed.
    */
  def baseOfRuns(range: HashRange, group: Int, open: IndexedSeq[() => RandomReader]): WrittenGroup = {
    val sections = new RunSections(open, group, range)
    try base(range, sections.merged())
    finally sections.close()
  }

  /** The delta file of group number `group` from its sections of all runs, without what `index` has already; None if nothing
    * is left. `folder` as for `delta`.
    */
  def deltaOfRuns(
      range: HashRange,
      group: Int,
      open: IndexedSeq[() => RandomReader],
      index: RecordIndex,
      folder: Option[String] = None
  ): Option[WrittenGroup] = {
    val sections = new RunSections(open, group, range)
    try {
      val changes = new ChangedEntries(sections.merged(), index)
      if (changes.next()) Some(delta(range, new StartedEntries(changes), folder)) else None
    } finally sections.close()
  }

  /** What a new base holds instead of base and deltas of a group, or of neighbours that become one group.
    *
    *  @param isLive false, by ordinal and stamp, for mappings that no reader asks for any more
    */
  def newBase(groups: Seq[HashGroup], isLive: (Int, Int) => Boolean): WrittenGroup = {
    val range = HashRange(groups.head.range.from, groups.last.range.to)
    reading(groups)(entries => base(range, HashGroupMerge.mappings(entries, isLive)))
  }

  /** One delta instead of the group's deltas from place `from` on. */
  def mergeDeltas(group: HashGroup, from: Int): WrittenGroup =
    reading(Seq(group.copy(base = None, deltas = group.deltas.drop(from)))) { entries =>
      delta(group.range, HashGroupMerge.delta(entries.head.deltas))
    }

  /** Mappings of files by their counts: entries of bases, and adds minus removes of deltas. */
  def mappings(files: Seq[IndexFile]): Long = files.map { f =>
    val reader = store.openWhole(f)
    try {
      val stats = RecordFile.open(reader, new BlockCache(0)).stats
      stats.entries - 2 * stats.removes
    } finally reader.close()
  }.sum

  /** Bases of the two halves of a group instead of its base and deltas. */
  def split(group: HashGroup, isLive: (Int, Int) => Boolean): (WrittenGroup, WrittenGroup) = reading(Seq(group)) {
    entries =>
      val (lower, upper) = group.range.split
      var lowerStats, upperStats = RecordFileStats(0, 0)
      var upperFile = IndexFile("", "", 0)
      def name(range: HashRange): String = RecordFileName.base(range, instant, IndexStore.newToken())
      val lowerFile = store.write(name(lower), RecordKind.Base) { lowerOut =>
        val low = new RecordFileWriter(lowerOut, lower, shape)
        upperFile = store.write(name(upper), RecordKind.Base) { upperOut =>
          val up = new RecordFileWriter(upperOut, upper, shape)
          HashGroupMerge.split(HashGroupMerge.mappings(entries, isLive), lower, low, up)
          upperStats = up.close()
        }
        lowerStats = low.close()
      }
      (WrittenGroup(lower, lowerFile, lowerStats), WrittenGroup(upper, upperFile, upperStats))
  }

  /** A segment of the dictionary: `groups` take the ordinals from `first` on. */
  def dictionary(first: Int, groups: IndexedSeq[FileGroup]): IndexFile =
    store.write(RecordFileName.groups(first, instant, IndexStore.newToken()), RecordKind.Groups) { out =>
      GroupSegment.write(out, first, groups)
    }

  private def write(
      name: String,
      kind: String,
      range: HashRange,
      entries: EntryCursor,
      isScratch: Boolean = false
  ): WrittenGroup = {
    var stats = RecordFileStats(0, 0)
    def content(out: OutputStream): Unit = {
      val writer = new RecordFileWriter(out, range, shape)
      writer.appendAll(entries)
      stats = writer.close()
    }
    val file =
      try if (isScratch) store.writeScratch(name, kind)(content) else store.write(name, kind)(content)
      finally entries.close()
    WrittenGroup(range, file, stats)
  }

  /** Entries of whole files, read past any cache. */
  private def reading[A](groups: Seq[HashGroup])(use: Vector[GroupEntries] => A): A = {
    var readers = Vector.empty[RandomReader]
    def scan(file: IndexFile): EntryCursor = {
      readers :+= store.openWhole(file)
      RecordFile.open(readers.last, new BlockCache(0)).scan()
    }
    try use(groups.map(g => GroupEntries(g.base.map(scan), g.deltas.map(scan))).toVector)
    finally readers.foreach(_.close())
  }
}

/** Entries of a cursor that stands on its first. */
private[record] final class StartedEntries(protected val all: EntryCursor) extends EntriesOf {
  private var isStarted = false

  def next(): Boolean =
    if (isStarted) all.next()
    else {
      isStarted = true
      true
    }
}

/** Sections of one group in many runs. */
private[record] final class RunSections(open: IndexedSeq[() => RandomReader], group: Int, range: HashRange)
    extends AutoCloseable {
  private var held = Vector.empty[RandomReader]

  def merged(): EntryCursor = HashGroupMerge.runs(open.flatMap(section(_)))

  private def section(open: () => RandomReader): Option[EntryCursor] = {
    val reader = open()
    var keep = false
    try {
      val run = RunFile.open(reader)
      if (group >= run.ranges.size || run.ranges(group) != range)
        throw RunFile.damaged(reader.path, s"has no section $group for hash range ${range.name}", reader.sizeBytes)
      if (run.entries(group) == 0) None
      else {
        val cursor = run.section(group)
        keep = !run.isReadAtOnce(group)
        Some(cursor)
      }
    } finally if (keep) held :+= reader else reader.close()
  }

  override def close(): Unit = held.foreach(_.close())
}
