package hudiidx.spark.prune

import org.apache.spark.sql.catalyst.expressions.Expression

/** What Spark 4 computes once for several places of an expression; Spark 3.5 has none of them. */
private[prune] object CommonExpressions {
  def writtenOut(e: Expression): Expression = e
}
