package hudiidx.benchmarks

import com.fasterxml.jackson.databind.JsonNode
import hudiidx.fs.HadoopStorage
import hudiidx.engine.Tables
import hudiidx.hfile.BlockCache
import hudiidx.store.IndexVersion
import hudiidx.sync.IndexOptions
import hudiidx.sync.build.Indexer
import hudiidx.sync.TableAccess
import hudiidx.sync.TableSnapshot
import hudiidx.table.FileSystemView
import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.Paths
import org.apache.hadoop.conf.Configuration

/** RFC-15's table of figures for our index on a generated table.
  *
  * `Rfc15 --table DIR --facts FILE --out OUT [--create SOURCE,...] [--repeats N]`: with `--create` makes the index
  * first, anew from each source, and reports the times: `listing`, `metadata` (Hudi's own metadata table), or `timeline` for
  * tables without data files: one update per commit.
  */
object Rfc15 {
  private val CacheBytes = 64L << 20

  def main(args: Array[String]): Unit = {
    val options = Options.parse(args, Set("table", "facts", "out", "create", "repeats"), Set.empty)
    val facts = Report.readFacts(Paths.get(options("facts")))
    val report = new Report(Paths.get(options("out")), facts.get("shape").asText, "hudiidx")
    val table = options("table")
    options.value("create").foreach(_.split(',').foreach(source => new Creation(table, report).from(source)))
    val bench = new Rfc15(table, facts, report, options.value("repeats").map(_.toInt).getOrElse(20))
    bench.cold()
    bench.warm()
    bench.processorTime()
    new Updates(table, Shape.named(facts.get("shape").asText), report).run()
  }

  /** Hadoop's settings, read once in a process by every system that is measured. */
  private val conf = new Configuration()

  /** New objects, nothing cached. */
  def access(): TableAccess = Tables.access(new HadoopStorage(conf), new BlockCache(CacheBytes))

  /** A fallback would measure the wrong thing, so it is an error. */
  val strict: IndexOptions = IndexOptions(strict = true)

  def opened[A](table: String)(use: TableSnapshot => A): A = {
    val snapshot = TableSnapshot.open(access(), table, strict)
    try use(snapshot)
    finally snapshot.close()
  }

  def deleteTree(root: Path): Unit =
    if (Files.exists(root)) {
      val all = Files.walk(root)
      try all.sorted(java.util.Comparator.reverseOrder[Path]()).forEach(p => Files.delete(p))
      finally all.close()
    }

  /** Reports the size of each file of the version. */
  def sizes(version: IndexVersion, report: Report): Unit = {
    version.files.foreach(f => report.add(s"bytes, ${f.kind}", "table", "", f.sizeBytes.toDouble, "bytes", 1))
    report.add("bytes", "table", "", version.files.map(_.sizeBytes).sum.toDouble, "bytes", 1)
  }

  private val Calls: Vector[(String, (FileSystemView, String) => Iterable[Any])] = Vector(
    "all base files" -> ((v, p) => v.allBaseFiles(p)),
    "file groups" -> ((v, p) => v.allFileGroups(p)),
    "file slices" -> ((v, p) => v.allFileSlices(p)),
    "latest base files" -> ((v, p) => v.latestBaseFiles(p)),
    "latest file slices" -> ((v, p) => v.latestFileSlices(p)),
    "latest uncompacted slices" -> ((v, p) => v.latestUncompactedFileSlices(p)),
    "latest merged slices" -> ((v, p) => v.latestMergedFileSlices(p))
  )
}

/** Reading: cold and warm calls. */
final class Rfc15(table: String, facts: JsonNode, report: Report, repeats: Int) {
  private val average = Report.partitions(facts, "average_partitions").map(_.path)
  private val largest = Report.partitions(facts, "largest_partitions").map(_.path)

  /** Each time with new objects: storage, caches, snapshot; the time includes opening the table and its index. */
  def cold(): Unit = {
    def partitions(): Any = Rfc15.opened(table)(_.source.partitions)
    def files(path: String): Any = Rfc15.opened(table)(_.source.files(path))
    report.add("partitions", "table", "first in JVM", Report.millis(partitions()), "ms", 1)
    report.add("files", "average", "first in JVM", Report.millis(files(average.head)), "ms", 1)
    val all = (0 until repeats).map(_ => Report.millis(partitions()))
    report.median("partitions", "table", "cold", all)
    report.median(
      "files",
      "average",
      "cold",
      (0 until repeats).map(i => Report.millis(files(average(i % average.size))))
    )
    report.median("files", "largest", "cold", (0 until repeats).map(_ => Report.millis(files(largest.head))))
  }

  /** The same and a stream of all files by processor time, which other work on the machine does not change. */
  def processorTime(): Unit = {
    val state = "processor time"
    val many = 0 until repeats
    report.median(
      "partitions, cold",
      "table",
      state,
      many.map(_ => Report.cpuMillis(Rfc15.opened(table)(_.source.partitions)))
    )
    report.median(
      "files, cold",
      "average",
      state,
      many.map(i => Report.cpuMillis(Rfc15.opened(table)(_.source.files(average(i % average.size)))))
    )
    Rfc15.opened(table) { snapshot =>
      report.median("all files", "table", state, (0 until 5).map(_ => Report.cpuMillis(stream(snapshot))))
    }
  }

