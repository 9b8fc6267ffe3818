package hudiidx.spark

import java.util.ServiceLoader

import scala.collection.JavaConverters._

import hudiidx.spark.plan.KeyJoinRule
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.{SparkSession, SparkSessionExtensions}

/** Sets a session up with hudiidx's rules when it starts: `spark.sql.extensions=hudiidx.spark.HudiIdxExtensions`. Without it
  * joins by record key are set up when the session opens its first table, and SQL has neither `CALL system.<procedure>` nor Hudi
  * tables under their own names.
  */
final class HudiIdxExtensions extends (SparkSessionExtensions => Unit) {
  override def apply(extensions: SparkSessionExtensions): Unit = {
    extensions.injectOptimizerRule(new KeyJoinRegistration(_))
    extensions.injectResolutionRule(new HudiTableReads(_))
    extensions.injectResolutionRule(_ => HudiTimeTravel)
    extensions.injectCheckRule(new FilesOfPartitions(_))
    ServiceLoader.load(classOf[SessionPart], getClass.getClassLoader).asScala.foreach(_(extensions))
  }
}

/** What packages that stand on the readers add to a session: found by name, so that the readers need not know them. */
trait SessionPart extends (SparkSessionExtensions => Unit)

/** Spark has no place for rules behind those that make scans but the session's own list, so making the optimizer puts
  * [[KeyJoinRule]] there.
  */
final private class KeyJoinRegistration(session: SparkSession) extends Rule[LogicalPlan] {
  KeyJoinRule.register(session)

  override def apply(plan: LogicalPlan): LogicalPlan = plan
}
