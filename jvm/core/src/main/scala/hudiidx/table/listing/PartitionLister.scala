package hudiidx.table.listing

import hudiidx.table.{FileEntry, FileOrder, PartitionPathForm, PropertiesFile}
import hudiidx.{DamagedTable, NotAHudiTable}
import hudiidx.log.{LogFile => LogBlocks}
import hudiidx.storage.{FileInfo, Storage}
import java.io.{FileNotFoundException, IOException}
import java.nio.file.NoSuchFileException

/** What one folder of the table is.
  *
  *  @param path       below the table; `""` is the table itself
  *  @param subfolders folders to visit next, as paths below the table; none in a partition
  */
final case class FolderVisit(path: String, isPartition: Boolean, subfolders: Vector[String])

/** Lists folders of one table. Every call stands alone, so that tasks elsewhere can share the work with a storage of
  *  their own. Format notes §4.5, §4.7.
  */
final class PartitionLister(storage: Storage, val rules: ListingRules) {

  /** One step of the walk over the table's folders. A committed metafile tells at the cost of one small read; only a
    * folder without one is listed. The table's own mostly has none: where the store is far it is listed at once.
    */
  def visit(path: String): FolderVisit = {
    val metafile = PartitionLister.metafile(rules.tablePath, path)
    val first = if (path.isEmpty && storage.isFar(rules.tablePath)) Some(listed(path)) else None
    val mayHave = first.forall(_.exists(_.name == PartitionLister.Metafile))
    val written = if (mayHave) PartitionLister.commitTime(storage, metafile) else None
    if (written.exists(rules.timeline.isCommitted)) FolderVisit(path, isPartition = true, Vector.empty)
    else {
      val found = first.getOrElse(listed(path))
      if (found.exists(f => f.isDirectory && f.name == PartitionLister.Metafile))
        throw PartitionLister.isFolder(metafile)
      if (found.exists(f => !f.isDirectory && PartitionLister.isMetafile(f.name)))
        // Made by a write that never completed, it is no partition yet: neither files nor metafile are committed.
        FolderVisit(path, written.isEmpty || entries(path, found).nonEmpty, Vector.empty)
      else FolderVisit(path, isPartition = false, Subfolders.of(storage, rules.tablePath, path, found))
    }
  }

  /** As `visit`, of each of these folders. */
  def visits(paths: Vector[String]): Vector[FolderVisit] =
    storage.atOnce(rules.tablePath)(paths.map(path => () => visit(path)))

  /** The committed files of a partition, in `FileOrder`; empty if there is no such folder. NotAHudiTable if it cannot be
    *  read.
    */
  def list(partitionPath: String): Array[FileEntry] = committed(partitionPath, listed(partitionPath))

  /** As `list`, of each of these. */
  def lists(partitionPaths: Vector[String]): Vector[Array[FileEntry]] =
    storage.atOnce(rules.tablePath)(partitionPaths.map(path => () => list(path)))

  /** As `list`, of what was listed before. */
  private[table] def committed(partitionPath: String, listed: Vector[FileInfo]): Array[FileEntry] = {
    val found = entries(partitionPath, listed)
    java.util.Arrays.sort(found, FileOrder)
    found
  }

  private[table] def listed(folder: String): Vector[FileInfo] = {
    val path = Storage.join(rules.tablePath, folder)
    NotAHudiTable.reading(path)(storage.list(path))
  }

  private def entries(partitionPath: String, found: Vector[FileInfo]): Array[FileEntry] = {
    val kept = Array.newBuilder[FileEntry]
    found.foreach { info =>
      if (!info.isDirectory)
        rules.files.entry(partitionPath, info.name, info.sizeBytes).foreach { file =>
          if (isCommitted(file, info))
            kept += file.copy(
              completionTime = if (file.isBase) None else rules.timeline.activeCompletionTime(file.instantTime),
              replacedAt = rules.replacementOf(partitionPath, file.fileId)
            )
        }
    }
    kept.result()
  }

  private def isCommitted(file: FileEntry, info: FileInfo): Boolean = {
    val timeline = rules.timeline
    if (file.isBase) timeline.isCommitted(file.instantTime)
    else timeline.isVisible(file.instantTime) && !isInflightLog(file, info)
  }

  /** Version 6: the name says only which slice the log file belongs to. One that no completed instant names is older than
    *  the timeline, or left by a write whose rollback was archived, or being written: its first block's instant tells.
    */
  private def isInflightLog(file: FileEntry, info: FileInfo): Boolean = rules.namedLogs.exists { named =>
    !named.contains(ListingRules.pathBelowTable(file.partitionPath, info.name)) &&
    firstInstant(info.path).exists(t => !rules.timeline.isCommitted(t))
  }

  private def firstInstant(path: String): Option[String] =
    try {
      val reader = storage.open(path)
      try LogBlocks.firstInstantTime(reader)
      finally reader.close()
    } catch { case _: NoSuchFileException => None }
}

object PartitionLister {
  private[hudiidx] val Metafile = PartitionPathForm.Metafile

  private[hudiidx] def metafile(tablePath: String, partitionPath: String): String =
    Storage.join(Storage.join(tablePath, partitionPath), Metafile)

  /** The write that made the partition. None where there is no metafile, or none that tells (one in a base file's format, or damaged). */
  private[hudiidx] def commitTime(storage: Storage, metafile: String): Option[String] =
    try PropertiesFile.decode(storage.readAll(metafile)).toOption.flatMap(_.get("commitTime"))
    catch {
      case _: NoSuchFileException | _: FileNotFoundException                => None
      case _: IOException if storage.status(metafile).exists(_.isDirectory) =>
        throw isFolder(metafile)
      case e: IOException => NotAHudiTable.reading(metafile)(throw e)
    }

  private def isFolder(metafile: String) = new DamagedTable(
    s"$metafile: a folder, where the file that marks a partition was expected; move it away, with what is in it"
  )

  private def isMetafile(name: String): Boolean =
    name == Metafile || name == Metafile + ".parquet" || name == Metafile + ".orc"
}
