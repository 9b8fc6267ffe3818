package hudiidx.spark.write.group

import java.nio.file.{Files, Path}

import hudiidx.spark.read.FileSliceSplit
import hudiidx.table.FileSlice
import hudiidx.write.format.{EarlierFilters, LogFileWriter, WrittenFile}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.datasources.PartitionedFile

/** Writes file groups anew, each as one base file: what its newest slice holds, and the rows of the write. New records go
  * straight into it. Those for records that are there become a log beside the slice's own, so that they are merged by the rules
  * of all logs.
  *
  * @param token of this try of the task, in the names of files
  */
final class GroupRewrites(write: GroupWrite, bases: GroupBaseFiles, numbers: SequenceNumbers, token: String) {
  private lazy val records = new LogRecords(write, numbers)

  /** @param rows at least one that is written */
  def write(target: TargetGroup, rows: GroupRows): WrittenFile = {
    val slice = target.slice.getOrElse(throw new IllegalStateException(s"${target.fileId} is a new file group"))
    var inserts = 0L
    var kept = SliceCounts(0, 0, 0, 0)
    val (name, size) = bases.file(target) { file =>
      val changes = new ChangesLog(target, slice)
      try {
        val add = bases.adder(file, target)
        while (write.skipIdle(rows)) {
          val row = rows.next()
          if (row.getBoolean(RowForm.IsKnown)) changes.add(row) else add(row)
        }
        inserts = file.rows
        kept = SliceCopy.into(file, write.readers.get, pieceOf(slice, changes.finish()))
      } finally changes.close()
    }
    WrittenFile.merged(slice, name, size, inserts + kept.rows, inserts + kept.added, kept.updated, kept.deleted)
  }

  private def pieceOf(slice: FileSlice, changes: Option[(String, Long)]): PartitionedFile =
    FileSliceSplit.of(write.table.path, slice, InternalRow.empty, more = changes)

  /** A log on this machine's disk, of the rows for records that are there. Its blocks bear the slice's instant, which counts. */
  final private class ChangesLog(target: TargetGroup, slice: FileSlice) extends AutoCloseable {
    private lazy val file: Path = Files.createTempFile("hudiidx-", ".log")
    private lazy val out = Files.newOutputStream(file)
    private lazy val log = new LogFileWriter(
      out,
      file.getFileName.toString,
      target.partitionPath,
      slice.baseInstantTime,
      write.blockSchema,
      EarlierFilters.None,
      write.blockBytes
    )
    private val names = new MetaNames(target)
    private val counts = new RowCounts
    private var isUsed = false

    def add(row: InternalRow): Unit = {
      isUsed = true
      records.add(row, log, names, counts)
    }

    /** Path and bytes of the whole log; None if it is empty. */
    def finish(): Option[(String, Long)] =
      if (!isUsed) None
      else {
        log.finish()
        out.close()
        Some(file.toUri.toString -> log.written)
      }

    override def close(): Unit = if (isUsed) {
      out.close()
      Files.deleteIfExists(file): Unit
    }
  }
}
