package hudiidx.spark

import hudiidx.hadoop.{KeyedRows, StoredKeyRows}
import hudiidx.record.PackedKeys
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.parquet.hadoop.ParquetInputFormat
import org.apache.parquet.hadoop.metadata.ParquetMetadata
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.paths.SparkPath
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateUnsafeProjection
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  BoundReference,
  DynamicPruningSubquery,
  Expression,
  UnsafeRow
}
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.connector.expressions.filter.Predicate
import org.apache.spark.sql.connector.read.{HasPartitionKey, InputPartition, PartitionReader}
import org.apache.spark.sql.execution.datasources.parquet.{
  ParquetFileFormat,
  ParquetFooterReader,
  ParquetOptions,
  ParquetReadSupport,
  ParquetToSparkSchemaConverter
}
import org.apache.spark.sql.execution.datasources.v2.{DataSourceV2Relation, FilePartitionReaderFactory, FileScanBuilder}
import org.apache.spark.sql.execution.datasources.v2.parquet.ParquetPartitionReaderFactory
import org.apache.spark.sql.execution.datasources.{FilePartition, InMemoryFileIndex, PartitionedFile}
import org.apache.spark.sql.execution.metric.SQLShuffleReadMetricsReporter
import org.apache.spark.sql.execution.vectorized.{
  ColumnVectorUtils,
  ConstantColumnVector,
  OnHeapColumnVector,
  WritableColumnVector
}
import org.apache.spark.sql.execution.{ShuffledRowRDD, UnsafeRowSerializer}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.sources.Filter
import org.apache.spark.sql.types.{LongType, StructType}
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarBatch}
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.apache.spark.util.{MutablePair, SerializableConfiguration}
import org.apache.spark.{Partitioner, ShuffleDependency}

/** All that depends on the inner parts of Spark 3.5. */
object Shims {

  /** The filter in Spark's public form; None if it has none. */
  def translate(filter: Expression): Option[Filter] = SparkInternals.translate(filter)

  /** The same in the form of the second connector interface. */
  def predicate(filter: Filter): Predicate = SparkInternals.predicate(filter)

  /** True while `column` may have one of the values that `key` has in `small`; found when the query runs. */
  def runtimeFilter(column: Attribute, small: LogicalPlan, key: Expression): Expression =
    DynamicPruningSubquery(column, small, Seq(key), 0, onlyInBroadcast = false)

  /** A DataFrame of a plan. */
  def frame(spark: SparkSession, plan: LogicalPlan): DataFrame = SparkInternals.frame(spark, plan)

  /** What reads a table that is open. */
  def relation(table: Table): LogicalPlan =
    DataSourceV2Relation.create(table, None, None, CaseInsensitiveStringMap.empty)

  /** A DataFrame of rows that are at hand: no job makes them. */
  def localFrame(spark: SparkSession, columns: StructType, rows: Seq[InternalRow]): DataFrame =
    frame(spark, LocalRelation(DataTypeUtils.toAttributes(columns), rows))

  /** What a column of a DataFrame stands for in its plan; AnalysisException if there is none of this name. */
  def expression(frame: DataFrame, name: String): Expression = frame.col(name).expr

  /** Sends each row to the part that it comes with. Rows may be used again by whoever hands them over. */
  def shuffled(rows: RDD[(Int, UnsafeRow)], columns: Int, parts: Int): RDD[InternalRow] = {
    val routed = rows.mapPartitions { all =>
      val pair = new MutablePair[Int, InternalRow]
      all.map { case (part, row) => pair.update(part, row): Product2[Int, InternalRow] }
    }
    val dependency = new ShuffleDependency[Int, InternalRow, InternalRow](
      routed,
      new GivenPart(parts),
      new UnsafeRowSerializer(columns)
    )
    new ShuffledRowRDD(dependency, SQLShuffleReadMetricsReporter.createShuffleReadMetrics(rows.sparkContext))
  }

  /** The key is the part. */
  final class GivenPart(override val numPartitions: Int) extends Partitioner {
    override def getPartition(key: Any): Int = key.asInstanceOf[Int]
    override def equals(other: Any): Boolean = other match {
      case o: GivenPart => o.numPartitions == numPartitions
      case _            => false
    }
    override def hashCode: Int = numPartitions
  }

