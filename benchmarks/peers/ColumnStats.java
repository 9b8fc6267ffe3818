import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hudi.client.common.HoodieSparkEngineContext;
import org.apache.hudi.common.config.TypedProperties;
import org.apache.hudi.config.HoodieWriteConfig;
import org.apache.hudi.metadata.SparkHoodieBackedTableMetadataWriter;
import org.apache.hudi.storage.hadoop.HadoopStorageConfiguration;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SaveMode;
import org.apache.spark.sql.SparkSession;

/**
 * How long statistics of all columns take to make from the same files: stock Hudi's metadata table and hudiidx, in one JVM by turns,
 * Spark local[2]. Each is made with and without them, so that what they add is the difference.
 *
 * <pre>
 * HUDIIDX_JARS=dist/hudiidx-spark-3.5_2.12-0.1.0.jar benchmarks/peer hudi -Xmx3g ColumnStats DIR FILES ROUNDS OUT
 * </pre>
 */
public final class ColumnStats {
  private static final int COLUMNS = 30;
  private static final int ROWS = 2_000;

  private ColumnStats() {}

  public static void main(String[] args) throws Exception {
    String table = args[0] + "/table";
    int files = Integer.parseInt(args[1]);
    int rounds = Integer.parseInt(args[2]);
    SparkSession spark = StockSpark.session();
    try {
      if (!Files.isDirectory(Paths.get(table))) write(spark, table, files);
      Report stock = new Report(Paths.get(args[3]), "columns", "Hudi 1.1.1 column_stats");
      Report ours = new Report(Paths.get(args[3]), "columns", "hudiidx");
      Map<String, List<Double>> times = new HashMap<>();
      // The first round warms both up.
      for (int i = 0; i <= rounds; i++) {
        for (boolean columns : new boolean[] {false, true}) {
          List<Double> keptStock = i == 0 ? new ArrayList<>() : times.computeIfAbsent("stock" + columns, k -> new ArrayList<>());
          keptStock.add(Report.millis(() -> stock(spark, table, columns)));
          List<Double> keptOurs = i == 0 ? new ArrayList<>() : times.computeIfAbsent("ours" + columns, k -> new ArrayList<>());
          keptOurs.add(Report.millis(() -> ours(spark, table, columns)));
        }
      }
      for (boolean columns : new boolean[] {false, true}) {
        String deed = columns ? "files and column statistics" : "files only";
        stock.median(deed, files + " files", "created", times.get("stock" + columns));
        ours.median(deed, files + " files", "created", times.get("ours" + columns));
      }
      stock.add("size", files + " files", "created", (double) Report.bytesUnder(table + "/.hoodie/metadata/column_stats"), "bytes", 1);
      ours.add("size", files + " files", "created", (double) ourBytes(table), "bytes", 1);
    } finally {
      spark.stop();
    }
    Files.readAllLines(Paths.get(args[3])).forEach(System.out::println);
  }

  private static void write(SparkSession spark, String table, int files) {
    List<String> columns = new ArrayList<>();
    columns.add("cast(id as string) as id");
    columns.add("id as ts");
    columns.add("concat('p', cast(id / " + ROWS + " as int) % 10) as part");
    for (int c = 3; c < COLUMNS; c++) {
      String[] kinds = {"cast(hash(id, " + c + ") as int)", "hash(id, " + c + ") * 3L", "rand(" + c + ")", "concat('v-', hash(id, " + c + "))"};
      columns.add(kinds[c % kinds.length] + " as c" + c);
    }
    spark.range(0, (long) files * ROWS, 1, files).selectExpr(columns.toArray(new String[0])).write().format("hudi")
        .option("hoodie.table.name", "columns").option("hoodie.datasource.write.recordkey.field", "id")
        .option("hoodie.datasource.write.precombine.field", "ts").option("hoodie.datasource.write.partitionpath.field", "part")
        .option("hoodie.datasource.write.operation", "bulk_insert").option("hoodie.bulkinsert.sort.mode", "NONE")
        .option("hoodie.metadata.enable", "false").mode(SaveMode.Overwrite).save(table);
  }

  /** The table's properties name the metadata table's partitions once it is made: each time those of before are put back. */
  private static String stock(SparkSession spark, String table, boolean columns) throws Exception {
    delete(Paths.get(table, ".hoodie", "metadata"));
    Path own = Paths.get(table, ".hoodie", "hoodie.properties");
    Path kept = Paths.get(table, "..", "hoodie.properties.kept");
    if (!Files.exists(kept)) Files.copy(own, kept);
    Files.copy(kept, own, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
    Files.deleteIfExists(Paths.get(table, ".hoodie", ".hoodie.properties.crc"));
    TypedProperties properties = new TypedProperties();
    StockSpark.metadataOptions(false).forEach(properties::setProperty);
    properties.setProperty("hoodie.metadata.index.column.stats.enable", Boolean.toString(columns));
    properties.setProperty("hoodie.metadata.index.column.stats.max.columns.to.index", "100");
    HoodieWriteConfig config = HoodieWriteConfig.newBuilder().withPath(table).forTable("columns").withProperties(properties).build();
    HoodieSparkEngineContext context = new HoodieSparkEngineContext(new JavaSparkContext(spark.sparkContext()));
    SparkHoodieBackedTableMetadataWriter.create(new HadoopStorageConfiguration(new org.apache.hadoop.conf.Configuration()), config, context)
        .close();
    return table;
  }

  private static String ours(SparkSession spark, String table, boolean columns) throws Exception {
    delete(Paths.get(table, ".hoodie", "hudiidx"));
    Map<String, String> options = new HashMap<>();
    options.put("hudiidx.create.source", "listing");
    if (columns) options.put("hudiidx.columns", "*");
    return new hudiidx.spark.api.HudiIdxApi(spark, table, options).create();
  }

  private static long ourBytes(String table) throws Exception {
    long bytes = 0;
    try (var files = Files.list(Paths.get(table, ".hoodie", "hudiidx"))) {
      for (Path f : (Iterable<Path>) files.filter(p -> p.toString().endsWith(".column_stats"))::iterator) bytes += Files.size(f);
    }
    return bytes;
  }

  private static void delete(Path folder) throws Exception {
    if (!Files.exists(folder)) return;
    try (var below = Files.walk(folder)) {
      for (Path p : (Iterable<Path>) below.sorted(java.util.Comparator.reverseOrder())::iterator) Files.delete(p);
    }
  }
}
