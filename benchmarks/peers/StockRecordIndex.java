import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.apache.hudi.client.common.HoodieSparkEngineContext;
import org.apache.hudi.common.config.TypedProperties;
import org.apache.hudi.common.data.HoodieData;
import org.apache.hudi.common.data.HoodieListData;
import org.apache.hudi.common.engine.HoodieEngineContext;
import org.apache.hudi.common.engine.HoodieLocalEngineContext;
import org.apache.hudi.common.model.DefaultHoodieRecordPayload;
import org.apache.hudi.common.model.HoodieAvroRecord;
import org.apache.hudi.common.model.HoodieKey;
import org.apache.hudi.common.model.HoodieRecord;
import org.apache.hudi.common.table.HoodieTableMetaClient;
import org.apache.hudi.common.util.HoodieDataUtils;
import org.apache.hudi.config.HoodieWriteConfig;
import org.apache.hudi.data.HoodieJavaRDD;
import org.apache.hudi.index.HoodieIndex;
import org.apache.hudi.index.SparkHoodieIndexFactory;
import org.apache.hudi.metadata.HoodieTableMetadata;
import org.apache.hudi.metadata.SparkHoodieBackedTableMetadataWriter;
import org.apache.hudi.storage.StorageConfiguration;
import org.apache.hudi.storage.hadoop.HadoopStorageConfiguration;
import org.apache.hudi.table.HoodieSparkTable;
import org.apache.hudi.table.HoodieTable;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * Stock Hudi's record index on a table of `KeyTables`, Spark local[2].
 *
 * <pre>
 * StockRecordIndex create TABLE FACTS OUT COPY   copies the table and makes its metadata table: files, then files and record index
 * StockRecordIndex lookup COPY FACTS OUT         keys through the metadata API
 * StockRecordIndex query COPY FACTS OUT          where key in (...), through the data source
 * StockRecordIndex tag COPY FACTS OUT            the tag stage of an upsert
 * </pre>
 */
public final class StockRecordIndex {
  private static final String SYSTEM = "Hudi 1.1.1 record index";
  private static final int[] LOOKUPS = {1, 1_000, 10_000};
  private static final int[] QUERIES = {1, 10, 1_000};
  private static final int[] TAGS = {1_000, 100_000, 1_000_000};

  private final String table;
  private final JsonNode facts;
  private final KeyShape shape;
  private final Report report;

  private StockRecordIndex(String table, JsonNode facts, String out) {
    this.table = table;
    this.facts = facts;
    this.shape = KeyShape.of(facts.get("shape").asText());
    this.report = new Report(Paths.get(out), shape.name, SYSTEM);
  }

  public static void main(String[] args) throws Exception {
    StockRecordIndex stock = new StockRecordIndex(args[1], Report.facts(args[2]), args[3]);
    if (args[0].equals("lookup")) {
      stock.lookup();
      return;
    }
    SparkSession spark = StockSpark.session();
    try {
      switch (args[0]) {
        case "create": stock.create(spark, args[4]); break;
        case "query": stock.query(spark); break;
        case "tag": stock.tag(spark); break;
        default: throw new IllegalArgumentException("unknown deed " + args[0]);
      }
    } finally {
      spark.stop();
    }
  }

  /** The metadata table of files alone first, on a copy that is thrown away: what the record index adds is the difference. */
  private void create(SparkSession spark, String copy) throws Exception {
    HoodieSparkEngineContext context = new HoodieSparkEngineContext(new JavaSparkContext(spark.sparkContext()));
    StockSpark.copyOf(table, copy);
    report.add("create files only", "table", "", Report.millis(() -> initialise(context, copy, false)), "ms", 1);
    StockSpark.copyOf(table, copy);
    report.add("create", "table", "", Report.millis(() -> initialise(context, copy, true)), "ms", 1);
    double bytes = Report.bytesUnder(copy + "/.hoodie/metadata/record_index");
    report.add("bytes a mapping", "table", "created", bytes / shape.rows, "bytes", 1);
  }