  /** Files open, blocks in a cache of 64 MiB, another partition each call. */
  def warm(): Unit = Rfc15.opened(table) { snapshot =>
    val source = snapshot.source
    checkCounts(snapshot)
    val partitions = (0 until 10 * repeats).map(_ => Report.millis(source.partitions)).drop(2 * repeats)
    report.median("partitions", "table", "warm", partitions)
    measure("files", p => source.files(p))
    Rfc15.Calls.foreach { case (name, call) => measure(name, p => call(snapshot.view, p)) }
    val streams = (0 until 5).map(_ => Report.millis(stream(snapshot)))
    report.median("all files", "table", "warm", streams)
    val bases = (0 until 5).map(_ => Report.millis(snapshot.view.iterate(p => snapshot.view.allBaseFiles(p)).size))
    report.median("all base files", "table", "warm", bases)
  }

  private def measure(what: String, call: String => Any): Unit = {
    (0 until 10).foreach(_ => average.foreach(call)) // lets the JVM compile
    val times = for (_ <- 0 until repeats; p <- average) yield Report.millis(call(p))
    report.median(what, "average", "warm", times)
    val big = for (_ <- 0 until repeats; p <- largest) yield (p, Report.millis(call(p)))
    report.median(what, "largest", "warm", big.collect { case (p, ms) if p == largest.head => ms })
  }

  private def stream(snapshot: TableSnapshot): Long = {
    var files = 0L
    snapshot.source.partitions.foreach(p => files += snapshot.source.files(p).length)
    files
  }

  private def checkCounts(snapshot: TableSnapshot): Unit = {
    val files = stream(snapshot)
    val wanted = facts.get("files").asLong
    if (files != wanted || snapshot.source.partitions.size != facts.get("partitions").asInt)
      throw new IllegalStateException(s"$table: the index has $files files, generated were $wanted")
  }
}

/** Makes the index, anew. */
final class Creation(table: String, report: Report) {

  def from(source: String): Unit = {
    val index = Paths.get(table, ".hoodie", "hudiidx")
    Rfc15.deleteTree(index)
    val options = IndexOptions(strict = true, source = if (source == "timeline") "listing" else source)
    val started = System.nanoTime()
    val version =
      if (source == "timeline") commitByCommit(options)
      else new Indexer(Rfc15.access(), table, options).create().version
    report.add(s"create from $source", "table", "", (System.nanoTime() - started) / 1e6, "ms", 1)
    Rfc15.sizes(version, report)
  }

  /** Hides all commits, makes an empty index, and shows it one commit after the other. */
  private def commitByCommit(options: IndexOptions): IndexVersion = {
    val timeline = Paths.get(table, ".hoodie", "timeline")
    val hidden = Paths.get(table, ".hoodie", "timeline-hidden")
    Files.move(timeline, hidden)
    Files.createDirectories(timeline)
    var version = new Indexer(Rfc15.access(), table, options).create().version
    val names = hidden.toFile.list().sorted
    names.groupBy(_.take(17)).toVector.sortBy(_._1).foreach { case (_, files) =>
      files.foreach(f => Files.move(hidden.resolve(f), timeline.resolve(f)))
      if (files.exists(_.endsWith(".commit"))) version = new Indexer(Rfc15.access(), table, options).update().version
    }
    Rfc15.deleteTree(hidden)
    version
  }
}

/** Updates of one commit with 100 new files, on a copy of the table's timeline and index. */
final class Updates(table: String, shape: Shape, report: Report) {
  private val copy = Paths.get(table + "-updates")

  def run(): Unit = {
    Rfc15.deleteTree(copy)
    Seq("timeline", "hudiidx", "hoodie.properties").foreach(copyTree)
    val times = (0 until 7).map { _ =>
      AppendCommit.append(copy, shape, 100, withFiles = false)
      Report.millis(new Indexer(Rfc15.access(), copy.toString, Rfc15.strict).update())
    }
    report.median("update 100 files", "table", "", times.drop(2))
    Rfc15.opened(copy.toString)(s => report.add("files after updates", "table", "", files(s).toDouble, "files", 1))
    Rfc15.deleteTree(copy)
  }

  private def files(snapshot: TableSnapshot): Long =
    snapshot.source.partitions.map(snapshot.source.files(_).length.toLong).sum

  private def copyTree(name: String): Unit = {
    val from = Paths.get(table, ".hoodie")
    val all = Files.walk(from.resolve(name))
    try
      all.forEach { p =>
        val to = copy.resolve(".hoodie").resolve(from.relativize(p))
        Files.createDirectories(to.getParent)
        if (!Files.exists(to)) Files.copy(p, to)
      }
    finally all.close()
  }
}
