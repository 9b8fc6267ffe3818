package hudiidx.spark;

import java.util.function.BiConsumer;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Dataset$;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.execution.RowToColumnConverter;
import org.apache.spark.sql.execution.datasources.DataSourceStrategy$;
import org.apache.spark.sql.execution.vectorized.WritableColumnVector;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.types.StructType;
import scala.Option;

/** What Scala code outside Spark's own packages may not name, though it is public in the class files. */
final class SparkInternals {
  private SparkInternals() {}

  static Option<Filter> translate(Expression filter) {
    return DataSourceStrategy$.MODULE$.translateFilter(filter, true);
  }

  static Dataset<Row> frame(SparkSession spark, LogicalPlan plan) {
    return Dataset$.MODULE$.ofRows(spark, plan);
  }

  static Predicate predicate(Filter filter) {
    return filter.toV2();
  }

  /** Appends rows of these columns to vectors. */
  static BiConsumer<InternalRow, WritableColumnVector[]> rowConverter(StructType columns) {
    return new RowToColumnConverter(columns)::convert;
  }
}
