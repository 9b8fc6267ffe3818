import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SaveMode;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;

/**
 * Scans, reads of record keys, joins by them and incremental reads through Spark's own Parquet reader, stock Hudi's reader and
 * hudiidx, in one session of local[2]. The systems take turns, and their rows must be equal.
 *
 * <pre>
 * KeyReads make DIR ROWS          DIR/cow: 16 files and 5 later commits of 1,000 keys, with Hudi's record index and ours
 *                                 DIR/many: 1,000 files and 10 later commits; DIR/mor: 4 slices with 5 log files each; both with ours
 * KeyReads append TABLE           a commit of 1,000 rows by stock Hudi on a generated table, and our index of it
 * KeyReads time DIR ROWS OUT GENERATED...   generated tables for the incremental reads
 * </pre>
 */
public final class KeyReads {
  private static final String PARQUET = "Spark, Parquet files";
  private static final String HUDI = "Hudi 1.1.1";
  private static final String OURS = "hudiidx";
  private static final String OFF = "hudiidx, keys not looked up";
  private static final String KEY = "_hoodie_record_key";
  private static final String UUID = "regexp_replace(md5(cast(id as string)), '^(.{8})(.{4})(.{4})(.{4})(.{12})$', '$1-$2-$3-$4-$5')";
  private static final int LATER = 1_000;

  private final SparkSession spark;
  private final String dir;
  private final long rows;
  private final String out;
  private final List<String> shown = new ArrayList<>();

  private KeyReads(SparkSession spark, String dir, long rows, String out) {
    this.spark = spark;
    this.dir = dir;
    this.rows = rows;
    this.out = out;
  }

  public static void main(String[] args) throws Exception {
    SparkSession spark = StockSpark.session();
    try {
      KeyReads reads = args[0].equals("append") ? null
          : new KeyReads(spark, args[1], Long.parseLong(args[2]), args.length > 3 ? args[3] : null);
      if (args[0].equals("make")) reads.make();
      else if (args[0].equals("append")) append(spark, args[1]);
      else reads.time(Arrays.asList(args).subList(4, args.length));
    } finally {
      spark.stop();
    }
  }

  // Tables

  private void make() throws Exception {
    table("cow", rows, 16, 5, true);
    table("many", rows, 1_000, 10, false);
    table("mor", rows / 5, 4, 0, false);
  }

  /** `later` commits of 1,000 new keys each go to files of their own; of the merge-on-read table one row in ten is updated. */
  private void table(String name, long count, int files, int later, boolean recordIndex) throws Exception {
    String table = dir + "/" + name;
    if (Files.exists(Paths.get(table))) return;
    write(data(0, count, 1, files, count, files, 0), table, "bulk_insert", SaveMode.Overwrite, false);
    for (int i = 0; i < later; i++)
      write(data(count + i * LATER, count + (i + 1) * LATER, 1, 1, count, files, 0), table, "bulk_insert", SaveMode.Append,
          recordIndex && i + 1 == later);
    for (int i = 0; name.equals("mor") && i < 5; i++)
      write(data(i, count, 50, files, count, files, i + 1), table, "upsert", SaveMode.Append, false);
    createIndex(spark, table, "global");
  }

  private static void createIndex(SparkSession spark, String table, String record) throws Exception {
    Map<String, String> options = new HashMap<>();
    if (record != null) options.put("hudiidx.record.mode", record);
    Object api = api(spark, table, options);
    api.getClass().getMethod("create").invoke(api);
  }

  /** The face for other languages: the jar of hudiidx is on the class path of the run alone. */
  private static Object api(SparkSession spark, String table, Map<String, String> options) throws Exception {
    return Class.forName("hudiidx.spark.api.HudiIdxApi").getConstructor(SparkSession.class, String.class, Map.class)
        .newInstance(spark, table, options);
  }

