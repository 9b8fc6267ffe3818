package hudiidx.sync

import hudiidx.sync.build.Indexer
import hudiidx.{IndexNotWritable, InvalidOption}
import hudiidx.storage.LocalStorage
import hudiidx.store.{IndexStore, Retention}
import hudiidx.symlink.{SymlinkExport, SymlinkPart, SymlinkSettings}
import hudiidx.sync.IndexerSuite.{accessOf, filesBelow, withTable}
import java.nio.file.Files
import org.scalatest.funsuite.AnyFunSuite

/** Folders that are not an index's, by mistake or because somebody has put a link there: every job leaves them as they are. */
class ForeignFoldersSuite extends AnyFunSuite {

  /** Whatever is old enough goes at once. */
  private val options = IndexOptions(retention = Retention(1, 0, 0))

  private def indexer(table: FakeTable, dir: Option[String] = None) =
    new Indexer(accessOf(LocalStorage), table.path, options.copy(indexPath = dir), LocalScanner, Vector(SymlinkPart))

  private def write(table: FakeTable): Unit =
    table.write(Seq(FakeWrite("a", -1, isLog = false, 10)), complete = true): Unit

  private val jobs: Vector[(String, Indexer => Any)] = Vector(
    "create" -> (_.create()),
    "update" -> (_.update()),
    "addPart" -> (_.addPart(SymlinkPart)),
    "dropPart" -> (_.dropPart(SymlinkPart)),
    "setPart" -> (_.setPart(SymlinkPart)(_ => SymlinkPart.of(Some(SymlinkSettings("symlink_manifest", false))))),
    "expire" -> (_.expire())
  )

  for ((name, job) <- jobs)
    test(s"$name: the table's own folder, one above it, and a folder of documents stay as they are") {
      withTable(9) { table =>
        write(table)
        val documents = table.dir.resolve("documents")
        Files.createDirectories(documents.resolve("versions"))
        Files.writeString(documents.resolve("id_rsa"), "key")
        Files.writeString(documents.resolve("versions/1.json"), "{}")
        val before = filesBelow(table.dir)
        Seq(table.path, s"${table.path}/.hoodie/..", table.dir.getParent.toString, "/").foreach { dir =>
          val said = intercept[InvalidOption](job(indexer(table, Some(dir)))).getMessage
          assert(said.contains(dir) && said.contains("hudiidx.index.path"))
        }
        val said = intercept[hudiidx.HudiIdxException](job(indexer(table, Some(documents.toString)))).getMessage
        assert(said.contains(documents.toString) && (name != "create" || said.contains("id_rsa")))
        assert(filesBelow(table.dir) === before)
      }
    }

  for ((name, job) <- jobs; link <- Seq(".hoodie/hudiidx", ".hoodie/hudiidx/versions", ".hoodie"))
    test(s"$name: nothing is written or removed through a link at $link") {
      withTable(9) { table =>
        write(table)
        val created = indexer(table)
        if (link != ".hoodie") created.create()
        val elsewhere = table.dir.resolveSibling(table.dir.getFileName.toString + "-elsewhere")
        try {
          Files.move(table.dir.resolve(link), elsewhere)
          Files.createSymbolicLink(table.dir.resolve(link), elsewhere)
          Files.writeString(elsewhere.resolve("id_rsa"), "key")
          write(table)
          val before = filesBelow(elsewhere)
          val said = intercept[IndexNotWritable](job(indexer(table))).getMessage
          assert(said.contains(link) && said.contains("a link"))
          assert(filesBelow(elsewhere) === before)
        } finally IndexerSuite.delete(elsewhere)
      }
    }

  for (link <- Seq(".hoodie/hudiidx", ".hoodie"))
    test(s"symlink manifests: nothing is written or removed through a link at $link") {
      withTable(9) { table =>
        write(table)
        indexer(table).create()
        val elsewhere = table.dir.resolveSibling(table.dir.getFileName.toString + "-elsewhere")
        try {
          Files.move(table.dir.resolve(link), elsewhere)
          Files.createSymbolicLink(table.dir.resolve(link), elsewhere)
          val before = filesBelow(elsewhere)
          val exported = new SymlinkExport(accessOf(LocalStorage), table.path, options)
          val said = intercept[IndexNotWritable](exported.now(None, readOptimized = false, keep = None)).getMessage
          assert(said.contains(link) && said.contains("a link"))
          assert(filesBelow(elsewhere) === before)
        } finally IndexerSuite.delete(elsewhere)
      }
    }

