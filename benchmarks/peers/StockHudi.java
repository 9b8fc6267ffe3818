import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Paths;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hudi.client.common.HoodieSparkEngineContext;
import org.apache.hudi.common.config.HoodieMetadataConfig;
import org.apache.hudi.common.engine.HoodieEngineContext;
import org.apache.hudi.common.engine.HoodieLocalEngineContext;
import org.apache.hudi.common.table.HoodieTableMetaClient;
import org.apache.hudi.common.table.timeline.HoodieTimeline;
import org.apache.hudi.common.table.view.FileSystemViewManager;
import org.apache.hudi.common.table.view.HoodieTableFileSystemView;
import org.apache.hudi.config.HoodieWriteConfig;
import org.apache.hudi.metadata.FileSystemBackedTableMetadata;
import org.apache.hudi.metadata.HoodieTableMetadata;
import org.apache.hudi.metadata.SparkHoodieBackedTableMetadataWriter;
import org.apache.hudi.storage.StorageConfiguration;
import org.apache.hudi.storage.StoragePath;
import org.apache.hudi.storage.StoragePathInfo;
import org.apache.hudi.storage.hadoop.HadoopStorageConfiguration;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * Stock Hudi on a generated table.
 *
 * <pre>
 * StockHudi check TABLE FACTS                  its listing must equal the facts
 * StockHudi create TABLE FACTS OUT             makes its metadata table (files only) with Spark, local[2]
 * StockHudi metadata-table TABLE FACTS OUT     times the metadata table
 * StockHudi listing TABLE FACTS OUT            times the plain listing
 * </pre>
 */
public final class StockHudi {
  private static final int COLD_REPEATS = 7;
  private final String base;
  private final JsonNode facts;
  private final boolean metadataTable;
  private final StorageConfiguration<?> conf = new HadoopStorageConfiguration(new Configuration());
  private final HoodieEngineContext context = new HoodieLocalEngineContext(conf);

  private StockHudi(String base, JsonNode facts, boolean metadataTable) {
    this.base = base;
    this.facts = facts;
    this.metadataTable = metadataTable;
  }

  public static void main(String[] args) throws Exception {
    JsonNode facts = Report.facts(args[2]);
    StockHudi stock = new StockHudi(args[1], facts, args[0].equals("metadata-table"));
    if (args[0].equals("check")) {
      stock.check();
      return;
    }
    String system = args[0].equals("listing") ? "Hudi 1.1.1 listing" : "Hudi 1.1.1 metadata table";
    Report report = new Report(Paths.get(args[3]), facts.get("shape").asText(), system);
    switch (args[0]) {
      case "create": stock.create(report); break;
      case "metadata-table": case "listing": stock.measure(report); break;
      default: throw new IllegalArgumentException("unknown deed " + args[0]);
    }
  }

  private HoodieTableMetaClient client() {
    return HoodieTableMetaClient.builder().setConf(conf).setBasePath(base).build();
  }

  private HoodieMetadataConfig config() {
    return HoodieMetadataConfig.newBuilder().enable(metadataTable).build();
  }

  private HoodieTableMetadata metadata(HoodieTableMetaClient client) {
    if (!metadataTable) return new FileSystemBackedTableMetadata(context, client.getTableConfig(), client.getStorage(), base);
    HoodieTableMetadata metadata =
        client.getTableFormat().getMetadataFactory().create(context, client.getStorage(), config(), base, true);
    if (!metadata.getClass().getSimpleName().startsWith("HoodieBackedTableMetadata"))
      throw new IllegalStateException(base + ": has no usable metadata table; run the deed `create` first");
    return metadata;
  }

  private HoodieTableFileSystemView view(HoodieTableMetaClient client) {
    HoodieTimeline timeline = client.getActiveTimeline().filterCompletedAndCompactionInstants();
    return FileSystemViewManager.createInMemoryFileSystemViewWithTimeline(context, client, config(), timeline);
  }

  private void check() throws Exception {
    HoodieTableMetaClient client = client();
    List<String> partitions = metadata(client).getAllPartitionPaths();
    HoodieTableFileSystemView view = view(client);
    MessageDigest md5 = MessageDigest.getInstance("MD5");
    BigInteger sum = BigInteger.ZERO;
    long files = 0;
    long groups = 0;
    for (String partition : partitions) {
      groups += view.getAllFileGroups(partition).count();
      List<String> names = view.getAllBaseFiles(partition)
          .map(f -> partition + "/" + f.getFileName() + ":" + f.getFileSize()).collect(Collectors.toList());
      files += names.size();
      for (String name : names) {
        long bits = ByteBuffer.wrap(md5.digest(name.getBytes(StandardCharsets.UTF_8))).getLong(0) >>> 4;
        sum = sum.add(BigInteger.valueOf(bits));
      }
    }
    Map<String, String> got = new TreeMap<>();
    got.put("partitions", "" + partitions.size());
    got.put("files", "" + files);
    got.put("file_groups", "" + groups);
    got.put("checksum", sum.toString());
    for (Map.Entry<String, String> e : got.entrySet()) {
      String wanted = facts.get(e.getKey()).asText();
      if (!wanted.equals(e.getValue()))
        throw new IllegalStateException(base + ": stock Hudi has " + e + ", generated were " + wanted);
    }
    System.out.println(base + ": stock Hudi lists it as generated " + got);
  }

