package hudiidx.benchmarks

import hudiidx.engine.record.{RecordLookup, RecordPart}
import hudiidx.record.PackedKeys
import hudiidx.sync._
import hudiidx.sync.build.Indexer

/** RFC-8's cost model measured: lookups of M keys in a record index of N hash groups, warm, one thread.
  * `CostModel --table DIR --facts FILE --out OUT`. `cost_model.py` fits and draws it.
  */
object CostModel {
  private val Groups = Vector(1, 4, 16, 64, 256)
  private val Keys = Vector(1, 3, 10, 30, 100, 300, 1000, 3000, 10000)
  private val Repeats = 60

  def main(args: Array[String]): Unit = {
    val options = Options.parse(args, Set("table", "facts", "out"), Set.empty)
    val facts = Report.readFacts(java.nio.file.Paths.get(options("facts")))
    val report = new Report(java.nio.file.Paths.get(options("out")), facts.get("shape").asText, "hudiidx")
    val existing = facts.get("existing")
    val keys = Vector.tabulate(existing.size)(i => existing.get(i).asText)
    measure(options("table"), Groups.last, keys, (_, _, _) => ()) // lets the JVM compile
    Groups.foreach { n =>
      measure(options("table"), n, keys, (what, where, times) => report.median(what, where, "cost model", times))
    }
  }

  private def measure(
      table: String,
      groups: Int,
      keys: Vector[String],
      tell: (String, String, Seq[Double]) => Unit
  ): Unit = {
    val access = Rfc15.access()
    val engine = new ThreadEngine(access, 2)
    val part = new RecordPart(engine, RecordOptions(mode = Some("global"), fileGroups = Some(groups)))
    Rfc15.deleteTree(java.nio.file.Paths.get(table, ".hoodie", "hudiidx"))
    new Indexer(access, table, Rfc15.strict, LocalScanner, Vector(part)).create()
    val lookup = RecordLookup.open(TableContext.load(access, table), Rfc15.strict, None, engine)
    try {
      (0 until 200).foreach(i => lookup.locate(batch(keys, 100, i)))
      Keys.filter(_ <= keys.size).foreach { m =>
        val times = (0 until Repeats).map { i =>
          val asked = batch(keys, m, i)
          Report.millis(lookup.locate(asked))
        }
        tell(s"$m keys", s"$groups groups", times.drop(Repeats / 3))
      }
    } finally lookup.close()
  }

  private def batch(keys: Vector[String], m: Int, i: Int): PackedKeys =
    PackedKeys.of(Vector.tabulate(m)(k => keys((i * 997 + k * 31) % keys.size)))
}
