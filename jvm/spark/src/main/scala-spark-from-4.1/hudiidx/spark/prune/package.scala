package hudiidx.spark

package object prune {

  /** An instant and an interval added to it, as Spark 4.1 names it. */
  private[prune] type IntervalAdded = org.apache.spark.sql.catalyst.expressions.TimestampAddInterval
}
