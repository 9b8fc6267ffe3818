package hudiidx.engine.record

import hudiidx.{DamagedIndex, IndexNotWritable, Log, WriteConflict}
import hudiidx.record._
import hudiidx.record.page.EntryFlag
import hudiidx.storage.{BytesReader, CarriedFiles, RandomReader, Storage}
import hudiidx.store.{IndexFile, IndexNames, IndexStore}
import hudiidx.sync._
import hudiidx.table.FileGroup
import java.io.{EOFException, FileNotFoundException}
import java.nio.file.NoSuchFileException

/** What to read of one file group, and the ordinal of its keys. */
private[record] final case class NumberedWork(ordinal: Int, work: GroupWork) {
  def bytes: Long = work match {
    case GroupWork.All(slice)              => SliceInput.bytes(slice)
    case GroupWork.Touched(slice, _, _, _) => SliceInput.bytes(slice)
    case GroupWork.Diff(before, slice, _)  => before.sizeBytes + SliceInput.bytes(slice)
    case GroupWork.Unchanged               => 0L
  }
}

/** A run of changes, a file of the index folder, and the numbers of the hash groups that it changes. */
private[record] final case class ChangeRun(file: IndexFile, groups: Array[Int])

/** Runs that tasks wrote, and file groups of which these could not tell what changed.
  *
  *  @param carried content of those runs that no store has, by their paths
  */
private[record] final case class ChangeRuns(
    runs: Vector[ChangeRun],
    unknown: Vector[FileGroup],
    carried: Map[String, Array[Byte]] = Map.empty
) {

  /** Those that a store has. */
  def stored(dir: String): Vector[IndexFile] = Carrying.stored(runs.map(_.file), dir, carried)

  def ++(others: ChangeRuns): ChangeRuns =
    ChangeRuns(runs ++ others.runs, unknown ++ others.unknown, carried ++ others.carried)
}

/** Scratch files of an update that are handed from task to task where the store is far: few, and small ones. */
private[record] object Carrying {
  private val MostPieces = 32

  /** @param pieces that may make one each */
  def isFor(storage: Storage, dir: String, pieces: Int): Boolean = pieces <= MostPieces && storage.isFar(dir)

  /** Those of these files that a store has. */
  def stored(files: Vector[IndexFile], dir: String, carried: Map[String, Array[Byte]]): Vector[IndexFile] =
    files.filterNot(f => carried.contains(Storage.join(dir, f.name)))
}

/** The folder of an update's runs, below the index folder: each update has its own, and removes it when its deltas are
  * written. That of an update that was killed goes when the index is cleaned. docs/format.md, "Work folders".
  */
private[record] final class ChangeFolder(store: IndexStore) {
  private val log = Log.of(classOf[ChangeFolder])
  val name: String = s"${IndexNames.RecordUpdate}${IndexStore.newToken()}"

  def isOf(file: IndexFile): Boolean = file.name.startsWith(s"$name/")

  /** Also where something failed: then that is the failure to tell of. */
  def clear(): Unit =
    try store.removeMade(name)
    catch { case e: IndexNotWritable => log.warn(s"${store.dir}/$name stays, a later update removes it: $e") }
}

