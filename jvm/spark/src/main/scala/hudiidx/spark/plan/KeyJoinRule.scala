package hudiidx.spark.plan

import hudiidx.spark.shims.Shims
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical.{BROADCAST, Filter, HintInfo, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation
import org.apache.spark.sql.SparkSession

/** Joins of something small with a table by record key: while the query runs the keys of the small side are collected, and
  * only the file groups that the record index names are read. Spark does so by itself where the small side has a filter that
  * it takes for selective; this rule asks for no filter. The rows are joined as before, so it can only leave files out.
  */
final class KeyJoinRule(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!session.sessionState.conf.dynamicPartitionPruningEnabled) plan
    else
      plan.transformUp { case j @ ExtractEquiJoinKeys(kind, leftKeys, rightKeys, _, _, left, right, hint) =>
        val keys = leftKeys.zip(rightKeys)
        val ofLeft = if (prunesLeft(kind)) pruned(left, right, hint.rightHint, keys) else None
        lazy val ofRight = if (prunesRight(kind)) pruned(right, left, hint.leftHint, keys.map(_.swap)) else None
        ofLeft.map(t => j.copy(left = t)).orElse(ofRight.map(t => j.copy(right = t))).getOrElse(j)
      }

  /** Rows of the table's side without a partner are in no result of these joins. */
  private def prunesLeft(kind: JoinType): Boolean = kind match {
    case Inner | LeftSemi | RightOuter => true
    case _                             => false
  }

  private def prunesRight(kind: JoinType): Boolean = kind match {
    case Inner | LeftSemi | LeftOuter => true
    case _                            => false
  }

  /** Expressions that give something else each time are looked at before anything is planned. */
  private def isSmall(side: LogicalPlan, hint: Option[HintInfo]): Boolean = side.deterministic && {
    val limit = session.sessionState.conf.autoBroadcastJoinThreshold
    val bySize = limit > 0 && side.stats.sizeInBytes <= limit
    bySize || side.maxRows.exists(_ <= KeyJoinRule.MostKeys) || hint.exists(_.strategy.contains(BROADCAST))
  }

  private def pruned(
      table: LogicalPlan,
      small: LogicalPlan,
      hint: Option[HintInfo],
      keys: Seq[(Expression, Expression)]
  ): Option[LogicalPlan] =
    keys
      .collectFirst { case (a: Attribute, k) if a.dataType == k.dataType && isRecordKey(a, table) => (a, k) }
      .filter(_ => isSmall(small, hint))
      .map { case (column, key) =>
        val filter = Shims.runtimeFilter(column, small, key, onlyInBroadcast = !RepeatableSide.is(small))
        table.transformUp { case r: DataSourceV2ScanRelation => Filter(filter, r) }
      }

  /** Only over filters and columns of the scan itself. The filter goes right above the scan, so that Spark hands the values on to it: not
    * through what numbers the rows, as MERGE does to find those that are matched twice.
    */
  private def isRecordKey(column: Attribute, side: LogicalPlan): Boolean = side match {
    case r: DataSourceV2ScanRelation =>
      r.scan match {
        case s: HudiIdxScan => s.keyColumns.contains(column.name) && r.outputSet.contains(column)
        case _              => false
      }
    case Filter(condition, child) =>
      !condition.exists(_.isInstanceOf[DynamicPruning]) && isRecordKey(column, child)
    case Project(_, child) => child.outputSet.contains(column) && isRecordKey(column, child)
    case _                 => false
  }
}

object KeyJoinRule {

  /** Once for a session, by [[HudiIdxExtensions]] or when it opens its first table: behind Spark's own rules, which have made
    * the scans by then. [[StreamColumns]] goes along.
    */
  def register(session: SparkSession): Unit = synchronized {
    val rules = session.experimental.extraOptimizations
    val missing = Seq(new KeyJoinRule(session), StreamColumns).filterNot(r => rules.exists(_.getClass == r.getClass))
    if (missing.nonEmpty) session.experimental.extraOptimizations = rules ++ missing
  }

  /** More keys than this are not looked up on the driver. */
  val MostKeys = 100000L
}
