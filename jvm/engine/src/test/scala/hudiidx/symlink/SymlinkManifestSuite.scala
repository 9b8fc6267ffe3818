package hudiidx.symlink

import hudiidx._
import hudiidx.storage._
import hudiidx.sync.IndexerSuite.{accessOf, withTable}
import hudiidx.sync._
import hudiidx.sync.build.Indexer
import java.nio.file.{Files, Path}
import java.util.concurrent.ConcurrentLinkedQueue
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks
import scala.collection.JavaConverters._

/** Manifests beside timelines that are written action by action; the truth is a listing of the table without an index. */
class SymlinkManifestSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private val partition = Gen.oneOf("a", "b/c", "d=1", "e")
  private val write = Gen.zip(partition, Gen.choose(-1, 3), Gen.choose(1, 99)).map { case (p, group, size) =>
    FakeWrite(p, group, isLog = false, size)
  }

  /** Deeds on a table without logs. */
  private val deed: Gen[FakeTable => Unit] = Gen.frequency(
    6 -> Gen.zip(Gen.choose(1, 4).flatMap(Gen.listOfN(_, write)), Gen.prob(0.8)).map { case (plan, complete) =>
      (t: FakeTable) => t.write(plan, complete): Unit
    },
    2 -> Gen.const((t: FakeTable) => t.completePending()),
    1 -> Gen.prob(0.5).map(pending => (t: FakeTable) => t.rollback(pending)),
    1 -> Gen.choose(1, 2).map(n => (t: FakeTable) => t.restore(n)),
    1 -> Gen.const((t: FakeTable) => t.clean()),
    2 -> Gen.zip(partition, Gen.choose(0, 3)).map { case (p, pick) => (t: FakeTable) => t.replace(p, pick) }
  )

  for (version <- Seq(6, 9))
    test(s"on version $version manifests name what a listing has, kept step by step or exported once") {
      forAll(Gen.choose(3, 10).flatMap(Gen.listOfN(_, deed)), minSuccessful(10)) { deeds =>
        withTable(version) { table =>
          val access = accessOf(LocalStorage)
          table.write(Seq(FakeWrite("a", -1, isLog = false, 10)), complete = true)
          new Indexer(access, table.path, IndexOptions()).create()
          val kept = exporter(access, table).now(None, readOptimized = false, keep = Some(true))
          deeds.foreach { d =>
            d(table)
            follow(access, table)
            assert(manifests(kept.path) === listed(access, table))
            val again = exporter(access, table).now(None, readOptimized = false, keep = None)
            assert((again.written, again.removed) === ((0, 0)))
          }
          val once = table.dir.resolve("once").toString
          new SymlinkExport(access, table.path, IndexOptions(enabled = false)).now(Some(once), false, None)
          assert(manifests(once) === listed(access, table))
        }
      }
    }

  test("an export's state that names a manifest outside the folder is not believed") {
    val folder = Fixtures.newFolder("state").toString
    def read(partition: String): Option[SymlinkState] = {
      val state = SymlinkState("x", isComplete = true, "/t", 1, Map(partition -> 1L))
      LocalStorage.replace(s"$folder/${SymlinkState.FileName}", SymlinkState.encode(state))
      SymlinkState.read(LocalStorage, folder)
    }
    assert(read("a/b").exists(_.manifests.contains("a/b")))
    Seq("a/../../b", "/b", "s3a://b", "file:/b").foreach(bad => assert(read(bad) === None))
  }

  test("manifests follow where their state is of a version that the index does not have") {
    withTable(9) { table =>
      val access = accessOf(LocalStorage)
      table.write(Seq(FakeWrite("a", -1, isLog = false, 10)), complete = true)
      new Indexer(access, table.path, IndexOptions()).create()
      val folder = exporter(access, table).now(None, readOptimized = false, keep = Some(true)).path
      for (number <- Seq(Long.MaxValue, 57L, -1L)) {
        val state = SymlinkState.read(LocalStorage, folder).get
        LocalStorage.replace(
          s"$folder/${SymlinkState.FileName}",
          SymlinkState.encode(state.copy(indexVersion = number))
        )
        table.write(Seq(FakeWrite("b", -1, isLog = false, 10)), complete = true)
        follow(access, table)
        assert(manifests(folder) === listed(access, table), number)
      }
    }
  }

  test("what an export that died left is put right by the next, wherever it died") {
    for (fault <- Fault.All; step <- 1 to 8) withTable(9) { table =>
      val access = accessOf(LocalStorage)
      val folder = table.dir.resolve("m").toString
      def export(storage: Storage): SymlinkResult = exporter(accessOf(storage), table).now(Some(folder), false, None)
      table.write(Seq("a", "b", "c").map(FakeWrite(_, -1, isLog = false, 10)), complete = true)
      export(LocalStorage)
      table.write(Seq("a", "c", "d").map(FakeWrite(_, -1, isLog = false, 10)), complete = true)
      table.replace("b", 0)
      val before = manifests(folder)
      val faulty = new FaultyStorage(LocalStorage, step, fault)
      val died =
        try { export(faulty); false }
        catch { case e: IndexNotWritable => e.getCause.isInstanceOf[InjectedFault] }
      assert(died === faulty.hasFailed)
      // Each manifest is the one of before or the one of now.
      val now = listed(access, table)
      manifests(folder).foreach { case (p, names) =>
        assert(before.get(p).contains(names) || now.get(p).contains(names))
      }
      export(LocalStorage)
      assert(manifests(folder) === now)
    }
  }

  test("exports at once, beside a writer, end with the manifests of the last commit") {
    withTable(9) { table =>
      val access = accessOf(LocalStorage)
      table.write(Seq("a", "b", "c", "d").map(FakeWrite(_, -1, isLog = false, 10)), complete = true)
      new Indexer(access, table.path, IndexOptions()).create()
      val folder = exporter(access, table).now(None, readOptimized = false, keep = Some(true)).path
      (0 until 12).foreach { round =>
        val failures = new ConcurrentLinkedQueue[Throwable]
        val threads = (0 until 3).map { _ =>
          new Thread(() =>
            try follow(accessOf(LocalStorage), table)
            catch { case e: Throwable => failures.add(e): Unit }
          )
        }
        threads.foreach(_.start())
        table.write(
          Seq("a", "b", "c", "d").map(FakeWrite(_, round % 3 - 1, isLog = false, 10 + round)),
          complete = true
        )
        threads.foreach(_.join())
        failures.forEach(f => throw f)
        follow(access, table)
        val clue =
          Files.readString(Path.of(folder, "_hudiidx_symlink.json")) + " " + indexer(access, table).update().version
        withClue(s"round $round $clue: ")(assert(manifests(folder) === listed(access, table)))
      }
    }
  }

  test("rows in logs are refused and no manifest is touched; base files alone are exported where asked") {
    withTable(9) { table =>
      val access = accessOf(LocalStorage)
      table.write(Seq(FakeWrite("a", -1, isLog = false, 10), FakeWrite("b", -1, isLog = false, 10)), complete = true)
      val folder = table.dir.resolve("m").toString
      exporter(access, table).now(Some(folder), readOptimized = false, None)
      val before = manifests(folder)
      table.write(Seq(FakeWrite("b", 0, isLog = true, 150), FakeWrite("a", -1, isLog = false, 9)), complete = true)
      val e = intercept[UnsupportedTable](exporter(access, table).now(Some(folder), readOptimized = false, None))
      assert(e.getMessage.contains("partition 'b'") && e.getMessage.contains("--read-optimized"))
      assert(manifests(folder) === before)
      exporter(access, table).now(Some(folder), readOptimized = true, None)
      assert(manifests(folder) === listed(access, table))
    }
  }

  private def requireRefused(name: String, why: String): Unit = withTable(9) { table =>
    val access = accessOf(LocalStorage)
    table.write(Seq(FakeWrite("a", -1, isLog = false, 10)), complete = true)
    val folder = table.dir.resolve("m").toString
    exporter(access, table).now(Some(folder), readOptimized = false, None)
    val before = manifests(folder)
    table.write(Seq(FakeWrite(name, -1, isLog = false, 10), FakeWrite("a", -1, isLog = false, 9)), complete = true)
    val e = intercept[UnsupportedTable](exporter(access, table).now(Some(folder), readOptimized = false, None))
    assert(e.getMessage.contains(Texts.shown(name)) && e.getMessage.contains(why))
    assert(manifests(folder) === before)
  }

  test("a partition whose name readers of manifests take for a pattern is refused and no manifest is touched") {
    Seq("{x,../other}", "[x]", "*", "a?", "a\\b").foreach(requireRefused(_, "patterns"))
  }

  test("a partition with an end of line in its name, of whatever writer, is refused and no manifest is touched") {
    Seq("x\n/tmp/salaries.parquet\ny", "x\ry").foreach(requireRefused(_, "an end of line"))
  }

  test("manifests are kept until that is turned off, with settings that versions carry on") {
    withTable(9) { table =>
      val access = accessOf(LocalStorage)
      table.write(Seq(FakeWrite("a", -1, isLog = false, 10)), complete = true)
      val folder = table.dir.resolve("m").toString
      val e = intercept[IndexNotFound](exporter(access, table).now(Some(folder), readOptimized = true, Some(true)))
      assert(e.getMessage.contains("hudiidx create"))
      new Indexer(access, table.path, IndexOptions()).create()
      exporter(access, table).now(Some(folder), readOptimized = true, Some(true))
      val created = indexer(access, table).create().version
      assert(SymlinkSettings.of(created) === Some(SymlinkSettings(folder, readOptimized = true)))
      exporter(access, table, folder).now(None, readOptimized = false, Some(false))
      table.write(Seq(FakeWrite("b", -1, isLog = false, 10)), complete = true)
      assert(exporter(access, table).follow(indexer(access, table).update().version) === None)
      assert(manifests(folder).keySet === Set("a"))
    }
  }

  test("an unreadable state costs a whole export, strays of which go; another table's folder is refused") {
    withTable(9) { table =>
      val access = accessOf(LocalStorage)
      table.write(Seq(FakeWrite("a", -1, isLog = false, 10), FakeWrite("b/c", -1, isLog = false, 10)), complete = true)
      val export = exporter(access, table)
      val folder = Path.of(export.now(None, readOptimized = false, None).path)
      Files.createDirectories(folder.resolve("gone/x"))
      Files.writeString(folder.resolve("gone/x/manifest"), "file:/nowhere\n")
      val state = folder.resolve("_hudiidx_symlink.json")
      Files.write(state, Files.readAllBytes(state).dropRight(9))
      val result = export.now(None, readOptimized = false, None)
      assert((result.written, result.removed, result.files) === ((2, 1, 2L)))
      assert(manifests(folder.toString) === listed(access, table))
      withTable(9) { other =>
        other.write(Seq(FakeWrite("a", -1, isLog = false, 10)), complete = true)
        val e = intercept[IndexNotWritable](exporter(access, other).now(Some(folder.toString), false, None))
        assert(e.getMessage.contains(table.path))
        assert(manifests(folder.toString) === listed(access, table))
      }
    }
  }

  test("a folder elsewhere that a version names counts only where the caller's option names it too") {
    withTable(9) { table =>
      val access = accessOf(LocalStorage)
      table.write(Seq(FakeWrite("a", -1, isLog = false, 10)), complete = true)
      new Indexer(access, table.path, IndexOptions()).create()
      val victim = Files.createDirectories(table.dir.resolve("victim/x/y"))
      Seq("manifest", "x/manifest", "x/y/manifest").foreach(n =>
        Files.writeString(table.dir.resolve(s"victim/$n"), "mine")
      )
      val folder = table.dir.resolve("victim").toString
      val before = manifests(folder)
      val forged = SymlinkPart.of(Some(SymlinkSettings(folder, readOptimized = false)))
      indexer(access, table).setPart(SymlinkPart)(_ => forged)
      table.write(Seq(FakeWrite("b", -1, isLog = false, 10)), complete = true)
      val version = indexer(access, table).update().version
      assert(exporter(access, table).follow(version) === None)
      val said = intercept[InvalidOption](exporter(access, table).now(None, readOptimized = false, None)).getMessage
      assert(said.contains(folder) && said.contains("hudiidx.symlinks.path"))
      // Named by the caller too, it is still none of ours.
      val held = intercept[IndexNotWritable](exporter(access, table, folder).follow(version)).getMessage
      assert(held.contains("holds other files"))
      assert(manifests(folder) === before && Files.exists(victim))
      val own = table.dir.resolve("m").toString
      exporter(access, table, folder, own).now(Some(own), readOptimized = false, Some(true))
      table.write(Seq(FakeWrite("c", -1, isLog = false, 10)), complete = true)
      val next = indexer(access, table).update().version
      assert(exporter(access, table).follow(next) === None)
      assert(exporter(access, table, "/nowhere", s"$own/").follow(next).map(_.path) === Some(own))
      assert(manifests(own) === listed(access, table))
    }
  }

  test("manifests in the index folder move with it") {
    withTable(9) { table =>
      val access = accessOf(LocalStorage)
      table.write(Seq(FakeWrite("a", -1, isLog = false, 10)), complete = true)
      new Indexer(access, table.path, IndexOptions()).create()
      exporter(access, table).now(None, readOptimized = false, Some(true))
      val moved = table.dir.resolveSibling(table.dir.getFileName.toString + "-moved")
      try {
        Files.move(table.dir, moved)
        val there = new SymlinkExport(access, moved.toString, IndexOptions())
        val version =
          new Indexer(access, moved.toString, IndexOptions(), LocalScanner, Vector(SymlinkPart)).update().version
        assert(there.follow(version).map(_.path) === Some(s"$moved/.hoodie/hudiidx/symlink_manifest"))
        val names = manifests(s"$moved/.hoodie/hudiidx/symlink_manifest")
        assert(names.keySet === Set("a") && names("a").forall(_.startsWith(s"$moved/a/")))
        Files.createDirectories(table.dir): Unit
      } finally IndexerSuite.delete(moved)
    }
  }

  test("no manifest is written, or removed, through a link in the folder") {
    withTable(9) { table =>
      val access = accessOf(LocalStorage)
      table.write(Seq("a", "b/c").map(FakeWrite(_, -1, isLog = false, 10)), complete = true)
      val victim = Files.createDirectories(table.dir.resolve("victim/c")).getParent
      Files.writeString(victim.resolve("manifest"), "mine")
      Files.writeString(victim.resolve("c/manifest"), "mine")
      val before = manifests(victim.toString)
      for (link <- Seq("a", "b"); own <- Seq(true, false)) {
        val folder = if (own) table.dir.resolve(".hoodie/hudiidx/symlink_manifest") else table.dir.resolve(s"m-$link")
        val export = exporter(access, table)
        def now() = export.now(if (own) None else Some(folder.toString), readOptimized = false, None)
        now()
        IndexerSuite.delete(folder.resolve(link))
        Files.createSymbolicLink(folder.resolve(link), victim)
        table.write(Seq(FakeWrite(if (link == "a") "a" else "b/c", -1, isLog = false, 11)), complete = true)
        assert(intercept[IndexNotWritable](now()).getMessage.contains(folder.resolve(link).toString))
        Files.delete(folder.resolve(link))
        now()
        assert(manifests(folder.toString) === listed(access, table))
      }
      assert(manifests(victim.toString) === before)
    }
  }

  private def exporter(access: TableAccess, table: FakeTable, trusted: String*) =
    new SymlinkExport(access, table.path, IndexOptions(symlinkPaths = trusted.toVector))

  private def indexer(access: TableAccess, table: FakeTable) =
    new Indexer(access, table.path, IndexOptions(), LocalScanner, Vector(SymlinkPart))

  private def follow(access: TableAccess, table: FakeTable): Unit =
    exporter(access, table).follow(indexer(access, table).update().version): Unit

  /** Partition -> paths, by the latest base files of a listing. */
  private def listed(access: TableAccess, table: FakeTable): Map[String, Set[String]] = {
    val snapshot = TableSnapshot.open(access, table.path, IndexOptions(enabled = false))
    try
      snapshot.view.partitions
        .map(p => p -> snapshot.view.latestBaseFiles(p).map(f => s"${table.path}/$p/${f.fileName}").toSet)
        .filter(_._2.nonEmpty)
        .toMap
    finally snapshot.close()
  }

  private def manifests(folder: String): Map[String, Set[String]] = {
    val root = Path.of(folder)
    val walk = Files.walk(root)
    try
      walk.iterator.asScala
        .filter(_.getFileName.toString == "manifest")
        .map(f => root.relativize(f.getParent).toString -> Files.readAllLines(f).asScala.toSet)
        .toMap
    finally walk.close()
  }
}
