package hudiidx.spark.plan

import hudiidx.spark.shims.LineShims
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule

/** Streams read the columns that are asked for, which Spark tells scans of batches alone. */
object StreamColumns extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.transformDown {
    case p @ Project(wanted, child)      => p.copy(child = narrowed(child, AttributeSet(wanted.flatMap(_.references))))
    case LineShims.StreamScan(scan, all) => reading(scan, all)
  }

  private def narrowed(plan: LogicalPlan, wanted: AttributeSet): LogicalPlan = plan match {
    case f @ Filter(condition, child)    => f.copy(child = narrowed(child, wanted ++ condition.references))
    case LineShims.StreamScan(scan, all) => reading(scan, all.filter(wanted.contains))
    case other                           => other
  }

  private def reading(scan: LineShims.StreamScan, columns: Seq[Attribute]): LogicalPlan = scan.stream match {
    case rows: RowStream => scan.of(rows.planned(columns.map(_.name)), columns)
    case _               => scan.plan
  }
}
