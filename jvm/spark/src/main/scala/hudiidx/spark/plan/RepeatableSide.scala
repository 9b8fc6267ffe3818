package hudiidx.spark.plan

import org.apache.spark.sql.catalyst.expressions.SubqueryExpression
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}

/** The small side of a join whose keys are collected beforehand: Spark computes it once more for the join where no broadcast of it serves
  * both. If that gave other rows, those would find no partner. So it is repeated only where it is sure to give the same: rows at hand
  * and pinned files, under what looks at one row at a time, or at all. A limit takes the rows that come first; an RDD, a function of
  * Python's on rows, another source or a window may give what they like.
  */
private[spark] object RepeatableSide {

  def is(side: LogicalPlan): Boolean = isKnown(side) && !hasQuery(side) && side.children.forall(is)

  private def isKnown(plan: LogicalPlan): Boolean = plan match {
    case _: LocalRelation | _: Range | _: OneRowRelation                   => true
    case r: DataSourceV2ScanRelation                                       => r.scan.isInstanceOf[HudiIdxScan]
    case r: LogicalRelation                                                => r.relation.isInstanceOf[HadoopFsRelation]
    case _: Project | _: Filter | _: Join | _: Union | _: Sort | _: Expand => true
    // What comes of many values, as a sum of floating numbers, may depend on their order.
    case a: Aggregate => !a.aggregateExpressions.exists(_.exists(_.isInstanceOf[AggregateExpression]))
    case _            => false
  }

  private def hasQuery(plan: LogicalPlan): Boolean =
    plan.expressions.exists(_.exists(_.isInstanceOf[SubqueryExpression]))
}
