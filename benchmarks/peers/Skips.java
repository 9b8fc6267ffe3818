import java.nio.file.Paths;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * Selective queries on the same rows unsorted, sorted by one column and along a space-filling curve: stock Hudi with column and
 * partition statistics, Iceberg, Delta and hudiidx by turns, each with its own skipping. A query is timed from `load` to its rows;
 * files and bytes of data are counted by the file system, when nothing is timed.
 *
 * <pre>
 * Skips DIR ROWS FILES ROUNDS OUT     makes the tables that are missing in DIR
 * </pre>
 */
public final class Skips {
  private static final String OURS = "hudiidx";
  private static final String[] FORMATS = {"hudi", "iceberg", "delta", OURS};
  private static final Map<String, String> NAMES =
      Map.of("hudi", "Hudi 1.1.1", "iceberg", "Iceberg 1.10.0", "delta", "Delta 3.3.2", OURS, OURS);

  private final SkipTables tables;
  private final long rows;
  private final int files;
  private final int rounds;
  private final String out;
  private final Map<String, SparkSession> sessions = new LinkedHashMap<>();
  private final List<String> shown = new ArrayList<>();

  private Skips(SkipTables tables, long rows, int files, int rounds, String out) throws Exception {
    this.tables = tables;
    this.rows = rows;
    this.files = files;
    this.rounds = rounds;
    this.out = out;
    for (String f : FORMATS) sessions.put(f, SkipSessions.of(f));
  }

  public static void main(String[] args) throws Exception {
    long rows = Long.parseLong(args[1]);
    int files = Integer.parseInt(args[2]);
    SkipTables tables = new SkipTables(args[0], rows, files);
    List<String> layouts = Arrays.asList(System.getenv().getOrDefault("SKIPS", String.join(",", SkipTables.LAYOUTS)).split(","));
    try {
      tables.make(layouts);
      new Skips(tables, rows, files, Integer.parseInt(args[3]), args[4]).run(layouts);
    } finally {
      SparkSession.active().stop();
    }
  }

  private void run(List<String> layouts) throws Exception {
    for (String layout : layouts)
      for (String f : FORMATS) {
        int found = SkipTables.dataFiles(tables.table(layout, f.equals(OURS) ? "hudi" : f)).size();
        if (found != files) throw new IllegalStateException(layout + " " + f + ": " + found + " files, wanted " + files);
      }
    // Every reader is warm before the first time that counts.
    for (Map.Entry<String, String[]> q : queries().entrySet()) for (String f : FORMATS) rowsOf(f, layouts.get(0), q.getValue()[0], null);
    for (String layout : layouts) for (Map.Entry<String, String[]> q : queries().entrySet()) measure(layout, q.getKey(), q.getValue());
    System.out.println("\n| rows | query | " + Arrays.stream(FORMATS).map(NAMES::get).collect(Collectors.joining(" | "))
        + " |\n|---|---|" + "--:|".repeat(FORMATS.length));
    shown.forEach(System.out::println);
  }

  /** Forms of each query with other constants, one a round. */
  private Map<String, String[]> queries() {
    Map<String, String[]> all = new LinkedHashMap<>();
    all.put("range of the sorted column", forms(i -> "ts >= timestamp'" + at(i, 0) + "' and ts < timestamp'" + at(i, 6) + "'"));
    all.put("point of a second column", forms(i -> "cust = " + cust(i)));
    all.put("range of both",
        forms(i -> "ts between timestamp'" + at(i, 0) + "' and timestamp'" + at(i, 720) + "' and cust between " + cust(i) + " and " + (cust(i) + rows / 5000)));
    all.put("prefix of a string", forms(i -> "invoice like 'inv-" + at(i, 0).replaceAll("[-: ]", "").substring(0, 10) + "%'"));
    all.put("list of 10 values", forms(i -> "batch in (" + IntStream.range(0, 10).mapToObj(k -> Long.toString(row(i + 31 * k) / 100))
        .collect(Collectors.joining(", ")) + ")"));
    all.put("null", forms(i -> "coupon is null and id >= " + i));
    all.put("date of a time", forms(i -> "to_date(ts) = date'" + at(i, 0).substring(0, 10) + "'"));
    all.put("text of a time", forms(i -> "date_format(ts, 'yyyy-MM-dd HH') = '" + at(i, 0).substring(0, 13) + "'"));
    return all;
  }

  private String[] forms(java.util.function.IntFunction<String> form) {
    return IntStream.rangeClosed(0, rounds).mapToObj(form).toArray(String[]::new);
  }

  private long row(int i) {
    return (i * 7919L + 3) * 104729L % rows;
  }