  private static void write(Dataset<Row> data, String table, String operation, SaveMode mode, boolean recordIndex) {
    data.write().format("hudi").option("hoodie.table.name", "reads")
        .option("hoodie.datasource.write.table.type", table.endsWith("mor") ? "MERGE_ON_READ" : "COPY_ON_WRITE")
        .option("hoodie.datasource.write.recordkey.field", "key").option("hoodie.datasource.write.partitionpath.field", "part")
        .option("hoodie.datasource.write.precombine.field", "ts").option("hoodie.datasource.write.operation", operation)
        .option("hoodie.index.type", "SIMPLE").option("hoodie.compact.inline", "false")
        .option("hoodie.metadata.enable", Boolean.toString(recordIndex))
        .option("hoodie.metadata.index.column.stats.enable", "false").option("hoodie.metadata.index.partition.stats.enable", "false")
        .option("hoodie.metadata.global.record.level.index.enable", Boolean.toString(recordIndex))
        .option("hoodie.parquet.max.file.size", Long.toString(8L << 30)).option("hoodie.parquet.small.file.limit", "0")
        .option("hoodie.write.markers.type", "direct").option("hoodie.embed.timeline.server", "false")
        .option("hoodie.clean.automatic", "false").mode(mode).save(table);
  }

  private Dataset<Row> data(long from, long until, int step, int tasks, long count, int files, int version) {
    int partitions = Math.min(files, 16);
    return spark.range(from, until, step, tasks).selectExpr(UUID + " as key",
        "concat('p', least(id, " + (count - 1) + ") * " + partitions + " div " + count + ") as part", version + "L as ts",
        "id * 7 + " + version + " as amount", "cast(id % 1000 as int) as quantity", "cast(id as double) / 3 as fare",
        "concat('rider-', id % 10007) as rider", "concat('a note of row ', id, ' in version ', " + version + ") as note",
        "date_add(date'2024-01-01', cast(id % 365 as int)) as day", "id % 2 = 0 as flag");
  }

  /** Rows of the newest partition under other keys. */
  private static void append(SparkSession spark, String table) throws Exception {
    createIndex(spark, table, null);
    Dataset<Row> all = spark.read().format("hudiidx").option("hudiidx.index.strict", "true").load(table);
    String day = newestDay(spark, table);
    Dataset<Row> some = all.where("day = '" + day + "'").limit(LATER);
    for (String c : all.columns()) if (c.startsWith("_hoodie_")) some = some.drop(c);
    List<Row> kept = some.withColumn("id", functions.expr("concat('new-', id)")).collectAsList();
    spark.createDataFrame(kept, some.schema()).coalesce(1).write().format("hudi").option("hoodie.table.name", tableName(table))
        .option("hoodie.datasource.write.recordkey.field", "id").option("hoodie.datasource.write.partitionpath.field", "day")
        .option("hoodie.datasource.write.operation", "bulk_insert").option("hoodie.metadata.enable", "false")
        .option("hoodie.write.markers.type", "direct").option("hoodie.embed.timeline.server", "false")
        .option("hoodie.clean.automatic", "false").option("hoodie.archive.automatic", "false").mode(SaveMode.Append).save(table);
    createIndex(spark, table, null);
  }

  private static String newestDay(SparkSession spark, String table) {
    return spark.read().format("hudiidx").option("view", "partitions").load(table).selectExpr("max(partition_path)").first().getString(0);
  }

  private static String tableName(String table) throws Exception {
    for (String line : Files.readAllLines(Paths.get(table, ".hoodie/hoodie.properties")))
      if (line.startsWith("hoodie.table.name=")) return line.substring(line.indexOf('=') + 1);
    throw new IllegalStateException(table + " has no name");
  }

  // Measurements

  private void time(List<String> generated) throws Exception {
    List<String> parts = Arrays.asList(System.getenv().getOrDefault("READS", "scans,keys,joins,increments,rows").split(","));
    if (parts.contains("scans")) scans();
    if (parts.contains("keys")) keys();
    if (parts.contains("joins")) joins();
    for (String table : generated) if (parts.contains("increments")) increments(table);
    for (String name : new String[] {"cow", "mor"}) if (parts.contains("rows")) rowLookups(name);
    System.out.println("\n| table | read | " + String.join(" | ", PARQUET, HUDI, OFF, OURS) + " |\n|---|---|--:|--:|--:|--:|");
    shown.forEach(System.out::println);
  }

