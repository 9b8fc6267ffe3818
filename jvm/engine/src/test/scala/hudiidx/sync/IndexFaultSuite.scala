package hudiidx.sync

import hudiidx._
import hudiidx.storage._
import hudiidx.store.{Current, IndexStore, IndexVersion, Retention}
import hudiidx.sync.build.Indexer
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}
import org.scalatest.funsuite.AnyFunSuite

/** What happens to an index, and to answers, when storage refuses, fills up, dies or changes bytes. */
class IndexFaultSuite extends AnyFunSuite {
  import IndexerSuite._

  private val strict = IndexOptions(strict = true)
  private val eager = IndexOptions(mergePercent = 1, mergeMinFiles = 0)

  /** Removes all that may be removed. */
  private val quick = Retention(1, 0, 0)

  /** A piece of work on an index, and what stands before it. */
  private case class Job(name: String, options: IndexOptions, needsIndex: Boolean, work: Indexer => Any)

  private val jobs = Vector(
    Job("create", IndexOptions(), needsIndex = false, _.create()),
    Job("create over an index", IndexOptions(), needsIndex = true, _.create()),
    Job("update", IndexOptions(), needsIndex = true, _.update()),
    Job("update with merge", eager, needsIndex = true, _.update()),
    Job("update with expire", IndexOptions(retention = quick), needsIndex = true, _.update()),
    Job("update with merge and expire", eager.copy(retention = quick), needsIndex = true, _.update())
  )

  for (job <- jobs; fault <- Fault.All)
    test(
      s"killed ${fault.toString.toLowerCase} any write step of ${job.name}: nothing half visible, the next run ends well"
    ) {
      val steps = withJob(job) { table =>
        val counting = new FaultyStorage(LocalStorage, Int.MaxValue, fault)
        job.work(new Indexer(accessOf(counting), table.path, job.options))
        counting.mutatingCalls
      }
      assert(steps >= (if (job.needsIndex) 2 else 3))
      Figures.add("writes of an index stopped at a step", steps.toLong)
      (1 to steps).foreach { step =>
        withJob(job) { table =>
          val faulty = new FaultyStorage(LocalStorage, step, fault)
          try { job.work(new Indexer(accessOf(faulty), table.path, job.options)); () }
          catch { case e: IndexNotWritable => assert(e.getCause.isInstanceOf[InjectedFault]) }
          assert(faulty.hasFailed)
          nothingHalfVisible(table, job.needsIndex)
          finishAndTidy(table)
        }
      }
    }

  for (job <- jobs.filterNot(_.options.retention == quick))
    test(s"a disk that fills up in ${job.name} is a typed error with file and remedy, and nothing is half visible") {
      var capacity = 0L
      var full = true
      while (full) {
        withJob(job) { table =>
          val before = if (job.needsIndex) indexFiles(table) else Set.empty[String]
          try {
            job.work(new Indexer(accessOf(new FullStorage(LocalStorage, capacity)), table.path, job.options))
            full = false
          } catch {
            case e: IndexNotWritable =>
              assert(e.getMessage.startsWith(s"${table.path}/.hoodie/hudiidx/"))
              assert(e.getMessage.contains("No space left on device") && e.getMessage.contains(IndexOptions.Path))
              val left =
                if (Files.exists(table.dir.resolve(".hoodie/hudiidx"))) indexFiles(table) else Set.empty[String]
              assert((left -- before).forall(n => !n.endsWith(".tmp") && !n.endsWith(".json")))
          }
          nothingHalfVisible(table, job.needsIndex)
          finishAndTidy(table)
        }
        capacity += 997
      }
      assert(capacity > 5000)
    }

