import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;

/** Timing and output shared by the peers: one JSON object a line, as benchmarks/results.py reads them. */
final class Report {
  private static final ObjectMapper JSON = new ObjectMapper();
  private final Path out;
  private final String table;
  private final String system;

  Report(Path out, String table, String system) {
    this.out = out;
    this.table = table;
    this.system = system;
  }

  /** A figure in the given unit; `what` names the row, `where` the part of the table, `state` warm or cold or "". */
  void add(String what, String where, String state, double value, String unit, int repeats) throws IOException {
    add(what, where, state, value, value, unit, repeats);
  }

  /** Median and best of the repeats: on a machine with other work the best is nearer to the truth. */
  void median(String what, String where, String state, List<Double> millis) throws IOException {
    add(what, where, state, middle(millis), Collections.min(millis), "ms", millis.size());
  }

  private void add(String what, String where, String state, double value, double best, String unit, int repeats)
      throws IOException {
    ObjectNode row = JSON.createObjectNode();
    row.put("table", table).put("system", system).put("what", what).put("where", where).put("state", state);
    row.put("value", value).put("best", best).put("unit", unit).put("repeats", repeats);
    String line = JSON.writeValueAsString(row) + "\n";
    System.out.print(line);
    Files.write(out, line.getBytes(StandardCharsets.UTF_8), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
  }

  static double middle(List<Double> values) {
    List<Double> sorted = new ArrayList<>(values);
    Collections.sort(sorted);
    int n = sorted.size();
    return n % 2 == 1 ? sorted.get(n / 2) : (sorted.get(n / 2 - 1) + sorted.get(n / 2)) / 2;
  }

  /** Milliseconds of one call. */
  static double millis(Callable<?> call) throws Exception {
    long started = System.nanoTime();
    Object kept = call.call();
    double millis = (System.nanoTime() - started) / 1e6;
    if (kept == null) throw new IllegalStateException("a measured call must return its answer");
    return millis;
  }

  /** Milliseconds of each of so many calls, behind one that is not counted. */
  static List<Double> timed(int repeats, Callable<?> call) throws Exception {
    call.call();
    List<Double> millis = new ArrayList<>();
    for (int i = 0; i < repeats; i++) millis.add(millis(call));
    return millis;
  }

  /** The number found, which must be the one wanted. */
  static Object expect(long found, long wanted) {
    if (found != wanted) throw new IllegalStateException(found + " records, not " + wanted);
    return found;
  }

  static JsonNode facts(String file) throws IOException {
    return JSON.readTree(new File(file));
  }

  /** Paths of the partitions of one kind: `average_partitions` or `largest_partitions`. */
  static List<String> partitions(JsonNode facts, String kind) {
    List<String> paths = new ArrayList<>();
    facts.get(kind).forEach(p -> paths.add(p.get("path").asText()));
    return paths;
  }

  static long bytesUnder(String dir) throws IOException {
    try (Stream<Path> files = Files.walk(Paths.get(dir))) {
      return files.filter(Files::isRegularFile).filter(f -> !f.toString().endsWith(".crc")).mapToLong(f -> f.toFile().length()).sum();
    }
  }
}