  for (stored <- Seq("{}", "file:{}", "{}/.", "{}/x/..", "symlink_manifest"))
    test(
      s"symlink manifests: a link in their place makes no folder elsewhere our own, with a version that names $stored"
    ) {
      withTable(9) { table =>
        write(table)
        indexer(table).create()
        val victim = table.dir.resolveSibling(table.dir.getFileName.toString + "-victim")
        try {
          Files.createDirectories(victim.resolve("x/y"))
          Seq("manifest", "x/manifest", "x/y/manifest").foreach(n => Files.writeString(victim.resolve(n), "mine"))
          val before = filesBelow(victim)
          Files.createSymbolicLink(table.dir.resolve(".hoodie/hudiidx/symlink_manifest"), victim)
          val settings = SymlinkSettings(stored.replace("{}", victim.toString), readOptimized = false)
          indexer(table).setPart(SymlinkPart)(_ => SymlinkPart.of(Some(settings)))
          write(table)
          val version = indexer(table).update().version
          def export(trusted: String*) =
            new SymlinkExport(accessOf(LocalStorage), table.path, options.copy(symlinkPaths = trusted.toVector))
          val jobs = Seq[() => Any](
            () => export().follow(version).foreach(done => fail(done.toString)),
            () => export().now(None, readOptimized = false, keep = None),
            () => export().now(Some(s"${table.path}/.hoodie/hudiidx/symlink_manifest"), readOptimized = false, None),
            // Named by the caller, it is still a folder of others.
            () => export(victim.toString).follow(version).foreach(done => fail(done.toString)),
            () => export().now(Some(victim.toString), readOptimized = false, None)
          )
          jobs.foreach { job =>
            try job(): Unit
            catch { case _: IndexNotWritable | _: InvalidOption => () }
            assert(filesBelow(victim) === before)
          }
        } finally IndexerSuite.delete(victim)
      }
    }

  test("links in the index folder are removed themselves, and nothing that they lead to") {
    withTable(9) { table =>
      write(table)
      indexer(table).create()
      val elsewhere = Files.createDirectories(table.dir.resolve("elsewhere"))
      val index = table.dir.resolve(".hoodie/hudiidx")
      val token = "0123456789"
      val names = Seq(s"0.$token.record_run", s"2026.$token.log_index", "manifest", "id_rsa")
      names.foreach(n => Files.writeString(elsewhere.resolve(n), "x"))
      Seq("record-build", s"record-update-$token", "column-build-a", "symlink_manifest").foreach { n =>
        Files.createSymbolicLink(index.resolve(n), elsewhere)
      }
      Files.createSymbolicLink(index.resolve(s"2027.$token.log_index"), elsewhere.resolve("id_rsa"))
      indexer(table).expire()
      assert(filesBelow(elsewhere).keySet === names.toSet)
      new IndexStore(LocalStorage, index.toString).drop()
      assert(filesBelow(elsewhere).keySet === names.toSet && !Files.exists(index))
    }
  }

  test("a drop removes a link in the place of the versions, and none of what it leads to") {
    withTable(9) { table =>
      write(table)
      indexer(table).create()
      val (versions, elsewhere) = (table.dir.resolve(".hoodie/hudiidx/versions"), table.dir.resolve("elsewhere"))
      Files.move(versions, elsewhere)
      Files.createSymbolicLink(versions, elsewhere)
      val before = filesBelow(elsewhere)
      new IndexStore(LocalStorage, versions.getParent.toString).drop()
      assert(filesBelow(elsewhere) === before && !Files.exists(versions.getParent))
    }
  }

  test("a link between table and index is seen under another name of the table's path, too") {
    withTable(9) { table =>
      write(table)
      indexer(table).create()
      val (other, elsewhere) =
        (table.dir.resolveSibling("other-" + table.dir.getFileName), table.dir.resolve("elsewhere"))
      try {
        Files.createSymbolicLink(other, table.dir)
        Files.move(table.dir.resolve(".hoodie"), elsewhere)
        Files.createSymbolicLink(table.dir.resolve(".hoodie"), elsewhere)
        val before = filesBelow(elsewhere)
        val said = intercept[IndexNotWritable](indexer(table, Some(s"$other/.hoodie/hudiidx")).update()).getMessage
        assert(said.contains(s"$other/.hoodie: a link") && filesBelow(elsewhere) === before)
      } finally Files.deleteIfExists(other): Unit
    }
  }
}
