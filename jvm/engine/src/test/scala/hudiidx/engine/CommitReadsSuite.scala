package hudiidx.engine

import hudiidx.column.IndexSpec
import hudiidx.engine.column.{ColumnChange, ColumnPart}
import hudiidx.engine.logindex.LogPart
import hudiidx.engine.record.{KeyWrite, KeyedTable, RecordPart}
import hudiidx.storage.{LocalStorage, ReadsStorage}
import hudiidx.sync.{ColumnOptions, LocalEngine, RecordOptions, TableAccess}
import org.scalatest.funsuite.AnyFunSuite

/** How often bringing an index up reads the commits of a table. */
class CommitReadsSuite extends AnyFunSuite {
  import BusyPublisherSuite.{accessOf, plain, tableOf}

  private val key = "_hoodie_record_key"

  /** Reads of completed commits, by file. */
  private def readsOf(work: TableAccess => Any): Map[String, Int] = {
    val storage = new ReadsStorage(LocalStorage)
    work(accessOf(storage))
    storage.reads.filter(_._1.endsWith("commit"))
  }

  private def withAllParts(table: KeyedTable): KeyedTable = {
    val engine = new LocalEngine(accessOf(LocalStorage))
    val indexer = plain(table.path)
    indexer.create()
    indexer.addPart(new RecordPart(engine, RecordOptions(mode = Some("global"), fileGroups = Some(2))))
    Vector("range", "bloom", "values").foreach { kind =>
      val spec = IndexSpec(kind, Vector(key))
      indexer.addPart(new ColumnPart(engine, ColumnOptions(), ColumnChange.Add(Vector(spec))))
    }
    indexer.addPart(new LogPart(engine, Some(true), shareBytes = 1L))
    table
  }

  test("an update of an index with all its parts reads each commit once") {
    val table = withAllParts(tableOf(4))
    val before = readsOf(a => plain(table.path, a).update())
    (1 to 3).foreach { n =>
      val base = KeyWrite("p1", -1, log = false, Vector(s"n$n"), 0)
      table.write(Seq(base, KeyWrite("p0", 0, log = true, Vector(s"m$n"), 1)))
    }
    val reads = readsOf(a => plain(table.path, a).update())
    assert(before === Map.empty && reads.size >= 3 && reads.values.toSet === Set(1))
  }
}