  private void scans() throws Exception {
    String[] files = currentFiles(dir + "/cow").toArray(new String[0]);
    for (String columns : new String[] {"*", "sum(amount)"}) {
      Map<String, Callable<Dataset<Row>>> systems = new LinkedHashMap<>();
      systems.put(PARQUET, () -> spark.read().parquet(files).selectExpr(columns));
      systems.put(HUDI, () -> stock("cow", false).selectExpr(columns));
      systems.put(OURS, () -> ours("cow", true).selectExpr(columns));
      compare("cow", columns.equals("*") ? "scan of all columns" : "scan of one column", systems, columns.equals("*") ? null : "*", 5);
    }
  }

  /** Other keys each round, the same for all systems. */
  private void keys() throws Exception {
    Map<String, String> fileOfKey = new HashMap<>();
    List<String> random = keysOf("id * " + rows / 20 + " + 17", 12);
    for (Row r : ours("cow", true).where(in(random)).select(KEY, "_hoodie_partition_path", "_hoodie_file_name").collectAsList())
      fileOfKey.put(r.getString(0), dir + "/cow/" + r.getString(1) + "/" + r.getString(2));
    Rounds one = new Rounds("cow", "where key = X, random");
    for (String key : random) {
      Map<String, Callable<Dataset<Row>>> systems = new LinkedHashMap<>();
      systems.put(PARQUET, () -> spark.read().parquet(fileOfKey.get(key)).where(is(key)));
      systems.put(HUDI, () -> stock("cow", true).where(is(key)));
      systems.put(OURS, () -> ours("cow", true).where(is(key)));
      one.round(systems);
    }
    one.end();
    for (boolean recent : new boolean[] {false, true}) {
      Rounds many = new Rounds("cow", "1,000 keys, " + (recent ? "of the last commits" : "random"));
      for (int i = 0; i < 4; i++) {
        int salt = i;
        List<String> keys = keysOf(recent ? "id * 5 + " + salt % 5 + " + " + rows : "id * " + rows / LATER + " + " + salt, LATER);
        Map<String, Callable<Dataset<Row>>> systems = new LinkedHashMap<>();
        systems.put(HUDI, () -> stock("cow", true).where(in(keys)));
        systems.put(OFF, () -> ours("cow", false).where(in(keys)));
        systems.put(OURS, () -> ours("cow", true).where(in(keys)));
        many.round(systems);
      }
      many.end();
    }
  }

  private void joins() throws Exception {
    for (boolean recent : new boolean[] {true, false}) {
      Rounds join = new Rounds("many", "join of 10,000 keys, " + (recent ? "of the last commits" : "random"));
      for (int i = 0; i < 3; i++) {
        int salt = i;
        List<String> keys = keysOf(recent ? "id + " + rows : "id * " + rows / (10 * LATER) + " + " + salt, 10 * LATER);
        Dataset<Row> small = spark.createDataset(keys, Encoders.STRING()).toDF("k");
        Map<String, Callable<Dataset<Row>>> systems = new LinkedHashMap<>();
        if (!recent || i < 2) systems.put(HUDI, () -> joined(small, stock("many", false)));
        systems.put(OFF, () -> joined(small, ours("many", false)));
        systems.put(OURS, () -> joined(small, ours("many", true)));
        join.round(systems);
      }
      join.end();
    }
  }

  private static Dataset<Row> joined(Dataset<Row> small, Dataset<Row> table) {
    return table.join(small, table.col(KEY).equalTo(small.col("k"))).drop("k");
  }

  /** The commit that `append` wrote. */
  private void increments(String table) throws Exception {
    String name = Paths.get(table).getFileName().toString();
    List<String> completed = completions(table);
    String begin = completed.get(completed.size() - 2);
    Map<String, Callable<Dataset<Row>>> systems = new LinkedHashMap<>();
    for (String system : new String[] {HUDI, OURS})
      systems.put(system, () -> spark.read().format(system.equals(HUDI) ? "hudi" : "hudiidx").option("hoodie.metadata.enable", "false")
          .option("hoodie.datasource.query.type", "incremental").option("hoodie.datasource.read.begin.instanttime", begin).load(table));
    compare(name, "incremental, the last commit", systems, null, 5);
    Map<String, Callable<Dataset<Row>>> paths = new LinkedHashMap<>();
    String day = newestDay(spark, table);
    for (String system : new String[] {HUDI, OURS})
      paths.put(system, () -> spark.read().format(system.equals(HUDI) ? "hudi" : "hudiidx").option("hoodie.metadata.enable", "false")
          .load(table).where("day = '" + day + "'"));
    compare(name, "where day = the newest", paths, null, 3);
  }

