package hudiidx.benchmarks

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.ObjectMapper
import java.nio.charset.StandardCharsets
import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.StandardOpenOption

/** Figures of one system on one table: one JSON object a line, as benchmarks/results.py reads them. */
final class Report(out: Path, table: String, system: String) {
  private var figures = Map.empty[(String, String, String), Double]

  /** A figure that was added. */
  def apply(what: String, where: String, state: String = ""): Double = figures((what, where, state))

  /** @param what  the row of the result table
    *  @param where the part of the table asked: `table`, `average` or `largest` partition
    *  @param state `warm`, `cold`, or empty where it makes no difference
    */
  def add(what: String, where: String, state: String, value: Double, unit: String, repeats: Int): Unit =
    add(what, where, state, value, value, unit, repeats)

  /** Median and best of the repeats: on a machine with other work the best is nearer to the truth. */
  def median(what: String, where: String, state: String, millis: Seq[Double]): Unit =
    add(what, where, state, Report.median(millis), millis.min, "ms", millis.size)

  private def add(
      what: String,
      where: String,
      state: String,
      value: Double,
      best: Double,
      unit: String,
      repeats: Int
  ): Unit = {
    figures += (what, where, state) -> value
    val row = Report.json.createObjectNode()
    row.put("table", table).put("system", system).put("what", what).put("where", where).put("state", state)
    row.put("value", value).put("best", best).put("unit", unit).put("repeats", repeats)
    val line = Report.json.writeValueAsString(row) + "\n"
    print(line)
    Files.write(out, line.getBytes(StandardCharsets.UTF_8), StandardOpenOption.CREATE, StandardOpenOption.APPEND)
  }
}

object Report {
  private val json = new ObjectMapper()

  def median(values: Seq[Double]): Double = {
    val sorted = values.sorted
    val n = sorted.size
    if (n % 2 == 1) sorted(n / 2) else (sorted(n / 2 - 1) + sorted(n / 2)) / 2
  }

  /** Milliseconds of one call. */
  def millis(call: => Any): Double = {
    val started = System.nanoTime()
    val answer = call
    val millis = (System.nanoTime() - started) / 1e6
    if (answer == null) throw new IllegalStateException("a measured call must return its answer")
    millis
  }

  /** Processor time of this thread for one call, in milliseconds: what the call costs on a machine with nothing else to do,
    * less its waiting for the disk.
    */
  def cpuMillis(call: => Any): Double = {
    val threads = java.lang.management.ManagementFactory.getThreadMXBean
    val started = threads.getCurrentThreadCpuTime
    val answer = call
    val millis = (threads.getCurrentThreadCpuTime - started) / 1e6
    if (answer == null) throw new IllegalStateException("a measured call must return its answer")
    millis
  }

  def readFacts(path: Path): JsonNode = json.readTree(path.toFile)

  /** Paths and numbers of files of the partitions of one kind: `average_partitions` or `largest_partitions`. */
  def partitions(facts: JsonNode, kind: String): Vector[PartitionFacts] = {
    val list = facts.get(kind)
    Vector.tabulate(list.size)(i => PartitionFacts(list.get(i).get("path").asText, list.get(i).get("files").asInt))
  }
}
