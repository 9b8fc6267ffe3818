import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hudi.client.common.HoodieSparkEngineContext;
import org.apache.hudi.common.config.TypedProperties;
import org.apache.hudi.config.HoodieWriteConfig;
import org.apache.hudi.metadata.SparkHoodieBackedTableMetadataWriter;
import org.apache.hudi.storage.hadoop.HadoopStorageConfiguration;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.hadoop.HadoopTables;
import org.apache.iceberg.spark.SparkSchemaUtil;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SaveMode;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;

/**
 * The same rows in one layout as a Hudi, an Iceberg and a Delta table, in the same files: stock Hudi lays them out and writes them,
 * and each of its files becomes one file of the others.
 */
final class SkipTables {
  static final String[] LAYOUTS = {"unsorted", "sorted", "zorder"};
  private static final String[] COLUMNS = {
    "id", "regexp_replace(md5(cast(id as string)), '^(.{8})(.{4})(.{4})(.{4})(.{12})$', '$1-$2-$3-$4-$5') as key",
    "timestamp_seconds(1672531200 + id * 12) as ts", "cust", "part",
    "concat('inv-', date_format(timestamp_seconds(1672531200 + id * 12), 'yyyyMMddHH'), '-', lpad(id % 1000, 4, '0')) as invoice",
    "cast(id div 100 as int) as batch", "cast(pmod(hash(id, 2), 100000) as double) / 100 as fare",
    "coupon", "concat('rider-', pmod(hash(id, 3), 10007)) as rider",
    "concat('a note of row ', id, ', as long as notes are') as note", "id % 2 = 0 as flag", "cast(id % 1000 as float) / 7 as distance"};
  private static final int PARTITIONS = 4;
  /** Of the curve, along each side. */
  private static final int CELLS = 1024;

  /** Each has some 50 rows, in one partition. */
  static long customers(long rows) {
    return rows / 50;
  }

  private final String dir;
  private final long rows;
  private final int files;

  /** @param files of each table */
  SkipTables(String dir, long rows, int files) {
    this.dir = dir;
    this.rows = rows;
    this.files = files;
  }

  void make(List<String> layouts) throws Exception {
    for (String layout : layouts) {
      if (isMissing(layout, "hudi")) {
        SparkSession hudi = SkipSessions.of("hudi");
        for (int p = 0; p < PARTITIONS; p++) hudi(hudi, layout, p);
        metadataTable(hudi, table(layout, "hudi"));
        ours(SkipSessions.of("hudiidx"), table(layout, "hudi"));
        done(layout, "hudi");
      }
      if (isMissing(layout, "iceberg")) iceberg(SkipSessions.of("iceberg"), layout);
      if (isMissing(layout, "delta")) delta(SkipSessions.of("delta"), layout);
    }
  }

  private Path mark(String layout, String format) {
    return Paths.get(table(layout, format) + ".done");
  }

  private boolean isMissing(String layout, String format) {
    return !Files.exists(mark(layout, format));
  }

  private void done(String layout, String format) throws Exception {
    Files.createFile(mark(layout, format));
  }

  String table(String layout, String format) {
    return dir + "/" + layout + "/" + format;
  }

  /** SQL for the place on the curve of a cell: bits of both numbers by turns. */
  private static String curve(String x, String y) {
    StringBuilder sum = new StringBuilder("0L");
    for (int bit = 0; 1 << bit < CELLS; bit++)
      for (int odd = 0; odd < 2; odd++)
        sum.append(String.format(" + shiftleft(shiftright(%s, %d) & 1L, %d)", odd == 0 ? x : y, bit, 2 * bit + odd));
    return sum.toString();
  }

