package hudiidx.engine.column

import hudiidx.column._
import hudiidx.column.segment.{ColumnKind, RecordsFile, RecordsMerge, Segment, SegmentMerge, SegmentPlan}
import hudiidx.hfile.{BlockCache, HFileReader}
import hudiidx.storage.{CarriedFiles, RandomReader, Storage}
import hudiidx.store.{IndexFile, IndexNames, IndexStore}
import hudiidx.sync.{IndexState, TaskEngine}
import hudiidx.table.FileEntry
import hudiidx.{DamagedIndex, HudiIdxException, IndexNotWritable, Log}

/** Makes column files of a table's files, and merges them.
  *
  *  @param choice columns that merged files keep
  */
private[column] final class ColumnFiles(engine: TaskEngine, state: IndexState, choice: ColumnChoice) {
  private val store = state.store

  /** Column files of a table's files, at most one of each kind. Where several tasks read them they leave what they made in a
    * work folder until the version is published: a later try takes it from there. Another one at the same time that was first
    * takes the folder away; what is gone, or damaged, is made again.
    *
    *  @param files   of one partition after the other, in the order of their keys
    *  @param carries what one task made is not stored where it is small: `settled` stores what is left of it
    */
  def made(work: ColumnWork, files: () => Iterator[FileEntry], carries: Boolean = false): MadeColumns =
    if (work.specs.isEmpty) MadeColumns.None else made(work, files, carries, ColumnFiles.Tries)

  private def made(work: ColumnWork, files: () => Iterator[FileEntry], carries: Boolean, tries: Int): MadeColumns =
    try {
      val waves = files().grouped(ColumnFiles.FilesPerWave).buffered
      val first = if (waves.hasNext) ColumnShare.cut(waves.head.toVector, work, engine.parallelism) else Vector.empty
      if (first.isEmpty) MadeColumns.None
      else if (first.size == 1) inOneTask(work, first, carries)
      else {
        val progress = new ColumnProgress(files().size, state.show)
        inFolder(work, waves.map(wave => ColumnShare.cut(wave.toVector, work, engine.parallelism)), progress)
      }
    } catch {
      case lost: LostWork if tries > 1 =>
        val e = lost.cause
        ColumnFiles.log.warn(s"${store.dir}: column files in the making went away or are damaged, made again: $e")
        new ColumnFolder(store, work).removeDamaged()
        made(work, files, carries, tries - 1)
      case lost: LostWork => throw lost.cause
    }

  private def inOneTask(work: ColumnWork, shares: Vector[ColumnShare], carries: Boolean): MadeColumns = {
    val written = ColumnTasks.write(engine, work, store.dir, shares, _ => state.instant, _ => (), carries)
    MadeColumns(written.flatMap(w => w.stats.toVector ++ w.records), Vector.empty, written.flatMap(_.carried).toMap)
  }

  /** LostWork where the folder is at fault. */
  private def inFolder(
      work: ColumnWork,
      waves: Iterator[Vector[ColumnShare]],
      progress: ColumnProgress
  ): MadeColumns = {
    val folder = new ColumnFolder(store, work)
    val parts = waves.flatMap(shares => LostWork.ifFails(folder.made(engine, shares, progress.add))).toVector
    val stats = merged(parts.flatMap(_.stats), folder.files, ColumnKind.Stats)
    val records = merged(parts.flatMap(_.records), folder.files, ColumnKind.Records)
    MadeColumns(stats ++ records, Vector(folder.path))
  }

  /** One file of them, in the index folder. Few at a time, for each input costs memory for all files. */
  private def merged(parts: Vector[IndexFile], from: IndexStore, kind: String): Vector[IndexFile] = {
    var left = parts
    while (left.size > ColumnFiles.MostInputs) {
      val groups = left.grouped(ColumnFiles.MostInputs).toVector
      left = groups.map(g => if (g.size == 1) g.head else LostWork.ifFails(merge(g, from, from, kind)))
    }
    if (left.isEmpty) Vector.empty else Vector(LostWork.ifCannotRead(merge(left, from, store, kind)))
  }

  /** One file of several, oldest first. */
  def merge(files: Vector[IndexFile], from: IndexStore, to: IndexStore, kind: String): IndexFile = {
    val readers = files.map(from.openWhole)
    try {
      val name = ColumnKind.fileName(state.instant, IndexStore.newToken(), kind)
      to.write(name, kind)(out => write(readers, kind, out))
    } finally readers.foreach(_.close())
  }

  private def write(readers: Vector[RandomReader], kind: String, out: java.io.OutputStream): Unit = {
    val cache = state.table.access.cache
    if (kind == ColumnKind.Stats)
      new SegmentMerge(readers.map(Segment.open(_, cache)), live, c => choice.has(Vector(c))).write(out): Unit
    else new RecordsMerge(readers.map(RecordsFile.open(_, cache)), live, choice.has).write(out): Unit
  }

  private def live(partition: String): Iterator[(String, Long)] =
    state.view.source.files(partition).iterator.map(f => f.fileName -> f.sizeBytes)

  /** Files of a kind after an update that wrote the last of them: so many are merged that few are left.
    *
    *  @param carried content of those that are not stored yet, by their paths
    */
  def settled(files: Vector[IndexFile], kind: String, carried: Map[String, Array[Byte]]): Vector[IndexFile] = {
    val (kept, due) = files.splitAt(SegmentPlan.mergeFrom(files.map(_.sizeBytes)).getOrElse(files.size))
    for (f <- kept; bytes <- carried.get(Storage.join(store.dir, f.name))) store.write(f.name, kind)(_.write(bytes))
    val from = new IndexStore(new CarriedFiles(store.storage, carried), store.dir)
    if (due.isEmpty) kept else kept :+ merge(due, from, store, kind)
  }
}

