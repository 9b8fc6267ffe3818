import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.apache.avro.Schema;
import org.apache.hadoop.conf.Configuration;
import org.apache.hudi.client.common.HoodieSparkEngineContext;
import org.apache.hudi.common.config.HoodieMetadataConfig;
import org.apache.hudi.common.config.TypedProperties;
import org.apache.hudi.common.data.HoodieData;
import org.apache.hudi.common.data.HoodieListData;
import org.apache.hudi.common.model.HoodieRecord;
import org.apache.hudi.common.util.collection.Pair;
import org.apache.hudi.config.HoodieWriteConfig;
import org.apache.hudi.data.HoodieJavaRDD;
import org.apache.hudi.metadata.ColumnStatsIndexPrefixRawKey;
import org.apache.hudi.metadata.HoodieBackedTableMetadata;
import org.apache.hudi.metadata.HoodieBackedTableMetadataWriter;
import org.apache.hudi.metadata.HoodieIndexVersion;
import org.apache.hudi.metadata.HoodieMetadataPayload;
import org.apache.hudi.metadata.HoodieTableMetadataWriter;
import org.apache.hudi.metadata.MetadataPartitionType;
import org.apache.hudi.metadata.SparkHoodieBackedTableMetadataWriter;
import org.apache.hudi.stats.HoodieColumnRangeMetadata;
import org.apache.hudi.stats.ValueMetadata;
import org.apache.hudi.storage.StoragePath;
import org.apache.hudi.storage.hadoop.HadoopStorageConfiguration;
import org.apache.hudi.storage.hadoop.HoodieHadoopStorage;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SaveMode;
import org.apache.spark.sql.SparkSession;

/**
 * RFC-27's records in stock Hudi's metadata table: the file that columns.py left in DIR becomes the partition column_stats of a table
 * as if its files had these statistics, unless it is there; the reads of Skipping and columns.py go through stock's reader of metadata
 * tables.
 *
 * <pre>
 * benchmarks/peer hudi -Xmx4g RangeStock DIR OUT
 * </pre>
 */
public final class RangeStock {
  private static final String PARTITION = "day=2026-03-01";
  private static final String STATS = "column_stats";

  private RangeStock() {}

  public static void main(String[] args) throws Exception {
    Path dir = Paths.get(args[0]);
    Map<String, String> columns = new java.util.LinkedHashMap<>();
    List<String> files = new ArrayList<>();
    for (String line : Files.readAllLines(dir.resolve("names.txt"))) {
      String[] parts = line.split(" ");
      if (parts.length == 2) columns.put(parts[0], parts[1]);
      else files.add(parts[0]);
    }
    List<String> names = new ArrayList<>(columns.keySet());
    String table = dir.resolve("stock").toString();
    SparkSession spark = StockSpark.session();
    try {
      Report report = new Report(Paths.get(args[1]), "rfc27", "Hudi 1.1.1 column_stats");
      HoodieSparkEngineContext context = new HoodieSparkEngineContext(new JavaSparkContext(spark.sparkContext()));
      Dataset<Row> records = spark.read().parquet(dir.resolve("records.parquet").toString());
      Path done = Paths.get(table + ".done");
      if (!Files.exists(done)) {
        HoodieBackedTableMetadataWriter writer = emptyTable(spark, context, table);
        report.median("write", "table", "", List.of(Report.millis(() -> {
          write(writer, HoodieJavaRDD.of(records.javaRDD().map(row -> record(row, columns.get(row.<String>getAs("column"))))));
          return table;
        })));
        Files.createFile(done);
      }
      long bytes = Report.bytesUnder(table + "/.hoodie/metadata/" + STATS);
      report.add("bytes", "table", "", (double) bytes, "bytes", 1);
      report.add("bytes a record", "table", "", (double) bytes / names.size() / files.size(), "bytes", 1);
      read(report, context, table, names, files);
    } finally {
      spark.stop();
    }
  }

