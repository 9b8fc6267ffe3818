package hudiidx.storage

import hudiidx.Fixtures
import java.io.{EOFException, IOException, RandomAccessFile}
import java.nio.file.attribute.PosixFilePermissions
import java.nio.file.{Files, Path}
import java.util.SplittableRandom
import java.util.concurrent.atomic.AtomicReference
import org.scalatest.funsuite.AnyFunSuite
import scala.util.Try

/** Local files that are read through a mapping, which a reader makes once it has read a mebibyte. */
class MappedFileSuite extends AnyFunSuite {
  private val Bytes = 3 << 20

  private def file(): (Path, Array[Byte]) = {
    val content = new Array[Byte](Bytes)
    new SplittableRandom(1).nextBytes(content)
    val path = Files.write(Fixtures.newFolder("mapped").resolve("f"), content)
    (Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-r--r--")), content)
  }

  private def cut(path: Path, size: Long): Unit = {
    val f = new RandomAccessFile(path.toFile, "rw")
    try f.setLength(size)
    finally f.close()
  }

  private def warm(reader: RandomReader): Array[Byte] = {
    val target = new Array[Byte](Bytes)
    reader.readInto(0, Bytes, target)
    target
  }

  test("a range read before and after the file is mapped, by either call, is the file's bytes") {
    val (path, content) = file()
    val random = new SplittableRandom(2)
    val before = MappedFile.totalBytes
    val reader = LocalStorage.open(path.toString)
    val target = new Array[Byte](70000)
    (1 to 400).foreach { _ =>
      val length = random.nextInt(target.length)
      val offset = random.nextInt(Bytes - length + 1)
      val wanted = java.util.Arrays.copyOfRange(content, offset, offset + length)
      reader.readInto(offset.toLong, length, target)
      assert(java.util.Arrays.equals(target, 0, length, wanted, 0, length))
      assert(reader.read(offset.toLong, length).array.sameElements(wanted))
    }
    assert(MappedFile.totalBytes === before + Bytes)
    reader.close()
    reader.close()
    assert(MappedFile.totalBytes === before)
    intercept[IOException](reader.readInto(0, 10, target))
  }

  test("a file that was cut after it was mapped ends too soon, whoever reads what is gone") {
    val (path, content) = file()
    val reader = LocalStorage.open(path.toString)
    try {
      (1 to 300).foreach(_ => warm(reader)) // so that compiled code reads too
      assert(warm(reader).sameElements(content))
      cut(path, 1 << 20)
      val target = new Array[Byte](Bytes)
      (1 to 20).foreach { _ =>
        Seq((0L, Bytes), (1L << 20, 1), ((2L << 20) + 77, 100000)).foreach { case (offset, length) =>
          val e = intercept[EOFException](reader.readInto(offset, length, target))
          assert(e.getMessage.contains(path.toString) && e.getMessage.contains("cut while being read"))
        }
        reader.readInto(0, 1 << 20, target)
        assert(java.util.Arrays.equals(target, 0, 1 << 20, content, 0, 1 << 20))
      }
    } finally reader.close()
  }

  test("a file that another account may cut is not mapped, and read otherwise") {
    def requireUnmapped(path: Path, content: Array[Byte]): Unit = {
      val before = MappedFile.totalBytes
      val reader = LocalStorage.open(path.toString)
      try {
        (1 to 3).foreach(_ => assert(warm(reader).sameElements(content)))
        assert(MappedFile.totalBytes === before)
      } finally reader.close()
    }
    for (permissions <- Seq("rw-rw-r--", "rw-r--rw-")) {
      val (path, content) = file()
      requireUnmapped(Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(permissions)), content)
    }
    val (path, content) = file()
    val accounts = path.getFileSystem.getUserPrincipalLookupService
    // Only root may give files away.
    if (Try(Files.setOwner(path, accounts.lookupPrincipalByName("nobody"))).isSuccess) requireUnmapped(path, content)
    else assert(!FileOwner.isOursAlone(Path.of("/etc/passwd")))
  }

  test("readers of several threads may be closed while they read") {
    val (path, content) = file()
    val before = MappedFile.totalBytes
    (1 to 30).foreach { round =>
      val reader = LocalStorage.open(path.toString)
      val wrong = new AtomicReference[Throwable]
      val threads = (1 to 3).map { t =>
        val thread = new Thread(() =>
          try {
            val random = new SplittableRandom(t.toLong)
            val target = new Array[Byte](200000)
            while (true) {
              val offset = random.nextInt(Bytes - target.length)
              reader.readInto(offset.toLong, target.length, target)
              if (!java.util.Arrays.equals(target, 0, target.length, content, offset, offset + target.length))
                wrong.set(new AssertionError(s"other bytes at $offset"))
            }
          } catch {
            case _: IOException => ()
            case e: Throwable   => wrong.set(e)
          }
        )
        thread.start()
        thread
      }
      Thread.sleep((round % 10).toLong)
      reader.close()
      threads.foreach(_.join(10000))
      assert(threads.forall(!_.isAlive) && wrong.get == null)
    }
    assert(MappedFile.totalBytes === before)
  }

  test("files that are larger than all mapped files may be are read otherwise") {
    val path = Fixtures.newFolder("mapped").resolve("large")
    Files.write(path, Array[Byte](1, 2, 3))
    cut(path, MappedFile.MostBytes + 1)
    val before = MappedFile.totalBytes
    val reader = LocalStorage.open(path.toString)
    try {
      assert(warm(reader).take(4) === Array[Byte](1, 2, 3, 0))
      assert(MappedFile.totalBytes === before)
    } finally reader.close()
  }
}
