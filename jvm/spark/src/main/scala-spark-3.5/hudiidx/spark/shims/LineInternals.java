package hudiidx.spark.shims;

import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Dataset$;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;

/** What Scala code may not name of Spark 3.5, though it is public in the class files. */
final class LineInternals {
  private LineInternals() {}

  static Dataset<Row> frame(SparkSession spark, LogicalPlan plan) {
    return Dataset$.MODULE$.ofRows(spark, plan);
  }
}
