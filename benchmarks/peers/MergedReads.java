import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.DataFrameReader;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SaveMode;
import org.apache.spark.sql.SparkSession;

/**
 * Snapshots of merge-on-read tables through stock Hudi's reader and through hudiidx, in one session of local[2].
 *
 * <pre>
 * MergedReads make DIR ROWS            DIR/mor: 16 slices, one row in ten updated by 5 commits, a log file of each in every slice
 *                                      DIR/one: 50 slices, such logs in one of them; DIR/cow: the same without logs
 * MergedReads check DIR ROWS           all rows of each table, and those under some filters, are stock's: without an index, and
 *                                      with one of keys and columns beside the table, in DIR/index
 * MergedReads time DIR ROWS OUT        both readers by turns; their rows must be equal
 * MergedReads memory DIR ROWS OUT hudi|hudiidx   memory that is still in use after a collection while one reader reads DIR/mor
 * </pre>
 */
public final class MergedReads {
  private static final int COMMITS = 5;
  private static final int ROUNDS = 5;
  private static final String[] SYSTEMS = {"hudi", "hudiidx"};
  private static final Map<String, String> QUERIES = new HashMap<>();

  static {
    QUERIES.put("all columns", "*");
    QUERIES.put("one column", "sum(amount)");
    QUERIES.put("count", "count(1)");
  }

  public static void main(String[] args) throws Exception {
    SparkSession spark = StockSpark.session();
    try {
      long rows = Long.parseLong(args[2]);
      if (args[0].equals("make")) make(spark, args[1], rows);
      else if (args[0].equals("check")) check(spark, args[1], rows);
      else if (args[0].equals("time")) time(spark, args[1], rows, args[3]);
      else memory(spark, args[1], rows, args[3], args[4]);
    } finally {
      spark.stop();
    }
  }

  private static void make(SparkSession spark, String dir, long rows) {
    table(spark, dir + "/mor", rows, 16, "true");
    table(spark, dir + "/one", rows, 50, "part = 'p7'");
    table(spark, dir + "/cow", rows, 50, null);
  }

  /** A partition for each slice; `updated` chooses the rows that may be updated, null: none. */
  private static void table(SparkSession spark, String table, long rows, int slices, String updated) {
    if (Files.exists(Paths.get(table))) return;
    write(rows(spark, 0, rows, 1, slices, 0), table, "bulk_insert", SaveMode.Overwrite);
    for (int i = 0; updated != null && i < COMMITS; i++)
      write(rows(spark, i, rows, 10 * COMMITS, slices, i + 1).where(updated), table, "upsert", SaveMode.Append);
  }

  private static void write(Dataset<Row> rows, String table, String operation, SaveMode mode) {
    rows.write().format("hudi").option("hoodie.table.name", "merged")
        .option("hoodie.datasource.write.table.type", table.endsWith("cow") ? "COPY_ON_WRITE" : "MERGE_ON_READ")
        .option("hoodie.datasource.write.recordkey.field", "key").option("hoodie.datasource.write.partitionpath.field", "part")
        .option("hoodie.datasource.write.precombine.field", "ts").option("hoodie.datasource.write.operation", operation)
        .option("hoodie.index.type", "SIMPLE").option("hoodie.compact.inline", "false").option("hoodie.metadata.enable", "false")
        .option("hoodie.parquet.max.file.size", Long.toString(8L << 30)).option("hoodie.parquet.small.file.limit", "0")
        .option("hoodie.write.markers.type", "direct").option("hoodie.embed.timeline.server", "false")
        .option("hoodie.clean.automatic", "false").mode(mode).save(table);
  }

  /** Rows from, from + step, ... below until, in their version of this number. */
  private static Dataset<Row> rows(SparkSession spark, long from, long until, int step, int slices, int version) {
    return spark.range(from, until, step, slices).selectExpr(
        "regexp_replace(md5(cast(id as string)), '^(.{8})(.{4})(.{4})(.{4})(.{12})$', '$1-$2-$3-$4-$5') as key",
        "concat('p', id * " + slices + " div " + until + ") as part", version + "L as ts", "id * 7 + " + version + " as amount",
        "cast(id % 1000 as int) as quantity", "cast(id as double) / 3 as fare", "concat('rider-', id % 10007) as rider",
        "concat('a note of row ', id, ' in version ', " + version + ") as note", "date_add(date'2024-01-01', cast(id % 365 as int)) as day",
        "id % 2 = 0 as flag");
  }

  private static DataFrameReader read(SparkSession spark, String system) {
    return spark.read().format(system).option("hoodie.metadata.enable", "false");
  }

