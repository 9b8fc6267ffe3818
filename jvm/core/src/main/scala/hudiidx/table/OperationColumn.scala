package hudiidx.table

import java.nio.file.NoSuchFileException

import com.fasterxml.jackson.databind.ObjectMapper
import hudiidx.log.{LogFile => LogBlocks}
import hudiidx.storage.{RandomReader, Storage, ToldSize}
import hudiidx.timeline.{ActiveTimeline, InstantContents, WriteStat}
import hudiidx.{DamagedTable, NotAHudiTable}

/** Reads which columns a base file has. Module hadoop brings it, for Parquet. */
trait BaseFileColumns {

  /** DamagedTable for a file that cannot be decoded. */
  def has(reader: RandomReader, column: String): Boolean
}

/** What columns data files of a table have. */
final class ColumnsOfFiles(storage: Storage, tablePath: String, bases: BaseFileColumns) {

  /** None where the file does not tell: it is gone, of a format that is not read, damaged, or has no rows. NotAHudiTable where the
    * store does not give it.
    */
  def has(written: WriteStat, column: String): Option[Boolean] = written.path.flatMap { relative =>
    val path = Storage.join(tablePath, relative)
    try
      NotAHudiTable.reading(path) {
        // A log may have grown since.
        val told = if (ColumnsOfFiles.isLog(written)) 0L else written.fileSizeBytes
        ToldSize.opening(storage, path, told) { reader =>
          try of(reader, written, column)
          finally reader.close()
        }
      }
    catch { case _: NoSuchFileException | _: DamagedTable => None }
  }

  private def of(reader: RandomReader, written: WriteStat, column: String): Option[Boolean] =
    if (ColumnsOfFiles.isLog(written))
      LogBlocks.schemaFrom(reader, written.logOffset).map(ColumnsOfFiles.hasField(_, column))
    else if (written.fileName.exists(_.endsWith(FileKind.Parquet.extension))) Some(bases.has(reader, column))
    else None
}

private object ColumnsOfFiles {
  private val mapper = new ObjectMapper

  private def isLog(written: WriteStat): Boolean = written.fileName.exists(FileName.isLog)

  /** Of an Avro schema of records. */
  private def hasField(avroJson: String, column: String): Boolean = {
    val fields = mapper.readTree(avroJson).path("fields").elements
    var found = false
    while (!found && fields.hasNext) found = fields.next().path("name").asText == column
    found
  }
}

/** Whether a table's rows bear [[TableSchema.Operation]]. Writers of Hudi that are told to
  * (`hoodie.allow.operation.metadata.field`) give their files this meta column, and neither a property nor a commit tells so.
  * Stock's readers look into a file of the newest write that gave files rows, and so does this.
  */
private[table] final class OperationColumn(
    timeline: ActiveTimeline,
    contents: InstantContents,
    files: ColumnsOfFiles
) {

  /** @param first of the write to be asked before all others, if it gave files rows */
  def isThere(first: Vector[WriteStat]): Boolean = told(first).orElse(told(newest)).getOrElse(false)

  private def told(written: Vector[WriteStat]): Option[Boolean] =
    written.iterator.map(files.has(_, TableSchema.Operation)).collectFirst { case Some(has) => has }

  private def newest: Vector[WriteStat] = timeline.completedWrites.reverseIterator
    .map(contents.commitWithSample(_).writeStats)
    .find(_.nonEmpty)
    .getOrElse(Vector.empty)
}
