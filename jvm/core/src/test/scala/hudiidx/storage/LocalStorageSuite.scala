package hudiidx.storage

import hudiidx.Fixtures
import hudiidx.store.IndexFolderContract
import java.io.IOException
import java.nio.file.{Files, Paths}

class LocalStorageSuite extends StorageContract with IndexFolderContract {
  override def storage: Storage = LocalStorage
  override def newFolder(): String = Fixtures.newFolder("local").toString

  test("paths may be file URIs, and come back in the form asked for") {
    val dir = newFolder()
    LocalStorage.write(s"$dir/a b%20c")(_.write(1))
    assert(LocalStorage.list(s"file:$dir").map(_.path) === Vector(s"file:$dir/a b%20c"))
    assert(LocalStorage.readAll(s"file://$dir/a b%20c") === Array[Byte](1))
  }

  test("listing a file is an I/O error") {
    val dir = newFolder()
    LocalStorage.write(s"$dir/f")(_.write(1))
    intercept[java.io.IOException](LocalStorage.list(s"$dir/f"))
  }

  test("a device or a pipe, also behind a link, is an I/O error that names it, and is not opened") {
    val dir = newFolder()
    Files.createSymbolicLink(Paths.get(dir, "zero"), Paths.get("/dev/zero"))
    assert(new ProcessBuilder("mkfifo", s"$dir/pipe").start().waitFor() === 0)
    for (
      name <- Seq("zero", "pipe");
      read <- Seq[String => Any](LocalStorage.readAll, LocalStorage.open, LocalStorage.touch)
    )
      assert(intercept[IOException](read(s"$dir/$name")).getMessage.contains(s"$dir/$name: no regular file"))
  }

  test("a link that leads nowhere, in the place of a file that is to be made, is an I/O error that names it") {
    val dir = newFolder()
    Files.createSymbolicLink(Paths.get(dir, "link"), Paths.get(dir, "gone", "too"))
    val made = Array[Byte](1)
    for (
      make <- Seq[String => Any](
        LocalStorage.publish(_, made),
        LocalStorage.createEmpty,
        LocalStorage.write(_)(_.write(made)),
        LocalStorage.writeInPlace(_)(_.write(made))
      )
    )
      assert(intercept[IOException](make(s"$dir/link")).getMessage.contains(s"$dir/link"))
    assert(!Files.exists(Paths.get(dir, "gone")) && Files.isSymbolicLink(Paths.get(dir, "link")))
  }

  test("a file whose bytes would take much of the memory is not read whole, and none is taken for it") {
    val dir = newFolder()
    for (bytes <- Seq(3L << 30, Runtime.getRuntime.maxMemory / 4 + 1)) {
      val file = new java.io.RandomAccessFile(s"$dir/large", "rw")
      try file.setLength(bytes)
      finally file.close()
      val told = intercept[IOException](LocalStorage.readAll(s"$dir/large")).getMessage
      assert(told.contains(s"$dir/large: $bytes bytes are too many"))
    }
  }

  test("of a name that no file can have nothing is there") {
    val dir = newFolder()
    for (name <- Seq("a\u0000b", "a\ud800b", "x" * 5000, "y" * 300)) {
      assert(LocalStorage.status(s"$dir/$name") === None)
      assert(LocalStorage.list(s"$dir/a\u0000b") === Vector.empty)
      intercept[IOException](LocalStorage.readAll(s"$dir/$name"))
      intercept[IOException](LocalStorage.open(s"$dir/$name"))
    }
  }
}

class CountingStorageSuite extends StorageContract {
  override val storage: CountingStorage = new CountingStorage(LocalStorage)
  override def newFolder(): String = Fixtures.newFolder("counting").toString

  test("calls and bytes are counted by kind") {
    val dir = newFolder()
    storage.reset()
    storage.write(s"$dir/f")(_.write(new Array[Byte](10)))
    storage.publish(s"$dir/g", new Array[Byte](3))
    storage.list(dir)
    storage.status(s"$dir/f")
    storage.readAll(s"$dir/f")
    val reader = storage.open(s"$dir/f")
    reader.read(0, 4)
    reader.read(4, 2)
    reader.close()
    storage.delete(s"$dir/f")
    assert(storage.counts === StorageCounts(1, 1, 1, 2, 1, 1, 1, 1, 16))
  }
}

class FaultyStorageSuite extends StorageContract {
  override def storage: Storage = new FaultyStorage(LocalStorage, Int.MaxValue, Fault.Before)
  override def newFolder(): String = Fixtures.newFolder("faulty").toString

  private def leftBy(fault: Fault): Vector[(String, Long)] = {
    val dir = newFolder()
    val faulty = new FaultyStorage(LocalStorage, 2, fault)
    faulty.write(s"$dir/a")(_.write(new Array[Byte](10)))
    intercept[InjectedFault](faulty.write(s"$dir/b")(_.write(new Array[Byte](10))))
    intercept[InjectedFault](faulty.delete(s"$dir/a"))
    assert(faulty.hasFailed)
    LocalStorage.list(dir).map(f => (f.name, f.sizeBytes))
  }

  test("the chosen call fails before, after or half way, and no later one takes effect") {
    assert(leftBy(Fault.Before) === Vector(("a", 10L)))
    assert(leftBy(Fault.After) === Vector(("a", 10L), ("b", 10L)))
    assert(leftBy(Fault.Partial) === Vector(("a", 10L), ("b", 5L)))
  }

  test("a publish killed half way leaves only a temporary file") {
    val dir = newFolder()
    val faulty = new FaultyStorage(LocalStorage, 1, Fault.Partial)
    intercept[InjectedFault](faulty.publish(s"$dir/v", new Array[Byte](8)))
    assert(LocalStorage.list(dir).map(_.name) === Vector(s".v.${FaultyStorage.KilledUuid}.tmp"))
  }
}
