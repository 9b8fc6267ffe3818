package hudiidx.spark.views

import hudiidx.logindex.{KeptTails, LogBlockFacts}
import hudiidx.spark.options.ReadOptions
import hudiidx.spark.pinned.SharedTable
import hudiidx.storage.Storage
import hudiidx.table.{FileGroup, FileSlice}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{IntegerType, LongType, StringType, StructField, StructType}
import org.apache.spark.unsafe.types.UTF8String

/** The blocks of the latest file slices' logs, a row each: the view `log_blocks`. Reads headers and summaries. */
object LogBlocksView {
  val Name: String = ReadOptions.LogBlocksView

  val Schema: StructType = StructType(
    Vector(
      StructField("partition_path", StringType, nullable = false),
      StructField("file_id", StringType, nullable = false),
      StructField("file_name", StringType, nullable = false),
      StructField("block", IntegerType, nullable = false),
      StructField("kind", StringType, nullable = false),
      StructField("instant_time", StringType),
      StructField("size", LongType, nullable = false),
      StructField("records", LongType),
      StructField("min_key", StringType),
      StructField("max_key", StringType),
      StructField("indexed", StringType, nullable = false)
    )
  )

  /** Rows of one partition. DamagedTable if a log file is gone or cannot be understood. */
  def rows(table: SharedTable, partition: String, asOf: Option[String]): Iterator[InternalRow] =
    table.view.latestMergedFileSlices(partition, asOf).iterator.flatMap(rows(table, _))

  private def rows(table: SharedTable, slice: FileSlice): Iterator[InternalRow] = {
    val folder = Storage.join(table.path, slice.partitionPath)
    lazy val kept = table.keptTails(FileGroup(slice.partitionPath, slice.fileId)).getOrElse(KeptTails.None)
    slice.dataLogFiles.iterator.flatMap { log =>
      val path = Storage.join(folder, log.fileName)
      LogBlockFacts.of(table.context.storage, path, kept).map { b =>
        InternalRow(
          text(slice.partitionPath),
          text(slice.fileId),
          text(log.fileName),
          b.number,
          text(LogBlockFacts.kindOf(b.block)),
          b.block.instantTime.map(text).orNull,
          b.block.endOffset - b.block.offset,
          b.records.map(Long.box).orNull,
          b.min.map(text).orNull,
          b.max.map(text).orNull,
          text(b.indexed)
        )
      }
    }
  }

  private def text(value: String): UTF8String = UTF8String.fromString(value)
}