  /** A scan builder that is handed the query's filters as Spark's own expressions: this line does so for builders of file
    * sources alone. The empty file index is never asked.
    */
  abstract class FilteredScanBuilder(spark: SparkSession, columns: StructType)
      extends FileScanBuilder(spark, new InMemoryFileIndex(spark, Nil, Map.empty, Some(new StructType)), columns)

  /** A whole file as one piece. `path` is a plain path or URI, not url-encoded; `notes` go along with its pieces. */
  def wholeFile(partition: InternalRow, path: String, sizeBytes: Long, notes: Map[String, Any]): PartitionedFile =
    PartitionedFile(
      partition,
      SparkPath.fromPath(new Path(path)),
      0L,
      sizeBytes,
      fileSize = sizeBytes,
      otherConstantMetadataColumnValues = notes
    )

  def note(file: PartitionedFile, name: String): Option[Any] = file.otherConstantMetadataColumnValues.get(name)

  def noted(file: PartitionedFile, name: String, value: Any): PartitionedFile =
    file.copy(otherConstantMetadataColumnValues = file.otherConstantMetadataColumnValues + (name -> value))

  /** The pieces packed into input partitions of about `maxBytes` each, the largest first. */
  def pack(spark: SparkSession, pieces: Array[PartitionedFile], maxBytes: Long): Array[InputPartition] = {
    val bySize = pieces.sortBy(p => -p.length)
    FilePartition.getFilePartitions(spark, bySize.toSeq, maxBytes).toArray[InputPartition]
  }

  /** The same, known to hold rows of one value of the partition columns. */
  def keyed(input: InputPartition, key: InternalRow): InputPartition = input match {
    case f: FilePartition => new KeyedFilePartition(f.index, f.files, key)
    case other            => other
  }

  /** Spark's readers of files take it for what it extends. */
  final private class KeyedFilePartition(index: Int, files: Array[PartitionedFile], key: InternalRow)
      extends FilePartition(index, files)
      with HasPartitionKey {
    override def partitionKey(): InternalRow = key
  }

