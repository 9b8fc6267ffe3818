package hudiidx.spark

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, DynamicPruningSubquery, Expression}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.LogicalRDD
import org.apache.spark.sql.{Column, DataFrame, SparkSession}

/** What differs between Spark's lines, as Spark 4 has it. */
private[spark] object LineShims {
  def frame(spark: SparkSession, plan: LogicalPlan): DataFrame = LineInternals.frame(spark, plan)

  /** A plan that has these rows. */
  def plan(spark: SparkSession, output: Seq[Attribute], rows: RDD[InternalRow]): LogicalPlan =
    LogicalRDD(output, rows)(spark.asInstanceOf[org.apache.spark.sql.classic.SparkSession])

  def expression(column: Column): Expression = LineInternals.expression(column)
  def column(expression: Expression): Column = LineInternals.column(expression)

  def runtimeFilter(column: Attribute, small: LogicalPlan, key: Expression): Expression =
    DynamicPruningSubquery(column, small, Seq(key), Seq(0), onlyInBroadcast = false)
}
