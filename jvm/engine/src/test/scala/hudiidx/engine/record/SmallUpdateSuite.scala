package hudiidx.engine.record

import hudiidx.engine.Tables
import hudiidx.hfile.BlockCache
import hudiidx.storage.{CountingStorage, LocalStorage, Storage}
import hudiidx.sync._
import hudiidx.sync.build.Indexer
import org.scalatest.funsuite.AnyFunSuite

/** Small updates of an index of very many hash groups: what they read, write and start. */
class SmallUpdateSuite extends AnyFunSuite {
  import RecordFaultSuite.{current, groups, indexerOf}
  import RecordPartSuite.{indexed, lookup}

  /** Counts the pieces of work by what they are for. */
  private final class CountingEngine(access: TableAccess) extends TaskEngine {
    private val local = new LocalEngine(access)
    var pieces = Map.empty[String, Int]
    override def parallelism: Int = 4
    override def run[A, B](what: String, inputs: Vector[A])(work: (TableAccess, A) => B): Vector[B] = {
      val name = what.filterNot(_.isDigit)
      pieces += name -> (pieces.getOrElse(name, 0) + inputs.size)
      local.run(what, inputs)(work)
    }
  }

  private val many = 300
  private val options = RecordOptions(Some("global"), fileGroups = Some(many))

  private lazy val table: KeyedTable = {
    val t = new KeyedTable
    t.write(Seq(KeyWrite("a", -1, log = false, (1 to 20 * many).map(KeyedTable.uuid).toVector, 0)))
    indexerOf(RecordFaultSuite.access(LocalStorage), t.path, options).create()
    t
  }

  private def updated(storage: Storage): CountingEngine = {
    val a = Tables.access(storage, new BlockCache(4 << 20))
    val engine = new CountingEngine(a)
    new Indexer(a, table.path, IndexOptions(), LocalScanner, Vector(new RecordPart(engine, RecordOptions()))).update()
    engine
  }

  test("a few changed keys write files for as many groups, and leave the files of all other groups") {
    val keys = (70001 to 70000 + many / 10).map(KeyedTable.uuid).toVector
    val before = groups(current(table.path).get)
    table.write(Seq(KeyWrite("b", -1, log = false, keys, 0)))
    val storage = new CountingStorage(LocalStorage)
    val engine = updated(storage)
    val after = groups(current(table.path).get)
    val changed = after.zip(before).filter { case (a, b) => a != b }
    assert(after.size === many && changed.size <= keys.size && changed.size > keys.size / 2)
    assert(changed.forall(_._1.files.size == 1), "so small a base is written anew with the delta")
    assert(engine.pieces.values.max <= 20, engine.pieces)
    val named = current(table.path).get.files.map(_.name).toSet
    val deltas = LocalStorage.list(table.path + "/.hoodie/hudiidx").map(_.name).filter(_.endsWith(".record_delta"))
    assert(deltas.forall(named), "a delta that only serves a new base is no file of the index")
    // A delta and a base each, a run, the dictionary's segment and what it is merged into, and the manifest's delta.
    assert(storage.counts.write <= 2 * changed.size + 4)
    assert(storage.counts.open <= 6 * changed.size + 30 && storage.counts.bytesRead < 60000L * changed.size)
    assert(lookup(table.path, (1 to 50).map(KeyedTable.uuid).toVector ++ keys, None, indexed).size === 50 + keys.size)
    info(s"${changed.size} of $many groups changed: ${storage.counts}, ${engine.pieces}")
  }

  test("a write that changes no key writes no file of the record index and starts no task") {
    val before = current(table.path).get.files.filter(f => hudiidx.record.RecordKind.All(f.kind))
    table.write(Seq(KeyWrite("b", 0, log = false, Vector.empty, 0, updates = 5)))
    val engine = updated(LocalStorage)
    assert(current(table.path).get.files.filter(f => hudiidx.record.RecordKind.All(f.kind)) === before)
    assert(engine.pieces === Map.empty)
  }
}
