package hudiidx.spark.write.group

import hudiidx.spark.read.{BaseFileReaderFactory, MergedBatches, SliceReading}
import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.datasources.PartitionedFile

/** @param rows    written
  * @param inBase  rows of the base file before, of which so many were replaced and deleted
  */
final private[spark] case class SliceCounts(rows: Long, inBase: Long, updated: Long, deleted: Long) {

  /** Rows that the base file did not have. */
  def added: Long = rows - (inBase - deleted)
}

/** Puts the rows of file slices into new base files. */
private[spark] object SliceCopy {

  /** @param piece a whole slice, whose logs are merged with its base file
    * @param isGone of its rows: it is left out
    */
  def into(
      file: BaseFileWriter,
      readers: BaseFileReaderFactory,
      piece: PartitionedFile,
      isGone: InternalRow => Boolean
  ): SliceCounts = {
    val before = file.rows
    var gone = 0L
    val rows = readers.buildColumnarReader(piece)
    try {
      while (rows.next()) {
        stopIfKilled()
        val batch = rows.get().rowIterator()
        while (batch.hasNext) {
          val row = batch.next()
          if (isGone(row)) gone += 1 else file.write(row)
        }
      }
      val written = file.rows - before
      rows match {
        case merged: MergedBatches =>
          val dropped = merged.slice.rows.droppedBase.cardinality
          val deleted = merged.slice.rows.deletedBase.cardinality
          val inBase = if (SliceReading.hasBase(piece)) readers.rowCount(piece) else 0L
          SliceCounts(written, inBase, dropped - deleted, deleted + gone)
        case _ => SliceCounts(written, written + gone, 0, gone)
      }
    } finally rows.close()
  }

  private def stopIfKilled(): Unit = {
    val task = TaskContext.get()
    if (task != null && task.isInterrupted()) throw new org.apache.spark.TaskKilledException
  }
}
