package hudiidx.spark.read

import scala.collection.JavaConverters._

import hudiidx.spark.shims.ParquetShims
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.mapred.{FileSplit, JobConf}
import org.apache.hadoop.mapreduce.{JobID, TaskAttemptID, TaskID, TaskType}
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl
import org.apache.parquet.filter2.predicate.{FilterApi, FilterPredicate}
import org.apache.parquet.hadoop.ParquetInputFormat
import org.apache.parquet.hadoop.metadata.ParquetMetadata
import org.apache.parquet.schema.MessageType
import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.catalyst.util.RebaseDateTime.RebaseSpec
import org.apache.spark.sql.connector.read.PartitionReader
import org.apache.spark.sql.execution.datasources.parquet.{
  ParquetFilters,
  ParquetOptions,
  VectorizedParquetRecordReader
}
import org.apache.spark.sql.execution.datasources.{DataSourceUtils, PartitionedFile}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.sources.Filter
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.vectorized.ColumnarBatch

/** Spark's reader of batches for files whose footer is at hand. Spark's own factory reads the footer itself, and of a file
  * that Hudi wrote that is the larger part of a small read: it holds the bloom filter of its keys.
  *
  * @param conf    of a reader of the columns wanted
  * @param sqlConf the session's settings, which Spark's own object loses when it is sent
  */
final private[spark] class FileBatches(
    conf: Configuration,
    sqlConf: SQLConf,
    filters: Array[Filter],
    partition: StructType
) {
  private val options = new ParquetOptions(Map.empty[String, String], sqlConf)

  /** @param footer with the row groups that begin in the piece */
  def open(file: PartitionedFile, footer: ParquetMetadata): PartitionReader[ColumnarBatch] = {
    val offHeap = sqlConf.offHeapColumnVectorEnabled && TaskContext.get() != null
    val times = timesOf(footer)
    val reader = new VectorizedParquetRecordReader(
      times.zone,
      times.dates.mode.toString,
      times.dates.timeZone,
      times.int96.mode.toString,
      times.int96.timeZone,
      offHeap,
      sqlConf.parquetVectorizedReaderBatchSize
    )
    opened(reader, file)(ParquetShims.initialize(reader, splitOf(file), pushing(footer, times.dates), footer))
  }

  /** The rows with these numbers, ascending, without a look at the filters; None in a file whose columns do not tell where
    * their pages are (Parquet before 1.11).
    *
    * @param footer of the whole file
    */
  def rows(
      file: PartitionedFile,
      footer: ParquetMetadata,
      numbers: Array[Int]
  ): Option[PartitionReader[ColumnarBatch]] =
    if (!tellsPages(footer)) None
    else {
      val times = timesOf(footer)
      val reader = new RowsReader(
        times.zone,
        times.dates.mode.toString,
        times.dates.timeZone,
        times.int96.mode.toString,
        times.int96.timeZone,
        math.max(1, math.min(numbers.length, sqlConf.parquetVectorizedReaderBatchSize))
      )
      Some(opened(reader, file)(reader.initialize(splitOf(file), plain, footer, numbers)))
    }

  private def opened(reader: VectorizedParquetRecordReader, file: PartitionedFile)(
      initialize: => Unit
  ): PartitionReader[ColumnarBatch] = {
    try {
      initialize
      reader.initBatch(partition, file.partitionValues)
      reader.enableReturningBatches()
    } catch {
      case e: Throwable =>
        reader.close()
        throw e
    }
    new BatchesOf(reader)
  }

  private def splitOf(file: PartitionedFile): FileSplit =
    new FileSplit(file.toPath, file.start, file.length, Array.empty[String])

  // A context copies settings that are no JobConf, a thousand of them, for each file.
  private lazy val settings = new JobConf(conf)

  private lazy val plain = context(settings)

  private def context(settings: JobConf): TaskAttemptContextImpl =
    new TaskAttemptContextImpl(settings, new TaskAttemptID(new TaskID(new JobID(), TaskType.MAP, 0), 0))

  // Files of one schema are asked the same.
  @volatile private var pushedLast: Option[PushedFilters] = None

  private def pushing(footer: ParquetMetadata, dates: RebaseSpec): TaskAttemptContextImpl = {
    val schema = footer.getFileMetaData.getSchema
    pushedLast.filter(p => p.dates == dates && p.schema == schema).map(_.context).getOrElse {
      val asking = pushed(schema, dates).fold(plain) { filter =>
        val own = new JobConf(settings)
        ParquetInputFormat.setFilterPredicate(own, filter)
        context(own)
      }
      pushedLast = Some(PushedFilters(schema, dates, asking))
      asking
    }
  }

  private def timesOf(footer: ParquetMetadata): WrittenTimes = {
    val meta = footer.getFileMetaData
    val written: String => String = meta.getKeyValueMetaData.get(_)
    val isForeign = meta.getCreatedBy == null || !meta.getCreatedBy.startsWith("parquet-mr")
    val zone =
      if (sqlConf.isParquetINT96TimestampConversion && isForeign)
        DateTimeUtils.getZoneId(conf.get(SQLConf.SESSION_LOCAL_TIMEZONE.key))
      else null
    WrittenTimes(
      zone,
      DataSourceUtils.datetimeRebaseSpec(written, options.datetimeRebaseModeInRead),
      DataSourceUtils.int96RebaseSpec(written, options.int96RebaseModeInRead)
    )
  }

  private def tellsPages(footer: ParquetMetadata): Boolean =
    footer.getBlocks.asScala.forall(_.getColumns.asScala.forall(_.getOffsetIndexReference != null))

  private def pushed(schema: MessageType, dates: RebaseSpec): Option[FilterPredicate] =
    if (!sqlConf.parquetFilterPushDown || filters.isEmpty) None
    else {
      val parquet = new ParquetFilters(
        schema,
        sqlConf.parquetFilterPushDownDate,
        sqlConf.parquetFilterPushDownTimestamp,
        sqlConf.parquetFilterPushDownDecimal,
        sqlConf.parquetFilterPushDownStringPredicate,
        sqlConf.parquetFilterPushDownInFilterThreshold,
        sqlConf.caseSensitiveAnalysis,
        dates
      )
      filters.flatMap(parquet.createFilter(_)).reduceOption(FilterApi.and)
    }
}

/** The filters for files of one schema. */
final private case class PushedFilters(schema: MessageType, dates: RebaseSpec, context: TaskAttemptContextImpl)

/** How times were written.
  *
  * @param zone of times of 96 bits; null: UTC
  */
final private case class WrittenTimes(zone: java.time.ZoneId, dates: RebaseSpec, int96: RebaseSpec)

final private class BatchesOf(reader: VectorizedParquetRecordReader) extends PartitionReader[ColumnarBatch] {
  override def next(): Boolean = reader.nextKeyValue()
  override def get(): ColumnarBatch = reader.getCurrentValue.asInstanceOf[ColumnarBatch]
  override def close(): Unit = reader.close()
}