  private String at(int i, int hoursLater) {
    LocalDateTime t = LocalDateTime.ofEpochSecond(1672531200L + row(i) * 12 + hoursLater * 3600L, 0, ZoneOffset.UTC);
    return t.format(DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss"));
  }

  private long cust(int i) {
    return (i * 31337L + 17) % SkipTables.customers(rows);
  }

  private void measure(String layout, String query, String[] forms) throws Exception {
    Map<String, List<Double>> times = new LinkedHashMap<>();
    Map<String, List<Double>> plans = new LinkedHashMap<>();
    Map<String, int[]> lost = new LinkedHashMap<>();
    for (int round = 0; round < forms.length; round++) {
      Map<String, List<String>> found = new LinkedHashMap<>();
      for (int k = 0; k < FORMATS.length; k++) {
        String f = FORMATS[(k + round) % FORMATS.length];
        double[] planned = new double[1];
        List<Row> got = new ArrayList<>();
        String where = forms[round];
        double millis = Report.millis(() -> got.addAll(rowsOf(f, layout, where, planned)));
        found.put(f, got.stream().map(Row::toString).sorted().collect(Collectors.toList()));
        if (round == 0) continue;
        times.computeIfAbsent(f, x -> new ArrayList<>()).add(millis);
        plans.computeIfAbsent(f, x -> new ArrayList<>()).add(planned[0]);
      }
      List<String> ours = found.get(OURS);
      if (ours.isEmpty()) throw new IllegalStateException(query + ": no rows");
      for (String f : FORMATS)
        if (!found.get(f).equals(ours)) {
          // Stock's own skipping is known to lose rows; without it stock says what is right.
          if (!f.equals("hudi") || !stockWithoutSkipping(layout, forms[round]).equals(ours))
            throw new IllegalStateException(layout + ", " + forms[round] + ": " + f + " has " + found.get(f).size() + " rows, hudiidx " + ours.size());
          lost.put(f, new int[] {ours.size() - found.get(f).size(), ours.size()});
        }
    }
    show(layout, query, forms[1], times, plans, lost);
  }

  private void show(String layout, String query, String counted, Map<String, List<Double>> times, Map<String, List<Double>> plans,
      Map<String, int[]> lost) throws Exception {
    List<String> cells = new ArrayList<>();
    double own = Report.middle(times.get(OURS));
    for (String f : FORMATS) {
      SkipSessions.CountedFiles.start();
      rowsOf(f, layout, counted, null);
      SkipSessions.CountedFiles.stop();
      int read = SkipSessions.CountedFiles.files();
      double mb = SkipSessions.CountedFiles.bytes() / 1e6;
      Report report = new Report(Paths.get(out), "skips-" + rows, NAMES.get(f));
      report.median(query, layout, "warm", times.get(f));
      report.median(query + ", planned", layout, "warm", plans.get(f));
      report.add(query + ", files read", layout, "", read, "files", 1);
      report.add(query + ", bytes read", layout, "", SkipSessions.CountedFiles.bytes(), "bytes", 1);
      double middle = Report.middle(times.get(f));
      String ratio = f.equals(OURS) ? "" : String.format(" (%.2f x)", middle / own);
      String wrong = lost.containsKey(f) ? String.format(", **%d of %d rows lost**", lost.get(f)[0], lost.get(f)[1]) : "";
      cells.add(String.format("%d files, %.2f MB, %.0f ms, best %.0f%s%s", read, mb, middle, Collections.min(times.get(f)), ratio, wrong));
    }
    shown.add("| " + layout + " | " + query + " | " + String.join(" | ", cells) + " |");
  }

  /** @param planned set to the milliseconds until the physical plan was there */
  private List<Row> rowsOf(String format, String layout, String where, double[] planned) {
    SparkSession spark = sessions.get(format);
    SparkSession.setActiveSession(spark);
    long from = System.nanoTime();
    Dataset<Row> found = table(spark, format, layout).where(where).select("id", "fare", "rider");
    if (planned != null) {
      found.queryExecution().executedPlan();
      planned[0] = (System.nanoTime() - from) / 1e6;
    }
    return found.collectAsList();
  }

  private Dataset<Row> table(SparkSession spark, String format, String layout) {
    String path = tables.table(layout, format.equals(OURS) ? "hudi" : format);
    if (format.equals(OURS)) return spark.read().format(OURS).option("hudiidx.index.strict", "true").load(path);
    if (!format.equals("hudi")) return spark.read().format(format).load(path);
    return stock(spark, path, true);
  }

  private static Dataset<Row> stock(SparkSession spark, String path, boolean skipping) {
    String on = Boolean.toString(skipping);
    return spark.read().format("hudi").option("hoodie.metadata.enable", on).option("hoodie.enable.data.skipping", on)
        .option("hoodie.metadata.index.column.stats.enable", on).option("hoodie.metadata.index.partition.stats.enable", on).load(path);
  }

  private List<String> stockWithoutSkipping(String layout, String where) {
    SparkSession spark = sessions.get("hudi");
    SparkSession.setActiveSession(spark);
    return stock(spark, tables.table(layout, "hudi"), false).where(where).select("id", "fare", "rider").collectAsList().stream()
        .map(Row::toString).sorted().collect(Collectors.toList());
  }
}
