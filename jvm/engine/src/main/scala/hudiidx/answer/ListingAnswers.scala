package hudiidx.answer

import hudiidx.sync.IndexUse
import hudiidx.table.{FileEntry, FileSlice}

/** A data file. Sizes are bytes. */
final case class ListedFile(
    partitionPath: String,
    fileId: String,
    fileName: String,
    kind: String,
    instantTime: String,
    size: Long
)

object ListedFile {
  def of(f: FileEntry): ListedFile =
    ListedFile(f.partitionPath, f.fileId, f.fileName, f.kind.name, f.instantTime, f.sizeBytes)
}

final case class ListedBase(partitionPath: String, fileId: String, instantTime: String, fileName: String, size: Long)

final case class ListedLog(fileName: String, size: Long, version: Int)

final case class ListedSlice(
    partitionPath: String,
    fileId: String,
    baseInstantTime: String,
    baseFile: Option[ListedBase],
    logFiles: Vector[ListedLog]
)

object ListedSlice {
  def of(s: FileSlice): ListedSlice = ListedSlice(
    s.partitionPath,
    s.fileId,
    s.baseInstantTime,
    s.baseFile.map(b => ListedBase(b.partitionPath, b.fileId, b.instantTime, b.fileName, b.sizeBytes)),
    s.logFiles.map(l => ListedLog(l.fileName, l.sizeBytes, l.version))
  )
}

/** How an answer came about.
  *
  * @param indexVersion the version in use, 0 behind a fallback
  */
final case class UsedIndex(indexVersion: Long, instantsOverlaid: Int, fallback: String)

object UsedIndex {
  def of(use: IndexUse): UsedIndex =
    UsedIndex(use.version.fold(0L)(_.number), use.unseenInstants.size, use.fallback.fold("")(_.code))
}
