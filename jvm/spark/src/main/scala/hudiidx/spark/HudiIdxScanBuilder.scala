package hudiidx.spark

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.connector.expressions.filter.Predicate
import org.apache.spark.sql.connector.read.Scan
import org.apache.spark.sql.sources.Filter
import org.apache.spark.sql.types.StructType

/** Gathers what a query asks of the table; nothing is read here. Filters come as Spark's own expressions: those on
  * partition columns are evaluated as they are, whatever functions they use. All are evaluated again on the rows.
  */
final class HudiIdxScanBuilder(spark: SparkSession, table: PinnedTable)
    extends Shims.FilteredScanBuilder(spark, table.schema.struct) {
  private var filters: Seq[Expression] = Seq.empty
  private var columns: StructType = table.schema.struct

  override def pushFilters(all: Seq[Expression]): Seq[Expression] = {
    filters = all
    all
  }

  override def pushedFilters: Array[Predicate] = sourceFilters.map(Shims.predicate)

  /** Columns are pruned whole: of a struct all fields are read, since a file that lacks the wanted ones must still tell
    * which structs are null.
    */
  override def pruneColumns(required: StructType): Unit =
    columns = StructType(table.schema.struct.filter(f => required.fieldNames.contains(f.name)))

  override def build(): Scan = HudiIdxScan(spark, table, ScanSpec(columns, filters, sourceFilters.toVector))

  private def sourceFilters: Array[Filter] = filters.filter(_.deterministic).flatMap(f => Shims.translate(f)).toArray
}

/** What a scan must give: columns, and the filters in Spark's inner and public forms (the latter for Parquet). */
final case class ScanSpec(required: StructType, filters: Seq[Expression], sourceFilters: Vector[Filter])
