package hudiidx.engine.record

import hudiidx.engine.{Tables, TimelineCut}
import hudiidx.hfile.BlockCache
import hudiidx.record.{PackedKeys, RecordFileStats, RecordLocation}
import hudiidx.storage.LocalStorage
import hudiidx.store.IndexStore
import hudiidx.sync._
import hudiidx.sync.build.{Indexer, SyncResult}
import hudiidx.table.TableConfig
import hudiidx.{Figures, Fixtures, IndexNotFound}
import org.scalatest.funsuite.AnyFunSuite

/** The record index of tables that stock Hudi wrote: what lookups find through it, fresh, stale and brought up step by step,
  * is what the files hold. That those readings of files are stock Hudi's answers `SliceKeysSuite` shows.
  */
class RecordPartSuite extends AnyFunSuite {
  import RecordPartSuite._

  for (name <- Fixtures.sampled(this))
    test(s"$name: every key is found where the files have it, absent ones are not, now and as of earlier instants") {
      val table = Fixtures.copy(name)
      create(table)
      val keys = allKeys(table, None)
      val asked = keys ++ absent(keys)
      agree(table, asked, None)
      Fixtures.json(name).path("time_travel").forEach { answer =>
        if (answer.has("count")) {
          val asOf = Some(answer.path("as_of").asText())
          val there = allKeys(table, asOf) ++ asked
          agree(table, there, asOf)
        }
      }
    }

  for (name <- Fixtures.sampled(this))
    test(s"$name: brought up instant by instant or read while behind, the index has the keys that the files have") {
      val table = Fixtures.copy(name)
      val cut = new TimelineCut(table)
      val from = cut.size / 3
      cut.showFirst(from)
      // A later clean may have taken all files of an early instant: no such table ever was.
      if (isTable(table) && hasFiles(table) && allKeys(table, None).nonEmpty) {
        create(table)
        (from + 1 to cut.size).foreach { n =>
          cut.showFirst(n)
          if (isTable(table) && hasFiles(table)) {
            val asked = allKeys(table, None)
            val wanted = lookup(table, asked, None, scanned)
            assert(lookup(table, asked, None, indexed) === wanted, s"behind at step $n")
            Figures.add("keys looked up that are where files have them", asked.size.toLong)
            if (n % 2 == 0) {
              indexer(table).update()
              assert(lookup(table, asked, None, indexed) === wanted, s"updated at step $n")
            }
          }
        }
      }
    }

  test("an index that has taken in deleted keys with several rows reads compacted file groups anew") {
    val properties =
      Map("hoodie.table.version" -> "9", "hoodie.table.name" -> "t", "hoodie.table.type" -> "MERGE_ON_READ")
    val config = TableConfig.of("t/hoodie.properties", properties)
    def alike(told: Map[String, String]) = RecordPart.mergesAlike(told, config, dated = false)
    assert(RecordPart.repeated(Vector(RecordFileStats(9, 1), RecordFileStats(3, 0))) === Map.empty)
    assert(alike(Map.empty))
    assert(!alike(RecordPart.repeated(Vector(RecordFileStats(9, 1), RecordFileStats(3, 0, doubts = 1)))))
  }

  test("without a record index keys are read from files, with a warning; strict mode refuses") {
    val table = Fixtures.copy("v9-cow-part")
    new Indexer(access, table, IndexOptions()).create()
    val keys = allKeys(table, None).take(5)
    assert(lookup(table, keys, None, IndexOptions()) === lookup(table, keys, None, scanned))
    intercept[IndexNotFound](lookup(table, keys, None, indexed))
  }

  test("the part can be added to an index and dropped from it, and other files stay") {
    val table = Fixtures.copy("v9-mor-part")
    val before = new Indexer(access, table, IndexOptions()).create().version
    val part = new RecordPart(new LocalEngine(access), RecordOptions(mode = Some("global")))
    val added = indexer(table).addPart(part).version
    assert(before.files.toSet.subsetOf(added.files.toSet))
    val keys = allKeys(table, None)
    assert(lookup(table, keys, None, indexed) === lookup(table, keys, None, scanned))
    val dropped = indexer(table).dropPart(part)
    assert(dropped.files.toSet === before.files.toSet)
    assert(dropped.properties === before.properties)
    intercept[IndexNotFound](lookup(table, keys, None, indexed))
  }
}

object RecordPartSuite extends org.scalatest.Assertions {
  val scanned: IndexOptions = IndexOptions(enabled = false)
  val indexed: IndexOptions = IndexOptions(strict = true)

  def access: TableAccess = Tables.access(LocalStorage, new BlockCache(4 << 20))

  def indexer(table: String, options: RecordOptions = RecordOptions()): Indexer = {
    val a = access
    new Indexer(a, table, IndexOptions(), LocalScanner, Vector(new RecordPart(new LocalEngine(a), options)))
  }

  def create(table: String): SyncResult =
    indexer(table, RecordOptions(mode = Some("global"), fileGroups = Some(3))).create()

  def lookup(table: String, keys: Vector[String], asOf: Option[String], options: IndexOptions): Set[RecordLocation] = {
    val a = access
    val opened = RecordLookup.open(TableContext.load(a, table), options, asOf, new LocalEngine(a))
    try {
      val packed = PackedKeys.of(keys)
      opened.locate(packed).records(packed).toSet
    } finally opened.close()
  }

  /** The index has what the files have. */
  private def agree(table: String, keys: Vector[String], asOf: Option[String]): Unit = {
    assert(lookup(table, keys, asOf, indexed) === lookup(table, keys, asOf, scanned), s"as of $asOf")
    Figures.add("keys looked up that are where files have them", keys.size.toLong)
  }

  /** Every key that the files hold. */
  def allKeys(table: String, asOf: Option[String]): Vector[String] = {
    val a = access
    val snapshot = TableSnapshot.open(a, table, scanned)
    try {
      val state = IndexState(snapshot.table, snapshot.view, new IndexStore(a.storage, "none"))
      val reader = RecordTable.of(state, None, asOf)
      val found = Set.newBuilder[String]
      for {
        p <- snapshot.view.partitions
        slice <- snapshot.view.latestMergedFileSlices(p, asOf)
        input <- SliceInput.of(0, slice)
      } reader.keys(a, input)((bytes, from, length, _, _) => found += new String(bytes, from, length, "UTF-8"): Unit)
      found.result().toVector.sorted
    } finally snapshot.close()
  }

  def absent(keys: Vector[String]): Vector[String] =
    (Vector("", "no such key", "0", "ffffffff-ffff-4fff-8fff-ffffffffffff") ++ keys.take(20).map(_ + "x"))
      .filterNot(keys.toSet)

  /** Archiving leaves writes on the active timeline: one without is no table of stock Hudi. */
  def isTable(table: String): Boolean = TableContext.load(access, table).timeline.start.isDefined

  /** False where a later clean took files that readers needed then. */
  def hasFiles(table: String): Boolean =
    try { allKeys(table, None); true }
    catch { case _: hudiidx.DamagedTable => false }
}
