package hudiidx.sync

import hudiidx.DamagedIndex
import hudiidx.storage.{DenyingStorage, FileInfo, LocalStorage, PassingStorage}
import hudiidx.store.IndexStore
import hudiidx.sync.build.Indexer
import java.nio.file.Files
import org.scalatest.funsuite.AnyFunSuite

/** What an update makes its version of, and the number that it gives it. */
class BaseVersionSuite extends AnyFunSuite {
  import IndexerSuite._

  private val strict = IndexOptions(strict = true)

  test(
    "where the store does not give the newest version, update publishes nothing on an older one, and create makes a new index"
  ) {
    withTable(9) { table =>
      indexed(table)
      table.write(Seq(FakeWrite("b", -1, isLog = false, 10)), complete = true)
      new Indexer(accessOf(LocalStorage), table.path, IndexOptions()).update()
      table.write(Seq(FakeWrite("c", -1, isLog = false, 10)), complete = true)
      val dir = IndexStore.defaultDir(table.path)
      val path = f"$dir/versions/${2}%020d.json"
      val access = accessOf(DenyingStorage.unreadable(path))
      val store = new IndexStore(LocalStorage, dir)
      val said = intercept[DamagedIndex](new Indexer(access, table.path, IndexOptions()).update()).getMessage
      assert(said.contains(path) && said.contains("run it again") && said.contains("create"))
      assert(store.versionNumbers() === Vector(1, 2))
      checkAgainstListing(access, table, IndexOptions())
      assert(new Indexer(access, table.path, IndexOptions()).create().version.number === 3)
      checkAgainstListing(accessOf(LocalStorage), table, strict)
    }
  }

  test("an update over a damaged version begins anew where another version comes while it reads the timeline") {
    withTable(9) { table =>
      indexed(table)
      val dir = IndexStore.defaultDir(table.path)
      Files.write(table.dir.resolve(f".hoodie/hudiidx/versions/${2}%020d.json"), Array[Byte](1))
      table.write(Seq(FakeWrite("c", -1, isLog = false, 10)), complete = true)
      var isFirst = true
      val storage = new PassingStorage(LocalStorage) {
        override def list(dir: String): Vector[FileInfo] = {
          if (dir.endsWith("/timeline") && isFirst) {
            isFirst = false
            new Indexer(accessOf(LocalStorage), table.path, IndexOptions()).create(): Unit
          }
          super.list(dir)
        }
      }
      val done = new Indexer(accessOf(storage), table.path, IndexOptions()).update()
      assert(!isFirst && done.version.number === 3 && done.instants.isEmpty)
      assert(new IndexStore(LocalStorage, dir).versionNumbers().last === 3)
      checkAgainstListing(accessOf(LocalStorage), table, strict)
    }
  }
}
