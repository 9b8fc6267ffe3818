package hudiidx.spark.plan

import hudiidx.spark.pinned.{ColumnStage, PinnedTable}
import org.apache.spark.sql.DataFrame

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
  private val Rows = "rows"
  private val Aggregates = "aggregates"

  /** The scans of one table, in the order of the plan. Plans the query, and reads no rows. */
  def of(frame: DataFrame, tablePath: String): Vector[ScanReport] =
    PlannedScans.of(frame).flatMap { planned =>
      planned.scan match {
        case s: HudiIdxScan if s.table.path == tablePath =>
          Vector(report(s.table, Rows, planned.isCached, s.spec, s.facts, s.stages))
        case s: AggregateScan if s.table.path == tablePath =>
          Vector(report(s.table, Aggregates, planned.isCached, s.spec, s.facts, s.stages))
        case s: KnownAggregates if s.of.table.path == tablePath =>
          Vector(report(s.of.table, Aggregates, planned.isCached, s.of.spec, s.of.facts, s.of.stages))
        case _ => Vector.empty
      }
    }

  private def report(
      table: PinnedTable,
      answered: String,
      isCached: Boolean,
      spec: ScanSpec,
      facts: PlanFacts,
      stages: FileStages
  ): ScanReport = {
    val how = if (isCached) s"$answered, cached by Spark" else answered
    ScanReport(table.path, table.instantText, how, spec.fileFilters.map(_.toString), facts, stages)
  }
}
