package hudiidx.engine.record

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream, OutputStream}
import java.nio.file.{Files, Paths}
import java.util.concurrent.ConcurrentLinkedQueue

import scala.collection.JavaConverters._

import hudiidx.engine.column.ColumnPart
import hudiidx.storage.{FarStorage, ForwardingStorage, LocalStorage, Storage}
import hudiidx.store.{IndexStore, KeptEnds}
import hudiidx.sync._
import hudiidx.sync.build.Indexer
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** Updates on a store that is far, whose tasks hand small scratch files on. */
class CarriedRunsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import RecordFaultSuite.{access, current}
  import RecordPartSuite.{indexed, lookup, scanned}

  /** Each piece as in a process of its own. */
  private final class Apart(access: TableAccess) extends TaskEngine {
    private val local = new LocalEngine(access)
    override def parallelism: Int = 3
    override def run[A, B](what: String, inputs: Vector[A])(work: (TableAccess, A) => B): Vector[B] = inputs.map { i =>
      KeptEnds.clear()
      val done = sent(local.run(what, Vector(sent(i)))(sent(work)).head)
      KeptEnds.clear()
      done
    }

    private def sent[T](value: T): T = {
      val bytes = new ByteArrayOutputStream
      new ObjectOutputStream(bytes).writeObject(value)
      new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray)).readObject().asInstanceOf[T]
    }
  }

  /** Scratch files that updates wrote. */
  private final class Watched extends ForwardingStorage(new FarStorage(LocalStorage)) {
    private val paths = new ConcurrentLinkedQueue[String]
    def scratch: Vector[String] = paths.asScala.filter(_.contains("record-update-")).toVector
    override def writeBehind(path: String)(content: OutputStream => Unit): () => Unit = {
      paths.add(path)
      super.writeBehind(path)(content)
    }
  }

  private val options = RecordOptions(Some("global"), fileGroups = Some(4))

  private def indexer(path: String, storage: Storage): Indexer = {
    val a = access(storage)
    val columns = new ColumnPart(new Apart(a), ColumnOptions(range = Some("c0"), bloom = Some("c1")))
    new Indexer(a, path, IndexOptions(), LocalScanner, Vector(new RecordPart(new Apart(a), options), columns))
  }

  private def contents(path: String): Vector[(String, Vector[Byte])] = current(path).get.files.map { f =>
    f.kind -> Files.readAllBytes(Paths.get(Storage.join(IndexStore.defaultDir(path), f.name))).toVector
  }

  private def folders(path: String): Vector[String] =
    LocalStorage.list(IndexStore.defaultDir(path)).filter(_.isDirectory).map(_.name)

  private def keys(from: Int, count: Int): Vector[String] = (from until from + count).map(KeyedTable.uuid).toVector

  /** A table with an index, and a copy; both are written and brought up, the copy's index on a store that is far. */
  private def updated(writes: Seq[KeyWrite]): Watched = {
    val table = new KeyedTable(more = 2)
    table.write(Seq(KeyWrite("a", -1, log = false, keys(0, 200), 0)))
    indexer(table.path, LocalStorage).create()
    table.write(writes)
    val far = RecordFaultSuite.copy(table.path)
    indexer(table.path, LocalStorage).update()
    val watched = new Watched
    indexer(far, watched).update()
    assert(contents(far) == contents(table.path), "as on a store that is near")
    assert(folders(far) === Vector("versions"), "no folder of the update is left")
    val all = keys(0, 200) ++ writes.flatMap(_.inserts)
    assert(lookup(far, all, None, indexed) === lookup(table.path, all, None, scanned))
    watched
  }

  test("an update of few keys stores no file that serves it alone") {
    assert(updated(Seq(KeyWrite("a", 0, log = true, keys(1000, 20), 5, updates = 7))).scratch.isEmpty)
  }

  test("an update of many keys stores its runs, and removes them") {
    val scratch = updated(Seq(KeyWrite("b", -1, log = false, keys(1000, 5000), 0))).scratch
    assert(scratch.exists(_.endsWith(".record_run")))
  }

  test("an update whose tasks have few keys and many gives what it gives on a store that is near") {
    val groups =
      Seq(KeyWrite("a", 0, log = true, keys(20000, 10), 3), KeyWrite("b", -1, log = false, keys(1000, 5000), 0))
    assert(updated(groups).scratch.count(_.endsWith(".record_run")) === 1)
  }

  test("updates of any number of keys give what they give on a store that is near") {
    val sizes = Gen.listOfN(3, Gen.oneOf(Gen.choose(0, 30), Gen.choose(0, 2000)))
    forAll(sizes, minSuccessful(8)) { counts =>
      val first = KeyWrite("a", 0, log = true, keys(1000, counts.head), math.min(counts.last, 100))
      val more = counts.tail.zipWithIndex.map { case (n, i) =>
        KeyWrite(s"p$i", -1, log = false, keys(10000 * (i + 1), n), 0)
      }
      updated(first +: more.filter(_.inserts.nonEmpty)): Unit
    }
  }
}
