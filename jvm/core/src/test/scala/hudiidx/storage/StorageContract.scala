package hudiidx.storage

import java.io.{EOFException, IOException, OutputStream}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.NoSuchFileException
import java.util.concurrent.{Callable, Executors}

import org.scalatest.funsuite.AnyFunSuite

/** What every Storage must do. */
trait StorageContract extends AnyFunSuite {

  def storage: Storage

  /** A new, empty folder. */
  def newFolder(): String

  private def put(path: String, text: String): Unit = storage.write(path)(_.write(text.getBytes(UTF_8)))

  private def text(path: String): String = new String(storage.readAll(path), UTF_8)

  test("a listing is sorted by name, shows sizes and folders, and leaves out checksum side files") {
    val dir = newFolder()
    Seq("b", "a", "c d ü=%2F", ".hidden", ".x.crc", "sub/f").foreach(n => put(s"$dir/$n", n))
    val listed = storage.list(dir)
    assert(listed.map(_.name) === Vector(".hidden", "a", "b", "c d ü=%2F", "sub"))
    assert(listed.map(_.isDirectory) === Vector(false, false, false, false, true))
    assert(listed.map(_.sizeBytes) === Vector(7L, 1L, 1L, 10L, 0L))
    listed.filterNot(_.isDirectory).foreach { f =>
      assert(text(f.path) === f.name)
      assert(math.abs(System.currentTimeMillis - f.modifiedMillis) < 600000)
    }
  }

  test("a folder with the name of a checksum side file is listed") {
    val dir = newFolder()
    put(s"$dir/.a.crc/f", "content")
    assert(storage.list(dir).map(f => f.name -> f.isDirectory) === Vector(".a.crc" -> true))
    assert(storage.list(s"$dir/.a.crc").map(_.name) === Vector("f"))
  }

  test("nothing at a path is an empty listing, no status, and NoSuchFileException on reading") {
    val dir = newFolder()
    assert(storage.list(s"$dir/none") === Vector.empty)
    assert(storage.status(s"$dir/none") === None)
    assert(intercept[NoSuchFileException](storage.open(s"$dir/none")).getMessage.contains("none"))
    assert(intercept[NoSuchFileException](storage.readAll(s"$dir/none")).getMessage.contains("none"))
    assert(!storage.delete(s"$dir/none"))
  }

  test(
    "a known file is read as one that its path opens; one that is gone or cut is an error, at the latest when it is read"
  ) {
    val dir = newFolder()
    put(s"$dir/f", "content")
    val Vector(known) = storage.list(dir)
    val reader = storage.open(known)
    try {
      assert(reader.path === known.path && reader.sizeBytes === 7L && reader.stamp === storage.open(known.path).stamp)
      assert(UTF_8.decode(reader.read(3L, 4)).toString === "tent")
    } finally reader.close()
    assert(new String(storage.readAll(known), UTF_8) === "content")
    val untimed = FileInfo(known.path, 7L, 0L, isDirectory = false)
    assert(new String(storage.readAll(untimed), UTF_8) === "content")
    def readOf(size: Long): Unit = {
      val cut = storage.open(untimed.copy(sizeBytes = size))
      try cut.read(0L, size.toInt): Unit
      finally cut.close()
    }
    intercept[EOFException](readOf(9L))
    storage.delete(known.path)
    assert(intercept[NoSuchFileException](readOf(7L)).getMessage.contains("/f"))
    assert(intercept[NoSuchFileException](storage.readAll(known)).getMessage.contains("/f"))
  }

  test("a file written in place is whole, replaces nothing, and is gone when its writer fails") {
    val dir = newFolder()
    storage.writeInPlace(s"$dir/a/f")(_.write("one".getBytes(UTF_8)))
    intercept[IOException](storage.writeInPlace(s"$dir/a/f")(_.write("two".getBytes(UTF_8))))
    assert(text(s"$dir/a/f") === "one")
    intercept[IllegalStateException](storage.writeInPlace(s"$dir/a/g") { out =>
      out.write(1)
      throw new IllegalStateException("no more")
    })
    assert(storage.list(s"$dir/a").map(_.name) === Vector("f"))
  }

  test("what a disk says that is full names the file") {
    val dir = newFolder()
    def full(out: OutputStream): Unit = {
      out.write(1)
      throw new IOException("No space left on device")
    }
    def footer(out: OutputStream): Unit =
      try full(out)
      catch {
        case e: IOException => throw new IOException("can not write FileMetaData(" + "min_value:53 45, " * 100, e)
      }
    Seq[String => Unit](
      storage.write(_)(full),
      storage.write(_)(footer),
      storage.writeInPlace(_)(full),
      storage.writeScratch(_)(full)
    ).foreach { write =>
      val said = intercept[IOException](write(s"$dir/a/f")).getMessage
      assert(said.contains(s"$dir/a/f: No space left on device") && !said.contains("53 45"))
      assert(storage.status(s"$dir/a/f").isEmpty)
    }
  }

  test("a file that is put in another's place is whole, and so is one where none was") {
    val dir = newFolder()
    Seq("one", "another one", "2").foreach { content =>
      storage.replace(s"$dir/a/f", content.getBytes(UTF_8))
      assert(text(s"$dir/a/f") === content)
    }
    assert(storage.list(s"$dir/a").map(_.name) === Vector("f"))
  }

