import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * What Spark does without an index on a table of `KeyTables`, local[2]: a scan of the key column, and locations for N keys by a
 * join with it, once through Spark's own Parquet reader and once through stock Hudi's.
 *
 * <pre>
 * SparkKeys TABLE FACTS OUT
 * </pre>
 */
public final class SparkKeys {
  private static final int[] TAGS = {1_000, 100_000, 1_000_000};

  public static void main(String[] args) throws Exception {
    JsonNode facts = Report.facts(args[1]);
    KeyShape shape = KeyShape.of(facts.get("shape").asText());
    SparkSession spark = StockSpark.session();
    try {
      measure(spark, shape, StockSpark.baseFiles(spark, args[0]), new Report(Paths.get(args[2]), shape.name, "Spark 3.5.9 Parquet"));
      measure(spark, shape, StockSpark.stored(spark, args[0]), new Report(Paths.get(args[2]), shape.name, "Hudi 1.1.1 reader"));
    } finally {
      spark.stop();
    }
  }

  private static void measure(SparkSession spark, KeyShape shape, Dataset<Row> stored, Report report) throws Exception {
    List<Double> scans = new ArrayList<>();
    for (int i = 0; i < 4; i++) scans.add(Report.millis(() -> drained(stored.select("key"))));
    report.median("scan of the key column", "table", "warm", scans.subList(1, 4));
    for (int n : TAGS) {
      if (n > shape.rows) continue;
      Dataset<Row> keys = spark.range(0, n, 1, 4).selectExpr(shape.batchSql(n, 0) + " as id").selectExpr(shape.keySql + " as key").cache();
      keys.count();
      long found = keys.join(stored, "key").count();
      if (found != n - n / 10) throw new IllegalStateException("the join found " + found + " of " + n + " keys");
      List<Double> left = new ArrayList<>();
      List<Double> inner = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        left.add(Report.millis(() -> drained(keys.join(stored, keys.col("key").equalTo(stored.col("key")), "left"))));
        inner.add(Report.millis(() -> drained(keys.join(stored, "key"))));
      }
      report.median("tag " + n + " keys", "table", "warm", left);
      report.median("inner join " + n + " keys", "table", "warm", inner);
      keys.unpersist();
    }
  }

  private static Object drained(Dataset<Row> rows) {
    rows.write().format("noop").mode("overwrite").save();
    return rows;
  }
}
