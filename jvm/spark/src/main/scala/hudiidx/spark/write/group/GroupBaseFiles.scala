package hudiidx.spark.write.group

import hudiidx.storage.Storage
import hudiidx.table._
import hudiidx.write._
import hudiidx.write.format.{BaseContent, PartitionMetafile, WrittenFile}
import java.io.OutputStream
import org.apache.avro.Schema
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, JoinedRow}
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.types.UTF8String

/** Writes base files of one task: one to a new file group.
  *
  * @param token of this try of the task, in the names of files
  */
final class GroupBaseFiles(write: GroupWrite, numbers: SequenceNumbers, token: String) {
  private val storage: Storage = write.table.context.storage
  private val tablePath = write.table.path
  private val markers = new Markers(storage, tablePath, write.table.config.format, write.instant)
  private val schema = new Schema.Parser().parse(write.blockSchema)
  private val struct: StructType = BaseFileWriter.columns(write.struct)

  /** @param rows at least one that is written */
  def write(target: TargetGroup, rows: GroupRows): WrittenFile = {
    PartitionMetafile.ensure(storage, tablePath, write.table.config, target.partitionPath, write.instant)
    var count = 0L
    val (name, size) = file(target) { file =>
      val add = adder(file, target)
      while (write.skipIdle(rows)) add(rows.next())
      count = file.rows
    }
    WrittenFile(
      target.partitionPath,
      target.fileId,
      name,
      logVersion = 0,
      write.instant,
      baseFile = "",
      Vector.empty,
      isNewGroup = true,
      size,
      count,
      0L,
      0L,
      Some(BaseContent(count, 0L))
    )
  }

  /** A new base file of the group; its name and bytes. */
  private[write] def file(target: TargetGroup)(fill: BaseFileWriter => Unit): (String, Long) = {
    val name = FileName.render(target.fileId, write.instant, token, FileKind.Parquet, 0)
    var size = 0L
    markers.write(write.writer, target.partitionPath, name) { (out: OutputStream) =>
      val file = new BaseFileWriter(out, schema, struct, name, write.base, tablePath)
      try fill(file)
      finally file.close()
      size = file.written
    }
    (name, size)
  }

  /** Adds rows of this write. */
  private[write] def adder(file: BaseFileWriter, target: TargetGroup): InternalRow => Unit = {
    val meta = new GenericInternalRow(TableSchema.MetaColumns.size)
    meta.update(0, UTF8String.fromString(write.instant))
    meta.update(3, UTF8String.fromString(target.partitionPath))
    val whole = new JoinedRow
    row => {
      meta.update(1, UTF8String.fromString(numbers.next()))
      meta.update(2, row.getUTF8String(RowForm.Key))
      file.write(whole(meta, row.getStruct(RowForm.Columns, write.struct.length)))
    }
  }
}
