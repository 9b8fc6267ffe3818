package hudiidx.table

/** A file group is named by its partition path and its file id: the same id in two partitions is two groups. */
final case class FileGroup(partitionPath: String, fileId: String)

final case class BaseFile(partitionPath: String, fileId: String, instantTime: String, fileName: String, sizeBytes: Long)

final case class LogFile(fileName: String, sizeBytes: Long, version: Int)

/** At most one base file and its log files, oldest first. Either may be missing. */
final case class FileSlice(
    partitionPath: String,
    fileId: String,
    baseInstantTime: String,
    baseFile: Option[BaseFile],
    logFiles: Vector[LogFile]
) {

  /** Those that hold rows: readers of rows pass over change-data files. */
  def dataLogFiles: Vector[LogFile] = logFiles.filterNot(_.fileName.endsWith(FileKind.CdcLog.extension))

  /** The instant in the name of a new log file on version 6: the slice's, or the last of log files from before a downgrade,
    * so that it stands behind them.
    */
  def instantOfLogs: String =
    (baseInstantTime +: logFiles.flatMap(f => FileName.parse(partitionPath, f.fileName, 0)).map(_.instantTime)).max
}

object FileSlice {

  /** A slice that is read as its base file alone. */
  def of(base: BaseFile): FileSlice =
    FileSlice(base.partitionPath, base.fileId, base.instantTime, Some(base), Vector.empty)
}

/** Where the committed files of a table come from: the index, or a listing that stands in for it.
  *  Committed means: written by a completed instant (or one before the start of the active timeline), not removed by a
  *  clean, rollback or restore; log files of rolled-back writes of version 6 stay listed, as stock lists them.
  */
trait FileSource {

  /** Partition paths, sorted as strings; `""` alone for a table without partitions. */
  def partitions: Vector[String]

  /** Files of one partition in no order that callers may rely on; empty for an unknown partition. */
  def files(partitionPath: String): Array[FileEntry]

  /** All files of those file groups of a partition that have a file of one of these sizes, perhaps of others too.
    *
    *  @param sizes in bytes, ascending
    */
  def filesOfSizes(partitionPath: String, sizes: Array[Long]): FilesFound = FilesFound(files(partitionPath), 0)
}

/** Files of some of a partition's file groups.
  *
  *  @param passedOver groups that were left out: each with a committed base file, without log files, not replaced
  */
final case class FilesFound(files: Array[FileEntry], passedOver: Int)

/** Slices of some of a partition's file groups.
  *
  *  @param passedOver as of [[FilesFound]]: slices of one base file each
  */
final case class SlicesFound(slices: Vector[FileSlice], passedOver: Int)
