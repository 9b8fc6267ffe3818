package hudiidx.engine.column

import java.nio.file.{Files, Paths}

import hudiidx.Fixtures
import hudiidx.TestSettings.seed
import hudiidx.column._
import hudiidx.column.segment.ColumnKind
import hudiidx.engine.record.{HookedStorage, RecordFaultSuite}
import hudiidx.engine.{Tables, TimelineCut}
import hudiidx.hfile.BlockCache
import hudiidx.storage._
import hudiidx.store.IndexStore
import hudiidx.sync._
import hudiidx.sync.build.Indexer
import org.scalatest.funsuite.AnyFunSuite

/** Indexes on columns whose writers die at any step, and whose files are damaged. */
class ColumnFaultSuite extends AnyFunSuite {
  import ColumnFaultSuite._
  import RecordFaultSuite.{copy, current, quick}

  private val city = Vector(IndexSpec("range", Vector("city")), IndexSpec("values", Vector("city")))

  /** A piece of work, and the table before it. */
  private case class Job(name: String, table: () => String, work: (Indexer, TableAccess) => Any)

  private val jobs = Vector(
    Job("create", () => Fixtures.copy(Table), (i, _) => i.create()),
    Job("add index", () => indexed(), (i, a) => i.addPart(part(a, ColumnChange.Add(city)))),
    Job("drop index", () => indexed(), (i, a) => i.dropPart(part(a, ColumnChange.Drop(Vector(Fare), Vector.empty)))),
    Job("update", () => behind(), (i, _) => i.update())
  )

  for ((job, n) <- jobs.zipWithIndex)
    test(s"killed before, in or behind any write step of ${job.name}: the index is whole, and the next run ends well") {
      val ready = job.table()
      val before = current(ready)
      val counting = new FaultyStorage(LocalStorage, Int.MaxValue, Fault.Before)
      run(job, copy(ready), counting)
      info(s"HUDIIDX_TEST_SEED=$seed")
      FaultyStorage.someCalls(counting.mutatingCalls, oneOf = 3, seed).foreach { step =>
        val path = copy(ready)
        val faulty = new FaultyStorage(LocalStorage, step, Fault.All((step + n) % Fault.All.size))
        try run(job, path, faulty)
        catch { case e: hudiidx.IndexNotWritable => assert(e.getCause.isInstanceOf[InjectedFault]) }
        assert(faulty.hasFailed && (before.isEmpty || current(path).isDefined))
        if (current(path).isDefined) ColumnPartSuite.assertSound(path)
        run(if (current(path).isEmpty) jobs.head else job, path, LocalStorage)
        ColumnPartSuite.assertIndexed(path)
        val version = current(path).get
        val store = new IndexStore(LocalStorage, IndexStore.defaultDir(path))
        store.expire(version.number, quick.retention, System.currentTimeMillis() + 1)
        assert(
          Fixtures
            .filesBelow(store.dir)
            .toSet === version.files.map(_.name).toSet + f"versions/${version.number}%020d.json"
        )
      }
    }

  private def run(job: Job, path: String, storage: Storage): Unit = {
    val access = Tables.access(storage, new BlockCache(1 << 20))
    job.work(indexer(access, path), access): Unit
  }

  test("a creation that was killed goes on: files that its tasks have read are not read again") {
    val path = Fixtures.copy(Table)
    val killed = HookedStorage.failingAt("column-build-", 3)
    intercept[hudiidx.IndexNotWritable](indexer(Tables.access(killed, new BlockCache(1 << 20)), path).create())
    val again = new HookedStorage
    indexer(Tables.access(again, new BlockCache(1 << 20)), path).create()
    val all = new TableFiles(path).files.map(_.fileName).filter(_.endsWith(".parquet")).toSet
    assert(again.baseFiles.nonEmpty && again.baseFiles.size < all.size)
    ColumnPartSuite.assertIndexed(path)
  }

  test("a link in the place of a work folder goes, and nothing is read, written or removed where it leads") {
    val path = Fixtures.copy(Table)
    val killed = HookedStorage.failingAt("column-build-", 3)
    intercept[hudiidx.IndexNotWritable](indexer(Tables.access(killed, new BlockCache(1 << 20)), path).create())
    val index = Paths.get(path, ".hoodie/hudiidx")
    val folder = LocalStorage.list(index.toString).map(_.name).find(_.startsWith("column-build-")).get
    val elsewhere = Fixtures.newFolder("elsewhere").resolve("work")
    Files.move(index.resolve(folder), elsewhere)
    val before = LocalStorage.list(elsewhere.toString)
    assert(before.nonEmpty)
    Files.createSymbolicLink(index.resolve(folder), elsewhere)
    val again = new HookedStorage
    indexer(Tables.access(again, new BlockCache(1 << 20)), path).create()
    assert(again.baseFiles.size === new TableFiles(path).files.count(_.fileName.endsWith(".parquet")))
    assert(LocalStorage.list(elsewhere.toString) === before && !Files.exists(index.resolve(folder)))
    ColumnPartSuite.assertIndexed(path)
  }

