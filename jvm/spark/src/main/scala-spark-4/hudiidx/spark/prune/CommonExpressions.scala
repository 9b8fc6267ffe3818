package hudiidx.spark.prune

import org.apache.spark.sql.catalyst.expressions.{CommonExpressionRef, Expression, With}

/** What Spark 4 computes once for several places of an expression: functions such as nullif are made so. */
private[prune] object CommonExpressions {

  /** The same with each of them written out where it is used. */
  def writtenOut(e: Expression): Expression = e.transformUp { case w: With =>
    w.child.transform { case r: CommonExpressionRef => w.defs.find(_.id == r.id).fold[Expression](r)(_.child) }
  }
}
