package hudiidx.spark.prune

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.ExpressionInfo

/** How Spark until 4.1 names its functions. */
private[prune] object LineFunctions {

  /** Of Spark's own function. */
  def builtin(name: String): FunctionIdentifier = FunctionIdentifier(name)

  /** What a session has under the name, Spark's own function or a user's. */
  def inSession(spark: SparkSession, name: String): Option[ExpressionInfo] =
    spark.sessionState.functionRegistry.lookupFunction(FunctionIdentifier(name))
}
