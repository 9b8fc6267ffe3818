package hudiidx.spark

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.connector.expressions.filter.Predicate
import org.apache.spark.sql.connector.read.{Scan, ScanBuilder, SupportsPushDownRequiredColumns}
import org.apache.spark.sql.internal.connector.SupportsPushDownCatalystFilters
import org.apache.spark.sql.sources.Filter
import org.apache.spark.sql.types.StructType

/** Gathers what a query asks of the table; nothing is read here. Filters come as Spark's own expressions: those on
  * partition columns are evaluated as they are, whatever functions they use. All are evaluated again on the rows.
  */
final class HudiIdxScanBuilder(spark: SparkSession, table: PinnedTable)
    extends ScanBuilder
    with SupportsPushDownCatalystFilters
    with SupportsPushDownRequiredColumns {
  private var filters: Seq[Expression] = Seq.empty
  private var required: StructType = table.schema.struct

  override def pushFilters(all: Seq[Expression]): Seq[Expression] = {
    filters = all
    all
  }

  override def pushedFilters: Array[Predicate] = sourceFilters.map(Shims.predicate)

  override def pruneColumns(columns: StructType): Unit = required = columns

  override def build(): Scan = HudiIdxScan(spark, table, ScanSpec(required, filters, sourceFilters.toVector))

  private def sourceFilters: Array[Filter] = filters.filter(_.deterministic).flatMap(f => Shims.translate(f)).toArray
}

/** What a scan must give: columns, and the filters in Spark's inner and public forms (the latter for Parquet). */
final case class ScanSpec(required: StructType, filters: Seq[Expression], sourceFilters: Vector[Filter])
