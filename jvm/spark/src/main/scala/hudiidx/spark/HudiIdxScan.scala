package hudiidx.spark

import java.util.OptionalLong

import hudiidx.spark.rows.ColumnRules
import hudiidx.storage.Storage
import hudiidx.table.{BaseFile, FileKind, FileSlice}
import hudiidx.{DamagedTable, UnsupportedTable}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.metric.{CustomMetric, CustomTaskMetric}
import org.apache.spark.sql.connector.read.{
  Batch,
  InputPartition,
  PartitionReaderFactory,
  Scan,
  Statistics,
  SupportsReportStatistics
}
import org.apache.spark.sql.execution.datasources.PartitionedFile
import org.apache.spark.sql.types.StructType

/** One read of a table's rows. Files are planned once, when first asked for. */
final case class HudiIdxScan(spark: SparkSession, table: PinnedTable, spec: ScanSpec)
    extends Scan
    with Batch
    with SupportsReportStatistics {

  // Columns rebuilt from the path are not in the files; Spark's reader puts them behind the others.
  private val rebuilt = StructType(spec.required.filter(f => table.schema.fromPath(f.name)))
  private val stored = StructType(spec.required.filterNot(f => table.schema.fromPath(f.name)))

  @transient private lazy val plan: FilePlan = FilePlan.of(table, spec)

  override def readSchema(): StructType = StructType(stored ++ rebuilt)

  override def toBatch: Batch = this

  override def description(): String = {
    val filters = spec.sourceFilters.mkString("[", ", ", "]")
    s"hudiidx ${table.path} as of ${table.instantText}, pushed filters $filters, ${plan.facts.text}"
  }

  override def supportedCustomMetrics(): Array[CustomMetric] = ScanMetrics.All

  override def reportDriverMetrics(): Array[CustomTaskMetric] = plan.facts.metrics

  override def estimateStatistics(): Statistics = {
    val whole = table.schema.struct.defaultSize.max(1)
    val bytes = BigInt(plan.facts.bytesKept) * readSchema().defaultSize.max(1) / whole
    new Statistics {
      override def sizeInBytes(): OptionalLong = OptionalLong.of(bytes.min(Long.MaxValue).toLong)
      override def numRows(): OptionalLong = OptionalLong.empty()
    }
  }

  override def planInputPartitions(): Array[InputPartition] = {
    val maxBytes = FilePlan.maxSplitBytes(spark, plan.slices)
    val pieces = plan.slices.flatMap(s => piecesOf(s, partitionRow(s.partitionPath), maxBytes))
    Shims.pack(spark, pieces.toArray, maxBytes)
  }

  private def partitionRow(partitionPath: String): InternalRow =
    if (rebuilt.isEmpty) InternalRow.empty
    else {
      val values = table.schema.values.rebuilt(partitionPath)
      InternalRow.fromSeq(rebuilt.map(f => values(table.schema.partitionColumns.indexWhere(_.name == f.name))))
    }

  /** A slice with logs is read as a whole; a base file alone in pieces. */
  private def piecesOf(slice: FileSlice, partition: InternalRow, maxBytes: Long): Seq[PartitionedFile] = {
    val nulls = table.schema.values.nulls(slice.partitionPath)
    val notes =
      if (nulls.isEmpty) Map.empty[String, Any] else Map[String, Any](BaseFileReaderFactory.NullColumns -> nulls)
    slice.baseFile.foreach(check)
    if (SliceReading.logsOf(slice).nonEmpty) Seq(SliceReading.piece(table.path, slice, partition, notes))
    else slice.baseFile.toSeq.flatMap(split(_, partition, maxBytes, notes))
  }

  private def pathOf(file: BaseFile): String = Storage.join(Storage.join(table.path, file.partitionPath), file.fileName)

  private def check(file: BaseFile): Unit = {
    if (!file.fileName.endsWith(FileKind.Parquet.extension))
      throw new UnsupportedTable(s"${pathOf(file)}: only Parquet base files can be read; read the table with Hudi")
    if (file.sizeBytes <= 0)
      throw new DamagedTable(s"${pathOf(file)}: the base file is empty; roll its commit back with Hudi")
  }

  private def split(
      file: BaseFile,
      partition: InternalRow,
      maxBytes: Long,
      notes: Map[String, Any]
  ): Seq[PartitionedFile] = {
    val whole = Shims.wholeFile(partition, pathOf(file), file.sizeBytes, notes)
    (0L until file.sizeBytes by maxBytes).map { start =>
      whole.copy(start = start, length = math.min(maxBytes, file.sizeBytes - start))
    }
  }

  override def createReaderFactory(): PartitionReaderFactory =
    new BaseFileReaderFactory(
      Shims.parquetReaders(spark, stored, rebuilt, spec.sourceFilters.toArray),
      floatsByText = table.config.version >= 8 || table.config.isMergeOnRead,
      if (table.hasLogs) Some(sliceReading) else None
    )

  private def sliceReading: SliceReading = SliceReading(
    table.config,
    table.shared.view.timeline.withoutHistory,
    table.asOf,
    table.schema.avroJson,
    ColumnRules.of(table.config.version, spark.sessionState.conf.caseSensitiveAnalysis),
    Shims.batchRows(spark),
    table.shared.conf
  )

  override def equals(other: Any): Boolean = other match {
    case o: HudiIdxScan => (o.table eq table) && o.spec == spec
    case _              => false
  }

  override def hashCode(): Int = spec.hashCode
}

/** The file slices of a scan. */
final private case class FilePlan(slices: Vector[FileSlice], facts: PlanFacts)

private object FilePlan {

  /** Only the files of partitions that the filters leave are ever loaded. */
  def of(table: PinnedTable, spec: ScanSpec): FilePlan = {
    val from = System.nanoTime()
    val pruning = new PartitionPruning(spec.filters, table.schema.partitionColumns, table.schema.values)
    val all = table.partitions
    val kept = if (pruning.isUseful) all.filter(pruning.mightMatch) else all
    val slices = kept.flatMap(table.slices).filter(SliceReading.filesIn(_) > 0)
    val millis = table.openMillis + (System.nanoTime() - from) / 1000000
    val use = table.shared.snapshot.use
    val facts = PlanFacts(
      use.version.map(_.number),
      use.unseenInstants.length,
      use.fallback.map(f => (f.code, f.why)),
      all.length,
      kept.length,
      slices.iterator.map(SliceReading.filesIn).sum,
      use.version.map(v => hudiidx.sync.IndexCounts.files(v)),
      slices.iterator.map(SliceReading.bytesOf).sum,
      millis
    )
    FilePlan(slices, facts)
  }

  /** As Spark sizes its own: no larger than its setting, and small enough that every core has work. */
  def maxSplitBytes(spark: SparkSession, slices: Vector[FileSlice]): Long = {
    val conf = spark.sessionState.conf
    val openCost = conf.filesOpenCostInBytes
    val cores = conf.filesMinPartitionNum.getOrElse(spark.sparkContext.defaultParallelism).max(1)
    val perCore = slices.iterator.map(SliceReading.bytesOf(_) + openCost).sum / cores
    math.min(conf.filesMaxPartitionBytes, math.max(openCost, perCore)).max(1L)
  }
}