  test("a touched file is new and holds what it held") {
    val dir = newFolder()
    put(s"$dir/f", "four")
    val before = storage.status(s"$dir/f").get.modifiedMillis
    Thread.sleep(1100) // some stores tell seconds
    storage.touch(s"$dir/f")
    assert(storage.status(s"$dir/f").get.modifiedMillis > before && text(s"$dir/f") === "four")
  }

  test("status tells files from folders") {
    val dir = newFolder()
    put(s"$dir/f", "four")
    assert(storage.status(s"$dir/f").map(i => (i.name, i.sizeBytes, i.isDirectory)) === Some(("f", 4L, false)))
    assert(storage.status(dir).map(_.isDirectory) === Some(true))
  }

  test("reading a folder as a file is an I/O error that names it") {
    val dir = newFolder()
    assert(intercept[IOException](storage.readAll(dir)).getMessage.contains(dir))
    assert(intercept[IOException](storage.open(dir)).getMessage.contains(dir))
  }

  test("positional reads give exactly the bytes asked for, or EOFException") {
    val dir = newFolder()
    val content = Array.tabulate[Byte](200000)(i => (i * 31 >> 3).toByte)
    storage.write(s"$dir/f")(out => content.foreach(b => out.write(b.toInt)))
    val reader = storage.open(s"$dir/f")
    try {
      assert(reader.sizeBytes === 200000L)
      for ((offset, length) <- Seq((0, 200000), (1, 7), (199999, 1), (65530, 70000), (200000, 0), (0, 0))) {
        val got = reader.read(offset.toLong, length)
        assert(got.remaining === length)
        val bytes = new Array[Byte](length)
        got.get(bytes)
        assert(bytes.sameElements(content.slice(offset, offset + length)))
      }
      Seq((199999L, 2), (200001L, 0), (0L, Int.MaxValue), (Long.MaxValue, 1)).foreach { case (offset, length) =>
        intercept[EOFException](reader.read(offset, length))
      }
      intercept[IllegalArgumentException](reader.read(-1, 1))
      intercept[IllegalArgumentException](reader.read(0, -1))
    } finally reader.close()
  }

  test("a write makes parents, and a failing one leaves nothing behind") {
    val dir = newFolder()
    put(s"$dir/p/q/f", "x")
    assert(text(s"$dir/p/q/f") === "x")
    val failure = intercept[IllegalStateException](storage.write(s"$dir/p/q/g") { out =>
      out.write(new Array[Byte](100000))
      throw new IllegalStateException("stop")
    })
    assert(failure.getMessage === "stop")
    assert(storage.list(s"$dir/p/q").map(_.name) === Vector("f"))
  }

  test("a write does not replace a file") {
    val dir = newFolder()
    put(s"$dir/f", "first")
    intercept[IOException](put(s"$dir/f", "second"))
    assert(text(s"$dir/f") === "first")
    assert(storage.list(dir).map(_.name) === Vector("f"))
  }

  test("the first to publish wins and the others leave no trace") {
    val dir = newFolder()
    assert(storage.publish(s"$dir/v/1", "one".getBytes(UTF_8)))
    assert(!storage.publish(s"$dir/v/1", "two".getBytes(UTF_8)))
    assert(text(s"$dir/v/1") === "one")
    assert(storage.list(s"$dir/v").map(_.name) === Vector("1"))
  }

  test("of many who publish at once one wins, and readers see its whole content or nothing") {
    val dir = newFolder()
    val pool = Executors.newFixedThreadPool(8)
    try
      for (round <- 0 until 20) {
        val path = s"$dir/$round"
        val writers = (0 until 6).map { w =>
          pool.submit(new Callable[Boolean] {
            override def call(): Boolean = storage.publish(path, Array.fill(50000)(('a' + w).toByte))
          })
        }
        var seen = Option.empty[FileInfo]
        while (seen.isEmpty) seen = storage.status(path)
        val content = storage.readAll(path)
        assert(content.length === 50000 && content.forall(_ == content(0)))
        val wins = writers.map(_.get())
        assert(wins.count(identity) === 1)
        assert(wins.indexOf(true) === content(0) - 'a')
      }
    finally pool.shutdownNow()
    assert(storage.list(dir).map(_.name).sorted === (0 until 20).map(_.toString).sorted.toVector)
  }

  test("delete removes a file, or a folder with all below it") {
    val dir = newFolder()
    Seq("a/b/c", "a/d", "e").foreach(n => put(s"$dir/$n", n))
    assert(storage.delete(s"$dir/a") && storage.delete(s"$dir/e"))
    assert(!storage.delete(s"$dir/a"))
    assert(storage.list(dir) === Vector.empty)
  }

  test("what is removed alone is a file or an empty folder; one with something in it stays whole") {
    val dir = newFolder()
    Seq("a/b", "c").foreach(n => put(s"$dir/$n", n))
    assert(!storage.deleteOne(s"$dir/a") && text(s"$dir/a/b") === "a/b")
    assert(storage.deleteOne(s"$dir/c") && storage.deleteOne(s"$dir/a/b") && !storage.deleteOne(s"$dir/c"))
    storage.deleteOne(s"$dir/a")
    assert(storage.list(dir) === Vector.empty)
  }

  test("two spellings of one place resolve to one path, of what is not there too") {
    val dir = newFolder()
    assert(storage.resolved(s"$dir/x/../y/") === storage.resolved(s"$dir/y"))
    assert(storage.resolved(s"$dir/y/z").startsWith(storage.resolved(s"$dir/y") + "/"))
  }
}
