package hudiidx.spark.plan

import hudiidx.spark.pinned.{ColumnFilter, ColumnStage, PartitionPruning, PinnedTable, PlanningCost}
import hudiidx.spark.read.{FileSliceSplit, SliceReading}
import hudiidx.spark.shims.Shims
import hudiidx.sync.IndexCounts
import hudiidx.table.{FileSlice, SlicesFound}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.read.InputPartition
import org.apache.spark.sql.execution.datasources.PartitionedFile

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
    val (plan, cost) = PlanningCost.of(planned(table, spec))
    plan.copy(facts = plan.facts.copy(cost = table.opening.and(cost)))
  }

  private def planned(table: PinnedTable, spec: ScanSpec): FilePlan = {
    val filters = new PlanFilters(table, spec)
    val inPartitions = table.partitions.filter(filters.inPartitions)
    val named = inPartitions.filter(filters.inKeys)
    val kept = named.filter(filters.inBounds)
    val loaded = kept.map(filters.loaded)
    val found = loaded.flatMap(_.slices)
    val bounded = found.filter(filters.inBounds)
    val slices = bounded.filter(filters.inColumns)
    val stage = filters.columns.fold(
      ColumnStage.not,
      c =>
        ColumnStage(
          named.length - kept.length,
          files(found) + loaded.iterator.map(_.passedOver).sum - files(bounded),
          files(bounded) - files(slices),
          c.report,
          c.failure
        )
    )
    val use = table.indexUse
    val facts = PlanFacts(
      use.flatMap(_.version).map(_.number),
      use.fold(0)(_.unseenInstants.length),
      use.flatMap(_.fallback).map(f => (f.code, f.why)),
      PartitionStage(table.partitions.length, inPartitions.length, filters.pruning.whyNot(spec.filters)),
      filters.keys,
      stage,
      files(slices),
      use.flatMap(_.version).map(IndexCounts.files),
      bytes(slices),
      PlanningCost.None
    )
    FilePlan(slices, facts)
  }

  def files(slices: Vector[FileSlice]): Int = slices.iterator.map(SliceReading.filesIn).sum

  private def bytes(slices: Vector[FileSlice]): Long = slices.iterator.map(SliceReading.bytesOf).sum

  /** As Spark sizes its own: no larger than its setting, and small enough that every core has work. */
  def maxSplitBytes(spark: SparkSession, pieces: Vector[PartitionedFile]): Long = {
    val conf = spark.sessionState.conf
    val openCost = conf.filesOpenCostInBytes
    val perCore = pieces.iterator.map(_.length + openCost).sum / cores(spark)
    math.min(conf.filesMaxPartitionBytes, math.max(openCost, perCore)).max(1L)
  }

  /** Split and packed into input partitions. */
  def packed(spark: SparkSession, whole: Vector[PartitionedFile]): Array[InputPartition] =
    packed(spark, whole, maxSplitBytes(spark, whole))

  def packed(spark: SparkSession, whole: Vector[PartitionedFile], maxBytes: Long): Array[InputPartition] =
    Shims.pack(spark, whole.flatMap(FileSliceSplit.split(_, pieceBytes(spark, maxBytes))).toArray, maxBytes)

  /** A piece is worth reading the footer for that tells which row groups begin in it. */
  private val LeastPieceBytes = 32L << 20

  /** How large the pieces of a file are. Hudi's files seldom have more than one row group, which only one of them can read. */
  private def pieceBytes(spark: SparkSession, maxBytes: Long): Long =
    math.max(maxBytes, math.min(LeastPieceBytes, spark.sessionState.conf.filesMaxPartitionBytes))

  /** Tasks that a scan is to have at least. */
  def cores(spark: SparkSession): Int =
    spark.sessionState.conf.filesMinPartitionNum.getOrElse(spark.sparkContext.defaultParallelism).max(1)
}

/** What a scan's filters leave of a table, stage after stage. */
final class PlanFilters(table: PinnedTable, spec: ScanSpec) {
  val pruning: PartitionPruning = PartitionPruning.of(spec.filters, table)
  val keys: KeyStage = KeyStage.of(table, spec.filters)
  val columns: Either[String, ColumnFilter] = ColumnFilter.of(table, spec.filters)

  def inPartitions(partitionPath: String): Boolean = !pruning.isUseful || pruning.mightMatch(partitionPath)

  def inKeys(partitionPath: String): Boolean = keys.groups.forall(_.partitions(partitionPath))

  def inKeys(slice: FileSlice): Boolean = keys.groups.forall(_.contains(slice.partitionPath, slice.fileId))

  /** By the bounds of columns alone. */
  def inBounds(partitionPath: String): Boolean = columns.forall(_.mightMatch(partitionPath))

  def inBounds(slice: FileSlice): Boolean = columns.forall(_.inBounds(slice))

  /** By all that is known of columns: blooms, values and other kinds too. */
  def inColumns(slice: FileSlice): Boolean = columns.forall(_.mightMatch(slice))

  /** Those of a partition that keys leave; where bounds leave few files, of file groups alone that they may leave. */
  def loaded(partitionPath: String): SlicesFound = {
    // Which of the skipped groups the keys would leave is not known.
    val sizes = if (keys.groups.isDefined) None else columns.toOption.flatMap(_.wantedSizes(partitionPath))
    val found = table.slices(partitionPath, sizes)
    found.copy(slices = found.slices.filter(s => SliceReading.filesIn(s) > 0 && inKeys(s)))
  }

  /** Those of a partition that have a file to be read. */
  def slices(partitionPath: String): Vector[FileSlice] =
    table.slices(partitionPath).filter(SliceReading.filesIn(_) > 0)
}

/** Files of a scan's instant that are left behind each stage of planning; those of older slices do not count.
  *
  *  @param total   of the whole table
  *  @param bounds  behind bounds of columns
  *  @param records behind blooms, values and other kinds of index on columns: the files that are read
  */
final case class FileStages(total: Int, partitions: Int, keys: Int, bounds: Int, records: Int)

object FileStages {

  /** Loads the files of all partitions, which a plan does not. */
  def of(table: PinnedTable, spec: ScanSpec, plan: FilePlan): FileStages = {
    val filters = new PlanFilters(table, spec)
    var total, partitions, keys, bounds = 0
    table.partitions.foreach { p =>
      val all = filters.slices(p)
      val count = FilePlan.files(all)
      total += count
      if (filters.inPartitions(p)) {
        partitions += count
        if (filters.inKeys(p)) {
          val named = all.filter(filters.inKeys)
          keys += FilePlan.files(named)
          if (filters.inBounds(p)) bounds += FilePlan.files(named.filter(filters.inBounds))
        }
      }
    }
    FileStages(total, partitions, keys, bounds, plan.facts.filesKept)
  }
}
