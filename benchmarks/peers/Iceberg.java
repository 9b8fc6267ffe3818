import com.fasterxml.jackson.databind.JsonNode;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.AppendFiles;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DataFiles;
import org.apache.iceberg.FileFormat;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.ManifestFile;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableScan;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.hadoop.HadoopTables;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.types.Types;

/**
 * Iceberg planning over as many data files as a generated table has: the same partitions, names and sizes, without
 * column statistics, appended commit by commit.
 *
 * <pre>
 * Iceberg TABLE FACTS TARGET OUT     TARGET is made anew and holds metadata only
 * Iceberg files LIST TARGET          TARGET is made of the files in LIST, lines of day, path, bytes and instant with tabs between
 * </pre>
 */
public final class Iceberg {
  private static final Schema SCHEMA = new Schema(
      Types.NestedField.required(1, "id", Types.StringType.get()), Types.NestedField.required(2, "day", Types.StringType.get()),
      Types.NestedField.required(3, "ts", Types.LongType.get()), Types.NestedField.required(4, "fare", Types.DoubleType.get()));
  private static final PartitionSpec SPEC = PartitionSpec.builderFor(SCHEMA).identity("day").build();

  private final String target;
  private final JsonNode facts;
  private final HadoopTables tables = new HadoopTables(new Configuration());

  private Iceberg(String target, JsonNode facts) {
    this.target = target;
    this.facts = facts;
  }

  public static void main(String[] args) throws Exception {
    if (args[0].equals("files")) {
      registerListed(args[1], args[2]);
      return;
    }
    JsonNode facts = Report.facts(args[1]);
    String name = facts.get("shape").asText();
    Iceberg iceberg = new Iceberg(args[2], facts);
    Report report = new Report(Paths.get(args[3]), name, "Iceberg 1.10.0, as appended");
    iceberg.register(args[0], report);
    iceberg.measure(report);
    Report clustered = new Report(Paths.get(args[3]), name, "Iceberg 1.10.0, manifests rewritten by month");
    Table table = iceberg.tables.load(args[2]);
    clustered.add("create", "table", "", Report.millis(() -> {
      table.rewriteManifests().clusterBy(f -> f.partition().get(0, String.class).substring(0, 7)).commit();
      return table;
    }), "ms", 1);
    iceberg.measure(clustered);
    iceberg.update(clustered);
  }

  /** One append per Hudi commit, in the order of the commits. */
  private void register(String source, Report report) throws Exception {
    TreeMap<String, List<DataFile>> byInstant = new TreeMap<>();
    for (File partition : new File(source).listFiles(f -> f.isDirectory() && !f.getName().startsWith("."))) {
      for (File file : partition.listFiles((d, n) -> n.endsWith(".parquet"))) {
        String name = file.getName();
        String instant = name.substring(name.lastIndexOf('_') + 1, name.length() - ".parquet".length());
        byInstant.computeIfAbsent(instant, i -> new ArrayList<>()).add(dataFile(file.getPath(), file.length(), partition.getName()));
      }
    }
    double millis = Report.millis(() -> {
      Table table = tables.create(SCHEMA, SPEC, target);
      for (List<DataFile> files : byInstant.values()) append(table, files);
      return table;
    });
    report.add("create", "table", "", millis, "ms", 1);
  }

  private static void registerListed(String list, String target) throws Exception {
    TreeMap<String, List<DataFile>> byInstant = new TreeMap<>();
    for (String line : Files.readAllLines(Paths.get(list))) {
      String[] file = line.split("\t");
      byInstant.computeIfAbsent(file[3], i -> new ArrayList<>()).add(dataFile(file[1], Long.parseLong(file[2]), file[0]));
    }
    Table table = new HadoopTables(new Configuration()).create(SCHEMA, SPEC, target);
    for (List<DataFile> files : byInstant.values()) append(table, files);
  }

  private static DataFile dataFile(String path, long size, String day) {
    return DataFiles.builder(SPEC).withPath(path).withFileSizeInBytes(size).withRecordCount(Math.max(1, size / 128))
        .withFormat(FileFormat.PARQUET).withPartitionPath("day=" + day).build();
  }

  private static void append(Table table, List<DataFile> files) {
    AppendFiles append = table.newAppend();
    files.forEach(append::appendFile);
    append.commit();
  }

  private void measure(Report report) throws Exception {
    Table table = tables.load(target);
    long bytes = table.io().newInputFile(table.currentSnapshot().manifestListLocation()).getLength();
    for (ManifestFile manifest : table.currentSnapshot().allManifests(table.io())) bytes += manifest.length();
    report.add("bytes", "table", "", bytes, "bytes", 1);
    List<String> average = Report.partitions(facts, "average_partitions");
    String largest = Report.partitions(facts, "largest_partitions").get(0);
    report.add("files", "average", "first in JVM", Report.millis(() -> plan(average.get(0))), "ms", 1);
    plan(null);
    List<Double> one = new ArrayList<>();
    for (int i = 0; i < 15; i++) {
      String day = average.get(i);
      one.add(Report.millis(() -> plan(day)));
    }
    report.median("files", "average", "cold", one);
    List<Double> big = new ArrayList<>();
    for (int i = 0; i < 5; i++) big.add(Report.millis(() -> plan(largest)));
    report.median("files", "largest", "cold", big);
    List<Double> all = new ArrayList<>();
    List<Double> partitions = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      all.add(Report.millis(() -> plan(null)));
      partitions.add(Report.millis(this::partitions));
    }
    report.median("all files", "table", "cold", all);
    report.median("partitions", "table", "cold", partitions);
  }

  private void update(Report report) throws Exception {
    List<String> average = Report.partitions(facts, "average_partitions");
    List<Double> updates = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      List<DataFile> files = new ArrayList<>();
      for (int k = 0; k < 100; k++) {
        String day = average.get(k % average.size());
        files.add(dataFile(target + "/" + day + "/" + UUID.randomUUID() + ".parquet", 1L << 25, day));
      }
      updates.add(Report.millis(() -> {
        Table fresh = tables.load(target);
        append(fresh, files);
        return fresh;
      }));
    }
    report.median("update 100 files", "table", "", updates);
  }

  /** Files of one day, or of the whole table; the table is loaded anew. */
  private Long plan(String day) throws Exception {
    TableScan scan = tables.load(target).newScan();
    if (day != null) scan = scan.filter(Expressions.equal("day", day));
    long files = 0;
    try (CloseableIterable<FileScanTask> tasks = scan.planFiles()) {
      for (FileScanTask task : tasks) files += task.file().fileSizeInBytes() > 0 ? 1 : 0;
    }
    if (files == 0) throw new IllegalStateException(target + ": no files planned for " + day);
    return files;
  }

  private Set<String> partitions() throws Exception {
    Set<String> days = new HashSet<>();
    try (CloseableIterable<FileScanTask> tasks = tables.load(target).newScan().planFiles()) {
      for (FileScanTask task : tasks) days.add(task.file().partition().get(0, String.class));
    }
    return days;
  }
}
