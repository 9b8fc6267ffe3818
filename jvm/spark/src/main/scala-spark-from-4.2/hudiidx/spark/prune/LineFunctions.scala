package hudiidx.spark.prune

import java.util.Locale
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.ExpressionInfo

/** How Spark 4.2 names its functions: by catalog and namespace. */
private[prune] object LineFunctions {

  /** Of Spark's own function. */
  def builtin(name: String): FunctionIdentifier = in("builtin", name)

  /** What a session has under the name: a user's function, whichever of the two a query finds first, or Spark's own. */
  def inSession(spark: SparkSession, name: String): Option[ExpressionInfo] = {
    val registry = spark.sessionState.functionRegistry
    registry.lookupFunction(in("session", name)).orElse(registry.lookupFunction(builtin(name)))
  }

  private def in(namespace: String, name: String): FunctionIdentifier =
    FunctionIdentifier(name.toLowerCase(Locale.ROOT), Some(namespace), Some("system"))
}
