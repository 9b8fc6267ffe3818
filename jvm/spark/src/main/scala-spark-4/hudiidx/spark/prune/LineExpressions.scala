package hudiidx.spark.prune

import org.apache.spark.sql.catalyst.expressions.{CommonExpressionRef, Expression, With}

/** What Spark 4 says of its expressions. */
private[prune] object LineExpressions {

  /** Null if one of its arguments is. */
  def isNullIntolerant(e: Expression): Boolean = e.nullIntolerant

  /** What is computed once for several places of an expression, written out where it is used: functions such as nullif are made so. */
  def writtenOut(e: Expression): Expression = e.transformUp { case w: With =>
    w.child.transform { case r: CommonExpressionRef => w.defs.find(_.id == r.id).fold[Expression](r)(_.child) }
  }
}
