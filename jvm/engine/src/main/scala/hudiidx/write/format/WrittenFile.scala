package hudiidx.write.format

import hudiidx.table.{FileGroup, FileSlice}

/** What a write did to one file: a log file, or a base file.
  *
  * @param logVersion   0 of a base file
  * @param sliceInstant of the file slice that the file was written for, or that a base file takes the place of; its own
  *                     instant for a new file group
  * @param baseFile     name of that slice's base file; empty without one
  * @param earlierLogs  names of the slice's log files before this one; of a base file those merged into it
  * @param isNewGroup   the file group was made by this write
  */
final case class WrittenFile(
    partitionPath: String,
    fileId: String,
    fileName: String,
    logVersion: Int,
    sliceInstant: String,
    baseFile: String,
    earlierLogs: Vector[String],
    isNewGroup: Boolean,
    sizeBytes: Long,
    inserts: Long,
    updates: Long,
    deletes: Long,
    base: Option[BaseContent] = None
) {

  /** Relative to the table's base path. */
  def path: String = WrittenFile.path(partitionPath, fileName)
}

object WrittenFile {

  /** Relative to the table's base path. */
  def path(partitionPath: String, fileName: String): String =
    if (partitionPath.isEmpty) fileName else s"$partitionPath/$fileName"

  /** A base file that holds what a slice held, changed or not.
    *
    * @param rows in it
    */
  def merged(
      slice: FileSlice,
      fileName: String,
      sizeBytes: Long,
      rows: Long,
      inserts: Long,
      updates: Long,
      deletes: Long
  ): WrittenFile = WrittenFile(
    slice.partitionPath,
    slice.fileId,
    fileName,
    logVersion = 0,
    slice.baseInstantTime,
    slice.baseFile.fold("")(_.fileName),
    slice.logFiles.map(_.fileName),
    isNewGroup = false,
    sizeBytes,
    inserts,
    updates,
    deletes,
    Some(BaseContent(rows, slice.logFiles.map(_.sizeBytes).sum))
  )
}

/** What a base file holds.
  *
  * @param rows     in it
  * @param logBytes of the log files merged into it
  */
final case class BaseContent(rows: Long, logBytes: Long)

/** What a write says of itself when it completes.
  *
  * @param operation of HoodieCommitMetadata: `UPSERT`, `INSERT`, `BULK_INSERT`, `DELETE`, `INSERT_OVERWRITE`,
  *                  `INSERT_OVERWRITE_TABLE` or `COMPACT`
  * @param schema    Avro JSON of the table's columns, without meta columns
  * @param replaced  what it takes the place of; None: nothing
  * @param properties of the table that hold from this write on
  */
final case class CompletedWrite(
    operation: String,
    schema: String,
    files: Vector[WrittenFile],
    extra: Map[String, String] = Map.empty,
    replaced: Option[ReplacedGroups] = None,
    properties: Map[String, String] = Map.empty
)

/** File groups that a write takes the place of: all that there are in some partitions, or in the table.
  *
  * @param partitions None: all, those too that nobody knew when the write began
  * @param fileIds    by partition path
  */
final case class ReplacedGroups(partitions: Option[Set[String]], fileIds: Map[String, Vector[String]]) {
  def isIn(partitionPath: String): Boolean = partitions.forall(_(partitionPath))

  def groups: Vector[FileGroup] = fileIds.toVector.flatMap { case (p, ids) => ids.map(FileGroup(p, _)) }
}
