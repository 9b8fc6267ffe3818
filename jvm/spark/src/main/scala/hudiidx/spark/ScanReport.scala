package hudiidx.spark

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation

/** What one scan of a query reads and why.
  *
  *  @param reads the rows' moment, as a text
  *  @param answered `rows`, or `aggregates` where footers stand in for rows
  *  @param fileFilters handed to the Parquet reader
  */
final case class ScanReport(
    path: String,
    reads: String,
    answered: String,
    fileFilters: Vector[String],
    facts: PlanFacts
) {

  /** Why each index could not leave anything out: its name, the reason. */
  def whyNot: Vector[(String, String)] =
    facts.fallback.map { case (code, why) => ("manifest", s"$code: $why") }.toVector ++
      facts.partitions.whyNot.map("partitions" -> _) ++ facts.keys.whyNot.map("record" -> _) ++
      facts.columns.whyNot.map("column" -> _) ++
      facts.columns.leaves.flatMap(ColumnStage.whyNot).map("column" -> _)
}

object ScanReport {

  /** The scans of one table, in the order of the plan. Plans the query, and reads no rows. */
  def of(frame: DataFrame, tablePath: String): Vector[ScanReport] =
    frame.queryExecution.optimizedPlan
      .collectWithSubqueries { case r: DataSourceV2ScanRelation => r.scan }
      .toVector
      .flatMap {
        case s: HudiIdxScan   => Vector(report(s.table, "rows", s.spec, s.facts))
        case s: AggregateScan => Vector(report(s.table, "aggregates", s.spec, s.facts))
        case _                => Vector.empty
      }
      .filter(_.path == tablePath)

  private def report(table: PinnedTable, answered: String, spec: ScanSpec, facts: PlanFacts): ScanReport =
    ScanReport(table.path, table.instantText, answered, spec.fileFilters.map(_.toString), facts)
}
