package hudiidx.spark

import java.io.IOException

import scala.collection.mutable

import hudiidx.column.ColumnCondition.{And, Anything, In => Leaf, Nothing, Or}
import hudiidx.column.{ColumnCondition, ColumnPath, ColumnType, LeafTest}
import hudiidx.column.expression.ExpressionLimits
import hudiidx.engine.column.{FooterStats, SourceStats}
import hudiidx.spark.pinned.{ColumnFilter, PartitionPruning, PinnedTable}
import hudiidx.spark.plan.{HudiIdxScan, PlannedScans, RecordedScans}
import hudiidx.spark.prune.{Contained, ExpressionResolver}
import hudiidx.spark.shims.Shims
import hudiidx.storage.Storage
import hudiidx.store.ScanFiles
import hudiidx.table.{FileSlice, HudiType}
import hudiidx.{DamagedTable, InvalidOption}
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.{DataFrame, SparkSession}

/** What bounds of one column would have left out of some queries' files.
  *
  *  @param queries   that say something of the column, repeated ones counted again
  *  @param files     sampled base files of these queries
  *  @param skipped   of these by the bounds of this column alone
  *  @param bytesSkipped of their bytes
  *  @param isIndexed its bounds are kept already
  *  @param pointed   queries that ask for single values: where bounds leave little out, a bloom filter may
  */
final case class ColumnAdvice(
    column: String,
    queries: Int,
    files: Int,
    skipped: Int,
    bytes: Long,
    bytesSkipped: Long,
    isIndexed: Boolean,
    pointed: Int
)

/** Which indexes on columns would help queries: their filters against the footers of some of the files that they read. */
object IndexAdvice {

  /** Footers that are read for all queries together. */
  val DefaultSample = 200

  /** Of these queries, or, where there are none, of the scans of the table that this process has run or that are recorded in
    * the index folder. Best first.
    */
  def of(spark: SparkSession, table: PinnedTable, frames: Seq[DataFrame], sample: Int): Vector[ColumnAdvice] = {
    val asked: Seq[(Seq[Expression], Int)] =
      if (frames.nonEmpty) frames.flatMap(f => filtersOf(f, table.path)).map(_ -> 1)
      else RecordedScans.of(table.path) ++ recorded(spark, table)
    val footers = new Footers(table)
    val found = mutable.LinkedHashMap.empty[String, ColumnAdvice]
    val noValues = withoutValues(table)
    asked.foreach { case (filters, times) =>
      val condition = ColumnFilter.condition(table, filters)
      val files = sampled(slices(table, filters), (sample / asked.length).max(1)).flatMap(footers.of)
      leaves(condition).map(_.path).distinct.filterNot(p => table.never.forbids(p) || noValues(p)).foreach { path =>
        val advice = found.getOrElse(path, ColumnAdvice(path, 0, 0, 0, 0, 0, isIndexed(table, path), 0))
        found(path) =
          files.foldLeft(counted(advice, condition, path, times))((a, f) => judged(a, condition, path, f, times))
      }
    }
    found.values.toVector.sortBy(a => (-a.bytesSkipped, a.column))
  }

  private def filtersOf(frame: DataFrame, path: String): Seq[Seq[Expression]] =
    PlannedScans.of(frame).map(_.scan).collect {
      case s: HudiIdxScan if s.table.path == path => s.spec.filters
    }

  /** Filters on columns that the table has no more are left out, and those with queries or functions of somebody's. */
  private def recorded(spark: SparkSession, table: PinnedTable): Seq[(Seq[Expression], Int)] = {
    val rows = Shims.relation(new HudiIdxTable(spark, table, ofCatalog = false))
    val byFilter = new ScanFiles(table.shared.context.storage, table.indexDir, table.path).ofOthers.groupBy(_.filters)
    bounded(byFilter.toVector.sortBy(-_._2.length)).flatMap { case (filters, scans) =>
      // Anybody who may write into the index folder may have written it.
      try
        Contained
          .in(filters.mkString(" AND "))(
            filtersOf(
              Shims.frame(spark, ExpressionResolver.filtered(rows, filters, spark.sessionState.conf)),
              table.path
            )
          )
          .map(_ -> scans.length)
      catch { case _: InvalidOption => Seq.empty }
    }
  }

