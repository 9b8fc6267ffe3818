package hudiidx.engine.record

import java.nio.file.{Files, Path}

import scala.collection.JavaConverters._

import hudiidx.engine.column.{ColumnPart, ColumnVerifier}
import hudiidx.storage.{LocalStorage, Storage}
import hudiidx.sync._
import hudiidx.sync.build.Indexer
import org.scalatest.funsuite.AnyFunSuite

/** A part that is added while another writer completes the oldest write of the timeline, and brings the index up. */
class OlderTimelineSuite extends AnyFunSuite {
  import RecordFaultSuite.access
  import RecordPartSuite.{indexed, lookup, scanned}

  private def keys(from: Int, count: Int): Vector[String] = (from until from + count).map(KeyedTable.uuid).toVector
  private val all = keys(0, 50) ++ keys(1000, 50)

  private def timeline(table: KeyedTable): Vector[Path] = {
    val files = Files.list(table.dir.resolve(".hoodie/timeline"))
    try files.iterator.asScala.toVector
    finally files.close()
  }

  /** Of two writes the first is pending, or not there yet, as where a clock is slow; what is given completes it. */
  private def pendingFirst(isThere: Boolean): (KeyedTable, () => Unit) = {
    val table = new KeyedTable(more = 2)
    table.write(Seq(KeyWrite("a", -1, log = false, keys(0, 50), 0)))
    val (done, begun) = timeline(table).partition(_.getFileName.toString.contains("_"))
    val bytes = Files.readAllBytes(done.head)
    (if (isThere) done else done ++ begun).foreach(Files.delete(_))
    table.write(Seq(KeyWrite("b", -1, log = false, keys(1000, 50), 0)))
    val instant = done.head.getFileName.toString.takeWhile(_ != '_')
    def complete(): Unit = {
      if (!isThere) begun.foreach(Files.createFile(_))
      Files.write(done.head.resolveSibling(s"${instant}_20260101000100000.deltacommit"), bytes): Unit
    }
    (table, () => complete())
  }

  test("a write that the index covers, and that is pending on a timeline, makes the timeline older than the index") {
    val (table, complete) = pendingFirst(isThere = true)
    val before = TableContext.load(access(LocalStorage), table.path)
    complete()
    new Indexer(access(LocalStorage), table.path, IndexOptions()).create()
    val version = RecordFaultSuite.current(table.path).get
    assert(SyncPlan.of(version, before).isInstanceOf[IndexStatus.Diverged])
    assert(SyncPlan.of(version, TableContext.load(access(LocalStorage), table.path)) match {
      case IndexStatus.Usable(unseen) => unseen.isEmpty
      case _                          => false
    })
  }

  private def record(access: TableAccess): IndexPart =
    new RecordPart(new LocalEngine(access), RecordOptions(Some("global"), fileGroups = Some(2)))
  private def columns(access: TableAccess): IndexPart =
    new ColumnPart(new LocalEngine(access), ColumnOptions(range = Some("c0")))

  for {
    (process, begins) <- FarIndexSuite.knowing
    (what, part) <- Seq[(String, TableAccess => IndexPart)]("a record index" -> record, "bounds of a column" -> columns)
    (state, isThere) <- Seq("is pending" -> true, "is not there yet" -> false)
  } test(s"$process, while the oldest write $state, $what has what the version covers that it is published on") {
    val (table, complete) = pendingFirst(isThere)
    def indexer(storage: Storage): Indexer = {
      val a = access(storage)
      new Indexer(a, table.path, IndexOptions(), LocalScanner, Vector(part(a)))
    }
    new Indexer(access(LocalStorage), table.path, IndexOptions()).create()
    begins(table.path)
    var isDone = false
    val store = FarIndexSuite.storeOn { () =>
      isDone = true
      complete()
      new Indexer(access(LocalStorage), table.path, IndexOptions()).update(): Unit
    }
    indexer(store).addPart(part(access(store)))
    assert(isDone)
    val context = TableContext.load(access(LocalStorage), table.path)
    if (what == "a record index") {
      assert(lookup(table.path, all, None, scanned) === table.truth)
      assert(lookup(table.path, all, None, indexed) === table.truth)
    } else
      assert(new ColumnVerifier(new LocalEngine(context.access), 1).verify(context, IndexOptions(strict = true)).ok)
  }
}