  test("on a read-only table create names the option that helps and leaves nothing; with it, index and reader work") {
    withTable(9) { table =>
      table.write(Seq(FakeWrite("a", -1, isLog = false, 10)), complete = true)
      val access = accessOf(DenyingStorage.readOnlyBelow(table.path))
      val e = intercept[IndexNotWritable](new Indexer(access, table.path, IndexOptions()).create())
      assert(e.getMessage.contains(s"${table.path}/.hoodie/hudiidx/") && e.getMessage.contains(IndexOptions.Path))
      assert(!Files.exists(table.dir.resolve(".hoodie/hudiidx")))
      val outside = strict.copy(indexPath = Some(Fixtures.newFolder("outside").resolve("index").toString))
      new Indexer(access, table.path, outside).create()
      table.write(Seq(FakeWrite("b", -1, isLog = false, 10)), complete = true)
      checkAgainstListing(access, table, outside)
      assert(new Indexer(access, table.path, outside).update().published)
      checkAgainstListing(access, table, outside)
      assert(!Files.exists(table.dir.resolve(".hoodie/hudiidx")))
    }
  }

  test("a read-only table with an index is read through it, and update says why it cannot go on") {
    withTable(9) { table =>
      indexed(table)
      table.write(Seq(FakeWrite("b", -1, isLog = false, 10)), complete = true)
      val access = accessOf(DenyingStorage.readOnlyBelow(table.path))
      intercept[IndexNotWritable](new Indexer(access, table.path, IndexOptions()).update())
      intercept[IndexNotWritable](new IndexStore(access.storage, IndexStore.defaultDir(table.path)).drop())
      checkAgainstListing(access, table, strict)
      assert(IndexInfo.of(access, table.path, strict).state === IndexInfo.Lagging)
    }
  }

  test("a folder of the real file system that takes no files is the same error") {
    withTable(9) { table =>
      table.write(Seq(FakeWrite("a", -1, isLog = false, 10)), complete = true)
      val file = Files.write(table.dir.resolve("occupied"), Array[Byte](1))
      val options = IndexOptions(indexPath = Some(file.resolve("index").toString))
      val e = intercept[IndexNotWritable](new Indexer(accessOf(LocalStorage), table.path, options).create())
      assert(e.getMessage.startsWith(file.toString))
    }
  }

  test("what cannot be read of a table is NotAHudiTable with the path, not an answer") {
    withTable(9) { table =>
      table.write(Seq(FakeWrite("a", -1, isLog = false, 10)), complete = true)
      val hoodie = s"${table.path}/.hoodie"
      val instant = LocalStorage.list(s"$hoodie/timeline").map(_.path).find(_.endsWith(".deltacommit")).get
      Seq(s"$hoodie/hoodie.properties", s"$hoodie/timeline", instant, table.path, s"${table.path}/a").foreach { path =>
        val access = accessOf(DenyingStorage.unreadable(path))
        val e = intercept[NotAHudiTable] {
          val snapshot = TableSnapshot.open(access, table.path, IndexOptions())
          try snapshot.source.partitions.map(p => snapshot.source.files(p))
          finally snapshot.close()
        }
        assert(e.getMessage.startsWith(s"$path: cannot be read"))
        assert(
          intercept[NotAHudiTable](new Indexer(access, table.path, IndexOptions()).create()).getMessage
            .startsWith(path)
        )
        assert(IndexInfo.of(accessOf(LocalStorage), table.path, IndexOptions()).state === IndexInfo.Absent)
      }
    }
  }

  test("an index folder that cannot be read costs the index, never the answer") {
    withTable(9) { table =>
      indexed(table)
      val versions = s"${table.path}/.hoodie/hudiidx/versions"
      (versions +: LocalStorage.list(versions).map(_.path)).foreach { path =>
        val access = accessOf(DenyingStorage.unreadable(path))
        val snapshot = TableSnapshot.open(access, table.path, IndexOptions())
        assert(snapshot.use.fallback.map(_.code) === Some(FallbackCode.DamagedIndex))
        checkAgainstListing(access, table, IndexOptions())
        intercept[DamagedIndex](TableSnapshot.open(access, table.path, strict))
      }
    }
  }

