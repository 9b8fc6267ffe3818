package hudiidx.engine.record

import hudiidx.DamagedIndex
import hudiidx.engine.Tables
import hudiidx.hfile.BlockCache
import hudiidx.record.{PackedKeys, RecordKind, RecordLocation}
import hudiidx.storage.{LocalStorage, ReplacingStorage, Storage}
import hudiidx.store.{IndexFile, IndexStore}
import hudiidx.sync._
import java.nio.file.{Files, Paths}
import org.scalatest.funsuite.AnyFunSuite

/** Lookups and updates of a record index whose files are damaged. */
class RecordLookupDamageSuite extends AnyFunSuite {
  import RecordFaultSuite.{access, copy, current, groups, indexerOf}
  import RecordPartSuite.{indexed, scanned}

  private val global = RecordOptions(mode = Some("global"))

  private lazy val table: KeyedTable = {
    val t = new KeyedTable
    t.write(Seq(KeyWrite("a", -1, log = false, (1 to 4000).map(KeyedTable.uuid).toVector, 0)))
    indexerOf(access(LocalStorage), t.path, global).create()
    t.write(Seq(KeyWrite("b", -1, log = false, Vector("1", "2"), 0)))
    val kinds = indexerOf(access(LocalStorage), t.path, global).update().version.files.map(_.kind).toSet
    assert(RecordKind.All.subsetOf(kinds))
    t
  }

  private def files: Vector[IndexFile] = current(table.path).get.files.filter(f => RecordKind.All(f.kind))

  private def pathOf(path: String, file: IndexFile): String = IndexStore.defaultDir(path) + "/" + file.name

  private val asked = (1 to 40).map(KeyedTable.uuid).toVector ++ Vector("1", "2", "absent")

  private lazy val truth: Set[RecordLocation] = table.truth.filter(l => asked.contains(l.key))

  private def open(storage: Storage, path: String, options: IndexOptions): RecordLookup = {
    val a = Tables.access(storage, new BlockCache(1 << 20))
    RecordLookup.open(TableContext.load(a, path), options, None, new LocalEngine(a))
  }

  private def answer(lookup: RecordLookup): Set[RecordLocation] = {
    val packed = PackedKeys.of(asked)
    lookup.locate(packed).records(packed).toSet
  }

  private def warnings: Long = FallbackCounters.snapshot(IndexStore.defaultDir(table.path)).values.sum

  test("any byte of a file changed, and any cut: lookups are right, with one warning at most, and strict mode raises") {
    var noticed = 0
    files.foreach { file =>
      val path = pathOf(table.path, file)
      val whole = LocalStorage.readAll(path)
      val flipped =
        (0 until whole.length by math.max(1, whole.length / 25)).map(at => whole.updated(at, (whole(at) ^ 4).toByte))
      val cut = Seq(0, 1, whole.length / 2, whole.length - 1).map(whole.take)
      (flipped ++ cut).foreach { bad =>
        val storage = new ReplacingStorage(LocalStorage, path, bad)
        val before = warnings
        val lookup = open(storage, table.path, IndexOptions())
        try {
          (0 until 2).foreach(_ => assert(answer(lookup) === truth))
          assert(warnings - before === (if (lookup.fallback.isDefined) 1 else 0))
          lookup.fallback.foreach { f =>
            noticed += 1
            assert(f.code === FallbackCode.DamagedRecordIndex && f.why.contains(file.name))
            val strict = intercept[DamagedIndex] {
              val opened = open(storage, table.path, indexed)
              try answer(opened)
              finally opened.close()
            }
            assert(strict.getMessage.contains("cannot use the index") && strict.getMessage.contains("add-index"))
          }
        } finally lookup.close()
      }
    }
    assert(noticed > 30)
  }

  for (kind <- RecordKind.All.toVector.sorted)
    test(s"a $kind that is gone or cut: lookups are right, info says BROKEN, and the next update makes the part anew") {
      Seq[String => Unit](
        p => Files.delete(Paths.get(p)),
        p => Files.write(Paths.get(p), LocalStorage.readAll(p).dropRight(1)): Unit
      ).foreach { harm =>
        val path = copy(table.path)
        val file = files.find(_.kind == kind).get
        harm(pathOf(path, file))
        val lookup = open(LocalStorage, path, IndexOptions())
        try assert(answer(lookup) === truth)
        finally lookup.close()
        val info = IndexInfo.of(access(LocalStorage), path, IndexOptions())
        assert(info.state === IndexInfo.Broken && info.reason.contains(file.name))
        heals(path)
      }
    }

  test("a file with changed bytes that an update reads makes it rebuild the part, and the manifest's files stay") {
    val path = copy(table.path)
    val file = files.find(_.kind == RecordKind.Base).get
    val whole = LocalStorage.readAll(pathOf(path, file))
    Files.write(Paths.get(pathOf(path, file)), whole.map(b => (b ^ 1).toByte))
    val master = current(path).get.file("master_manifest")
    heals(path)
    assert(current(path).get.file("master_manifest") === master)
  }

  /** A write comes, and the update behind it takes the damage away. */
  private def heals(path: String): Unit = {
    val t = table.copiedTo(path)
    t.write(Seq(KeyWrite("c", -1, log = false, asked.take(3), 0)))
    indexerOf(access(LocalStorage), path, RecordOptions()).update()
    assert(IndexInfo.of(access(LocalStorage), path, IndexOptions()).state === IndexInfo.Ready)
    val lookup = open(LocalStorage, path, indexed)
    try assert(answer(lookup) === t.truth.filter(l => asked.contains(l.key)))
    finally lookup.close()
    assert(
      groups(current(path).get).nonEmpty && RecordPartSuite.lookup(path, asked, None, scanned).size === truth.size + 3
    )
  }
}
