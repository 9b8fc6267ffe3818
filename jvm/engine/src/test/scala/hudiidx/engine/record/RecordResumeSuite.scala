package hudiidx.engine.record

import hudiidx.{IndexNotWritable, WriteConflict}
import hudiidx.storage.{LocalStorage, Storage}
import hudiidx.sync._
import hudiidx.sync.build.Indexer
import java.nio.file.{Files, Path, Paths}
import org.scalatest.funsuite.AnyFunSuite

/** Creations and updates of a record index that were killed, or that others run beside. */
class RecordResumeSuite extends AnyFunSuite {
  import RecordFaultSuite.{access, current, groups, indexerOf}
  import RecordPartSuite.{indexed, lookup}

  private val two = RecordOptions(mode = Some("global"), fileGroups = Some(2))

  /** Six file groups of one size: an engine with one slot reads two of them in a task. */
  private def table(): KeyedTable = {
    val table = new KeyedTable
    (0 until 6).foreach(i => table.write(Seq(KeyWrite(s"p$i", -1, log = false, keysOf(i), 0))))
    table
  }

  private def keysOf(i: Int): Vector[String] = (0 until 50).map(n => KeyedTable.uuid(1000 + i * 50 + n)).toVector

  private def baseFiles(table: KeyedTable): Set[String] =
    hudiidx.Fixtures
      .filesBelow(table.path)
      .filter(_.endsWith(".parquet"))
      .map(f => f.substring(f.lastIndexOf('/') + 1))
      .toSet

  private def create(table: KeyedTable, options: RecordOptions = two, storage: Storage = LocalStorage): Unit =
    indexerOf(access(storage), table.path, options).create(): Unit

  /** Killed with the runs of the first four groups written. */
  private def killed(): KeyedTable = {
    val t = table()
    intercept[IndexNotWritable](create(t, storage = HookedStorage.failingAt(".record_run", 3)))
    assert(files(t, ".record_run").size === 2)
    t
  }

  private def folder(t: KeyedTable): Path = Paths.get(t.path, ".hoodie/hudiidx/record-build")

  private def files(t: KeyedTable, suffix: String): Vector[Path] =
    LocalStorage.list(folder(t).toString).filter(_.name.endsWith(suffix)).map(f => folder(t).resolve(f.name))

  private def check(t: KeyedTable): Unit = {
    assert(lookup(t.path, t.keys :+ "absent", None, indexed) === t.truth)
    assert(!Files.exists(folder(t)))
  }

  test("a link in the place of a work folder goes, and nothing is read, written or removed where it leads") {
    val t = killed()
    val elsewhere = hudiidx.Fixtures.newFolder("elsewhere").resolve("work")
    Files.move(folder(t), elsewhere)
    val before = LocalStorage.list(elsewhere.toString)
    Files.createSymbolicLink(folder(t), elsewhere)
    val storage = new HookedStorage
    create(t, storage = storage)
    assert(storage.baseFiles.size === baseFiles(t).size)
    assert(before.nonEmpty && LocalStorage.list(elsewhere.toString) === before)
    check(t)
  }

  test("a creation that was killed goes on: it reads the files that no whole run has, and no other") {
    val t = killed()
    val storage = new HookedStorage
    create(t, storage = storage)
    assert(storage.baseFiles.size === 2 && storage.baseFiles.map(n => baseFiles(t)(n)) === Set(true))
    check(t)
  }

  test("killed while it merges, it reads no file of the table again") {
    val t = table()
    intercept[IndexNotWritable](create(t, storage = HookedStorage.failingAt(".record_base", 2)))
    val storage = new HookedStorage
    create(t, storage = storage)
    assert(storage.baseFiles === Set.empty)
    check(t)
  }

  test("a run whose file group has another base file by now is not used") {
    val t = killed()
    t.write(Seq(KeyWrite("p0", 0, log = false, Vector("new"), 3), KeyWrite("p9", -1, log = false, Vector("9"), 0)))
    val storage = new HookedStorage
    create(t, storage = storage)
    // The new file, that of the group which shared its run, the two that no run had, and the new group's.
    assert(storage.baseFiles.size === 5)
    check(t)
  }

  test("a plan of other settings and its runs are put aside") {
    val t = killed()
    val storage = new HookedStorage
    create(t, two.copy(fileGroups = Some(3)), storage)
    assert(storage.baseFiles.size === 6)
    assert(groups(current(t.path).get).size === 3)
    check(t)
  }

