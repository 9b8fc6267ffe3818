import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.hudi.client.common.HoodieSparkEngineContext;
import org.apache.hudi.common.config.TypedProperties;
import org.apache.hudi.config.HoodieWriteConfig;
import org.apache.hudi.metadata.SparkHoodieBackedTableMetadataWriter;
import org.apache.hudi.storage.hadoop.HadoopStorageConfiguration;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * Whole upserts of 50,000 rows (10 % inserts) by stock Hudi 1.1.1, the same batches for every index, Spark local[2].
 *
 * <pre>
 * StockUpserts TABLE FACTS OUT COPY INDEX...    each index on a copy of the table
 * </pre>
 *
 * An index is one of Hudi's types, `SIMPLE+record` (tagging by SIMPLE while the metadata table keeps a record index), or a class
 * name, whose jars are in HUDIIDX_JARS. What the record index adds to a commit is the difference between those two of the time
 * from the request to the completion of the metadata table's own commit: of the whole upserts it would drown in their spread.
 */
public final class StockUpserts {
  private static final int ROWS = 50_000;
  private static final int BATCHES = 4;

  public static void main(String[] args) throws Exception {
    KeyShape shape = KeyShape.of(Report.facts(args[1]).get("shape").asText());
    SparkSession spark = StockSpark.session();
    Map<String, Double> medians = new HashMap<>();
    try {
      for (int i = 4; i < args.length; i++) medians.put(args[i], upserts(spark, shape, args, args[i]));
    } finally {
      spark.stop();
    }
    Double plain = medians.get("SIMPLE");
    Double kept = medians.get("SIMPLE+record");
    if (plain != null && kept != null)
      new Report(Paths.get(args[2]), shape.name, "Hudi 1.1.1 record index").add("update 50000 rows", "table", "", kept - plain, "ms", BATCHES - 1);
  }

  /** Median time of the metadata table's commits, of all batches but the first, which warms up. */
  private static double upserts(SparkSession spark, KeyShape shape, String[] args, String index) throws Exception {
    String copy = StockSpark.copyOf(args[0], args[3]);
    Report report = new Report(Paths.get(args[2]), shape.name, index.contains(".") ? "hudiidx" : "Hudi 1.1.1 " + index);
    Map<String, String> options = options(shape, index);
    initialise(spark, shape, copy, options);
    List<Double> times = new ArrayList<>();
    List<Double> commits = new ArrayList<>();
    for (int b = 0; b < BATCHES; b++) {
      int batch = b;
      times.add(Report.millis(() -> upsert(spark, shape, copy, options, batch)));
      commits.add(metadataCommitMillis(copy));
    }
    report.add("upsert 50000 rows", "table", "first", times.get(0), "ms", 1);
    report.median("upsert 50000 rows", "table", "warm", times.subList(1, BATCHES));
    report.median("metadata commit", "table", "warm", commits.subList(1, BATCHES));
    long rows = spark.read().format("hudi").load(copy).count();
    if (rows != shape.rows + BATCHES * ROWS / 10)
      throw new IllegalStateException(index + ": " + rows + " rows after " + BATCHES + " upserts");
    return Report.middle(commits.subList(1, BATCHES));
  }

  /** Of the metadata table's newest commit, from its request to its completion, by the times of their files. */
  private static double metadataCommitMillis(String table) throws IOException {
    Path timeline = Paths.get(table, ".hoodie", "metadata", ".hoodie", "timeline");
    try (Stream<Path> files = Files.list(timeline)) {
      Path completed = files.filter(f -> f.getFileName().toString().endsWith(".deltacommit")).max(Comparator.naturalOrder()).orElseThrow();
      String requested = completed.getFileName().toString().split("_")[0] + ".deltacommit.requested";
      return Files.getLastModifiedTime(completed).toMillis() - Files.getLastModifiedTime(timeline.resolve(requested)).toMillis();
    }
  }

  private static String upsert(SparkSession spark, KeyShape shape, String table, Map<String, String> options, int batch) {
    Dataset<Row> ids = spark.range(0, ROWS, 1, 4).selectExpr(shape.batchSql(ROWS, batch) + " as id");
    StockSpark.rowsOf(ids, shape, "id + " + batch + " + 1").write().format("hudi").options(options).mode("append").save(table);
    return table;
  }

  private static Map<String, String> options(KeyShape shape, String index) {
    Map<String, String> options = StockSpark.options(shape);
    options.putAll(StockSpark.metadataOptions(index.equals("RECORD_INDEX") || index.endsWith("+record")));
    options.put("hoodie.datasource.write.operation", "upsert");
    if (index.contains(".")) {
      options.put("hoodie.index.class", index);
      options.put("hudiidx.write.create", "true"); // in the first upsert, which warms up
      options.put("hoodie.write.commit.callback.on", "true");
      options.put("hoodie.write.commit.callback.class", "hudiidx.hudi.SyncCallback");
    } else options.put("hoodie.index.type", index.replace("+record", ""));
    return options;
  }

  /** The metadata table is made before the first upsert, outside the timing. */
  private static void initialise(SparkSession spark, KeyShape shape, String table, Map<String, String> options) throws IOException {
    TypedProperties properties = new TypedProperties();
    options.forEach(properties::setProperty);
    properties.setProperty("hoodie.avro.schema", StockSpark.avroSchema(shape).toString());
    HoodieWriteConfig config = HoodieWriteConfig.newBuilder().withPath(table).forTable(shape.name).withProperties(properties).build();
    HadoopStorageConfiguration conf = new HadoopStorageConfiguration(new org.apache.hadoop.conf.Configuration());
    try {
      SparkHoodieBackedTableMetadataWriter.create(conf, config, new HoodieSparkEngineContext(new JavaSparkContext(spark.sparkContext()))).close();
    } catch (Exception e) {
      throw new IOException("cannot make the metadata table of " + table, e);
    }
  }
}
