package hudiidx.engine.record

import hudiidx.{Figures, Fixtures}
import hudiidx.engine.Tables
import hudiidx.hfile.BlockCache
import hudiidx.record.{HashGroup, RecordLocation}
import hudiidx.storage._
import hudiidx.store.{Current, IndexStore, IndexVersion, Retention}
import hudiidx.sync._
import hudiidx.sync.build.Indexer
import java.nio.file.{Files, Path, StandardCopyOption}
import org.scalatest.funsuite.AnyFunSuite
import scala.collection.JavaConverters._

/** A record index whose writers die at any of their steps. */
class RecordFaultSuite extends AnyFunSuite {
  import RecordFaultSuite._
  import RecordPartSuite.{indexed, lookup}

  /** A piece of work, the table before it, and what it must have done to count as itself.
    *
    *  @param table an index where `hasIndex`, and behind by a write where the work is an update
    */
  private case class Job(
      name: String,
      options: RecordOptions,
      hasIndex: Boolean,
      work: (Indexer, RecordPart) => Any,
      table: () => Ready,
      did: (IndexVersion, IndexVersion) => Boolean = (_, _) => true
  )

  private case class Ready(path: String, truth: Set[RecordLocation])

  private val global = RecordOptions(mode = Some("global"))
  private val small = global.copy(groupBytes = Some(16384L))

  private def written(count: Int): KeyedTable = {
    val table = new KeyedTable
    table.write(Seq(KeyWrite("a", -1, log = false, (1 to count).map(KeyedTable.uuid).toVector, 0)))
    table
  }

  private def plain(hasIndex: Boolean)(): Ready = {
    val table = written(20)
    if (hasIndex) indexerOf(access(LocalStorage), table.path, global).create()
    Ready(table.path, table.truth)
  }

  /** Indexed with so many keys, then written to so often, each write but the last taken in. */
  private def behind(count: Int, options: RecordOptions, writes: Seq[KeyWrite]*)(): Ready = {
    val table = written(count)
    indexerOf(access(LocalStorage), table.path, options).create()
    writes.zipWithIndex.foreach { case (w, i) =>
      table.write(w)
      if (i < writes.size - 1) indexerOf(access(LocalStorage), table.path, options).update()
    }
    Ready(table.path, table.truth)
  }

  private def insert(keys: Range): Seq[KeyWrite] =
    Seq(KeyWrite("b", -1, log = false, keys.map(KeyedTable.uuid).toVector, 0))

  private def update(indexer: Indexer, part: RecordPart): Any = indexer.update()

  private val jobs = Vector(
    Job("create", global.copy(fileGroups = Some(2)), hasIndex = false, (i, _) => i.create(), plain(false)),
    Job("create over an index", global, hasIndex = true, (i, _) => i.create(), plain(true)),
    Job("add index", global, hasIndex = true, (i, p) => i.addPart(p), plain(true)),
    Job("drop index", global, hasIndex = true, (i, p) => i.dropPart(p), plain(true), (_, v) => groups(v).isEmpty),
    Job(
      "update",
      global,
      hasIndex = true,
      update,
      behind(6000, global, insert(9000 to 9001)),
      (_, v) => groups(v).map(_.deltas.size) == Vector(1)
    ),
    Job(
      "update that merges deltas",
      global,
      hasIndex = true,
      update,
      behind(6000, global, insert(9000 to 9001), insert(9002 to 9003)),
      (old, v) => groups(v).map(_.deltas.size) == Vector(1) && groups(v).map(_.base) == groups(old).map(_.base)
    ),
    Job(
      "update that writes a new base",
      global,
      hasIndex = true,
      update,
      behind(20, global, insert(9000 to 9001)),
      (old, v) => groups(v).forall(_.deltas.isEmpty) && groups(v).map(_.base) != groups(old).map(_.base)
    ),
    Job(
      "update that splits",
      small,
      hasIndex = true,
      update,
      behind(20, small, insert(1000 to 3800)),
      (old, v) => groups(v).size > groups(old).size
    ),
    Job(
      "update that merges neighbours",
      global.copy(groupBytes = Some(8L << 20)),
      hasIndex = true,
      update,
      behind(5000, small, insert(9000 to 9001)),
      (old, v) => groups(old).size > 2 && groups(v).size == 1
    )
  )

