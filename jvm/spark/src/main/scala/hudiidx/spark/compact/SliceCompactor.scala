package hudiidx.spark.compact

import hudiidx.DamagedTable
import hudiidx.spark.write.options.BaseFileOptions
import hudiidx.spark.write.group.{BaseFileWriter, SliceCopy}
import hudiidx.spark.read.{BaseFileReaderFactory, FileSliceSplit}
import hudiidx.spark.pinned.SharedTable
import hudiidx.storage.Storage
import hudiidx.table._
import hudiidx.timeline.PlannedFileGroup
import hudiidx.write.Markers
import hudiidx.write.format.WrittenFile
import org.apache.avro.Schema
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.datasources.PartitionedFile
import org.apache.spark.sql.types.StructType

/** What the tasks of a compaction need to know; sent to them.
  *
  * @param writer  of the heartbeat of the compaction
  * @param schema  Avro JSON of the rows, meta columns included
  * @param struct  the same as `readers` reads them
  */
final case class CompactionJob(
    table: SharedTable,
    instant: String,
    writer: String,
    schema: String,
    struct: StructType,
    readers: BaseFileReaderFactory,
    options: BaseFileOptions
)

/** Merges file slices into base files, one after the other.
  *
  * @param token of this try of the task, in the names of files
  */
final class SliceCompactor(job: CompactionJob, token: String) {
  private val table = job.table
  private val storage: Storage = table.context.storage
  private val markers = new Markers(storage, table.path, table.config.format, job.instant)
  private val schema = new Schema.Parser().setValidateDefaults(false).parse(job.schema)

  def run(planned: PlannedFileGroup): WrittenFile = {
    val slice = filesOf(planned)
    val name = FileName.render(slice.fileId, job.instant, token, FileKind.Parquet, 0)
    val piece = FileSliceSplit.of(table.path, slice, InternalRow.empty)
    var done: WrittenFile = null
    markers.write(job.writer, slice.partitionPath, name)(out => done = write(piece, slice, name, out))
    done
  }

  private def folderOf(partitionPath: String): String = Storage.join(table.path, partitionPath)

  /** The plan's files, in log order. DamagedTable if one is gone or is not of its file group, or if there is none. */
  private def filesOf(planned: PlannedFileGroup): FileSlice = {
    val folder = folderOf(planned.partitionPath)
    def refused(name: String, why: String): Nothing = throw new DamagedTable(
      s"${Storage.join(folder, name)}: $why, or roll back the plan of compaction ${job.instant} with Hudi (hudi-cli: compaction unschedule)"
    )
    def entry(name: String): FileEntry = {
      val status = storage.status(Storage.join(folder, name))
      val found = status.flatMap(s => FileName.parse(planned.partitionPath, name, s.sizeBytes))
      val file = found.getOrElse(refused(name, "the file is planned for compaction and missing; restore it"))
      if (file.fileId != planned.fileId)
        refused(
          name,
          s"the file is planned for compaction in file group ${planned.fileId}, and its name is of another group; correct the plan"
        )
      file
    }
    if (planned.baseFile.isEmpty && planned.logFiles.isEmpty)
      refused("", s"the plan names no file of file group ${planned.fileId}; correct the plan")
    val logs = FileOrder.sorted(planned.logFiles.map(entry).toArray).toVector
    FileSlice(
      planned.partitionPath,
      planned.fileId,
      planned.baseInstantTime.getOrElse(job.instant),
      planned.baseFile.map(entry).map(b => BaseFile(b.partitionPath, b.fileId, b.instantTime, b.fileName, b.sizeBytes)),
      logs.map(l => LogFile(l.fileName, l.sizeBytes, l.logVersion))
    )
  }

  private def write(piece: PartitionedFile, slice: FileSlice, name: String, out: java.io.OutputStream): WrittenFile = {
    val file = new BaseFileWriter(out, schema, job.struct, name, job.options, table.path)
    val counts =
      try SliceCopy.into(file, job.readers, piece, isGone = _ => false)
      finally file.close()
    WrittenFile.merged(slice, name, file.written, counts.rows, counts.added, counts.updated, counts.deleted)
  }
}
