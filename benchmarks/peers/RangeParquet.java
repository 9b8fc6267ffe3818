import static org.apache.spark.sql.functions.col;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * RFC-27's records in Parquet, read by Spark SQL: the file that columns.py left in DIR, and the reads of Skipping and columns.py.
 *
 * <pre>
 * benchmarks/peer hudi -Xmx2g RangeParquet DIR OUT
 * </pre>
 */
public final class RangeParquet {
  private RangeParquet() {}

  public static void main(String[] args) throws Exception {
    Path dir = Paths.get(args[0]);
    List<String> columns = new ArrayList<>();
    List<Object> files = new ArrayList<>();
    for (String line : Files.readAllLines(dir.resolve("names.txt"))) {
      String[] parts = line.split(" ");
      if (parts.length == 2) columns.add(parts[0]);
      else files.add(parts[0]);
    }
    SparkSession spark = StockSpark.session();
    try {
      Dataset<Row> records = spark.read().parquet(dir.resolve("records.parquet").toString());
      Report report = new Report(Paths.get(args[1]), "rfc27", "Parquet, Spark SQL");
      long all = (long) columns.size() * files.size();
      Report.expect(records.count(), all);
      report.median("scan all", "table", "warm", Report.timed(5, () -> {
        records.write().format("noop").mode("overwrite").save();
        return records;
      }));
      Object[] few = new Object[10];
      for (int i = 0; i < few.length; i++) few[i] = files.get((i * 97 + 1) % files.size());
      Dataset<Row> ten =
          records.where(col("column").equalTo(columns.get(118 % columns.size())).and(col("file").isin(few)));
      report.median("10 records", "table", "warm", Report.timed(7, () -> Report.expect(ten.collectAsList().size(), few.length)));
      Object[] some = new Object[4];
      for (int i = 0; i < some.length; i++) some[i] = columns.get((i * 211 + 13) % columns.size());
      Dataset<Row> many = records.where(col("column").isin(some));
      long wanted = (long) some.length * files.size();
      report.median("5,000 records", "table", "warm", Report.timed(7, () -> Report.expect(many.collectAsList().size(), wanted)));
    } finally {
      spark.stop();
    }
  }
}