  private static void check(SparkSession spark, String dir, long rows) {
    String[] filters = {"true", "amount between 1000 and 90000", "part = 'p3' and quantity = 7", "note like '%version 5'",
        "key = '" + spark.sql("select regexp_replace(md5('20'), '^(.{8})(.{4})(.{4})(.{4})(.{12})$', '$1-$2-$3-$4-$5')").first().getString(0) + "'"};
    for (String name : new String[] {"mor", "one", "cow"}) {
      String table = dir + "/" + name;
      Map<String, String> index = Map.of("hudiidx.index.path", dir + "/index/" + name, "hudiidx.index.strict", "true");
      Map<String, String> made = new HashMap<>(index);
      made.putAll(Map.of("hudiidx.record.mode", "global", "hudiidx.columns", "*"));
      System.out.println(new hudiidx.spark.api.HudiIdxApi(spark, table, made).create());
      for (String where : filters) {
        String stock = sums(read(spark, SYSTEMS[0]).option("hoodie.enable.data.skipping", "false").load(table).where(where));
        String without = sums(read(spark, SYSTEMS[1]).option("hudiidx.index.enabled", "false").load(table).where(where));
        String with = sums(read(spark, SYSTEMS[1]).options(index).load(table).where(where));
        System.out.println(table + " where " + where + ": stock Hudi " + stock + ", without index " + without + ", with it " + with);
        boolean whole = !where.equals("true") || stock.startsWith(rows + "|");
        if (!whole || !stock.equals(without) || !stock.equals(with)) throw new IllegalStateException("not the same rows");
      }
    }
  }

  private static void time(SparkSession spark, String dir, long rows, String out) throws Exception {
    timed(spark, dir, rows, out, "mor");
    // By turns: what a slice with logs costs the others shows against the same rows without any.
    timed(spark, dir, rows, out, "one", "cow");
  }

  private static void timed(SparkSession spark, String dir, long rows, String out, String... tables) throws Exception {
    for (String name : tables) compare(spark, dir + "/" + name, rows);
    for (Map.Entry<String, String> query : QUERIES.entrySet()) {
      Map<String, List<Double>> times = new HashMap<>();
      for (int round = 0; round <= ROUNDS; round++)
        for (String system : SYSTEMS)
          for (String name : tables) {
            double millis = Report.millis(() -> drained(read(spark, system).load(dir + "/" + name).selectExpr(query.getValue())));
            if (round > 0) times.computeIfAbsent(name + system, s -> new ArrayList<>()).add(millis);
          }
      for (String name : tables)
        for (String system : SYSTEMS)
          report(out, name, rows, system).median(query.getKey(), "table", "warm", times.get(name + system));
    }
  }

  /** Number of rows and sum of the hashes of all their columns. */
  private static String sums(Dataset<Row> rows) {
    return rows.selectExpr("concat_ws('|', count(1), sum(cast(xxhash64(struct(*)) as decimal(38,0)))) as sums").first().getString(0);
  }

  private static void compare(SparkSession spark, String table, long rows) {
    String stock = sums(read(spark, SYSTEMS[0]).load(table));
    String ours = sums(read(spark, SYSTEMS[1]).load(table));
    if (!stock.equals(ours) || !stock.startsWith(rows + "|"))
      throw new IllegalStateException(table + ": stock Hudi reads " + stock + ", hudiidx " + ours + " of " + rows + " rows");
  }

  private static Report report(String out, String name, long rows, String system) {
    return new Report(Paths.get(out), name + "-" + rows, system.equals("hudi") ? "Hudi 1.1.1 reader" : "hudiidx");
  }

  private static void memory(SparkSession spark, String dir, long rows, String out, String system) throws Exception {
    for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) pool.resetPeakUsage();
    long[] most = new long[1];
    Thread watch = new Thread(() -> {
      while (true) {
        most[0] = Math.max(most[0], afterCollection());
        try {
          Thread.sleep(5);
        } catch (InterruptedException e) {
          return;
        }
      }
    });
    watch.setDaemon(true);
    watch.start();
    for (int i = 0; i < 3; i++) drained(read(spark, system).load(dir + "/mor"));
    watch.interrupt();
    report(out, "mor", rows, system).add("heap in use after a collection, at most", "table", "", most[0] / 1048576.0, "MiB", 3);
  }

  private static long afterCollection() {
    long bytes = 0;
    for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans())
      if (pool.getType() == MemoryType.HEAP && pool.getCollectionUsage() != null) bytes += pool.getCollectionUsage().getUsed();
    return bytes;
  }

  private static Object drained(Dataset<Row> rows) {
    rows.write().format("noop").mode("overwrite").save();
    return rows;
  }
}
