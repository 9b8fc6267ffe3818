package hudiidx.spark.shims

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, DynamicPruningSubquery, Expression}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.connector.read.streaming.SparkDataStream
import org.apache.spark.sql.execution.LogicalRDD
import org.apache.spark.sql.execution.datasources.v2.StreamingDataSourceV2ScanRelation
import org.apache.spark.sql.{Column, DataFrame, SparkSession}

/** What differs between Spark's lines, as Spark 4 has it. */
private[spark] object LineShims {
  def frame(spark: SparkSession, plan: LogicalPlan): DataFrame = LineInternals.frame(spark, plan)

  /** A plan that has these rows. */
  def plan(spark: SparkSession, output: Seq[Attribute], rows: RDD[InternalRow]): LogicalPlan =
    LogicalRDD(output, rows)(spark.asInstanceOf[org.apache.spark.sql.classic.SparkSession])

  def expression(column: Column): Expression = LineInternals.expression(column)
  def column(expression: Expression): Column = LineInternals.column(expression)

  def runtimeFilter(column: Attribute, small: LogicalPlan, key: Expression, onlyInBroadcast: Boolean): Expression =
    DynamicPruningSubquery(column, small, Seq(key), Seq(0), onlyInBroadcast)

  /** What reads a stream, in the plan of a query. */
  final class StreamScan(val plan: StreamingDataSourceV2ScanRelation) {
    def stream: SparkDataStream = plan.stream
    def of(stream: SparkDataStream, columns: Seq[Attribute]): LogicalPlan =
      plan.copy(output = columns.collect { case a: AttributeReference => a }, stream = stream)
  }

  object StreamScan {
    def unapply(plan: LogicalPlan): Option[(StreamScan, Seq[Attribute])] = plan match {
      case r: StreamingDataSourceV2ScanRelation => Some((new StreamScan(r), r.output))
      case _                                    => None
    }
  }
}
