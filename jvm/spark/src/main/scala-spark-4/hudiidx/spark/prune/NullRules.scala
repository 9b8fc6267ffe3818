package hudiidx.spark.prune

import org.apache.spark.sql.catalyst.expressions.Expression

/** What Spark 4 says of expressions and null. */
private[prune] object NullRules {

  /** Null if one of its arguments is. */
  def isNullIntolerant(e: Expression): Boolean = e.nullIntolerant
}
