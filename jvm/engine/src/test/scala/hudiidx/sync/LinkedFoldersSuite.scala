package hudiidx.sync

import java.nio.file.{Files, Path}

import hudiidx.sync.build.Indexer
import hudiidx.{DamagedTable, TableFormat}
import hudiidx.storage.{CountingStorage, LocalStorage, Storage}
import hudiidx.store.{IndexStore, Retention}
import hudiidx.sync.IndexerSuite.{accessOf, withTable}
import hudiidx.write.{Markers, RemadeTable}
import org.scalatest.funsuite.AnyFunSuite

/** Links among a table's folders: every walk ends, after looks in proportion to the table. */
class LinkedFoldersSuite extends AnyFunSuite {

  private val options = IndexOptions(retention = Retention(1, 0, 0))

  private def indexer(table: FakeTable, storage: CountingStorage) =
    new Indexer(accessOf(storage), table.path, options, LocalScanner, Vector.empty)

  /** Without the index. */
  private def listed(table: FakeTable, storage: Storage): Vector[(String, Set[String])] = {
    val snapshot = TableSnapshot.open(accessOf(storage), table.path, options.copy(enabled = false))
    try snapshot.source.partitions.map(p => p -> snapshot.source.files(p).map(_.fileName).toSet)
    finally snapshot.close()
  }

  /** All that looks for folders or files of a table or an index. */
  private val jobs: Vector[(String, (FakeTable, CountingStorage) => Any)] = Vector(
    "a listing" -> ((t, s) => listed(t, s)),
    "create" -> ((t, s) => indexer(t, s).create()),
    "update" -> ((t, s) => indexer(t, s).update()),
    "expire" -> ((t, s) => indexer(t, s).expire()),
    "info" -> ((t, s) => IndexInfo.of(accessOf(s), t.path, options)),
    "an overwrite of all" -> ((t, s) => RemadeTable.allGroups(s, t.path)),
    "markers of a write" -> ((t, s) => new Markers(s, t.path, TableFormat.V9, "20260102000000000").all),
    "drop" -> ((t, s) => new IndexStore(s, IndexStore.defaultDir(t.path)).drop())
  )

  private def withTwo(use: FakeTable => Unit): Unit = withTable(9) { table =>
    table.write(Seq(FakeWrite("a", -1, isLog = false, 10), FakeWrite("b/c", -1, isLog = false, 10)), complete = true)
    indexer(table, new CountingStorage(LocalStorage)).create()
    table.write(Seq(FakeWrite("a", -1, isLog = false, 10)), complete = true)
    Files.createDirectories(table.dir.resolve(".hoodie/.temp/20260102000000000/a"))
    use(table)
  }

  private def link(table: FakeTable, at: String, to: Path): Unit = {
    val place = table.dir.resolve(at)
    Files.createDirectories(place.getParent)
    Files.createSymbolicLink(place, to): Unit
  }

  /** At a place in the table, to another. */
  private val cycles: Vector[(String, Seq[(String, String)])] = Vector(
    "the table in itself" -> Seq("d" -> "."),
    "what is above the table" -> Seq("d" -> "..", "e" -> "/"),
    "a folder in itself" -> Seq("b/loop" -> "b"),
    "one above" -> Seq("b/x/y/loop" -> "b"),
    "two, each in the other" -> Seq("b/to" -> "d", "d/back" -> "b"),
    "two that double what is below them" -> Seq("b/x" -> "b", "b/y" -> "b", "b/z" -> "."),
    "in a partition" -> Seq("a/loop" -> ".", "a/back" -> "a"),
    "to itself" -> Seq("d" -> "d", "b/e" -> "b/e", "a/f" -> "a/f", ".hoodie/timeline/g" -> ".hoodie/timeline/g"),
    "in our folders" -> Seq(
      ".hoodie/hudiidx/record-build/x" -> ".hoodie/hudiidx",
      ".hoodie/hudiidx/symlink_manifest/x" -> ".hoodie/hudiidx/symlink_manifest",
      ".hoodie/hudiidx/symlink_manifest/y" -> ".hoodie/hudiidx/symlink_manifest",
      ".hoodie/hudiidx/versions/x" -> ".",
      ".hoodie/.temp/20260102000000000/x" -> ".hoodie/.temp/20260102000000000",
      ".hoodie/.temp/20260102000000000/a/y" -> ".hoodie/.temp/20260102000000000"
    )
  )

  for ((what, links) <- cycles; (name, job) <- jobs)
    test(s"$name ends where links lead in circles: $what") {
      withTwo { table =>
        links.foreach { case (at, to) =>
          link(table, at, if (to == at) Path.of(at).getFileName else table.dir.resolve(to).normalize())
        }
        val storage = new CountingStorage(LocalStorage)
        try job(table, storage): Unit
        catch {
          case e: DamagedTable =>
            val named = e.getMessage.takeWhile(_ != ':')
            assert(links.exists(l => named.endsWith("/" + Path.of(l._1).getFileName)), e)
            assert(named.startsWith(table.path) && e.getMessage.contains("in which it lies itself"), e)
        }
        assert(storage.counts.list < 100)
      }
    }

  test("a partition that lies elsewhere, behind a link, is one like others; links to links end at a depth") {
    withTwo { table =>
      def files = listed(table, LocalStorage)
      val before = files
      assert(before.map(_._1) === Vector("a", "b/c"))
      val elsewhere = Files.createTempDirectory("hudiidx-elsewhere")
      try {
        Seq("a", "b").foreach { name =>
          Files.move(table.dir.resolve(name), elsewhere.resolve(name))
          link(table, name, elsewhere.resolve(name))
        }
        assert(files === before)
        val steps = (1 to 9).map(n => Files.createDirectory(elsewhere.resolve(s"step$n")))
        steps.zip(steps.drop(1)).foreach { case (from, to) =>
          Seq("x", "y", "z").foreach(n => Files.createSymbolicLink(from.resolve(n), to))
        }
        link(table, "steps", steps.head)
        val e = intercept[DamagedTable](files)
        assert(e.getMessage.startsWith(s"${table.path}/steps/") && e.getMessage.contains("behind 3 others"))
      } finally IndexerSuite.delete(elsewhere)
    }
  }
}
