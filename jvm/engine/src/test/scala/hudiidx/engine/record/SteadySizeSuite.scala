package hudiidx.engine.record

import hudiidx.record.{HashGroup, RecordKind, RecordPlan, RecordProperty}
import hudiidx.storage.LocalStorage
import hudiidx.store.IndexVersion
import hudiidx.sync.RecordOptions
import org.scalatest.funsuite.AnyFunSuite

/** How large a record index is while its table is written to. `benchmarks/steady` has it with stock Hudi's writer. */
class SteadySizeSuite extends AnyFunSuite {
  import RecordFaultSuite.{current, indexerOf}
  import RecordPartSuite.{indexed, lookup}

  private val keys = 16000
  private val files = 8
  private val global = RecordOptions(mode = Some("global"))

  private def bytesPerMapping(version: IndexVersion): Double =
    version.files.filter(f => RecordKind.All(f.kind)).map(_.sizeBytes).sum.toDouble / version.long(
      RecordProperty.Mappings
    )

  /** 50 commits that update and insert so many rows in every file, into logs now and then; the size behind each. */
  private def sizes(updates: Int, inserts: Int): Vector[Double] = {
    val table = new KeyedTable
    def keysOf(file: Int, from: Int, count: Int) =
      (from until from + count).map(i => KeyedTable.uuid(i * files + file)).toVector
    table.write(
      (0 until files).map(f => KeyWrite(s"p${f % 4}", -1, log = false, keysOf(f, 1, keys / files), 0))
    )
    val indexer = indexerOf(RecordFaultSuite.access(LocalStorage), table.path, global)
    indexer.create()
    val created = bytesPerMapping(current(table.path).get)
    val after = (1 to 50).map { commit =>
      table.write((0 until files).map { f =>
        val fresh = keysOf(f, keys / files + commit * inserts, inserts)
        KeyWrite(s"p${f % 4}", f / 4, log = f % 4 != 0 && commit % 25 != 0, fresh, 0, updates)
      })
      if (commit % 25 == 0) table.compact()
      indexer.update()
      val version = current(table.path).get
      assert(version.long(RecordProperty.Mappings) === keys + commit * files * inserts)
      assert(HashGroup.of(version).forall(_.deltas.size <= RecordPlan().maxDeltas))
      bytesPerMapping(version)
    }
    val asked = table.keys.zipWithIndex.collect { case (k, i) if i % 7 == 0 => k }
    assert(lookup(table.path, asked, None, indexed).size === asked.size)
    created +: after.toVector
  }

  for ((what, updates, inserts) <- Seq(("one row in ten new", 18, 2), ("many rows new", 20, 40)))
    test(s"behind each of 50 upserts, $what, a mapping takes at most 1.3 times what it took after creation") {
      val all = sizes(updates, inserts)
      info(f"bytes a mapping: ${all.head}%.2f created, ${all.last}%.2f at last, ${all.max}%.2f at most")
      assert(all.max <= 1.3 * all.head)
    }
}
