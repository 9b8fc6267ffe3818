package hudiidx.spark.prune

import org.apache.spark.sql.catalyst.expressions.{Expression, NullIntolerant}

/** What Spark 3.5 says of its expressions. */
private[prune] object LineExpressions {

  /** Null if one of its arguments is. */
  def isNullIntolerant(e: Expression): Boolean = e.isInstanceOf[NullIntolerant]

  /** Spark 4 computes some once for several places of an expression; Spark 3.5 has none of them. */
  def writtenOut(e: Expression): Expression = e
}