  /** A reader of Parquet pieces whose rows are `data` columns, then `partition` columns. */
  def parquetReaders(
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
        filters,
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

  /** Empty vectors to add rows to, with room for so many. */
  def vectors(rows: Int, columns: StructType): Array[WritableColumnVector] =
    OnHeapColumnVector.allocateColumns(rows, columns).map(v => v: WritableColumnVector)

  /** A row's values as vectors of `rows` rows each. */
  def constants(values: InternalRow, columns: StructType, rows: Int): Array[ColumnVector] =
    Array.tabulate(columns.length) { i =>
      val vector = new ConstantColumnVector(rows, columns(i).dataType)
      ColumnVectorUtils.populate(vector, values, i)
      vector
    }

  /** Rows in Spark's own form. Compiled whatever the session's settings: Spark's interpreter takes a null number inside a
    * struct of a batch for 0.
    */
  def unsafeRows(columns: StructType): InternalRow => UnsafeRow = {
    val projection = GenerateUnsafeProjection.generate(columns.zipWithIndex.map { case (f, i) =>
      BoundReference(i, f.dataType, nullable = true)
    })
    row => projection(row)
  }

  /** Rows to a batch of Spark's Parquet reader. */
  def batchRows(spark: SparkSession): Int = spark.sessionState.conf.parquetVectorizedReaderBatchSize

  /** Spark's Parquet reader for one set of columns; `withColumns` gives one for others, on any machine.
    *
    *  @param settings the session's, since Spark's own settings object is empty once it was sent
    */
  final class ParquetReaders(
      factory: ParquetPartitionReaderFactory,
      settings: Map[String, String],
      val caseSensitive: Boolean
  ) extends Serializable {
    def data: StructType = factory.readDataSchema
    def partition: StructType = factory.partitionSchema
    def hasFilters: Boolean = factory.filters.nonEmpty
    def options: org.apache.spark.sql.catalyst.FileSourceOptions = factory.options
    def isColumnar(input: InputPartition): Boolean = factory.supportColumnarReads(input)
    def rows(file: PartitionedFile): PartitionReader[InternalRow] = factory.buildReader(file)
    def batches(file: PartitionedFile): PartitionReader[ColumnarBatch] = factory.buildColumnarReader(file)

    /** The same with the piece's footer at hand. */
    def batches(file: PartitionedFile, footer: ParquetMetadata): PartitionReader[ColumnarBatch] =
      fileBatches.open(file, footer)

    @transient private lazy val fileBatches =
      new FileBatches(conf, sqlConfOf(settings), factory.filters, partition)

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
      * @param footer of the whole file, of which `StoredKeyRows.areTold` holds
      */
    def rowsOfKeys(file: PartitionedFile, footer: ParquetMetadata, keys: PackedKeys): KeyedRows = {
      val opened = SparkInternals.opened(conf, file.toPath, footer)
      try StoredKeyRows.find(opened, keys)
      finally opened.close()
    }

    /** The columns of a file as Spark types, from its footer. */
    def columnsOf(file: PartitionedFile): StructType = columnsOf(footer(file, ParquetFooterReader.SKIP_ROW_GROUPS))

    /** The footer, with the row groups that begin in the piece. */
    def footerOfPiece(file: PartitionedFile): ParquetMetadata = {
      val isWhole = file.start == 0 && file.length >= file.fileSize
      if (isWhole) KeptFooters.of(file.toPath, conf) else footer(file, ParquetFooterReader.WITH_ROW_GROUPS)
    }

    def columnsOf(footer: ParquetMetadata): StructType =
      new ParquetToSparkSchemaConverter(conf).convert(footer.getFileMetaData.getSchema)

    /** The whole footer, of all row groups. */
    def footer(file: PartitionedFile): ParquetMetadata =
      footer(file.copy(start = 0L, length = Long.MaxValue), ParquetFooterReader.WITH_ROW_GROUPS)

    private def footer(file: PartitionedFile, rowGroups: Boolean): ParquetMetadata =
      ParquetFooterReader.readFooter(conf, file, rowGroups)

    private def conf: Configuration = factory.broadcastedConf.value.value

    /** The same with other column types and without filters. */
    def withColumns(other: StructType): ParquetReaders = reading(other, Array.empty)

    /** The same, filters too, with the number of each row in its file as a column behind the others (a long; the reader also
      * calls it null, which it is not).
      */
    def withRowNumbers: ParquetReaders =
      reading(data.add(ParquetFileFormat.ROW_INDEX_TEMPORARY_COLUMN_NAME, LongType), factory.filters)

    private def reading(other: StructType, filters: Array[Filter]): ParquetReaders = {
      val conf = new Configuration(factory.broadcastedConf.value.value)
      setSchema(conf, other)
      val sqlConf = sqlConfOf(settings)
      // Without these the factory reads footers for its row reader, which leaves the batch reader without row groups.
      sqlConf.setConf(SQLConf.PARQUET_VECTORIZED_READER_ENABLED, true)
      sqlConf.setConf(SQLConf.PARQUET_VECTORIZED_READER_NESTED_COLUMN_ENABLED, true)
      new ParquetReaders(
        factory.copy(
          sqlConf = sqlConf,
          broadcastedConf = new HeldConfiguration(new SerializableConfiguration(conf)),
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

  private def sqlConfOf(settings: Map[String, String]): SQLConf = {
    val made = new SQLConf
    settings.foreach { case (key, value) => made.setConfString(key, value) }
    made
  }

  /** A broadcast that never leaves the machine where it was made. */
  final private class HeldConfiguration(held: SerializableConfiguration)
      extends Broadcast[SerializableConfiguration](-1L) {
    override def getValue(): SerializableConfiguration = held
    override def doUnpersist(blocking: Boolean): Unit = ()
    override def doDestroy(blocking: Boolean): Unit = ()
  }

  /** Spark's loop over the pieces of an input partition, with our reading of one piece. */
  abstract class PieceReaderFactory(readers: ParquetReaders) extends FilePartitionReaderFactory {
    override def options: org.apache.spark.sql.catalyst.FileSourceOptions = readers.options
    override def supportColumnarReads(input: InputPartition): Boolean = readers.isColumnar(input)
  }

  /** The pieces of an input partition made by `pack`. */
  def piecesOf(input: InputPartition): Seq[PartitionedFile] = input match {
    case f: FilePartition => f.files.toSeq
    case _                => Seq.empty
  }
}
