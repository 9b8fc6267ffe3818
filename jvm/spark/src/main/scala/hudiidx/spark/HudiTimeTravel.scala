package hudiidx.spark

import org.apache.spark.sql.catalyst.analysis.{RelationTimeTravel, UnresolvedRelation}
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation

/** `VERSION AS OF` and `TIMESTAMP AS OF` in sessions with Hudi's extension. Its parser makes a plan of its own of them, with the
  * table as it is now below, and its rules know that plan for Hudi's own relations alone. Of ours Spark's plan is made, by name.
  */
private[spark] object HudiTimeTravel extends Rule[LogicalPlan] {
  private val Plan = "org.apache.spark.sql.catalyst.plans.logical.TimeTravelRelation"

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case t: UnaryNode if t.getClass.getName == Plan =>
      val asOf = t.child.resolveOperatorsUp { case r: DataSourceV2Relation =>
        nameOf(r).fold[LogicalPlan](r)(at(_, t))
      }
      if (asOf eq t.child) t else asOf
  }

  private def nameOf(relation: DataSourceV2Relation): Option[Seq[String]] =
    (relation.table, relation.catalog, relation.identifier) match {
      case (_: HudiIdxTable, Some(ours: HudiIdxCatalog), Some(ident)) =>
        Some(ours.name +: ident.namespace.toSeq :+ ident.name)
      case _ => None
    }

  /** Hudi's plan has the table, the expression of a moment and the text of a version. */
  private def at(name: Seq[String], plan: LogicalPlan): LogicalPlan = RelationTimeTravel(
    UnresolvedRelation(name),
    plan.productElement(1).asInstanceOf[Option[Expression]],
    plan.productElement(2).asInstanceOf[Option[String]]
  )
}
