package hudiidx.spark

import java.util.OptionalLong

import hudiidx.table.{CommitTimes, FileSlice}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.expressions.filter.Predicate
import org.apache.spark.sql.connector.expressions.{Expressions, NamedReference}
import org.apache.spark.sql.connector.metric.{CustomMetric, CustomTaskMetric}
import org.apache.spark.sql.connector.read._
import org.apache.spark.sql.execution.datasources.PartitionedFile
import org.apache.spark.sql.sources.{And, Filter, GreaterThanOrEqual, In, LessThanOrEqual}
import org.apache.spark.sql.types.StructType

/** One read of a table's rows. Files are planned once, when first asked for; again when a join has found values of
  * partition columns while it runs.
  */
final case class HudiIdxScan(spark: SparkSession, table: PinnedTable, spec: ScanSpec)
    extends Scan
    with Batch
    with SupportsReportStatistics
    with SupportsRuntimeV2Filtering {
  private val columns = ScanColumns.of(spec.required, table)

  @transient private lazy val planned: FilePlan = FilePlan.of(table, spec)
  @transient private var runtime: RuntimeFilter = RuntimeFilter.None

  private def plan: FilePlan = if (runtime.isEmpty) planned else planned.where(runtime)

  def facts: PlanFacts = plan.facts

  /** File slices to be read. */
  def slices: Vector[FileSlice] = plan.slices

  override def readSchema(): StructType = columns.output

  override def toBatch: Batch = this

  override def description(): String = {
    val filters = spec.fileFilters.mkString("[", ", ", "]")
    s"hudiidx ${table.path} ${table.instantText}, pushed filters $filters, ${plan.facts.text}"
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

  /** Columns of the scan by whose values the record index finds rows. */
  def keyColumns: Vector[String] =
    if (!table.pushdowns.recordKeys || !table.hasRecordIndex) Vector.empty
    else RecordKeyFilter.keyColumns(table.config, table.schema.struct).filter(readSchema().fieldNames.contains(_))

  override def filterAttributes(): Array[NamedReference] =
    if (!table.pushdowns.runtimeFilters) Array.empty
    else {
      val shown = readSchema().fieldNames.toSet
      val indexed = table.columns.fold(_ => Vector.empty[String], _.names(readSchema()))
      (table.schema.partitionColumns.map(_.name).filter(shown) ++ keyColumns ++ indexed).distinct
        .map(n => Expressions.column(n))
        .toArray
    }

  override def filter(predicates: Array[Predicate]): Unit = runtime = RuntimeFilter.of(predicates, table, keyColumns)

  override def planInputPartitions(): Array[InputPartition] = {
    RecordedScans.add(table.path, spec.filters)
    val whole = plan.slices.flatMap(PieceOfFile.whole(_, table, columns.constants))
    val enough = spec.limit.fold(whole)(n => LimitedFiles.enough(whole, n, readers))
    val maxBytes = FilePlan.maxSplitBytes(spark, enough)
    Shims.pack(spark, enough.flatMap(PieceOfFile.split(_, maxBytes)).toArray, maxBytes)
  }

  private def readers: BaseFileReaderFactory = PieceOfFile.readers(
    spark,
    table,
    Shims.parquetReaders(spark, columns.data, columns.constants, spec.fileFilters.toArray ++ commitTimeFilter)
  )

  override def createReaderFactory(): PartitionReaderFactory =
    table.increment.fold[PartitionReaderFactory](readers) { increment =>
      val commitTime = columns.data.fieldIndex(ScanColumns.CommitTime)
      new CommitTimeReaderFactory(readers, increment.found.times, columns.all, commitTime, columns.shown.toArray)
    }

  /** Parquet passes over row groups and pages by it; rows are looked at one by one. */
  private def commitTimeFilter: Option[Filter] = table.increment.map(_.found.times match {
    case CommitTimes.OneOf(times)       => In(ScanColumns.CommitTime, times.toArray[Any])
    case CommitTimes.Range(from, _, to) =>
      And(GreaterThanOrEqual(ScanColumns.CommitTime, from), LessThanOrEqual(ScanColumns.CommitTime, to))
  })

  override def equals(other: Any): Boolean = other match {
    case o: HudiIdxScan => (o.table eq table) && o.spec == spec && o.runtime == runtime
    case _              => false
  }

  override def hashCode: Int = spec.hashCode
}

/** The file slices of a scan. */
final case class FilePlan(slices: Vector[FileSlice], facts: PlanFacts) {

  /** The same without what values found at run time exclude. */
  def where(filter: RuntimeFilter): FilePlan = {
    val partitions = slices.map(_.partitionPath).distinct.filter(filter.mightMatch).toSet
    val left = slices.filter(s => partitions(s.partitionPath) && filter.mightMatch(s))
    val stage = facts.partitions.copy(kept = partitions.size)
    val keys = filter.keys.fold(facts.keys)(g => KeyStage(Some(g), None))
    val (files, bytes) = (FilePlan.files(left), FilePlan.bytes(left))
    FilePlan(left, facts.copy(partitions = stage, keys = keys, filesKept = files, bytesKept = bytes))
  }
}

object FilePlan {

  /** Only the files of partitions that the filters leave are ever loaded. */
  def of(table: PinnedTable, spec: ScanSpec): FilePlan = {
    val from = System.nanoTime()
    val pruning = PartitionPruning.of(spec.filters, table)
    val all = table.partitions
    val left = if (pruning.isUseful) all.filter(pruning.mightMatch) else all
    val keys = KeyStage.of(table, spec.filters)
    val named = keys.groups.fold(left)(g => left.filter(g.partitions))
    val columns = ColumnFilter.of(table, spec.filters)
    val kept = columns.fold(_ => named, c => named.filter(c.mightMatch))
    val found = kept.flatMap { p =>
      table.slices(p).filter(s => SliceReading.filesIn(s) > 0 && keys.groups.forall(_.contains(p, s.fileId)))
    }
    val slices = columns.fold(_ => found, c => found.filter(c.mightMatch))
    val stage = columns.fold(
      ColumnStage.not,
      c =>
        ColumnStage(
          named.length - kept.length,
          found.length - slices.length,
          files(found) - files(slices),
          c.report,
          c.failure
        )
    )
    val millis = table.openMillis + (System.nanoTime() - from) / 1000000
    val use = table.indexUse
    val facts = PlanFacts(
      use.flatMap(_.version).map(_.number),
      use.fold(0)(_.unseenInstants.length),
      use.flatMap(_.fallback).map(f => (f.code, f.why)),
      PartitionStage(all.length, left.length, pruning.whyNot(spec.filters)),
      keys,
      stage,
      files(slices),
      use.flatMap(_.version).map(v => hudiidx.sync.IndexCounts.files(v)),
      bytes(slices),
      millis
    )
    FilePlan(slices, facts)
  }

  private def files(slices: Vector[FileSlice]): Int = slices.iterator.map(SliceReading.filesIn).sum

  private def bytes(slices: Vector[FileSlice]): Long = slices.iterator.map(SliceReading.bytesOf).sum

  /** As Spark sizes its own: no larger than its setting, and small enough that every core has work. */
  def maxSplitBytes(spark: SparkSession, pieces: Vector[PartitionedFile]): Long = {
    val conf = spark.sessionState.conf
    val openCost = conf.filesOpenCostInBytes
    val cores = conf.filesMinPartitionNum.getOrElse(spark.sparkContext.defaultParallelism).max(1)
    val perCore = pieces.iterator.map(_.length + openCost).sum / cores
    math.min(conf.filesMaxPartitionBytes, math.max(openCost, perCore)).max(1L)
  }
}
