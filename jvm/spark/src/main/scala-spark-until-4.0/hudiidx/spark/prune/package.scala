package hudiidx.spark

package object prune {

  /** An instant and an interval added to it, as Spark 3.5 and 4.0 name it. */
  private[prune] type IntervalAdded = org.apache.spark.sql.catalyst.expressions.TimeAdd
}
