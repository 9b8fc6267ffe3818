package hudiidx.spark

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.mapred.FileSplit
import org.apache.hadoop.mapreduce.{JobID, TaskAttemptID, TaskID, TaskType}
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl
import org.apache.parquet.filter2.predicate.{FilterApi, FilterPredicate}
import org.apache.parquet.hadoop.ParquetInputFormat
import org.apache.parquet.hadoop.metadata.ParquetMetadata
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
    val meta = footer.getFileMetaData
    val written: String => String = meta.getKeyValueMetaData.get(_)
    val dates = DataSourceUtils.datetimeRebaseSpec(written, options.datetimeRebaseModeInRead)
    val int96 = DataSourceUtils.int96RebaseSpec(written, options.int96RebaseModeInRead)
    val attempt = new TaskAttemptID(new TaskID(new JobID(), TaskType.MAP, 0), 0)
    val context = new TaskAttemptContextImpl(conf, attempt)
    pushed(footer, dates).foreach(ParquetInputFormat.setFilterPredicate(context.getConfiguration, _))
    val isForeign = meta.getCreatedBy == null || !meta.getCreatedBy.startsWith("parquet-mr")
    val zone =
      if (sqlConf.isParquetINT96TimestampConversion && isForeign)
        DateTimeUtils.getZoneId(conf.get(SQLConf.SESSION_LOCAL_TIMEZONE.key))
      else null
    val reader = new VectorizedParquetRecordReader(
      zone,
      dates.mode.toString,
      dates.timeZone,
      int96.mode.toString,
      int96.timeZone,
      sqlConf.offHeapColumnVectorEnabled && TaskContext.get() != null,
      sqlConf.parquetVectorizedReaderBatchSize
    )
    try {
      reader.initialize(new FileSplit(file.toPath, file.start, file.length, Array.empty[String]), context, Some(footer))
      reader.initBatch(partition, file.partitionValues)
      reader.enableReturningBatches()
    } catch {
      case e: Throwable =>
        reader.close()
        throw e
    }
    new BatchesOf(reader)
  }

  private def pushed(footer: ParquetMetadata, dates: RebaseSpec): Option[FilterPredicate] =
    if (!sqlConf.parquetFilterPushDown || filters.isEmpty) None
    else {
      val parquet = new ParquetFilters(
        footer.getFileMetaData.getSchema,
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

final private class BatchesOf(reader: VectorizedParquetRecordReader) extends PartitionReader[ColumnarBatch] {
  override def next(): Boolean = reader.nextKeyValue()
  override def get(): ColumnarBatch = reader.getCurrentValue.asInstanceOf[ColumnarBatch]
  override def close(): Unit = reader.close()
}