  private static void read(Report report, HoodieSparkEngineContext context, String table, List<String> names, List<String> files) throws Exception {
    HoodieMetadataConfig config = HoodieMetadataConfig.newBuilder().enable(true).build();
    Callable<HoodieBackedTableMetadata> opened = () -> new HoodieBackedTableMetadata(context,
        new HoodieHadoopStorage(new StoragePath(table), new HadoopStorageConfiguration(new Configuration())), config, table, true);
    List<Pair<String, String>> few = new ArrayList<>();
    for (int i = 0; i < 10; i++) few.add(Pair.of(PARTITION, files.get((i * 97 + 1) % files.size())));
    List<String> some = new ArrayList<>();
    for (int i = 0; i < 4; i++) some.add(names.get((i * 211 + 13) % names.size()));
    report.median("scan all", "table", "warm", Report.timed(3, () -> {
      try (HoodieBackedTableMetadata metadata = opened.call()) {
        return ofColumns(metadata, names, files.size());
      }
    }));
    report.median("10 records", "table", "cold", Report.timed(7, () -> {
      try (HoodieBackedTableMetadata metadata = opened.call()) {
        return Report.expect(metadata.getColumnStats(few, names.get(118 % names.size())).size(), few.size());
      }
    }));
    try (HoodieBackedTableMetadata metadata = opened.call()) {
      report.median("10 records", "table", "warm",
          Report.timed(7, () -> Report.expect(metadata.getColumnStats(few, names.get(118 % names.size())).size(), few.size())));
      report.median("5,000 records", "table", "warm", Report.timed(7, () -> ofColumns(metadata, some, files.size())));
    }
  }

  private static Object ofColumns(HoodieBackedTableMetadata metadata, List<String> names, int files) {
    List<ColumnStatsIndexPrefixRawKey> keys = new ArrayList<>();
    for (String name : names) keys.add(new ColumnStatsIndexPrefixRawKey(name));
    long found = metadata.getRecordsByKeyPrefixes(HoodieListData.lazy(keys), STATS, true)
        .map(r -> r.getData().getColumnStatMetadata().get().getValueCount()).collectAsList().size();
    return Report.expect(found, (long) names.size() * files);
  }

  /** A table of one file with a metadata table of its files. */
  private static HoodieBackedTableMetadataWriter emptyTable(SparkSession spark, HoodieSparkEngineContext context, String table) throws Exception {
    spark.range(1).selectExpr("cast(id as string) as id", "id as ts", "'" + PARTITION + "' as part").write().format("hudi")
        .option("hoodie.table.name", "rfc27").option("hoodie.datasource.write.recordkey.field", "id")
        .option("hoodie.datasource.write.precombine.field", "ts").option("hoodie.datasource.write.partitionpath.field", "part")
        .option("hoodie.metadata.enable", "false").mode(SaveMode.Overwrite).save(table);
    TypedProperties properties = new TypedProperties();
    StockSpark.metadataOptions(false).forEach(properties::setProperty);
    HoodieWriteConfig config = HoodieWriteConfig.newBuilder().withPath(table).forTable("rfc27").withProperties(properties).build();
    HoodieTableMetadataWriter<?, ?> writer =
        SparkHoodieBackedTableMetadataWriter.create(new HadoopStorageConfiguration(new Configuration()), config, context);
    return (HoodieBackedTableMetadataWriter) writer;
  }

  /** As stock makes the partition when it is asked for first; it opens no way to do so with statistics at hand. */
  private static void write(HoodieBackedTableMetadataWriter writer, HoodieData<HoodieRecord> records) throws Exception {
    Method init = HoodieBackedTableMetadataWriter.class.getDeclaredMethod("initializeFilegroupsAndCommit", MetadataPartitionType.class,
        String.class, Pair.class, String.class);
    init.setAccessible(true);
    String now = java.time.LocalDateTime.now(java.time.ZoneOffset.UTC).format(java.time.format.DateTimeFormatter.ofPattern("yyyyMMddHHmmssSSS"));
    // Stock's own default number of file groups.
    init.invoke(writer, MetadataPartitionType.COLUMN_STATS, STATS, Pair.of(2, records), now);
    writer.close();
  }

  private static HoodieRecord record(Row row, String type) {
    Comparable min = row.getAs("min_" + form(type));
    Comparable max = row.getAs("max_" + form(type));
    ValueMetadata kind = ValueMetadata.getValueMetadata(
        Schema.create(Schema.Type.valueOf(form(type).toUpperCase())), HoodieIndexVersion.V2);
    HoodieColumnRangeMetadata<Comparable> range = (HoodieColumnRangeMetadata<Comparable>) (HoodieColumnRangeMetadata) HoodieColumnRangeMetadata.create(
        row.<String>getAs("file"), row.<String>getAs("column"), min, max, row.<Long>getAs("nulls"), 500_000L, 4_000_000L, 8_000_000L, kind);
    return HoodieMetadataPayload.createColumnStatsRecords(PARTITION, Collections.singletonList(range), false).findFirst().get();
  }

  /** The physical form in which columns.py keeps a type. */
  private static String form(String type) {
    return type.equals("string") || type.equals("double") ? type : "long";
  }
}
