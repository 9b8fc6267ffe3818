package hudiidx.spark.plan

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.connector.read.Scan
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.columnar.{InMemoryRelation, InMemoryTableScanExec}
import org.apache.spark.sql.execution.datasources.v2.{BatchScanExec, DataSourceV2ScanRelation}

/** A scan of a query.
  *
  *  @param isCached its rows come from Spark's cache, which is filled by it
  */
final case class PlannedScan(scan: Scan, isCached: Boolean)

object PlannedScans extends AdaptiveSparkPlanHelper {

  /** The scans of a query and of what it takes from Spark's cache, in the order of the plan. Plans the query, and reads no rows. */
  def of(frame: DataFrame): Vector[PlannedScan] = of(frame.queryExecution.optimizedPlan)

  private def of(plan: LogicalPlan): Vector[PlannedScan] =
    plan
      .collectWithSubqueries {
        case r: DataSourceV2ScanRelation => Vector(PlannedScan(r.scan, isCached = false))
        case r: InMemoryRelation         => ofCache(r.cachedPlan)
      }
      .flatten
      .toVector

  // The logical plan that is cached is not optimized: it has no scans yet.
  private def ofCache(plan: SparkPlan): Vector[PlannedScan] =
    collectWithSubqueries(plan) {
      case s: BatchScanExec         => Vector(PlannedScan(s.scan, isCached = true))
      case s: InMemoryTableScanExec => ofCache(s.relation.cachedPlan)
    }.flatten.toVector
}