  for ((job, n) <- jobs.zipWithIndex)
    test(
      s"killed before, in or behind any write step of ${job.name}: the version before answers, the next run ends well"
    ) {
      val ready = job.table()
      val before = current(ready.path)
      val counting = new FaultyStorage(LocalStorage, Int.MaxValue, Fault.Before)
      val tried = copy(ready.path)
      work(job, tried, counting)
      assert(before.forall(v => job.did(v, current(tried).get)))
      Figures.add("writes of an index stopped at a step", counting.mutatingCalls.toLong)
      (1 to counting.mutatingCalls).foreach { step =>
        val path = copy(ready.path)
        val faulty = new FaultyStorage(LocalStorage, step, Fault.All((step + n) % Fault.All.size))
        try { work(job, path, faulty); () }
        catch { case e: hudiidx.IndexNotWritable => assert(e.getCause.isInstanceOf[InjectedFault]) }
        assert(faulty.hasFailed)
        answers(path, ready.truth, job.hasIndex)
        finish(job, path, ready.truth)
      }
    }

  private def work(job: Job, path: String, storage: Storage): Unit = {
    val a = access(storage)
    val part = new RecordPart(new LocalEngine(a), job.options)
    job.work(new Indexer(a, path, IndexOptions(), LocalScanner, Vector(part)), part): Unit
  }

  private def answers(path: String, truth: Set[RecordLocation], hadIndex: Boolean): Unit = {
    val version = current(path)
    assert(version.isDefined || !hadIndex)
    val options = if (version.exists(v => groups(v).nonEmpty)) indexed else IndexOptions()
    assert(lookup(path, truth.map(_.key).toVector :+ "absent", None, options) === truth): Unit
  }

  /** The next run ends well, and cleaning leaves the files of one version and nothing else. */
  private def finish(job: Job, path: String, truth: Set[RecordLocation]): Unit = {
    work(if (current(path).isEmpty) jobs.head else job, path, LocalStorage)
    val store = new IndexStore(LocalStorage, IndexStore.defaultDir(path))
    val version = current(path).get
    store.expire(version.number, quick.retention, System.currentTimeMillis() + 1)
    assert(
      Fixtures.filesBelow(store.dir).toSet === version.files.map(_.name).toSet + f"versions/${version.number}%020d.json"
    )
    assert(LocalStorage.list(store.dir).filter(_.isDirectory).map(_.name) === Vector("versions"))
    answers(path, truth, hadIndex = true)
  }
}

object RecordFaultSuite {
  val quick: IndexOptions = IndexOptions(retention = Retention(1, 0, 0))

  def access(storage: Storage): TableAccess = Tables.access(storage, new BlockCache(4 << 20))

  def indexerOf(
      access: TableAccess,
      path: String,
      record: RecordOptions,
      options: IndexOptions = IndexOptions()
  ): Indexer = {
    val part = new RecordPart(new LocalEngine(access), record)
    new Indexer(access, path, options, LocalScanner, Vector(part))
  }

  def current(path: String): Option[IndexVersion] =
    new IndexStore(LocalStorage, IndexStore.defaultDir(path)).current() match {
      case Current.Found(version, _) => Some(version)
      case _                         => None
    }

  def groups(version: IndexVersion): Vector[HashGroup] = HashGroup.of(version)

  /** Files are as old as they were: a store that lists what is past goes by that. */
  def copy(path: String): String = {
    val from = java.nio.file.Paths.get(path)
    val to = Fixtures.newFolder("copied")
    val walk = Files.walk(from)
    try
      walk.iterator.asScala.foreach { (f: Path) =>
        val target = to.resolve(from.relativize(f).toString)
        if (Files.isDirectory(f)) Files.createDirectories(target)
        else Files.copy(f, target, StandardCopyOption.COPY_ATTRIBUTES)
      }
    finally walk.close()
    to.toString
  }
}
