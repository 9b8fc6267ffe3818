package hudiidx.spark.shims;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.metadata.ParquetMetadata;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.execution.datasources.DataSourceStrategy$;
import org.apache.spark.sql.sources.Filter;
import scala.Option;

/** What Scala code outside Spark's own packages may not name, though it is public in the class files. */
public final class SparkInternals {
  private SparkInternals() {}

  static Option<Filter> translate(Expression filter) {
    return DataSourceStrategy$.MODULE$.translateFilter(filter, true);
  }

  static Predicate predicate(Filter filter) {
    return filter.toV2();
  }

  /** A file whose footer is at hand; Parquet calls the one way to open it so deprecated. */
  @SuppressWarnings("deprecation")
  public static ParquetFileReader opened(Configuration conf, Path path, ParquetMetadata footer) throws IOException {
    return new ParquetFileReader(conf, path, footer);
  }
}