  /** Rows without a Spark job: the call, and then the rows as Spark's Rows. */
  private void rowLookups(String name) throws Exception {
    String table = dir + "/" + name;
    long count = name.equals("mor") ? rows / 5 : rows;
    Object api = api(spark, table, new HashMap<>());
    java.lang.reflect.Method call = api.getClass().getMethod("lookupRows", byte[].class, String.class, String.class);
    for (int n : new int[] {1, 1_000}) {
      List<Double> first = new ArrayList<>();
      List<Double> settling = new ArrayList<>();
      List<Double> warm = new ArrayList<>();
      for (int i = 0; i < (n == 1 ? 120 : 10); i++) {
        List<String> keys = keysOf("(id * 7919 + " + i + " * 104729) * 13 % " + count, n);
        @SuppressWarnings("unchecked")
        double millis = Report.millis(() -> ((Dataset<Row>) call.invoke(api, packed(keys), null, null)).collectAsList());
        (i < (n == 1 ? 16 : 1) ? first : i < (n == 1 ? 60 : 4) ? settling : warm).add(millis);
        if (i % 24 == 0) {
          @SuppressWarnings("unchecked")
          List<Row> found = ((Dataset<Row>) call.invoke(api, packed(keys), null, null)).collectAsList();
          requireSame(name + " rows of " + n + " keys", texts(found), texts(ours(name, false).where(in(keys)).collectAsList()));
        }
      }
      Map<String, List<Double>> times = new HashMap<>();
      times.put(OURS, first);
      show(name, "rows of " + n + " keys without a job, first of their files", times);
      times.put(OURS, warm);
      show(name, "rows of " + n + " keys without a job", times);
    }
  }

  private static byte[] packed(List<String> keys) {
    List<byte[]> all = keys.stream().map(k -> k.getBytes(StandardCharsets.UTF_8)).collect(Collectors.toList());
    ByteBuffer packed = ByteBuffer.allocate(4 + 4 * all.size() + all.stream().mapToInt(k -> k.length).sum()).order(ByteOrder.LITTLE_ENDIAN);
    packed.putInt(all.size());
    all.forEach(k -> packed.putInt(k.length));
    all.forEach(packed::put);
    return packed.array();
  }

  /** One round warms up and compares the rows, of `checked` columns where they are others than those measured. */
  private void compare(String table, String what, Map<String, Callable<Dataset<Row>>> systems, String checked, int rounds) throws Exception {
    Map<String, List<Double>> times = new LinkedHashMap<>();
    Map<String, String> sums = new LinkedHashMap<>();
    for (int round = 0; round <= rounds; round++)
      for (Map.Entry<String, Callable<Dataset<Row>>> system : systems.entrySet()) {
        double millis = Report.millis(() -> drained(system.getValue().call()));
        if (round > 0) times.computeIfAbsent(system.getKey(), s -> new ArrayList<>()).add(millis);
        else sums.put(system.getKey(), sums(system.getValue().call()));
      }
    if (sums.values().stream().distinct().count() > 1) throw new IllegalStateException(table + ", " + what + ": rows differ: " + sums);
    show(table, what, times);
  }

  /** Rounds of queries that differ from round to round; the first one warms up. */
  private final class Rounds {
    private final String table;
    private final String what;
    private final Map<String, List<Double>> times = new LinkedHashMap<>();
    private int done = 0;

    Rounds(String table, String what) {
      this.table = table;
      this.what = what;
    }

