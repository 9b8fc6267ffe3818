package hudiidx.spark

import java.util.OptionalLong

import hudiidx.storage.Storage
import hudiidx.table.{BaseFile, FileKind}
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

/** One snapshot read of a copy-on-write table. Files are planned once, when first asked for. */
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
    val maxBytes = FilePlan.maxSplitBytes(spark, plan.files)
    val pieces = plan.files.flatMap(f => piecesOf(f, partitionRow(f.partitionPath), maxBytes))
    Shims.pack(spark, pieces.toArray, maxBytes)
  }

  private def partitionRow(partitionPath: String): InternalRow =
    if (rebuilt.isEmpty) InternalRow.empty
    else {
      val values = table.schema.values.rebuilt(partitionPath)
      InternalRow.fromSeq(rebuilt.map(f => values(table.schema.partitionColumns.indexWhere(_.name == f.name))))
    }

  private def piecesOf(file: BaseFile, partition: InternalRow, maxBytes: Long): Seq[PartitionedFile] = {
    val path = Storage.join(Storage.join(table.path, file.partitionPath), file.fileName)
    if (!file.fileName.endsWith(FileKind.Parquet.extension))
      throw new UnsupportedTable(s"$path: only Parquet base files can be read; read the table with Hudi")
    if (file.sizeBytes <= 0) throw new DamagedTable(s"$path: the base file is empty; roll its commit back with Hudi")
    val nulls = table.schema.values.nulls(file.partitionPath)
    val notes =
      if (nulls.isEmpty) Map.empty[String, Any] else Map[String, Any](BaseFileReaderFactory.NullColumns -> nulls)
    val whole = Shims.wholeFile(partition, path, file.sizeBytes, notes)
    (0L until file.sizeBytes by maxBytes).map { start =>
      whole.copy(start = start, length = math.min(maxBytes, file.sizeBytes - start))
    }
  }

  override def createReaderFactory(): PartitionReaderFactory =
    new BaseFileReaderFactory(
      Shims.parquetReaders(spark, stored, rebuilt, spec.sourceFilters.toArray),
      floatsByText = table.config.version >= 8
    )

  override def equals(other: Any): Boolean = other match {
    case o: HudiIdxScan => (o.table eq table) && o.spec == spec
    case _              => false
  }

  override def hashCode(): Int = spec.hashCode
}

/** The files of a scan. */
final private case class FilePlan(files: Vector[BaseFile], facts: PlanFacts)

private object FilePlan {

  /** Only the files of partitions that the filters leave are ever loaded. */
  def of(table: PinnedTable, spec: ScanSpec): FilePlan = {
    val from = System.nanoTime()
    val pruning = new PartitionPruning(spec.filters, table.schema.partitionColumns, table.schema.values)
    val all = table.partitions
    val kept = if (pruning.isUseful) all.filter(pruning.mightMatch) else all
    val files = kept.flatMap(table.files)
    val millis = table.openMillis + (System.nanoTime() - from) / 1000000
    val use = table.shared.snapshot.use
    val facts = PlanFacts(
      use.version.map(_.number),
      use.unseenInstants.length,
      use.fallback.map(f => (f.code, f.why)),
      all.length,
      kept.length,
      files.length,
      use.version.map(v => hudiidx.sync.IndexCounts.files(v)),
      files.iterator.map(_.sizeBytes).sum,
      millis
    )
    FilePlan(files, facts)
  }

  /** As Spark sizes its own: no larger than its setting, and small enough that every core has work. */
  def maxSplitBytes(spark: SparkSession, files: Vector[BaseFile]): Long = {
    val conf = spark.sessionState.conf
    val openCost = conf.filesOpenCostInBytes
    val cores = conf.filesMinPartitionNum.getOrElse(spark.sparkContext.defaultParallelism).max(1)
    val perCore = files.iterator.map(_.sizeBytes + openCost).sum / cores
    math.min(conf.filesMaxPartitionBytes, math.max(openCost, perCore)).max(1L)
  }
}
