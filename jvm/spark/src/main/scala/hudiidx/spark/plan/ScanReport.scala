package hudiidx.spark.plan

import hudiidx.spark.pinned.{ColumnStage, PinnedTable}
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.connector.read.Scan

/** What one scan of a query reads and why.
  *
  *  @param reads the rows' moment, as a text
  *  @param answered `rows`, or `aggregates` where footers stand in for rows; `, cached by Spark` where Spark's cache holds them
  *  @param stages how many files each stage of planning left
  *  @param fileFilters handed to the Parquet reader
  */
final case class ScanReport(
    path: String,
    reads: String,
    answered: String,
    fileFilters: Vector[String],
    facts: PlanFacts,
    stages: FileStages
) {

  /** Why each index could not leave anything out: its name, the reason. */
  def whyNot: Vector[(String, String)] =
    (facts.fallback.map { case (code, why) => ("manifest", s"$code: $why") }.toVector ++
      facts.partitions.whyNot.map("partitions" -> _) ++ facts.keys.whyNot.map("record" -> _) ++
      facts.columns.whyNot.map("column" -> _) ++
      facts.columns.leaves.flatMap(ColumnStage.whyNot).map("column" -> _)).distinct
}

object ScanReport {

  /** The scans of one table, in the order of the plan. Plans the query, and reads no rows. */
  def of(frame: DataFrame, tablePath: String): Vector[ScanReport] =
    for {
      planned <- PlannedScans.of(frame)
      report <- of(planned.scan, tablePath)
    } yield if (planned.isCached) report.copy(answered = s"${report.answered}, cached by Spark") else report

  private def of(scan: Scan, tablePath: String): Option[ScanReport] = scan match {
    case s: HudiIdxScan if s.table.path == tablePath =>
      Some(report(s.table, "rows", s.spec, s.facts, s.stages))
    case s: AggregateScan if s.table.path == tablePath =>
      Some(report(s.table, "aggregates", s.spec, s.facts, s.stages))
    case s: KnownAggregates if s.of.table.path == tablePath =>
      Some(report(s.of.table, "aggregates", s.of.spec, s.of.facts, s.of.stages))
    case _ => None
  }

  private def report(
      table: PinnedTable,
      answered: String,
      spec: ScanSpec,
      facts: PlanFacts,
      stages: FileStages
  ): ScanReport =
    ScanReport(table.path, table.instantText, answered, spec.fileFilters.map(_.toString), facts, stages)
}