  /** Those that are resolved, which takes time for each letter: the most frequent. */
  private def bounded[A](byFilter: Vector[(Seq[String], A)]): Vector[(Seq[String], A)] = {
    def letters(filters: Seq[String]): Long = filters.map(_.length + 5L).sum
    val small = byFilter.filter(f => letters(f._1) <= ExpressionLimits.MostText).take(RecordedScans.MostFilters)
    val until = small.scanLeft(0L)((sum, f) => sum + letters(f._1)).tail
    small.zip(until).takeWhile(_._2 <= MostLetters).map(_._1)
  }

  /** Of recorded filters together. */
  private val MostLetters = 100000L

  /** Columns of whose values no index is made: vectors, and what variants and blobs hold. */
  private def withoutValues(table: PinnedTable): String => Boolean = {
    val own = HudiType.columns(table.schema.avro).map(_._1)
    path => own.exists(ColumnPath.parts(path).startsWith(_))
  }

  private def isIndexed(table: PinnedTable, path: String): Boolean =
    table.columns.fold(_ => false, _.has(path))

  /** What partitions leave: base files alone, since logs have no footers. */
  private def slices(table: PinnedTable, filters: Seq[Expression]): Vector[FileSlice] = {
    val pruning = PartitionPruning.of(filters, table)
    val kept = if (pruning.isUseful) table.partitions.filter(pruning.mightMatch) else table.partitions
    // Of many partitions some, evenly.
    sampled(kept, MostPartitions).flatMap(table.slices).filter(_.baseFile.isDefined)
  }

  private def sampled[A](all: Vector[A], most: Int): Vector[A] =
    if (all.length <= most) all else Vector.tabulate(most)(i => all((i.toLong * all.length / most).toInt))

  private def counted(a: ColumnAdvice, condition: ColumnCondition, path: String, times: Int): ColumnAdvice = {
    val points = leaves(condition).exists(l => l.path == path && !l.nulls && isPoints(l))
    a.copy(queries = a.queries + times, pointed = a.pointed + (if (points) times else 0))
  }

  private def isPoints(leaf: Leaf): Boolean = simpleTypes.flatMap(t => leaf.ofType(t)).headOption.exists(_.isPoints)

  private val simpleTypes: Vector[ColumnType] = {
    import ColumnType._
    Vector(Bool, Int32, Int64, Date, Timestamp, LocalTimestamp, Float32, Float64, Text, Binary)
  }

  private def judged(
      a: ColumnAdvice,
      condition: ColumnCondition,
      path: String,
      file: (Long, SourceStats),
      times: Int
  ): ColumnAdvice = {
    val (size, stats) = file
    val out = if (mightMatch(condition, path, stats)) 0 else times
    a.copy(
      files = a.files + times,
      skipped = a.skipped + out,
      bytes = a.bytes + times * size,
      bytesSkipped = a.bytesSkipped + out * size
    )
  }

  private def leaves(condition: ColumnCondition): Vector[Leaf] = condition match {
    case l: Leaf  => Vector(l)
    case And(all) => all.flatMap(leaves)
    case Or(any)  => any.flatMap(leaves)
    case _        => Vector.empty
  }

  /** As if the bounds of one column were known. */
  private def mightMatch(condition: ColumnCondition, path: String, file: SourceStats): Boolean = condition match {
    case Anything(_) => true
    case Nothing     => false
    case And(all)    => all.forall(mightMatch(_, path, file))
    case Or(any)     => any.exists(mightMatch(_, path, file))
    case l: Leaf     =>
      l.path != path || file.columns.get(path).forall(t => LeafTest.of(l, t.columnType).mightMatch(t.stats))
  }

  private val MostPartitions = 1000

  /** Footers, each read once. One that cannot be read is left out. */
  final private class Footers(table: PinnedTable) {
    private val known = mutable.HashMap.empty[String, Option[(Long, SourceStats)]]

    def of(slice: FileSlice): Option[(Long, SourceStats)] = slice.baseFile.flatMap { base =>
      val file = Storage.join(Storage.join(table.path, slice.partitionPath), base.fileName)
      known.getOrElseUpdate(file, read(file).map(base.sizeBytes -> _))
    }

    private def read(file: String): Option[SourceStats] =
      try {
        val reader = table.shared.context.storage.open(file)
        try Some(FooterStats.of(reader))
        finally reader.close()
      } catch { case _: IOException | _: DamagedTable => None }
  }
}