    void round(Map<String, Callable<Dataset<Row>>> systems) throws Exception {
      Map<String, List<String>> found = new LinkedHashMap<>();
      for (Map.Entry<String, Callable<Dataset<Row>>> system : systems.entrySet()) {
        List<Row> collected = new ArrayList<>();
        double millis = Report.millis(() -> collected.addAll(system.getValue().call().collectAsList()));
        found.put(system.getKey(), texts(collected));
        if (done > 0) times.computeIfAbsent(system.getKey(), s -> new ArrayList<>()).add(millis);
      }
      List<String> ours = found.get(OURS);
      if (ours.isEmpty()) throw new IllegalStateException(table + ", " + what + ": no rows");
      for (Map.Entry<String, List<String>> e : found.entrySet()) requireSame(table + ", " + what + ", " + e.getKey(), ours, e.getValue());
      done++;
    }

    void end() throws Exception {
      show(table, what, times);
    }
  }

  private void show(String table, String what, Map<String, List<Double>> times) throws Exception {
    for (Map.Entry<String, List<Double>> e : times.entrySet())
      new Report(Paths.get(out), table + "-" + rows, e.getKey()).median(what, "table", "warm", e.getValue());
    double own = Report.middle(times.get(OURS));
    List<String> cells = new ArrayList<>();
    for (String system : new String[] {PARQUET, HUDI, OFF, OURS}) {
      List<Double> all = times.get(system);
      if (all == null) cells.add("");
      else {
        String ratio = system.equals(OURS) ? "" : String.format(" (%.2f x)", Report.middle(all) / own);
        cells.add(String.format("%.1f, best %.1f%s", Report.middle(all), Collections.min(all), ratio));
      }
    }
    shown.add("| " + table + " | " + what + ", ms | " + String.join(" | ", cells) + " |");
  }

  private static void requireSame(String what, List<String> one, List<String> other) {
    if (!one.equals(other)) throw new IllegalStateException(what + ": rows differ: " + one.size() + " and " + other.size());
  }

  private static List<String> texts(List<Row> rows) {
    return rows.stream().map(Row::toString).sorted().collect(Collectors.toList());
  }

  private Dataset<Row> stock(String name, boolean recordIndex) {
    return spark.read().format("hudi").option("hoodie.metadata.enable", Boolean.toString(recordIndex))
        .option("hoodie.enable.data.skipping", Boolean.toString(recordIndex))
        .option("hoodie.metadata.global.record.level.index.enable", Boolean.toString(recordIndex)).load(dir + "/" + name);
  }

  private Dataset<Row> ours(String name, boolean keys) {
    return spark.read().format("hudiidx").option("hudiidx.index.strict", "true")
        .option("hudiidx.read.record.keys", Boolean.toString(keys)).load(dir + "/" + name);
  }

  private List<String> keysOf(String id, int count) {
    return spark.range(0, count, 1, 1).selectExpr(id + " as id").selectExpr(UUID).as(Encoders.STRING()).collectAsList()
        .stream().distinct().collect(Collectors.toList());
  }

  private static String is(String key) {
    return "key = '" + key + "'";
  }

  private static String in(List<String> keys) {
    return "key in ('" + String.join("', '", keys) + "')";
  }

  private static String sums(Dataset<Row> rows) {
    return rows.selectExpr("concat_ws('|', count(1), sum(cast(xxhash64(struct(*)) as decimal(38,0)))) as sums").first().getString(0);
  }

  private static List<String> currentFiles(String table) throws Exception {
    try (Stream<Path> files = Files.walk(Paths.get(table))) {
      return files.map(Path::toString).filter(f -> f.endsWith(".parquet") && !f.contains("/.hoodie/")).sorted().collect(Collectors.toList());
    }
  }

  private static List<String> completions(String table) throws Exception {
    try (Stream<Path> files = Files.list(Paths.get(table, ".hoodie/timeline"))) {
      return files.map(p -> p.getFileName().toString()).filter(f -> f.matches("\\d+_\\d+\\.(commit|deltacommit|replacecommit)"))
          .map(f -> f.substring(f.indexOf('_') + 1, f.indexOf('.'))).sorted().collect(Collectors.toList());
    }
  }

  private static Object drained(Dataset<Row> rows) {
    rows.write().format("noop").mode("overwrite").save();
    return rows;
  }
}
