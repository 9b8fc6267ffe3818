package hudiidx.engine.record

import hudiidx.Fixtures
import hudiidx.storage.LocalStorage
import hudiidx.sync.{IndexInfo, KilledWriter, RecordOptions}
import org.scalatest.funsuite.AnyFunSuite

/** Processes that die by SIGKILL while they work on a record index. */
class RecordKillSuite extends AnyFunSuite {
  import RecordFaultSuite.{access, current, indexerOf, quick}
  import RecordPartSuite.{indexed, lookup}

  private val global = RecordOptions(mode = Some("global"))

  private def table(hasIndex: Boolean): KeyedTable = {
    val t = new KeyedTable
    t.write(Seq(KeyWrite("a", -1, log = false, (1 to 30).map(KeyedTable.uuid).toVector, 0)))
    if (hasIndex) {
      indexerOf(access(LocalStorage), t.path, global).create()
      t.write(Seq(KeyWrite("b", -1, log = false, Vector("1", "2"), 0)))
    }
    t
  }

  private def kill(t: KeyedTable, work: String, file: String, where: String): Unit =
    KilledWriter.kill("hudiidx.engine.record.KilledRecordWriter", Seq(t.path, work, file, where))

  private def finish(t: KeyedTable, reads: Set[String] => Boolean): Unit = {
    val storage = new HookedStorage
    val indexer = indexerOf(access(storage), t.path, global, quick)
    if (current(t.path).isEmpty) indexer.create() else indexer.update()
    assert(reads(storage.baseFiles))
    assert(IndexInfo.of(access(LocalStorage), t.path, indexed).state === IndexInfo.Ready)
    assert(lookup(t.path, t.keys :+ "absent", None, indexed) === t.truth)
    val version = current(t.path).get
    assert(
      Fixtures.filesBelow(s"${t.path}/.hoodie/hudiidx").toSet ===
        version.files.map(_.name).toSet + f"versions/${version.number}%020d.json"
    )
  }

  test("a create killed while it writes a base file goes on without reading the table again") {
    val t = table(hasIndex = false)
    kill(t, "create", ".record_base", "within")
    finish(t, _.isEmpty)
  }

  test("a create killed while it writes a run file reads again what that would have held") {
    val t = table(hasIndex = false)
    kill(t, "create", ".record_run", "within")
    finish(t, _.size == 1)
  }

  test("update killed after writing its delta keeps the previous version, and the next update cleans") {
    val t = table(hasIndex = true)
    kill(t, "update", ".record_delta", "behind")
    assert(current(t.path).map(_.number) === Some(1L))
    assert(lookup(t.path, t.keys, None, indexed) === t.truth)
    assert(LocalStorage.list(s"${t.path}/.hoodie/hudiidx").exists(_.name.startsWith("record-update-")))
    finish(t, _.size == 1)
  }
}