  test("a file of a killed creation that was damaged since is made again") {
    val path = Fixtures.copy(Table)
    val killed = HookedStorage.failingAt("column-build-", 3)
    intercept[hudiidx.IndexNotWritable](indexer(Tables.access(killed, new BlockCache(1 << 20)), path).create())
    val left = Fixtures.filesBelow(s"$path/.hoodie/hudiidx").filter(_.contains("column-build-"))
    assert(left.nonEmpty)
    left.foreach { f =>
      val file = Paths.get(path, ".hoodie/hudiidx", f)
      val bytes = Files.readAllBytes(file)
      bytes(bytes.length / 3) = (bytes(bytes.length / 3) ^ 1).toByte
      Files.write(file, bytes)
    }
    indexer(access, path).create()
    ColumnPartSuite.assertIndexed(path)
  }

  test(
    "files in the making that another creation took away, or damaged, are made again; a full index folder is not tried again"
  ) {
    Vector(false, true).foreach { isCut =>
      val path = Fixtures.copy(Table)
      var harmed = false
      // When a file of the work folder is written, those before it are there.
      val storage = new HookedStorage(target =>
        if (!harmed && target.contains("column-build-")) {
          val left = Fixtures.filesBelow(s"$path/.hoodie/hudiidx").filter(_.startsWith("column-build-"))
          left.map(Paths.get(path, ".hoodie/hudiidx", _)).foreach { f =>
            val cut = Files.readAllBytes(f).dropRight(7)
            Files.delete(f)
            if (isCut) Files.write(f, cut)
          }
          harmed = left.nonEmpty
        }
      )
      indexer(Tables.access(storage, new BlockCache(0)), path).create()
      assert(harmed)
      ColumnPartSuite.assertIndexed(path)
    }
    val path = Fixtures.copy(Table)
    var tries = 0
    val full = new HookedStorage(target =>
      if (target.contains("column_stats") && !target.contains("column-build-")) {
        tries += 1
        throw new java.io.IOException(s"$target: no room (column-build- is no part of it)")
      }
    )
    intercept[hudiidx.IndexNotWritable](indexer(Tables.access(full, new BlockCache(0)), path).create())
    assert(tries === 1)
  }

  test(
    "a column file that is gone or cut is made anew by the next update or addition, and till then the state says so"
  ) {
    for {
      work <- Seq[String => Any](path => indexer(access, path).update(), add(_))
      cut <- Seq(true, false)
    } {
      val path = behind()
      val victim = current(path).get.files.find(f => ColumnKind.All(f.kind)).get
      val file = Paths.get(path, ".hoodie/hudiidx", victim.name)
      if (cut) Files.write(file, Files.readAllBytes(file).dropRight(9)) else Files.delete(file)
      assert(IndexInfo.of(access, path, IndexOptions()).state === IndexInfo.Broken)
      intercept[hudiidx.DamagedIndex](ColumnPartSuite.opened(path)((_, _) => ()))
      work(path)
      assert(IndexInfo.of(access, path, IndexOptions()).state === IndexInfo.Ready)
      ColumnPartSuite.assertIndexed(path)
    }
  }

  private def add(path: String): Any = indexer(access, path).addPart(part(access, ColumnChange.Add(city :+ Fare)))
}

object ColumnFaultSuite {
  val Table = "v9-cow-part"
  val Fare: IndexSpec = IndexSpec("range", Vector("fare"))

  def access: TableAccess = Tables.access(LocalStorage, new BlockCache(1 << 20))

  def part(access: TableAccess, change: ColumnChange = ColumnChange.Whole): ColumnPart =
    new ColumnPart(new SlottedEngine(access, 4), ColumnOptions(range = Some("fare,ts"), bloom = Some("rider")), change)

  def indexer(access: TableAccess, path: String): Indexer =
    new Indexer(access, path, IndexOptions(), LocalScanner, Vector(part(access)))

  def indexed(): String = {
    val path = Fixtures.copy(Table)
    indexer(access, path).create()
    path
  }

  /** An index that has not taken in the last instants. */
  def behind(): String = {
    val path = Fixtures.copy(Table)
    val cut = new TimelineCut(path)
    cut.showFirst(cut.size - 2)
    indexer(access, path).create()
    cut.showFirst(cut.size)
    path
  }
}