private[column] object ColumnFiles {
  private val MostInputs = 16

  private val Tries = 4
  private val log = Log.of(classOf[ColumnFiles])

  /** Files that the driver has at a time. */
  private val FilesPerWave = 200000
}

/** The work folder lacks what was there, or takes no more. */
final private class LostWork(val cause: HudiIdxException) extends RuntimeException(cause)

private object LostWork {

  /** Of work that only reads and writes the folder. */
  def ifFails[A](work: => A): A =
    try work
    catch {
      case e: DamagedIndex     => throw new LostWork(e)
      case e: IndexNotWritable => throw new LostWork(e)
    }

  /** Of work that reads the folder, and writes elsewhere. */
  def ifCannotRead[A](work: => A): A =
    try work
    catch { case e: DamagedIndex => throw new LostWork(e) }
}

/** How far the reading of files has come. */
final private class ColumnProgress(total: Int, show: Double => Unit) {
  private var files = 0

  def add(read: Int): Unit = {
    files += read
    show(files.toDouble / total)
  }
}

/** @param leftovers paths of work folders
  * @param carried   content of files that are not stored yet, by their paths
  */
private[column] final case class MadeColumns(
    files: Vector[IndexFile],
    leftovers: Vector[String],
    carried: Map[String, Array[Byte]] = Map.empty
)

private[column] object MadeColumns {
  val None: MadeColumns = MadeColumns(Vector.empty, Vector.empty)
}

/** The folder of column files in the making, one for the same indexes of the same schema. What is in it is true for whoever finds
  * it: names say of which files it is, and of which size these were.
  */
private[column] final class ColumnFolder(index: IndexStore, work: ColumnWork) {
  val path: String = index.workFolder(IndexNames.ColumnBuild + work.digest)
  val files = new IndexStore(index.storage, path)

  def made(engine: TaskEngine, shares: Vector[ColumnShare], done: Int => Unit): Vector[WrittenColumns] = {
    val there = listed
    def found(share: ColumnShare, kind: String): Option[IndexFile] =
      there.find(f => f.name.startsWith(share.name + ".") && f.kind == kind).filter(isWhole)
    val known = shares.map(s => WrittenColumns(found(s, ColumnKind.Stats), found(s, ColumnKind.Records)))
    def isDone(w: WrittenColumns): Boolean =
      w.stats.isDefined == work.hasRanges && w.records.isDefined == work.hasRecords
    val (ready, missing) = shares.indices.toVector.partition(i => isDone(known(i)))
    done(ready.map(shares(_).files.size).sum)
    val written = ColumnTasks.write(engine, work, path, missing.map(shares), _.name, done)
    val made = missing.zip(written).toMap
    shares.indices.toVector.map(i => made.getOrElse(i, known(i)))
  }

  private def listed: Vector[IndexFile] = index.storage.list(path).filter(f => IndexNames.isFile(f.name)).flatMap { f =>
    ColumnKind.All.find(kind => f.name.endsWith("." + kind)).map(IndexFile(f.name, _, f.sizeBytes))
  }

  /** Reads all files through and removes those that are damaged. */
  def removeDamaged(): Unit = listed.filterNot(isWhole).foreach(files.delete)

  private def isWhole(file: IndexFile): Boolean =
    try {
      val reader = files.openWhole(file)
      try {
        val cache = new BlockCache(0L)
        val cells = HFileReader.open(reader, cache, new DamagedIndex(_)).scan()
        while (cells.next()) ()
        if (file.kind == ColumnKind.Stats) Segment.open(reader, cache).columns
        else RecordsFile.open(reader, cache).columns
        true
      } finally reader.close()
    } catch { case _: DamagedIndex => false }
}