  private String initialise(HoodieSparkEngineContext context, String copy, boolean recordIndex) throws Exception {
    SparkHoodieBackedTableMetadataWriter.create(conf(), config(copy, recordIndex), context).close();
    return copy;
  }

  private void lookup() throws Exception {
    List<String> sample = new ArrayList<>();
    facts.get("existing").forEach(k -> sample.add(k.asText()));
    HoodieTableMetadata warm = metadata();
    report.add("lookup 1 key", "table", "first in JVM", Report.millis(() -> found(warm, sample.subList(0, 1))), "ms", 1);
    for (int n : LOOKUPS) {
      int repeats = n == 1 ? 11 : 5;
      List<Double> warmTimes = new ArrayList<>();
      List<Double> coldTimes = new ArrayList<>();
      for (int i = 0; i < repeats; i++) {
        int from = n == sample.size() ? 0 : (i * 997 + 1) % (sample.size() - n);
        List<String> keys = sample.subList(from, from + n);
        warmTimes.add(Report.millis(() -> found(warm, keys)));
        coldTimes.add(Report.millis(() -> {
          try (HoodieTableMetadata cold = metadata()) {
            return found(cold, keys);
          }
        }));
      }
      report.median("lookup " + keys(n), "table", "warm", warmTimes);
      report.median("lookup " + keys(n), "table", "cold", coldTimes);
    }
    List<String> absent = new ArrayList<>();
    facts.get("absent").forEach(k -> absent.add(k.asText()));
    if (!locations(warm, absent).isEmpty()) throw new IllegalStateException(table + ": stock finds keys that are not there");
  }

  private static Object found(HoodieTableMetadata metadata, List<String> keys) {
    Map<String, ?> locations = locations(metadata, keys);
    if (locations.size() != keys.size()) throw new IllegalStateException("found " + locations.size() + " of " + keys.size() + " keys");
    return locations;
  }

  private static Map<String, ?> locations(HoodieTableMetadata metadata, List<String> keys) {
    return HoodieDataUtils.dedupeAndCollectAsMap(metadata.readRecordIndexLocationsWithKeys(HoodieListData.eager(keys)));
  }

  private HoodieTableMetadata metadata() {
    HoodieEngineContext context = new HoodieLocalEngineContext(conf());
    HoodieTableMetaClient client = HoodieTableMetaClient.builder().setConf(conf()).setBasePath(table).build();
    return client.getTableFormat().getMetadataFactory()
        .create(context, client.getStorage(), config(table, true).getMetadataConfig(), table, true);
  }

  /** Data skipping by the record index works for keys of one field. */
  private void query(SparkSession spark) throws Exception {
    if (shape.keyFields.size() > 1) return;
    for (int n : QUERIES) {
      List<Double> times = new ArrayList<>();
      for (int i = 0; i < (n == 1_000 ? 4 : 6); i++) {
        List<String> keys = new ArrayList<>();
        for (int k = 0; k < n; k++) keys.add("'" + facts.get("existing").get((i * 1_009 + k * 7) % 10_000).asText() + "'");
        String where = shape.keyFields.get(0) + " in (" + keys.stream().distinct().collect(Collectors.joining(", ")) + ")";
        times.add(Report.millis(() -> counted(spark, where, n)));
      }
      report.add("where key in (" + n + ")", "table", "first", times.get(0), "ms", 1);
      report.median("where key in (" + n + ")", "table", "warm", times.subList(1, times.size()));
    }
  }

  private Long counted(SparkSession spark, String where, long wanted) {
    long rows = spark.read().format("hudi").option("hoodie.metadata.enable", "true").option("hoodie.enable.data.skipping", "true")
        .option("hoodie.metadata.global.record.level.index.enable", "true").load(table).where(where).count();
    if (rows != wanted) throw new IllegalStateException(where.substring(0, 40) + "... gave " + rows + " rows, wanted " + wanted);
    return rows;
  }

