import java.util.List;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.apache.hadoop.conf.Configuration;
import org.apache.hudi.client.common.HoodieSparkEngineContext;
import org.apache.hudi.common.config.HoodieMetadataConfig;
import org.apache.hudi.common.config.TypedProperties;
import org.apache.hudi.common.data.HoodieData;
import org.apache.hudi.common.data.HoodieListData;
import org.apache.hudi.common.model.DefaultHoodieRecordPayload;
import org.apache.hudi.common.model.HoodieAvroRecord;
import org.apache.hudi.common.model.HoodieKey;
import org.apache.hudi.common.model.HoodieRecord;
import org.apache.hudi.common.table.HoodieTableMetaClient;
import org.apache.hudi.common.table.view.FileSystemViewManager;
import org.apache.hudi.common.table.view.HoodieTableFileSystemView;
import org.apache.hudi.config.HoodieWriteConfig;
import org.apache.hudi.data.HoodieJavaRDD;
import org.apache.hudi.index.HoodieIndex;
import org.apache.hudi.index.SparkHoodieIndexFactory;
import org.apache.hudi.metadata.HoodieBackedTableMetadata;
import org.apache.hudi.metadata.SparkHoodieBackedTableMetadataWriter;
import org.apache.hudi.storage.hadoop.HadoopStorageConfiguration;
import org.apache.hudi.table.HoodieSparkTable;
import org.apache.hudi.table.HoodieTable;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/** What stock Hudi does within a write, without one: for `bench/hudi.py`. */
public final class StockCalls {
  private static final String RECORD = "{\"type\":\"record\",\"name\":\"row\",\"fields\":[{\"name\":\"key\",\"type\":\"string\"},"
      + "{\"name\":\"part\",\"type\":\"string\"},{\"name\":\"ts\",\"type\":\"long\"}]}";

  private StockCalls() {}

  /** Makes the metadata table with the partitions that the options enable. */
  public static void metadataTable(SparkSession spark, String table, Map<String, String> options) throws Exception {
    SparkHoodieBackedTableMetadataWriter.create(new HadoopStorageConfiguration(new Configuration()), config(table, options), context(spark)).close();
  }

  /**
   * The tag stage of an upsert.
   *
   * @param keys record keys and partitions, as `key` and `part`
   * @return how many records have a location
   */
  public static long tag(SparkSession spark, String table, Dataset<Row> keys, Map<String, String> options) {
    HoodieWriteConfig config = config(table, options);
    HoodieSparkEngineContext context = context(spark);
    HoodieIndex<?, ?> index = SparkHoodieIndexFactory.createIndex(config);
    HoodieTable<?, ?, ?, ?> opened = HoodieSparkTable.create(config, context);
    JavaRDD<HoodieRecord<DefaultHoodieRecordPayload>> records = keys.javaRDD().map(row -> record(row.getString(0), row.getString(1)));
    HoodieData<HoodieRecord<DefaultHoodieRecordPayload>> tagged = index.tagLocation(HoodieJavaRDD.of(records), context, opened);
    return HoodieJavaRDD.getJavaRDD(tagged).filter(HoodieRecord::isCurrentLocationKnown).count();
  }

  /** Latest file slices of one partition through the metadata table; everything is opened anew. */
  public static long files(SparkSession spark, String table, String partition) {
    HoodieTableMetaClient client = HoodieTableMetaClient.builder().setConf(new HadoopStorageConfiguration(new Configuration())).setBasePath(table).build();
    HoodieMetadataConfig metadata = HoodieMetadataConfig.newBuilder().enable(true).build();
    HoodieTableFileSystemView view = FileSystemViewManager.createInMemoryFileSystemViewWithTimeline(context(spark), client, metadata,
        client.getActiveTimeline().filterCompletedAndCompactionInstants());
    try {
      return view.getLatestFileSlices(partition).count();
    } finally {
      view.close();
    }
  }

  /** How many locations the record index of the metadata table has for a key; everything is opened anew. */
  public static long locate(SparkSession spark, String table, String key) throws Exception {
    HoodieTableMetaClient client = HoodieTableMetaClient.builder().setConf(new HadoopStorageConfiguration(new Configuration())).setBasePath(table).build();
    HoodieMetadataConfig metadata = HoodieMetadataConfig.newBuilder().enable(true).build();
    try (HoodieBackedTableMetadata opened = new HoodieBackedTableMetadata(context(spark), client.getStorage(), metadata, table)) {
      return opened.readRecordIndexLocationsWithKeys(HoodieListData.eager(List.of(key))).collectAsList().size();
    }
  }

  private static HoodieRecord<DefaultHoodieRecordPayload> record(String key, String partition) {
    GenericRecord row = new GenericData.Record(Parsed.SCHEMA);
    row.put("key", key);
    row.put("part", partition);
    row.put("ts", 1L);
    return new HoodieAvroRecord<>(new HoodieKey(key, partition), new DefaultHoodieRecordPayload(row, 1L));
  }

  /** Not serialised with the task. */
  private static final class Parsed {
    static final Schema SCHEMA = new Schema.Parser().parse(RECORD);
  }

  private static HoodieSparkEngineContext context(SparkSession spark) {
    return new HoodieSparkEngineContext(new JavaSparkContext(spark.sparkContext()));
  }

  private static HoodieWriteConfig config(String table, Map<String, String> options) {
    TypedProperties properties = new TypedProperties();
    options.forEach(properties::setProperty);
    return HoodieWriteConfig.newBuilder().withPath(table).forTable(options.get("hoodie.table.name")).withSchema(RECORD)
        .withProperties(properties).build();
  }
}
