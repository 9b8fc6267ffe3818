package hudiidx.benchmarks

import java.util.concurrent.{Callable, Executors}

import hudiidx.engine.record.{RecordLookup, RecordPart, RecordVerifier}
import hudiidx.record.PackedKeys
import hudiidx.sync._
import hudiidx.sync.build.Indexer

/** The record index of a real table without Spark: `KeyIndex --table DIR --facts FILE --out OUT [--threads 2]` makes it,
  * looks keys up in it and compares it with the table's keys.
  */
object KeyIndex {

  def main(args: Array[String]): Unit = {
    val options = Options.parse(args, Set("table", "facts", "out", "threads"), Set.empty)
    val facts = Report.readFacts(java.nio.file.Paths.get(options("facts")))
    val report =
      new Report(java.nio.file.Paths.get(options("out")), facts.get("shape").asText, "hudiidx, without Spark")
    val table = options("table")
    val access = Rfc15.access()
    val engine = new ThreadEngine(access, options.value("threads").map(_.toInt).getOrElse(2))
    val part = new RecordPart(engine, RecordOptions(mode = Some("global")))
    Rfc15.deleteTree(java.nio.file.Paths.get(table, ".hoodie", "hudiidx"))
    val started = System.nanoTime()
    val made = new Indexer(access, table, Rfc15.strict, LocalScanner, Vector(part)).create().version
    report.add("create", "table", "", (System.nanoTime() - started) / 1e6, "ms", 1)
    val bytes = made.files.filter(part.owns).map(_.sizeBytes).sum
    report.add("bytes a mapping", "table", "created", bytes.toDouble / facts.get("rows").asLong, "bytes", 1)
    lookups(table, facts.get("existing"), engine, report)
    val context = TableContext.load(access, table)
    report.add(
      "verify record keys",
      "table",
      "",
      Report.millis(require(new RecordVerifier(engine).verify(context, Rfc15.strict).ok, "differences were found")),
      "ms",
      1
    )
  }

  private def lookups(
      table: String,
      existing: com.fasterxml.jackson.databind.JsonNode,
      engine: TaskEngine,
      report: Report
  ): Unit = {
    val keys = Vector.tabulate(existing.size)(i => existing.get(i).asText)
    def opened(): RecordLookup = RecordLookup.open(TableContext.load(Rfc15.access(), table), Rfc15.strict, None, engine)
    val cold = (0 until 10).map { i =>
      Report.millis {
        val o = opened();
        try o.locate(PackedKeys.of(keys.slice(i, i + 1))).places.length
        finally o.close()
      }
    }
    report.median("open and one key", "table", "cold", cold)
    val lookup = opened()
    try
      Seq(1, 1000, 10000).filter(_ <= keys.size).foreach { n =>
        val times = (0 until 40).map { i =>
          val asked = PackedKeys.of(Vector.tabulate(n)(k => keys((i * 997 + k * 31) % keys.size)))
          Report.millis(lookup.locate(asked))
        }
        report.median(s"lookup $n keys", "table", "warm", times.drop(10))
      }
    finally lookup.close()
  }
}

/** Pieces of work on threads. */
final class ThreadEngine(access: TableAccess, threads: Int) extends TaskEngine {
  override def parallelism: Int = threads

  override def run[A, B](what: String, inputs: Vector[A])(work: (TableAccess, A) => B): Vector[B] = {
    val started = System.nanoTime()
    val pool = Executors.newFixedThreadPool(threads)
    try {
      val all = inputs.map(i => pool.submit(new Callable[B] { override def call(): B = work(access, i) }))
      all.map(_.get())
    } finally {
      pool.shutdown()
      println(f"${(System.nanoTime() - started) / 1e6}%.0f ms: $what")
    }
  }
}