  /** One partition in one commit; of the same files in every layout. */
  private void hudi(SparkSession spark, String layout, int partition) {
    spark.conf().set("spark.sql.adaptive.enabled", "false");
    spark.conf().set("spark.sql.shuffle.partitions", Integer.toString(files / PARTITIONS));
    Dataset<Row> data = spark.range(0, rows, 1, 8).selectExpr("id", "cast(pmod(hash(id, 1), " + customers(rows) + ") as int) as cust",
        "if(id % " + rows / PARTITIONS + " < " + rows / 4000 + ", null, concat('c', id % 17)) as coupon")
        .where("cust div " + customers(rows) / PARTITIONS + " = " + partition).withColumn("part", functions.lit("p" + partition)).selectExpr(COLUMNS);
    Map<String, String> how = new HashMap<>();
    if (layout.equals("unsorted")) {
      data = data.repartition(files / PARTITIONS, data.col("key"));
      how.put("hoodie.bulkinsert.sort.mode", "NONE");
    } else if (layout.equals("sorted")) {
      how.put("hoodie.bulkinsert.user.defined.partitioner.class", "org.apache.hudi.execution.bulkinsert.RowCustomColumnsSortPartitioner");
      how.put("hoodie.bulkinsert.user.defined.partitioner.sort.columns", "ts");
    } else {
      // As a Z-order of ts and cust; stock's own takes minutes a commit for as many rows.
      Column curve = functions.expr(curve("id * " + CELLS + " div " + rows, "cust % " + customers(rows) / PARTITIONS + " * " + CELLS + " div "
          + customers(rows) / PARTITIONS));
      data = data.repartitionByRange(files / PARTITIONS, curve).sortWithinPartitions(curve);
      how.put("hoodie.bulkinsert.sort.mode", "NONE");
    }
    data.write().format("hudi").options(how).option("hoodie.table.name", "skips")
        .option("hoodie.datasource.write.recordkey.field", "key").option("hoodie.datasource.write.partitionpath.field", "part")
        .option("hoodie.datasource.write.precombine.field", "ts").option("hoodie.datasource.write.operation", "bulk_insert")
        .option("hoodie.bulkinsert.shuffle.parallelism", files / PARTITIONS).option("hoodie.metadata.enable", "false")
        .option("hoodie.parquet.compression.codec", "snappy").option("hoodie.parquet.max.file.size", Long.toString(8L << 30))
        .option("hoodie.write.markers.type", "direct").option("hoodie.embed.timeline.server", "false")
        .option("hoodie.clean.automatic", "false").mode(partition == 0 ? SaveMode.Overwrite : SaveMode.Append)
        .save(table(layout, "hudi"));
  }

  /** Made of the whole table, so that its partitions are base files alone. */
  private static void metadataTable(SparkSession spark, String table) throws Exception {
    TypedProperties properties = new TypedProperties();
    StockSpark.metadataOptions(false).forEach(properties::setProperty);
    properties.setProperty("hoodie.metadata.index.column.stats.enable", "true");
    properties.setProperty("hoodie.metadata.index.partition.stats.enable", "true");
    HoodieWriteConfig config = HoodieWriteConfig.newBuilder().withPath(table).forTable("skips").withProperties(properties).build();
    SparkHoodieBackedTableMetadataWriter.create(new HadoopStorageConfiguration(new Configuration()), config,
        new HoodieSparkEngineContext(new JavaSparkContext(spark.sparkContext()))).close();
  }

  /** Its jar is on the class path of the run alone. */
  private static void ours(SparkSession spark, String table) throws Exception {
    Object api = Class.forName("hudiidx.spark.api.HudiIdxApi").getConstructor(SparkSession.class, String.class, Map.class)
        .newInstance(spark, table, Map.of("hudiidx.columns", "*"));
    api.getClass().getMethod("create").invoke(api);
  }

  private void iceberg(SparkSession spark, String layout) throws Exception {
    Dataset<Row> data = hudiFiles(spark, layout);
    Schema schema = SparkSchemaUtil.convert(data.schema());
    Map<String, String> properties = new HashMap<>();
    properties.put("write.distribution-mode", "none");
    properties.put("write.spark.fanout.enabled", "true");
    properties.put("write.parquet.compression-codec", "snappy");
    properties.put("write.metadata.metrics.default", "full");
    HadoopTables all = new HadoopTables(spark.sessionState().newHadoopConf());
    if (all.exists(table(layout, "iceberg"))) all.dropTable(table(layout, "iceberg"), true);
    all.create(schema,
        PartitionSpec.builderFor(schema).identity("part").build(), properties, table(layout, "iceberg"));
    data.write().format("iceberg").mode("append").save(table(layout, "iceberg"));
    done(layout, "iceberg");
  }

  private void delta(SparkSession spark, String layout) throws Exception {
    hudiFiles(spark, layout).write().format("delta").partitionBy("part")
        .option("delta.dataSkippingStatsColumns", "id,key,ts,cust,invoice,batch,fare,coupon,rider,distance")
        .mode("overwrite").save(table(layout, "delta"));
    done(layout, "delta");
  }

  /** A task for each file of the Hudi table, with its rows in their order. */
  private Dataset<Row> hudiFiles(SparkSession spark, String layout) throws Exception {
    spark.conf().set("spark.sql.files.openCostInBytes", "1g");
    spark.conf().set("spark.sql.files.maxPartitionBytes", "1g");
    List<String> names = dataFiles(table(layout, "hudi"));
    if (names.size() != files) throw new IllegalStateException(layout + ": " + names.size() + " files, wanted " + files);
    Dataset<Row> all = spark.read().parquet(names.toArray(new String[0]));
    List<String> own = Arrays.stream(all.columns()).filter(c -> !c.startsWith("_hoodie_")).collect(Collectors.toList());
    return all.selectExpr(own.toArray(new String[0]));
  }

  static List<String> dataFiles(String table) throws Exception {
    try (Stream<Path> all = Files.walk(Paths.get(table))) {
      return new ArrayList<>(all.map(Path::toString).filter(f -> f.endsWith(".parquet") && !f.contains("/.hoodie/")
          && !f.contains("/_delta_log/")).sorted().collect(Collectors.toList()));
    }
  }
}
