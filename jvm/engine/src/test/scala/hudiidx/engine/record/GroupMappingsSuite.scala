package hudiidx.engine.record

import hudiidx.DamagedIndex
import hudiidx.engine.Tables
import hudiidx.hfile.BlockCache
import hudiidx.record.{RecordKind, RecordLocation}
import hudiidx.storage.{LocalStorage, ReplacingStorage, Storage}
import hudiidx.store.IndexStore
import hudiidx.sync._
import org.scalatest.funsuite.AnyFunSuite

/** The whole mapping, hash group by hash group, from an index whose files are damaged. */
class GroupMappingsSuite extends AnyFunSuite {
  import RecordFaultSuite.{access, current, indexerOf}

  private lazy val table: KeyedTable = {
    val t = new KeyedTable
    val uuids = (1 to 3000).map(KeyedTable.uuid).toVector
    t.write(Seq(KeyWrite("a", -1, log = false, uuids ++ (1 to 500).map(_.toString), 0)))
    indexerOf(access(LocalStorage), t.path, RecordOptions(Some("global"), fileGroups = Some(2))).create()
    // Duplicates, and keys whose mappings are in deltas.
    t.write(Seq(KeyWrite("b", -1, log = false, uuids.take(40) ++ (1 to 40).map(n => s"key $n"), 0)))
    indexerOf(access(LocalStorage), t.path, RecordOptions()).update()
    t.write(Seq(KeyWrite("a", 0, log = true, Vector("late"), 2))) // the index is behind
    t.write(Seq(KeyWrite("c", -1, log = false, Vector("later"), 0)))
    t
  }

  /** All rows, and how many groups had to go on from files. */
  private def rows(storage: Storage, strict: Boolean = false): (Vector[RecordLocation], Int) = {
    val a = Tables.access(storage, new BlockCache(1 << 20))
    val options = IndexOptions(strict = strict)
    val snapshot = TableSnapshot.open(a, table.path, options)
    try {
      val (moment, opened) = RecordIndexSnapshot.open(snapshot, options, None)
      val keys = opened.get
      var fallbacks = 0
      val found = Vector.newBuilder[RecordLocation]
      def add(key: Array[Byte], at: hudiidx.record.VisibleGroup) =
        found += RecordLocation(new String(key, "UTF-8"), at.partitionPath, at.fileId, at.instantTime)
      keys.index.groups.indices.foreach { g =>
        val mappings = new GroupMappings(
          moment,
          keys,
          g,
          a,
          why => {
            fallbacks += 1
            RecordIndexSnapshot.withoutIndex(moment, snapshot, strict, why)
          }
        )
        while (mappings.next()) add(mappings.key, mappings.location)
        mappings.close()
      }
      SliceKeyChunks.wholeSlices(moment).foreach { input =>
        SliceKeyChunks.distinctKeys(moment, a, input).foreach(add(_, moment.sliceGroups(input.ordinal)))
      }
      keys.close()
      (found.result(), fallbacks)
    } finally snapshot.close()
  }

  private def sorted(rows: Iterable[RecordLocation]) = rows.toVector.sortBy(_.toString)

  test("a whole index gives each mapping once, from the index alone") {
    assert(
      current(table.path).get.files
        .map(_.kind)
        .toSet
        .subsetOf(RecordKind.All ++ Set("master_manifest", "partition_index", "delta_manifest"))
    )
    val (found, fallbacks) = rows(LocalStorage)
    assert(sorted(found) === sorted(table.truth) && fallbacks === 0)
  }

  test("whatever byte of a file is changed, or cut off, each mapping comes once; strict reading raises") {
    var wentOn = 0
    current(table.path).get.files.filter(f => RecordKind.All(f.kind)).foreach { file =>
      val path = s"${IndexStore.defaultDir(table.path)}/${file.name}"
      val whole = LocalStorage.readAll(path)
      val steps = if (file.kind == RecordKind.Base) 12 else 4
      val flipped =
        (0 until whole.length by math.max(1, whole.length / steps)).map(i => whole.updated(i, (whole(i) ^ 4).toByte))
      (flipped :+ whole.dropRight(1)).foreach { bad =>
        val storage = new ReplacingStorage(LocalStorage, path, bad)
        val (found, fallbacks) = rows(storage)
        assert(sorted(found) === sorted(table.truth))
        wentOn += fallbacks
        if (fallbacks > 0) intercept[DamagedIndex](rows(storage, strict = true))
      }
    }
    assert(wentOn > 15)
  }
}
