package hudiidx.spark.shims;

import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.ExpressionUtils$;

/** What Scala code may not name of Spark 4, though it is public in the class files. */
final class LineInternals {
  private LineInternals() {}

  static Dataset<Row> frame(SparkSession spark, LogicalPlan plan) {
    return org.apache.spark.sql.classic.Dataset$.MODULE$.ofRows((org.apache.spark.sql.classic.SparkSession) spark, plan);
  }

  static Expression expression(Column column) {
    return ExpressionUtils$.MODULE$.expression(column);
  }

  static Column column(Expression expression) {
    return ExpressionUtils$.MODULE$.column(expression);
  }
}
