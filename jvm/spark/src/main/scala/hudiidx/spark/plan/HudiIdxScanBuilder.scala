package hudiidx.spark.plan

import hudiidx.spark.pinned.{PartitionPruning, PinnedTable}
import hudiidx.spark.read.ScanColumns
import hudiidx.spark.shims.Shims
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.connector.expressions.aggregate.Aggregation
import org.apache.spark.sql.connector.expressions.filter.Predicate
import org.apache.spark.sql.connector.read.{Scan, SupportsPushDownAggregates, SupportsPushDownLimit}
import org.apache.spark.sql.sources.Filter
import org.apache.spark.sql.types.StructType
import scala.util.Try

/** Gathers what a query asks of the table. Filters come as Spark's own expressions: those on partition columns are evaluated
  * as they are, whatever functions they use. Where paths decide those columns such a filter is done with; all
  * others are evaluated again on the rows.
  *
  * @param given the reader's options, by which a stream goes
  */
final class HudiIdxScanBuilder(spark: SparkSession, table: PinnedTable, given: Map[String, String] = Map.empty)
    extends Shims.FilteredScanBuilder(spark, table.schema.struct)
    with SupportsPushDownLimit
    with SupportsPushDownAggregates {
  private var filters: Seq[Expression] = Seq.empty
  private var left: Seq[Expression] = Seq.empty
  private var columns: StructType = table.schema.struct
  private var limit: Option[Int] = None
  private var aggregates: Option[FileAggregates] = None

  override def pushFilters(all: Seq[Expression]): Seq[Expression] = {
    filters = all
    left =
      if (!table.pushdowns.partitionFilters) all
      else {
        val pruning = PartitionPruning.of(all, table)
        // Asked last: it looks at every partition.
        if (pruning.isUseful) all.filterNot(f => pruning.decides(f, table.columnsOfPath)) else all
      }
    left
  }

  /** For people alone. Spark makes no predicate of a comparison with a struct, an array or a map. */
  override def pushedFilters: Array[Predicate] =
    sourceFilters(filters).flatMap(f => Try(Shims.predicate(f)).toOption)

  /** Of structs only the wanted fields are asked for; the reader still tells which structs are null in a file that lacks
    * all of them.
    */
  override def pruneColumns(required: StructType): Unit = {
    val known = ScanColumns.all(table.schema.struct)
    columns = StructType(required.flatMap { f =>
      known
        .find(_.name == f.name)
        .map(own => if (table.pushdowns.nestedColumns) own.copy(dataType = f.dataType) else own)
    })
  }

  /** Only what is read whole can be cut short: no filter is left, and no row is skipped. */
  override def pushLimit(rows: Int): Boolean = {
    val possible = table.pushdowns.limit && left.isEmpty && table.increment.isEmpty && countsEveryFile
    if (possible) limit = Some(rows)
    possible
  }

  override def pushAggregation(aggregation: Aggregation): Boolean = {
    if (table.pushdowns.aggregates && left.isEmpty && table.increment.isEmpty && table.names.isEmpty && countsEveryFile)
      aggregates = FileAggregates.of(aggregation, table)
    aggregates.isDefined
  }

  /** Where Spark is set to pass over files, only who reads a file's rows knows whether it has any: neither the index nor a footer. */
  private def countsEveryFile: Boolean = {
    val conf = spark.sessionState.conf
    !conf.ignoreMissingFiles && !conf.ignoreCorruptFiles
  }

  override def build(): Scan = {
    // Files may hold other values of the columns that paths decide.
    val stored = left.filterNot(_.references.exists(a => table.schema.values.mayDecide(a.name)))
    val ofFiles = if (table.pushdowns.fileFilters) sourceFilters(stored) else Array.empty[Filter]
    val spec = ScanSpec(columns, filters, ofFiles.toVector, limit)
    aggregates.fold[Scan](HudiIdxScan(spark, table, spec, given)) { asked =>
      val scan = AggregateScan(spark, table, spec, asked)
      if (scan.isKnown) KnownAggregates(scan) else scan
    }
  }

  private def sourceFilters(of: Seq[Expression]): Array[Filter] =
    of.filter(_.deterministic).flatMap(f => Shims.translate(f)).toArray
}

/** What a scan must give: columns, all filters in Spark's inner form, and those for Parquet.
  *
  *  @param limit so many rows are enough
  */
final case class ScanSpec(
    required: StructType,
    filters: Seq[Expression],
    fileFilters: Vector[Filter],
    limit: Option[Int]
)