  test("any byte changed in any kind of index file is noticed or harmless, and never changes an answer") {
    withTable(9) { table =>
      table.write(Seq(FakeWrite("a", -1, isLog = false, 10), FakeWrite("b", -1, isLog = false, 20)), complete = true)
      indexed(table)
      table.write(Seq(FakeWrite("c", -1, isLog = false, 10), FakeWrite("a", 0, isLog = false, 11)), complete = true)
      new Indexer(accessOf(LocalStorage), table.path, IndexOptions(retention = quick)).update()
      val truth = table.files.map { case (p, files) => p -> files.toMap }.toMap
      val kinds = indexFiles(table).toVector.sortBy(_.replaceAll(".*[.]", ""))
      assert(kinds.map(_.replaceAll(".*[.]", "")) === Vector("delta_manifest", "idx", "json", "master_manifest"))
      kinds.foreach { name =>
        val path = s"${table.path}/.hoodie/hudiidx/$name"
        val whole = LocalStorage.readAll(path)
        Figures.add("bytes of index files changed", whole.length.toLong)
        whole.indices.foreach { at =>
          val bad = whole.clone()
          bad(at) = (bad(at) ^ (1 << (at % 8))).toByte
          val access = accessOf(new ReplacingStorage(LocalStorage, path, bad))
          try assert(answers(access, table, strict) === truth, s"$name, byte $at")
          catch { case _: DamagedIndex => if (at % 50 == 0) assert(answers(access, table, IndexOptions()) === truth) }
        }
        whole.indices.filter(_ % 50 == 0).foreach { length =>
          val access = accessOf(new ReplacingStorage(LocalStorage, path, whole.take(length)))
          intercept[DamagedIndex](answers(access, table, strict))
          assert(answers(access, table, IndexOptions()) === truth)
        }
      }
    }
  }

  test(
    "an index version of a later format is skipped for an older one; alone it means listing, and strict raises"
  ) {
    withTable(9) { table =>
      indexed(table)
      table.write(Seq(FakeWrite("b", -1, isLog = false, 10)), complete = true)
      val access = accessOf(LocalStorage)
      new Indexer(access, table.path, IndexOptions()).update()
      val versions = table.dir.resolve(".hoodie/hudiidx/versions")
      makeLater(versions.resolve(f"${2}%020d.json"))
      val snapshot = TableSnapshot.open(access, table.path, strict)
      assert(snapshot.use.version.map(_.number) === Some(1) && snapshot.use.unseenInstants.size === 1)
      assert(snapshot.use.passedOver.head.contains("a later hudiidx wrote it"))
      checkAgainstListing(access, table, strict)
      Files.delete(versions.resolve(f"${1}%020d.json"))
      val fallback = TableSnapshot.open(access, table.path, IndexOptions()).use.fallback.get
      assert(fallback.code === FallbackCode.DamagedIndex && fallback.why.contains("a later hudiidx wrote it"))
      checkAgainstListing(access, table, IndexOptions())
      intercept[DamagedIndex](TableSnapshot.open(access, table.path, strict))
    }
  }

  test("whatever file of the index is damaged, one warning names it and the command that repairs it") {
    withTable(9) { table =>
      indexed(table)
      val folder = s"${table.path}/.hoodie/hudiidx"
      indexFiles(table).foreach { name =>
        val whole = LocalStorage.readAll(s"$folder/$name")
        Seq(whole.take(whole.length / 2), whole.map(b => (b ^ 1).toByte), Array.empty[Byte]).foreach { bad =>
          val access = accessOf(new ReplacingStorage(LocalStorage, s"$folder/$name", bad))
          val before = FallbackCounters.snapshot(folder).values.sum
          val snapshot = TableSnapshot.open(access, table.path, IndexOptions())
          try snapshot.source.partitions.foreach(p => (0 until 3).foreach(_ => snapshot.source.files(p)))
          finally snapshot.close()
          assert(FallbackCounters.snapshot(folder).values.sum === before + 1)
          val fallback = snapshot.use.fallback.get
          val warning = fallback.message(table.path, folder, strict = false)
          assert(warning.contains(name) && warning.contains("run `hudiidx "), warning)
          val error = intercept[DamagedIndex](answers(access, table, strict)).getMessage
          assert(error === fallback.message(table.path, folder, strict = true))
        }
      }
    }
  }

  test("an update goes on from the newest whole version when the one above it is damaged") {
    withTable(9) { table =>
      val access = accessOf(LocalStorage)
      indexed(table)
      table.write(Seq(FakeWrite("b", -1, isLog = false, 10)), complete = true)
      new Indexer(access, table.path, IndexOptions()).update()
      Files.write(table.dir.resolve(f".hoodie/hudiidx/versions/${2}%020d.json"), Array[Byte](1))
      table.write(Seq(FakeWrite("c", -1, isLog = false, 10)), complete = true)
      val result = new Indexer(access, table.path, IndexOptions()).update()
      assert(result.version.number === 3 && !result.rebuilt && result.instants.size === 2)
      checkAgainstListing(access, table, strict)
    }
  }

