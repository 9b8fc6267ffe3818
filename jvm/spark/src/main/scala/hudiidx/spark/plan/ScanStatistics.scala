package hudiidx.spark.plan

import java.util.OptionalLong

import hudiidx.record.RecordIndex
import hudiidx.spark.pinned.PinnedTable
import hudiidx.spark.read.SliceReading
import hudiidx.sync.RecordInfo
import hudiidx.table.FileSlice
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.read.Statistics
import org.apache.spark.sql.types.StructType

/** What Spark's optimizer is told of a scan, for choosing joins. No file is opened for it.
  *
  *  @param rows None: unknown
  */
final case class ScanStatistics(bytes: Long, rows: Option[Long]) extends Statistics {
  override def sizeInBytes(): OptionalLong = OptionalLong.of(bytes)

  override def numRows(): OptionalLong = rows.fold(OptionalLong.empty())(OptionalLong.of(_))
}

/** Of a scan that plans nothing. */
private[spark] object UnknownStatistics extends Statistics {
  override def sizeInBytes(): OptionalLong = OptionalLong.empty()

  override def numRows(): OptionalLong = OptionalLong.empty()
}

object ScanStatistics {

  /** Slices whose rows are looked up; of more, so many are taken evenly. */
  private val MostSlices = 20000

  /** Of the files that planning left. Bytes are those of the files, by the share that the columns have of a row, and by
    * `spark.sql.sources.fileCompressionFactor`, as Spark counts its own sources. Rows are those of base files (of slices
    * without one those of their logs), as a column index has them: exact where no slice has logs. Without one a record index
    * tells how many the whole table has.
    */
  def of(
      spark: SparkSession,
      table: PinnedTable,
      spec: ScanSpec,
      plan: FilePlan,
      columns: StructType
  ): ScanStatistics = {
    val share = columns.defaultSize.max(1).toDouble / table.schema.struct.defaultSize.max(1)
    val bytes = spark.sessionState.conf.fileCompressionFactor * plan.facts.bytesKept * share
    val rows = if (table.increment.isDefined) None else indexed(table, plan.slices).orElse(keyed(table, plan))
    ScanStatistics(math.min(bytes, Long.MaxValue.toDouble).toLong, rows.map(n => spec.limit.fold(n)(n min _.toLong)))
  }

  /** Of files that the index does not cover as many by their bytes as of the others; None if it covers nothing. */
  private def indexed(table: PinnedTable, slices: Vector[FileSlice]): Option[Long] =
    if (slices.isEmpty) Some(0L)
    else
      table.columns.toOption.flatMap { columns =>
        val files = columns.files
        val step = (slices.length + MostSlices - 1) / MostSlices
        var rows, knownBytes, bytes = 0L
        slices.indices.by(step).foreach { i =>
          bytes += SliceReading.bytesOf(slices(i))
          columns.told(rowsOf(files, slices(i))).foreach { n =>
            rows += n
            knownBytes += SliceReading.bytesOf(slices(i))
          }
        }
        if (knownBytes == 0) None
        else if (knownBytes == bytes && step == 1) Some(rows)
        else {
          val all = slices.iterator.map(SliceReading.bytesOf).sum
          Some((rows.toDouble / knownBytes * all).toLong)
        }
      }

  private def rowsOf(files: hudiidx.column.segment.FileFacts, slice: FileSlice): Option[Long] = slice.baseFile match {
    case Some(base) => files.rows(slice.partitionPath, base.fileName, base.sizeBytes)
    case None       =>
      val logs = slice.dataLogFiles.map(l => files.rows(slice.partitionPath, l.fileName, l.sizeBytes))
      if (logs.contains(None)) None else Some(logs.flatten.sum)
  }

  /** Of a scan that reads the whole table. */
  private def keyed(table: PinnedTable, plan: FilePlan): Option[Long] = {
    val facts = plan.facts
    val isWhole = facts.partitions.kept == facts.partitions.total && facts.keys.groups.isEmpty &&
      facts.columns.partitionsSkipped == 0 && facts.columns.filesSkipped == 0
    table.indexUse.flatMap(_.version).filter(v => isWhole && RecordIndex.isIn(v)).map(RecordInfo.of).collect {
      case info if info.windowDays.isEmpty => info.mappings
    }
  }
}
