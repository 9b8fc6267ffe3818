package hudiidx.store

import hudiidx.storage.{FarStorage, LocalStorage, Storage}
import hudiidx.{DamagedIndex, Fixtures}
import org.scalatest.funsuite.AnyFunSuite

class IndexFileHandleSuite extends AnyFunSuite {

  private def failure(storage: Storage, change: (String, IndexFile) => IndexFile): String = {
    val store = new IndexStore(storage, Fixtures.newFolder("stored").toString)
    val name = s"1_2.${IndexStore.newToken()}.delta_manifest"
    val file = store.write(name, "delta_manifest")(_.write(Array.fill[Byte](10)(1)))
    val asked = change(s"${store.dir}/$name", file)
    KeptEnds.clear()
    intercept[DamagedIndex] {
      val reader = store.openWhole(asked)
      try reader.read(0L, asked.sizeBytes.toInt)
      finally reader.close()
    }.getMessage
  }

  Seq("opens" -> LocalStorage, "reads" -> new FarStorage(LocalStorage)).foreach { case (when, storage) =>
    test(s"a file of an index that is gone or cut is damage where the store finds it out as it $when it") {
      val gone = failure(
        storage,
        (path, file) => {
          LocalStorage.delete(path)
          file
        }
      )
      assert(gone.contains("the file is gone") && gone.contains("hudiidx create"))
      val cut = failure(storage, (_, file) => file.copy(sizeBytes = 11L))
      assert(cut.contains(".delta_manifest") && cut.contains("its version says") && cut.contains("hudiidx create"))
    }
  }

  test("which files are gone or cut is told by one listing") {
    val store = new IndexStore(LocalStorage, Fixtures.newFolder("stored").toString)
    val files =
      Vector.fill(3)(store.write(s"1_2.${IndexStore.newToken()}.delta_manifest", "delta_manifest")(_.write(1)))
    assert(store.missing(files) === Vector.empty)
    store.delete(files(1))
    val asked = files.updated(2, files(2).copy(sizeBytes = 2L))
    assert(store.missing(asked) === asked.drop(1))
    assert(intercept[DamagedIndex](store.requireFiles(asked)).getMessage.contains(files(1).name))
  }
}