  private void create(Report report) throws Exception {
    SparkConf sparkConf = new SparkConf().setMaster("local[2]").setAppName("metadata table").set("spark.ui.enabled", "false")
        .set("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
        .set("spark.kryo.registrator", "org.apache.spark.HoodieSparkKryoRegistrar");
    try (JavaSparkContext spark = new JavaSparkContext(sparkConf)) {
      spark.setLogLevel("ERROR");
      HoodieMetadataConfig files = HoodieMetadataConfig.newBuilder().enable(true).withMetadataIndexColumnStats(false)
          .withMetadataIndexBloomFilter(false).build();
      HoodieWriteConfig config = HoodieWriteConfig.newBuilder().withPath(base)
          .forTable(client().getTableConfig().getTableName()).withMetadataConfig(files).build();
      double millis = Report.millis(() -> {
        SparkHoodieBackedTableMetadataWriter.create(conf, config, new HoodieSparkEngineContext(spark)).close();
        return base;
      });
      report.add("create", "table", "", millis, "ms", 1);
      report.add("bytes", "table", "", Report.bytesUnder(base + "/.hoodie/metadata"), "bytes", 1);
    }
  }

  private void measure(Report report) throws Exception {
    List<String> average = Report.partitions(facts, "average_partitions");
    List<String> largest = Report.partitions(facts, "largest_partitions");
    report.add("partitions", "table", "first in JVM", Report.millis(() -> metadata(client()).getAllPartitionPaths()), "ms", 1);
    report.add("files", "average", "first in JVM", Report.millis(() -> files(metadata(client()), average.get(0))), "ms", 1);
    List<Double> partitions = new ArrayList<>();
    List<Double> files = new ArrayList<>();
    for (int i = 0; i < COLD_REPEATS; i++) {
      String partition = average.get(i % average.size());
      partitions.add(Report.millis(() -> metadata(client()).getAllPartitionPaths()));
      files.add(Report.millis(() -> files(metadata(client()), partition)));
    }
    report.median("partitions", "table", "cold", partitions);
    report.median("files", "average", "cold", files);
    warm(report, average, largest);
    views(report, average, largest);
  }

  private List<StoragePathInfo> files(HoodieTableMetadata metadata, String partition) throws Exception {
    return metadata.getAllFilesInPartition(new StoragePath(base, partition));
  }

  private void warm(Report report, List<String> average, List<String> largest) throws Exception {
    HoodieTableMetadata metadata = metadata(client());
    for (String p : average) files(metadata, p);
    List<Double> partitions = new ArrayList<>();
    for (int i = 0; i < 11; i++) partitions.add(Report.millis(metadata::getAllPartitionPaths));
    report.median("partitions", "table", "warm", partitions.subList(2, 11));
    List<Double> times = new ArrayList<>();
    for (String p : average) times.add(Report.millis(() -> files(metadata, p)));
    report.median("files", "average", "warm", times);
    report.median("files", "largest", "warm", onLargest(largest, p -> files(metadata, p)));
  }

  private interface PartitionCall {
    Object on(String partition) throws Exception;
  }

  /** Times of the largest partition, other large ones asked in between so that nothing is asked twice in a row. */
  private static List<Double> onLargest(List<String> largest, PartitionCall call) throws Exception {
    List<Double> times = new ArrayList<>();
    for (int i = 0; i < 5; i++)
      for (String p : largest) {
        double millis = Report.millis(() -> call.on(p));
        if (p.equals(largest.get(0))) times.add(millis);
      }
    return times;
  }

  /** Each call asks a partition that its view has not loaded yet ("warm": JVM and metadata reader are), then again ("memoised"). */
  private void views(Report report, List<String> average, List<String> largest) throws Exception {
    String last = client().getActiveTimeline().filterCompletedInstants().lastInstant().get().requestedTime();
    Map<String, Function<HoodieTableFileSystemView, Function<String, Stream<?>>>> calls = new TreeMap<>();
    calls.put("all base files", v -> v::getAllBaseFiles);
    calls.put("file groups", v -> v::getAllFileGroups);
    calls.put("file slices", v -> v::getAllFileSlices);
    calls.put("latest base files", v -> v::getLatestBaseFiles);
    calls.put("latest file slices", v -> v::getLatestFileSlices);
    calls.put("latest uncompacted slices", v -> v::getLatestUnCompactedFileSlices);
    calls.put("latest merged slices", v -> p -> v.getLatestMergedFileSlicesBeforeOrOn(p, last));
    HoodieTableFileSystemView untimed = view(client());
    for (String p : average) untimed.getLatestFileSlices(p).count();
    for (String name : calls.keySet()) {
      HoodieTableFileSystemView view = view(client());
      view.getLatestFileSlices(average.get(0)).count();
      Function<String, Stream<?>> call = calls.get(name).apply(view);
      List<Double> first = new ArrayList<>();
      List<Double> again = new ArrayList<>();
      for (String p : average.subList(1, average.size())) first.add(Report.millis(() -> call.apply(p).collect(Collectors.toList())));
      for (String p : average.subList(1, average.size())) again.add(Report.millis(() -> call.apply(p).collect(Collectors.toList())));
      report.median(name, "average", "warm", first);
      report.median(name, "average", "memoised", again);
      List<Double> big = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        HoodieTableFileSystemView fresh = view(client());
        fresh.getLatestFileSlices(average.get(0)).count();
        big.add(Report.millis(() -> calls.get(name).apply(fresh).apply(largest.get(0)).collect(Collectors.toList())));
        fresh.close();
      }
      report.median(name, "largest", "warm", big);
      view.close();
    }
  }
}
