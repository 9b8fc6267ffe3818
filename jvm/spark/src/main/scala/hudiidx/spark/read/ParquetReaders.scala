package hudiidx.spark.read

import hudiidx.fs.HadoopStorage
import hudiidx.slice.{KeyedRows, StoredKeyRows}
import hudiidx.record.PackedKeys
import hudiidx.spark.pinned.{HeldConfiguration, SharedTable}
import hudiidx.spark.shims.{ParquetShims, SparkInternals}
import org.apache.hadoop.conf.Configuration
import org.apache.parquet.hadoop.ParquetInputFormat
import org.apache.parquet.hadoop.metadata.ParquetMetadata
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReader}
import org.apache.spark.sql.execution.datasources.PartitionedFile
import org.apache.spark.sql.execution.datasources.parquet.{
  ParquetFileFormat,
  ParquetOptions,
  ParquetReadSupport,
  ParquetToSparkSchemaConverter
}
import org.apache.spark.sql.execution.datasources.v2.FilePartitionReaderFactory
import org.apache.spark.sql.execution.datasources.v2.parquet.ParquetPartitionReaderFactory
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.sources.Filter
import org.apache.spark.sql.types.{LongType, StructType}
import org.apache.spark.sql.vectorized.ColumnarBatch
import org.apache.spark.util.SerializableConfiguration

/** Spark's Parquet reader for one set of columns; `withColumns` gives one for others, on any machine.
  *
  *  @param settings the session's, since Spark's own settings object is empty once it was sent
  */
final class ParquetReaders private (
    factory: ParquetPartitionReaderFactory,
    settings: Map[String, String],
    val caseSensitive: Boolean
) extends Serializable {
  def data: StructType = factory.readDataSchema
  def partition: StructType = factory.partitionSchema
  def hasFilters: Boolean = factory.filters.nonEmpty
  def options: org.apache.spark.sql.catalyst.FileSourceOptions = factory.options
  def isColumnar(input: InputPartition): Boolean = factory.supportColumnarReads(input)

  /** Rows, where Spark is not set to take batches. */
  def rows(file: PartitionedFile): PartitionReader[InternalRow] = factory.buildReader(file)

  /** @param footer of the same piece */
  def batches(file: PartitionedFile, footer: ParquetMetadata): PartitionReader[ColumnarBatch] =
    fileBatches.open(file, footer)

  @transient private lazy val fileBatches =
    new FileBatches(conf, ParquetReaders.sqlConf(settings), factory.filters, partition)

  /** The rows with these numbers, ascending, without a look at the filters.
    *
    * @param footer of the whole file
    */
  def rowsAt(file: PartitionedFile, footer: ParquetMetadata, numbers: Array[Int]): PartitionReader[ColumnarBatch] =
    fileBatches
      .rows(file, footer, numbers)
      .getOrElse(new RowsByNumber(withColumns(data).batches(file, footer), numbers))

  /** The rows that bear these record keys.
    *
    * @param footer of the whole file, of which `StoredKeyRows.hasKeyStatistics` holds
    */
  def rowsOfKeys(file: PartitionedFile, footer: ParquetMetadata, keys: PackedKeys): KeyedRows = {
    val opened = SparkInternals.opened(conf, file.toPath, footer)
    try StoredKeyRows.find(opened, keys)
    finally opened.close()
  }

  /** The whole footer, of all row groups. */
  def footer(file: PartitionedFile): ParquetMetadata = {
    requireRegular(file)
    KeptFooters.of(file.toPath, conf)
  }

  /** The footer, with the row groups that begin in the piece. */
  def footerOfPiece(file: PartitionedFile): ParquetMetadata = {
    val isWhole = file.start == 0 && file.length >= file.fileSize
    if (isWhole) footer(file)
    else {
      requireRegular(file)
      ParquetShims.footerOfPiece(conf, file)
    }
  }

  /** Hadoop's local file system waits at a pipe for somebody to write to it, and no task can be ended meanwhile. */
  private def requireRegular(file: PartitionedFile): Unit =
    new HadoopStorage(conf).requireRegular(file.toPath.toString)

  /** The columns of a file as Spark types, from its footer. */
  def columnsOf(footer: ParquetMetadata): StructType =
    new ParquetToSparkSchemaConverter(conf).convert(footer.getFileMetaData.getSchema)

  private def conf: Configuration = factory.broadcastedConf.value.value

  /** The same with other column types and without filters. */
  def withColumns(other: StructType): ParquetReaders = reading(other, Array.empty)

  /** The same, filters too, with the number of each row in its file as a column behind the others (a long; the reader also
    * calls it null, which it is not).
    */
  def withRowNumbers: ParquetReaders =
    reading(data.add(ParquetFileFormat.ROW_INDEX_TEMPORARY_COLUMN_NAME, LongType), factory.filters)

  private def reading(other: StructType, filters: Array[Filter]): ParquetReaders = {
    val changed = new Configuration(conf)
    ParquetReaders.setSchema(changed, other)
    val sqlConf = ParquetReaders.sqlConf(settings)
    // Without these the factory reads footers for its row reader, which leaves the batch reader without row groups.
    sqlConf.setConf(SQLConf.PARQUET_VECTORIZED_READER_ENABLED, true)
    sqlConf.setConf(SQLConf.PARQUET_VECTORIZED_READER_NESTED_COLUMN_ENABLED, true)
    new ParquetReaders(
      factory.copy(
        sqlConf = sqlConf,
        broadcastedConf = new HeldConfiguration(new SerializableConfiguration(changed)),
        dataSchema = other,
        readDataSchema = other,
        filters = filters,
        options = new ParquetOptions(Map.empty[String, String], sqlConf)
      ),
      settings,
      caseSensitive
    )
  }
}

