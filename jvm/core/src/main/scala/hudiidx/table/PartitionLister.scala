package hudiidx.table

import hudiidx.NotAHudiTable
import hudiidx.log.{LogFile => LogBlocks}
import hudiidx.storage.{FileInfo, Storage}
import java.io.ByteArrayInputStream
import java.nio.file.NoSuchFileException
import java.util.Properties

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

  /** One step of the walk over the table's folders. */
  def visit(path: String): FolderVisit = {
    val found = listed(path)
    found.find(f => !f.isDirectory && PartitionLister.isMetafile(f.name)) match {
      case Some(metafile) => FolderVisit(path, isCommitted(path, found, metafile), Vector.empty)
      case None           =>
        val folders = found.filter(f => f.isDirectory && !(path.isEmpty && f.name == TableConfig.HoodieFolder))
        FolderVisit(path, isPartition = false, folders.map(f => Storage.join(path, f.name).stripPrefix("/")))
    }
  }

  /** The committed files of a partition, in `FileOrder`; empty if there is no such folder. NotAHudiTable if it cannot be
    *  read.
    */
  def list(partitionPath: String): Array[FileEntry] = {
    val found = entries(partitionPath, listed(partitionPath))
    java.util.Arrays.sort(found, FileOrder)
    found
  }

  private def listed(folder: String): Vector[FileInfo] = {
    val path = Storage.join(rules.tablePath, folder)
    NotAHudiTable.reading(path)(storage.list(path))
  }

  /** A folder made by a write that never completed is no partition yet: neither its files nor its metafile are committed. */
  private def isCommitted(path: String, found: Vector[FileInfo], metafile: FileInfo): Boolean =
    entries(path, found).nonEmpty || commitTime(metafile).forall(rules.timeline.isCommitted)

  /** None for a metafile in a base file's format, or one that went away. */
  private def commitTime(metafile: FileInfo): Option[String] =
    if (metafile.name != PartitionLister.Metafile) None
    else
      try {
        val properties = new Properties
        properties.load(new ByteArrayInputStream(storage.readAll(metafile.path)))
        Option(properties.getProperty("commitTime"))
      } catch { case _: NoSuchFileException => None }

  private def entries(partitionPath: String, found: Vector[FileInfo]): Array[FileEntry] = {
    val kept = Array.newBuilder[FileEntry]
    found.foreach { info =>
      if (!info.isDirectory)
        FileName.parse(partitionPath, info.name, info.sizeBytes).foreach { file =>
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
  private val Metafile = ".hoodie_partition_metadata"

  private def isMetafile(name: String): Boolean =
    name == Metafile || name == Metafile + ".parquet" || name == Metafile + ".orc"
}
