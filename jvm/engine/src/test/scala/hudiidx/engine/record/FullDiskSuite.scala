package hudiidx.engine.record

import hudiidx.{Fixtures, IndexNotWritable}
import hudiidx.storage._
import hudiidx.store.{IndexStore, IndexVersion}
import hudiidx.sync._
import java.io.OutputStream
import org.scalatest.funsuite.AnyFunSuite

/** A disk that fills up while a record index is made, updated or verified. */
class FullDiskSuite extends AnyFunSuite {
  import RecordFaultSuite.{access, copy, current, indexerOf}
  import RecordPartSuite.{indexed, lookup}

  private val global = RecordOptions(mode = Some("global"), fileGroups = Some(2))
  private val fixture = "v9-moved-cow" // with Hudi's own record index, which verify reads too

  private def behind(): KeyedTable = {
    val table = new KeyedTable
    table.write(Seq(KeyWrite("a", -1, log = false, (1 to 3000).map(KeyedTable.uuid).toVector, 0)))
    indexerOf(access(LocalStorage), table.path, global).create()
    table.write(Seq(KeyWrite("b", -1, log = false, (5000 to 5100).map(KeyedTable.uuid).toVector, 0)))
    table
  }

  private def verify(path: String, storage: Storage, scratch: Option[String] = None): RecordVerifyResult = {
    val a = access(storage)
    new RecordVerifier(new LocalEngine(a), RecordVerifyOptions(scratch = scratch))
      .verify(TableContext.load(a, path), IndexOptions())
  }

  private def fixtureWithIndex(): String = {
    val table = Fixtures.copy(fixture)
    indexerOf(access(LocalStorage), table, global).create()
    table
  }

  private val jobs: Vector[(String, () => String, (String, Storage) => Any)] = Vector(
    ("create", () => Fixtures.copy(fixture), (p, s) => indexerOf(access(s), p, global).create()),
    ("create over an index", () => behind().path, (p, s) => indexerOf(access(s), p, global).create()),
    ("update", () => behind().path, (p, s) => indexerOf(access(s), p, RecordOptions()).update()),
    ("verify", fixtureWithIndex _, verify(_, _))
  )

  for ((name, make, work) <- jobs)
    test(
      s"$name on a disk that fills up says so, and leaves the version before, no half file, and room for another try"
    ) {
      val table = make()
      val before = current(table)
      val sizes = new MeasuringStorage
      work(copy(table), sizes)
      val total = sizes.bytes
      val rooms = (0L until 12L).map(_ * total / 12) :+ (total - 1)
      rooms.foreach { room =>
        val path = copy(table)
        val said = intercept[IndexNotWritable](work(path, new FullStorage(LocalStorage, room)))
        assert(said.getMessage.contains(path) && said.getMessage.contains("No space left"), s"room for $room of $total")
        assert(current(path) === before)
        assertWhole(path, before)
        work(path, LocalStorage)
        val keys = RecordPartSuite.allKeys(path, None)
        assert(lookup(path, keys, None, indexed) === lookup(path, keys, None, RecordPartSuite.scanned))
      }
    }

  /** What is there is what versions name, whole by its size, or a whole file that the next try may take over or clean. */
  private def assertWhole(path: String, before: Option[IndexVersion]): Unit = {
    val dir = IndexStore.defaultDir(path)
    val below = Fixtures.filesBelow(path).filter(_.startsWith(".hoodie/hudiidx/"))
    assert(below.filter(f => f.endsWith(".tmp") || f.contains("record-verify") || f.contains("record-update")).isEmpty)
    before.toVector.flatMap(_.files).foreach { f =>
      assert(LocalStorage.status(s"$dir/${f.name}").exists(_.sizeBytes == f.sizeBytes), f.name)
    }
  }

  test("a scratch folder on a full disk is named") {
    val table = fixtureWithIndex()
    val scratch = Fixtures.newFolder("scratch").toString
    val said = intercept[IndexNotWritable](verify(table, new FullStorage(LocalStorage, 300), Some(scratch)))
    assert(said.getMessage.contains(scratch))
    assert(Fixtures.filesBelow(scratch).isEmpty)
  }
}

/** Adds up what is written. */
final private class MeasuringStorage extends Storage {
  private val written = new java.util.concurrent.atomic.AtomicLong
  def bytes: Long = written.get

  override def list(dir: String): Vector[FileInfo] = LocalStorage.list(dir)
  override def status(path: String): Option[FileInfo] = LocalStorage.status(path)
  override def open(path: String): RandomReader = LocalStorage.open(path)
  override def readAll(path: String): Array[Byte] = LocalStorage.readAll(path)
  override def delete(path: String): Boolean = LocalStorage.delete(path)
  override def publish(path: String, content: Array[Byte]): Boolean = {
    written.addAndGet(content.length.toLong)
    LocalStorage.publish(path, content)
  }
  override def write(path: String)(content: OutputStream => Unit): Unit = {
    LocalStorage.write(path)(content)
    written.addAndGet(LocalStorage.status(path).get.sizeBytes): Unit
  }
}