object ParquetReaders {

  /** A reader of Parquet pieces whose rows are `data` columns, then `partition` columns. */
  def of(
      spark: SparkSession,
      data: StructType,
      partition: StructType,
      filters: Array[Filter]
  ): ParquetReaders = {
    val conf = spark.sessionState.conf
    val hadoop = spark.sessionState.newHadoopConf()
    setSchema(hadoop, data)
    hadoop.set(SQLConf.SESSION_LOCAL_TIMEZONE.key, conf.sessionLocalTimeZone)
    hadoop.setBoolean(SQLConf.NESTED_SCHEMA_PRUNING_ENABLED.key, conf.nestedSchemaPruningEnabled)
    hadoop.setBoolean(SQLConf.CASE_SENSITIVE.key, conf.caseSensitiveAnalysis)
    hadoop.setBoolean(SQLConf.PARQUET_BINARY_AS_STRING.key, conf.isParquetBinaryAsString)
    hadoop.setBoolean(SQLConf.PARQUET_INT96_AS_TIMESTAMP.key, conf.isParquetINT96AsTimestamp)
    hadoop.setBoolean(SQLConf.PARQUET_INFER_TIMESTAMP_NTZ_ENABLED.key, conf.parquetInferTimestampNTZEnabled)
    hadoop.setBoolean(SQLConf.LEGACY_PARQUET_NANOS_AS_LONG.key, conf.legacyParquetNanosAsLong)
    val shared = SharedTable.shared(spark, hadoop)
    new ParquetReaders(
      ParquetPartitionReaderFactory(
        conf,
        shared,
        data,
        data,
        partition,
        filters.map(SignedZeros.exact),
        None,
        new ParquetOptions(Map.empty[String, String], conf)
      ),
      conf.getAllConfs,
      conf.caseSensitiveAnalysis
    )
  }

  private def setSchema(conf: Configuration, schema: StructType): Unit = {
    conf.set(
      ParquetInputFormat.READ_SUPPORT_CLASS,
      "org.apache.spark.sql.execution.datasources.parquet.ParquetReadSupport"
    )
    conf.set(ParquetReadSupport.SPARK_ROW_REQUESTED_SCHEMA, schema.json)
    conf.set("org.apache.spark.sql.parquet.row.attributes", schema.json)
  }

  private def sqlConf(settings: Map[String, String]): SQLConf = {
    val made = new SQLConf
    settings.foreach { case (key, value) => made.setConfString(key, value) }
    made
  }
}

/** Spark's loop over the pieces of an input partition, with our reading of one piece. */
abstract class PieceReaderFactory(readers: ParquetReaders) extends FilePartitionReaderFactory {
  override def options: org.apache.spark.sql.catalyst.FileSourceOptions = readers.options
  override def supportColumnarReads(input: InputPartition): Boolean = readers.isColumnar(input)
}