  private void tag(SparkSession spark) throws Exception {
    HoodieSparkEngineContext context = new HoodieSparkEngineContext(new JavaSparkContext(spark.sparkContext()));
    HoodieWriteConfig config = config(table, true);
    for (int n : TAGS) {
      if (n > shape.rows) continue;
      List<Double> times = new ArrayList<>();
      int repeats = n == 1_000_000 ? 2 : 4;
      for (int i = 0; i < repeats; i++) {
        JavaRDD<HoodieRecord<DefaultHoodieRecordPayload>> records = records(spark, n, i % Math.max(1, shape.rows / n)).cache();
        records.count();
        times.add(Report.millis(() -> tagged(config, context, records, n)));
        records.unpersist();
      }
      report.add("tag " + keys(n), "table", "first", times.get(0), "ms", 1);
      report.median("tag " + keys(n), "table", "warm", times.subList(1, times.size()));
    }
  }

  /** Stock persists the records it is given, which an RDD that is persisted already refuses. */
  private static Long tagged(HoodieWriteConfig config, HoodieSparkEngineContext context,
      JavaRDD<HoodieRecord<DefaultHoodieRecordPayload>> records, long n) {
    HoodieIndex<?, ?> index = SparkHoodieIndexFactory.createIndex(config);
    HoodieTable<?, ?, ?, ?> table = HoodieSparkTable.create(config, context);
    HoodieData<HoodieRecord<DefaultHoodieRecordPayload>> tagged = index.tagLocation(HoodieJavaRDD.of(records.map(r -> r)), context, table);
    long located = HoodieJavaRDD.getJavaRDD(tagged).filter(HoodieRecord::isCurrentLocationKnown).count();
    if (located != n - n / 10) throw new IllegalStateException("tagged " + located + " of " + n + " records");
    return located;
  }

  private JavaRDD<HoodieRecord<DefaultHoodieRecordPayload>> records(SparkSession spark, long n, long salt) {
    Dataset<Row> rows = spark.range(0, n, 1, 4).selectExpr(shape.batchSql(n, salt) + " as id")
        .selectExpr(shape.keySql + " as key", shape.partitionSql() + " as part");
    String schemaText = StockSpark.avroSchema(shape).toString();
    List<String> fields = shape.keyFields;
    return rows.javaRDD().mapPartitions(part -> {
      Schema schema = new Schema.Parser().parse(schemaText);
      Iterable<Row> all = () -> part;
      return StreamSupport.stream(all.spliterator(), false).map(row -> record(row.getString(0), row.getString(1), fields, schema)).iterator();
    });
  }

  private static HoodieRecord<DefaultHoodieRecordPayload> record(String key, String partition, List<String> fields, Schema schema) {
    GenericRecord row = new GenericData.Record(schema);
    for (String field : fields) row.put(field, fields.size() == 1 ? key : (Object) 1L);
    row.put("part", partition);
    row.put("amount", 1L);
    row.put("ts", 1L);
    return new HoodieAvroRecord<>(new HoodieKey(key, partition), new DefaultHoodieRecordPayload(row, 1L));
  }

  private static String keys(int n) {
    return n == 1 ? "1 key" : n + " keys";
  }

  private static StorageConfiguration<?> conf() {
    return new HadoopStorageConfiguration(new org.apache.hadoop.conf.Configuration());
  }

  private HoodieWriteConfig config(String path, boolean recordIndex) {
    TypedProperties properties = new TypedProperties();
    StockSpark.options(shape).forEach(properties::setProperty);
    StockSpark.metadataOptions(recordIndex).forEach(properties::setProperty);
    properties.setProperty("hoodie.index.type", "RECORD_INDEX");
    properties.setProperty("hoodie.avro.schema", StockSpark.avroSchema(shape).toString());
    return HoodieWriteConfig.newBuilder().withPath(path).forTable(shape.name).withProperties(properties).build();
  }
}