  test("a damaged run, plan or dictionary segment of a killed creation costs reading, nothing else") {
    val whole = killed()
    val run = files(whole, ".record_run").head.getFileName.toString
    val size = Files.size(folder(whole).resolve(run)).toInt
    val damages =
      (0 until size by size / 6).map(at => run -> (flip(at) _)) :+ (run -> (cut _)) :+ ("plan" -> (flip(3) _)) :+
        ("plan" -> (cut _)) :+ ("plan" -> (outside _)) :+ ("segment" -> (flip(200) _)) :+ ("segment" -> (cut _))
    damages.foreach { case (what, harm) =>
      val path = RecordFaultSuite.copy(whole.path)
      val index = Paths.get(path, ".hoodie/hudiidx")
      val victims = what match {
        case "plan"    => LocalStorage.list(s"$index/record-build").filter(_.name.endsWith(".plan.json"))
        case "segment" => LocalStorage.list(index.toString).filter(_.name.endsWith(".record_groups"))
        case name      => LocalStorage.list(s"$index/record-build").filter(_.name == name)
      }
      assert(victims.nonEmpty)
      victims.foreach(v => Files.write(Paths.get(v.path), harm(Files.readAllBytes(Paths.get(v.path)))))
      indexerOf(access(LocalStorage), path, two).create()
      assert(lookup(path, whole.keys, None, indexed) === whole.truth, s"$what")
    }
  }

  private def flip(at: Int)(bytes: Array[Byte]): Array[Byte] = bytes.updated(at, (bytes(at) ^ 0x10).toByte)

  private def cut(bytes: Array[Byte]): Array[Byte] = bytes.take(bytes.length / 2)

  /** A plan that names a segment outside the index folder. */
  private def outside(plan: Array[Byte]): Array[Byte] = {
    val (text, segments) = (new String(plan, "UTF-8"), """"segments":[""")
    assert(text.contains(segments))
    text.replace(s"$segments]", segments + """{"name":"../hoodie.properties","size":1}]""").getBytes("UTF-8")
  }

  for ((name, other) <- Seq("the same" -> two, "other" -> two.copy(fileGroups = Some(3))))
    test(s"of two creations at once with $name settings both end, and the index is right") {
      Seq(".record_run", ".record_base", "master_manifest").foreach { moment =>
        val t = table()
        var isFirst = true
        val storage = new HookedStorage(path =>
          if (isFirst && path.contains(moment)) {
            isFirst = false
            create(t, other)
          }
        )
        create(t, storage = storage)
        assert(!isFirst)
        check(t)
        assert(IndexInfo.of(access(LocalStorage), t.path, indexed).state === IndexInfo.Ready)
      }
    }

  test("a creation with a record index that comes second to one without still makes it") {
    val t = table()
    var isFirst = true
    val storage = new HookedStorage(path =>
      if (isFirst && path.contains(".record_base")) {
        isFirst = false
        new Indexer(access(LocalStorage), t.path, IndexOptions()).create(): Unit
      }
    )
    create(t, storage = storage)
    check(t)
  }

  test("an update whose runs a clean-up takes meanwhile is a conflict that names them; the next one is right") {
    val t = table()
    create(t)
    val before = current(t.path)
    t.write(Seq(KeyWrite("p0", 0, log = false, Vector("new"), 3)))
    val storage = new HookedStorage(instead = path => {
      if (path.contains("record-update-")) Files.delete(Paths.get(path))
      path
    })
    val refused = intercept[WriteConflict](indexerOf(access(storage), t.path, two).update())
    assert(refused.getMessage.contains("record-update-") && refused.getMessage.contains(IndexOptions.OrphanMinutes))
    assert(current(t.path) === before)
    indexerOf(access(LocalStorage), t.path, two).update()
    check(t)
  }

  test("many creations in threads all end, and leave one index that is right") {
    val t = table()
    val failures = new java.util.concurrent.ConcurrentLinkedQueue[Throwable]
    val threads = (1 to 3).map { i =>
      val options = two.copy(fileGroups = Some(1 + i % 2))
      new Thread(() =>
        try create(t, options)
        catch { case e: Throwable => failures.add(e): Unit }
      )
    }
    threads.foreach(_.start())
    threads.foreach(_.join())
    assert(failures.isEmpty, failures)
    assert(lookup(t.path, t.keys, None, indexed) === t.truth)
  }
}
