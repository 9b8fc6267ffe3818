package hudiidx.engine.record

import java.nio.file.{Files, Path}

import hudiidx.bytes.Bytes
import hudiidx.record.{RecordFileName, RecordKind}
import hudiidx.storage.{FarStorage, LocalStorage, Storage}
import hudiidx.store.{IndexFile, IndexStore, KeptEnds}
import hudiidx.{DamagedIndex, Fixtures, WriteConflict}
import org.scalatest.funsuite.AnyFunSuite

/** Runs of an update as its merges read them. */
class BufferedRunsSuite extends AnyFunSuite {
  private val content = Array.tabulate[Byte](200000)(i => (i * 13).toByte)

  private def written(storage: Storage, bytes: Int): (IndexStore, IndexFile, Path) = {
    val store = new IndexStore(storage, Fixtures.newFolder("runs").toString)
    val name = RecordFileName.run("0", IndexStore.newToken())
    val file = store.writeScratch(name, RecordKind.Run)(_.write(content, 0, bytes))
    (store, file, Path.of(store.dir, name))
  }

  private def read(store: IndexStore, file: IndexFile): Array[Byte] = {
    val reader = new BufferedRuns(store).open(file)
    try Bytes.ofBuffer(reader.read(0, reader.sizeBytes.toInt))
    finally reader.close()
  }

  for {
    (where, storage) <- Seq("near" -> LocalStorage, "far" -> new FarStorage(LocalStorage))
    bytes <- Seq(1000, content.length)
  } test(
    s"a run of $bytes bytes on a store that is $where is read as written; cut or gone it is an error that says so"
  ) {
    val (store, file, path) = written(storage, bytes)
    assert(read(store, file).sameElements(content.take(bytes)))
    KeptEnds.clear() // as another process
    assert(read(store, file).sameElements(content.take(bytes)))
    KeptEnds.clear()
    Files.write(path, content.take(bytes - 1))
    assert(intercept[DamagedIndex](read(store, file)).getMessage.contains(path.toString))
    Files.delete(path)
    assert(intercept[WriteConflict](read(store, file)).getMessage.contains(path.toString))
  }
}
