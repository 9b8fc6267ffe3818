package hudiidx.engine.record

import hudiidx.Fixtures
import hudiidx.engine.TimelineCut
import hudiidx.record.page.EntryFlag
import hudiidx.record.RecordProperty
import hudiidx.storage.LocalStorage
import hudiidx.sync.RecordOptions

/** The record index against Hudi's own: the same mappings, or differences that say what they come from. */
class StockMappingsSuite extends VerifiedRecords {
  import RecordPartSuite._

  /** Tables that have Hudi's own record index. */
  private val withStock =
    Fixtures.good.filter(n => Fixtures.json(n).path("metadata_table").path("record_index").path("found").size > 0)

  for (name <- withStock)
    test(s"$name: Hudi's own record index has the same mappings") {
      val table = Fixtures.copy(name)
      create(table)
      val stock = verify(table).stock.get
      val keys = allKeys(table, None)
      val lost = lostByHudi(name, keys)
      assert(stock.skipped.isEmpty)
      assert(stock.equal === keys.size.toLong - lost.size)
      val named = if (lost.isEmpty) Map.empty else Map(StockDifference.LogRecord -> lost.size.toLong)
      assert((stock.onlyInHudi ++ stock.onlyInIndex).filter(_._2 > 0) === named)
      assert(stock.samples.map(_.key).toSet === lost)
    }

  /** Keys that Hudi's own record index does not find, where it was asked for all: deleted, log-compacted, and written again. */
  private def lostByHudi(name: String, keys: Vector[String]): Set[String] = {
    val told = Fixtures.json(name).path("metadata_table").path("record_index")
    if (told.path("asked").asInt <= keys.size) Set.empty else keys.filterNot(told.path("found").has(_)).toSet
  }

  test("Hudi's partitioned record index has the same mappings, a key's in several partitions too") {
    val name = "v9-cow-partitioned-rli"
    val table = Fixtures.copy(name)
    indexer(table, RecordOptions(mode = Some("partitioned"))).create()
    val stock = verify(table).stock.get
    var mappings = 0L
    Fixtures
      .json(name)
      .path("metadata_table")
      .path("record_index")
      .path("found_by_partition")
      .forEach(p => mappings += p.size)
    assert(mappings > allKeys(table, None).size)
    assert((stock.skipped, stock.equal, stock.samples) === (("", mappings, Vector.empty)))
  }

  test("differences from Hudi's own record index are named with what they come from") {
    val table = Fixtures.copy("v9-moved-mor")
    create(table)
    val keys = allKeys(table, None)
    val (ordinal, location) = ordinalOf(table, keys.head)
    val elsewhere = (ordinal + 1) % current(table).long(RecordProperty.NextOrdinal).toInt
    plant(table, keys.head, elsewhere, 0)
    plant(table, keys(1), ordinalOf(table, keys(1))._1, EntryFlag.Remove)
    plant(table, "planted key", ordinal, 0)
    val stock = verify(table).stock.get
    assert(stock.equal === keys.size.toLong - 1)
    assert(stock.onlyInHudi === Map(StockDifference.KeyNotThere -> 1L, StockDifference.GroupGone -> 0L))
    assert(stock.onlyInIndex(StockDifference.DuplicateKey) === 1L)
    assert(stock.onlyInIndex.values.sum === 2L)
    assert(stock.samples.exists(s => s.key == "planted key" && s.fileId == location.fileId))
    assert(stock.samples.forall(_.cause.nonEmpty))
  }

  test(
    "Hudi's own record index is not compared where an index is behind or has a window, or where it is behind itself or damaged"
  ) {
    val table = Fixtures.copy("v9-moved-cow")
    val cut = new TimelineCut(table)
    cut.showFirst(cut.size - 1)
    create(table)
    cut.showFirst(cut.size)
    assert(verify(table).stock.get.skipped.contains("update it first"))
    indexer(table, RecordOptions(mode = Some("global"), windowDays = Some(3))).create()
    assert(verify(table).stock.get.skipped.contains("window"))
    val behind = Fixtures.copy("v9-moved-cow")
    create(behind)
    val timeline = s"$behind/.hoodie/metadata/.hoodie/timeline"
    val last = LocalStorage.list(timeline).map(_.name).filter(_.endsWith(".deltacommit")).max
    LocalStorage.delete(s"$timeline/$last")
    assert(verify(behind).stock.get.skipped.contains("metadata table is behind"))
    val damaged = Fixtures.copy("v9-cow-part")
    create(damaged)
    LocalStorage
      .list(s"$damaged/.hoodie/metadata/record_index")
      .filter(_.name.endsWith(".hfile"))
      .foreach(f => java.nio.file.Files.write(java.nio.file.Paths.get(f.path), Array[Byte](1, 2, 3)))
    val found = verify(damaged)
    assert(found.ok && found.stock.get.skipped.contains("cannot be read: "), found)
    val without = Fixtures.copy("v9-no-mdt-cow")
    create(without)
    assert(verify(without).stock.isEmpty)
  }
}