  test("a version that names a file which is gone or cut short costs the index, never the answer") {
    withTable(9) { table =>
      indexed(table)
      val access = accessOf(LocalStorage)
      indexFiles(table).filterNot(_.endsWith(".json")).foreach { name =>
        val file = table.dir.resolve(".hoodie/hudiidx").resolve(name)
        val whole = Files.readAllBytes(file)
        Seq[Path => Unit](f => Files.delete(f), f => { Files.write(f, whole.take(whole.length - 1)); () }).foreach {
          harm =>
            harm(file)
            intercept[DamagedIndex](TableSnapshot.open(access, table.path, strict))
            checkAgainstListing(access, table, IndexOptions())
            assert(IndexInfo.of(access, table.path, strict).state === IndexInfo.Broken)
            Files.write(file, whole)
        }
      }
      checkAgainstListing(access, table, strict)
    }
  }

  private def makeLater(version: Path): Unit = {
    val text = Files.readString(version).replace("\"format\":1", "\"format\":2")
    val body = text.substring(0, text.lastIndexOf(",\"crc32c\""))
    val crc = new java.util.zip.CRC32C
    crc.update(body.getBytes(UTF_8))
    Files.writeString(version, body + ",\"crc32c\":\"" + String.format("%08x", Long.box(crc.getValue)) + "\"}")
    intercept[DamagedIndex](IndexVersion.decode(Files.readAllBytes(version), "v")): Unit
  }

  /** A table as it stands before the job: where it needs an index, that is one commit behind. */
  private def withJob[A](job: Job)(use: FakeTable => A): A = {
    var result = Option.empty[A]
    withTable(9) { table =>
      if (job.needsIndex) indexed(table)
      table.write(Seq(FakeWrite("b", -1, isLog = false, 10), FakeWrite("a", -1, isLog = false, 10)), complete = true)
      result = Some(use(table))
    }
    result.get
  }

  private def answers(access: TableAccess, table: FakeTable, options: IndexOptions): Map[String, Map[String, Int]] = {
    val snapshot = TableSnapshot.open(access, table.path, options)
    try
      snapshot.source.partitions
        .map(p => p -> snapshot.source.files(p).map(f => f.fileName -> f.sizeBytes.toInt).toMap)
        .toMap
    finally snapshot.close()
  }

  /** The current version, if there is one, is whole and answers right; all others that are there are whole, too. */
  private def nothingHalfVisible(table: FakeTable, hadIndex: Boolean): Unit = {
    val access = accessOf(LocalStorage)
    val store = new IndexStore(LocalStorage, IndexStore.defaultDir(table.path))
    store.versionNumbers().foreach(n => store.read(n))
    store.current() match {
      case Current.Found(_, passedOver) =>
        assert(passedOver === Vector.empty)
        checkAgainstListing(access, table, strict)
      case other =>
        assert(!hadIndex && other === Current.Absent)
        checkAgainstListing(access, table, IndexOptions())
    }
  }

  /** The next run brings the index in step, and a later one leaves the files of one version and nothing else. */
  private def finishAndTidy(table: FakeTable): Unit = {
    val access = accessOf(LocalStorage)
    val store = new IndexStore(LocalStorage, IndexStore.defaultDir(table.path))
    val indexer = new Indexer(access, table.path, IndexOptions(retention = quick))
    if (store.current() == Current.Absent) indexer.create() else indexer.update()
    assert(IndexInfo.of(access, table.path, strict).state === IndexInfo.Ready)
    checkAgainstListing(access, table, strict)
    table.write(Seq(FakeWrite("z", -1, isLog = false, 10)), complete = true)
    val version = indexer.update().version
    assert(indexFiles(table) === version.files.map(_.name).toSet + f"versions/${version.number}%020d.json")
    checkAgainstListing(access, table, strict)
  }
}
