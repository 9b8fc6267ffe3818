import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * Upserts into a merge-on-read table by stock Hudi 1.1.1 with its record index and by hudiidx, with inserts to base files and to logs, by turns on copies of one table in one
 * session of local[2], each from the rows to the commit with its index brought up.
 *
 * <pre>
 * Upserts make DIR ROWS BATCH               makes DIR/upserts-ROWS and a copy for each system, and its index with a first upsert
 * Upserts time DIR ROWS BATCH ROUNDS OUT    one round to warm up, then ROUNDS; DIR/upserts-ROWS.rounds counts those there were
 * Upserts check DIR ROWS BATCH              stock Hudi must read the same rows from all copies
 * </pre>
 *
 * Batches have BATCH rows, one in five new.
 */
public final class Upserts {
  /** The last writes without index tails, which the public writer never does. */
  private static final String[] SYSTEMS = {
    "Hudi 1.1.1 RECORD_INDEX", "hudiidx", "hudiidx, inserts to logs", "hudiidx, inserts to logs, without tails"
  };

  public static void main(String[] args) throws Exception {
    long rows = Long.parseLong(args[2]);
    long batch = Long.parseLong(args[3]);
    String table = args[1] + "/upserts-" + rows;
    SparkSession spark = StockSpark.session();
    try {
      if (args[0].equals("make")) makeAll(spark, table, rows, batch);
      else if (args[0].equals("time")) time(spark, table, rows, batch, Integer.parseInt(args[4]), args[5]);
      else check(spark, table);
    } finally {
      spark.stop();
    }
  }

  private static void makeAll(SparkSession spark, String table, long rows, long batch) throws Exception {
    Path counted = Paths.get(table + ".rounds");
    if (Files.exists(counted)) return;
    if (!Files.exists(Paths.get(table + ".made"))) {
      make(spark, table, rows);
      Files.createFile(Paths.get(table + ".made"));
    }
    for (String system : SYSTEMS) {
      StockSpark.copyOf(table, copy(table, system));
      System.out.printf("first, %s: %,.0f ms%n", system, Report.millis(() -> upsert(spark, system, copy(table, system), rows, batch, 0)));
    }
    Files.writeString(counted, "1");
  }

  private static void time(SparkSession spark, String table, long rows, long batch, int rounds, String out) throws Exception {
    Path counted = Paths.get(table + ".rounds");
    int first = Integer.parseInt(Files.readString(counted));
    Files.writeString(counted, Integer.toString(first + rounds + 1));
    Map<String, List<Double>> times = new HashMap<>();
    for (int round = first; round <= first + rounds; round++)
      for (int turn = 0; turn < SYSTEMS.length; turn++) {
        String system = SYSTEMS[(turn + round) % SYSTEMS.length];
        int salt = round;
        double millis = Report.millis(() -> upsert(spark, system, copy(table, system), rows, batch, salt));
        System.out.printf("round %d, %s: %,.0f ms%n", round, system, millis);
        if (round > first) times.computeIfAbsent(system, s -> new ArrayList<>()).add(millis);
      }
    for (String system : SYSTEMS)
      new Report(Paths.get(out), "upserts-" + rows, system).median("upsert " + batch + " rows", "table", "warm", times.get(system));
  }

  private static void check(SparkSession spark, String table) {
    String wanted = sums(spark, copy(table, SYSTEMS[0]));
    for (String system : SYSTEMS)
      if (!sums(spark, copy(table, system)).equals(wanted))
        throw new IllegalStateException(system + ": stock reads " + sums(spark, copy(table, system)) + ", of its own table " + wanted);
    System.out.println("stock Hudi reads the same of all: " + wanted);
  }

  private static String copy(String table, String system) {
    return table + "-" + system.replaceAll("[^A-Za-z0-9]+", "-");
  }

  private static void make(SparkSession spark, String table, long rows) {
    rowsOf(spark.range(0, rows, 1, 16).toDF(), rows, 0).write().format("hudi").options(options())
        .option("hoodie.datasource.write.operation", "bulk_insert").option("hoodie.metadata.enable", "false")
        .option("hoodie.parquet.max.file.size", Long.toString(8L << 30)).mode("overwrite").save(table);
  }

  /** Rows of some 200 bytes with UUID keys; consecutive rows share a partition. */
  private static Dataset<Row> rowsOf(Dataset<Row> ids, long rows, int version) {
    return ids.selectExpr("regexp_replace(md5(cast(id as string)), '^(.{8})(.{4})(.{4})(.{4})(.{12})$', '$1-$2-$3-$4-$5') as key",
        "concat('p', id * 4 div " + rows + " % 4) as part", "id + " + version + " as amount", version + "L as ts",
        "sha2(concat(id, '-" + version + "'), 256) as note", "cast(id % 1000 as int) as rank", "cast(id as double) / 7 as ratio");
  }

  private static Map<String, String> options() {
    Map<String, String> options = new HashMap<>();
    options.put("hoodie.table.name", "upserts");
    options.put("hoodie.datasource.write.table.type", "MERGE_ON_READ");
    options.put("hoodie.datasource.write.recordkey.field", "key");
    options.put("hoodie.datasource.write.partitionpath.field", "part");
    options.put("hoodie.datasource.write.precombine.field", "ts");
    return options;
  }

  private static String upsert(SparkSession spark, String system, String table, long rows, long batch, int salt) {
    String id = "case when id % 5 = 4 then id + " + (rows + salt * batch) + " else id * " + rows / batch + " + " + salt + " end as id";
    Dataset<Row> changed = rowsOf(spark.range(0, batch, 1, 4).selectExpr(id), rows, salt + 1);
    Map<String, String> options = options();
    options.put("hoodie.datasource.write.operation", "upsert");
    if (system.startsWith("Hudi")) {
      options.putAll(StockSpark.metadataOptions(true));
      options.put("hoodie.index.type", "RECORD_INDEX");
      options.put("hoodie.embed.timeline.server", "false");
      options.put("hoodie.write.markers.type", "direct");
      options.put("hoodie.clean.automatic", "false");
    } else {
      options.put("hudiidx.write.create", "true");
      options.put("hudiidx.write.log.inserts", Boolean.toString(system.contains("inserts to logs")));
      System.setProperty("hudiidx.internal.tails", Boolean.toString(!system.endsWith("without tails")));
    }
    changed.write().format(system.startsWith("Hudi") ? "hudi" : "hudiidx").options(options).mode("append").save(table);
    return table;
  }

  private static String sums(SparkSession spark, String table) {
    return spark.read().format("hudi").option("hoodie.metadata.enable", "false").load(table)
        .selectExpr("count(*)", "count(distinct key)", "sum(cast(hash(key, part, amount, ts, note, rank, ratio) as long))").first().toString();
  }
}