/** The tasks of an update that read what changed. */
private[record] object ChangeTasks {

  def write(
      engine: TaskEngine,
      table: RecordTable,
      indexDir: String,
      folder: String,
      ranges: Vector[HashRange],
      works: Vector[NumberedWork]
  ): ChangeRuns = {
    val shares = Shares.ofBytes(works, engine.parallelism)(_.bytes)
    engine
      .run(s"read changed record keys of ${works.size} file groups", shares)(
        runs(table, indexDir, folder, ranges, shares.size)
      )
      .foldLeft(ChangeRuns(Vector.empty, Vector.empty))(_ ++ _)
  }

  private def runs(
      table: RecordTable,
      indexDir: String,
      folder: String,
      ranges: Vector[HashRange],
      tasks: Int
  ): (TableAccess, Vector[NumberedWork]) => ChangeRuns = { (access, share) =>
    val carrying = new CarriedFiles(access.storage, Map.empty)
    val (carried, stored) = (new IndexStore(carrying, indexDir), new IndexStore(access.storage, indexDir))
    def storeFor(bytes: Long) =
      if (CarriedFiles.isSmall(bytes) && Carrying.isFor(access.storage, indexDir, tasks)) carried else stored
    var written = Vector.empty[ChangeRun]
    var unknown = Vector.empty[FileGroup]
    val builder = new RunBuilder(
      ranges,
      KeyTasks.BudgetBytes,
      run => {
        val name = Storage.join(folder, RecordFileName.run(share.head.ordinal.toString, IndexStore.newToken()))
        written :+= ChangeRun(storeFor(run.bytes).writeScratch(name, RecordKind.Run)(run.write(_)), run.groups)
      }
    )
    val keys = table.sliceKeys(access)
    share.foreach { numbered =>
      (numbered.work, keys.settled(numbered.work)) match {
        case (_: GroupWork.All, work) =>
          keys.changes(work)(new ChangeSink(builder, table, numbered.ordinal, isNew = true))
        case (_, GroupWork.All(slice)) => unknown :+= FileGroup(slice.partitionPath, slice.fileId)
        case (_, work) => keys.changes(work)(new ChangeSink(builder, table, numbered.ordinal, isNew = false))
      }
    }
    builder.flushRest()
    ChangeRuns(written, unknown, carrying.made)
  }

}

/** Opens the runs of an update for one hash group after the other: small ones are read once and stay in memory.
  * WriteConflict if another writer's clean-up took one meanwhile: what the update would write lacks what was in it.
  */
private[record] final class BufferedRuns(store: IndexStore) {
  private val held = new java.util.HashMap[String, Array[Byte]]
  private var heldBytes = 0L

  def open(run: IndexFile): RandomReader = {
    val path = Storage.join(store.dir, run.name)
    val bytes = held.get(run.name)
    if (bytes != null) new BytesReader(path, bytes)
    else if (heldBytes + run.sizeBytes > BufferedRuns.MostBytes) there(path)(store.storage.open(path))
    else {
      val whole = new Array[Byte](run.sizeBytes.toInt)
      there(path)(read(run, whole))
      held.put(run.name, whole)
      heldBytes += whole.length
      new BytesReader(path, whole)
    }
  }

  private def read(run: IndexFile, target: Array[Byte]): Unit = {
    val reader = store.openScratch(run)
    try reader.readInto(0, target.length, target)
    catch {
      case e: EOFException =>
        throw new DamagedIndex(s"${reader.path}: is shorter than the update wrote it; update the index again", e)
    } finally reader.close()
  }

  private def there[A](path: String)(read: => A): A =
    try read
    catch {
      case e @ (_: NoSuchFileException | _: FileNotFoundException) =>
        throw new WriteConflict(
          s"$path: gone while the update that wrote it was at work: the update was stopped, or a clean-up took it for one of a writer that is dead; " +
            s"the index stays as it was, update it again, with a longer ${IndexOptions.OrphanMinutes} if updates take that long",
          e
        )
    }
}

private object BufferedRuns {
  val MostBytes: Long = 32L << 20
}

/** Adds and removes of one file group as entries of a run. A live key outside the window is a remove: the index may have it
  * from a later row that is not the live one any more.
  *
  *  @param isNew the index has no mappings with this ordinal
  */
private final class ChangeSink(builder: RunBuilder, table: RecordTable, ordinal: Int, isNew: Boolean) extends KeySink {
  override def add(bytes: Array[Byte], from: Int, length: Int, day: Int, mayBeDeleted: Boolean): Unit =
    if (table.isInWindow(day)) builder.add(bytes, from, length, ordinal, day, if (mayBeDeleted) EntryFlag.Doubt else 0)
    else if (!isNew) remove(bytes, from, length)

  override def remove(bytes: Array[Byte], from: Int, length: Int): Unit =
    builder.add(bytes, from, length, ordinal, 0, EntryFlag.Remove)
}
