package hudiidx.spark.write

import hudiidx.storage.Storage
import hudiidx.table._
import hudiidx.write._
import org.apache.avro.Schema
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, JoinedRow}
import org.apache.spark.sql.types.{StringType, StructField, StructType}
import org.apache.spark.unsafe.types.UTF8String

/** Writes base files of one task: of each new file group that rows come for, one. Rows come as for `GroupLogs`.
  *
  * @param token of this try of the task, in the names of files
  */
final class GroupBaseFiles(write: LogWrite, options: BaseFileOptions, token: String) {
  private val storage: Storage = write.table.context.storage
  private val tablePath = write.table.path
  private val markers = new Markers(storage, tablePath, write.table.config.version, write.instant)
  private val schema = new Schema.Parser().parse(write.blockSchema)
  private val struct =
    StructType(TableSchema.MetaColumns.map(StructField(_, StringType)) ++ write.struct.fields)
  private val numbers = new SequenceNumbers(write.instant, token)

  def run(rows: Iterator[InternalRow]): Iterator[WrittenFile] = GroupRows.each(rows) { (number, ofGroup) =>
    if (!write.skipIdle(ofGroup)) None else Some(file(write.groups.all(number), ofGroup))
  }

  private def file(target: TargetGroup, rows: GroupRows): WrittenFile = {
    PartitionMetafile.ensure(storage, tablePath, target.partitionPath, write.instant)
    val name = FileName.render(target.fileId, write.instant, token, FileKind.Parquet, 0)
    var size, count = 0L
    markers.write(write.writer, target.partitionPath, name) { out =>
      val file = new BaseFileWriter(out, schema, struct, name, options, tablePath)
      try fill(file, rows, target)
      finally file.close()
      size = file.written
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

  private def fill(file: BaseFileWriter, rows: GroupRows, target: TargetGroup): Unit = {
    val meta = new GenericInternalRow(TableSchema.MetaColumns.size)
    meta.update(0, UTF8String.fromString(write.instant))
    meta.update(3, UTF8String.fromString(target.partitionPath))
    val whole = new JoinedRow
    while (write.skipIdle(rows)) {
      val row = rows.next()
      meta.update(1, UTF8String.fromString(numbers.next()))
      meta.update(2, row.getUTF8String(RowForm.Key))
      file.write(whole(meta, row.getStruct(RowForm.Columns, write.struct.length)))
    }
  }
}
