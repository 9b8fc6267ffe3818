package hudiidx.spark.prune

import org.apache.spark.sql.catalyst.expressions.{Expression, NullIntolerant}

/** What Spark 3.5 says of expressions and null. */
private[prune] object NullRules {

  /** Null if one of its arguments is. */
  def isNullIntolerant(e: Expression): Boolean = e.isInstanceOf[NullIntolerant]
}
