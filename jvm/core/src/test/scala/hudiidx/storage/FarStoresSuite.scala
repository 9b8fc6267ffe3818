package hudiidx.storage

import hudiidx.Fixtures
import hudiidx.store.KeptEnds
import hudiidx.table.TableConfig
import java.io.IOException
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks
import scala.util.Try

/** What is kept of stores that are far, and what is not asked of them: never another answer than the store's own. */
class FarStoresSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private def put(path: Path, text: String): FileInfo = {
    Files.deleteIfExists(path)
    Files.write(path, text.getBytes(UTF_8))
    LocalStorage.status(path.toString).get
  }

  private def text(bytes: Array[Byte]): String = new String(bytes, UTF_8)

  private def whole(reader: RandomReader): String = {
    val bytes = new Array[Byte](reader.sizeBytes.toInt)
    reader.read(0, bytes.length).get(bytes)
    reader.close()
    text(bytes)
  }

  test("a file that is known is read once, another one under its name anew, and none of a store that is near is kept") {
    val path = Fixtures.newFolder("kept").resolve("f")
    val far = new FarStorage(LocalStorage)
    val first = put(path, "one")
    (1 to 3).foreach(_ => assert(text(KeptFiles.readAll(far, first)) === "one"))
    assert(far.opens.get === 1)
    val other = put(path, "two").copy(modifiedMillis = first.modifiedMillis + 1)
    assert(text(KeptFiles.readAll(far, other)) === "two" && text(KeptFiles.readAll(far, first)) === "one")
    val near = new ReadsStorage(LocalStorage)
    (1 to 2).foreach(_ => assert(text(KeptFiles.readAll(near, other)) === "two"))
    assert(near.reads("f") === 2)
  }

  test("files that are fetched together fit into what is kept") {
    def file(n: Int, bytes: Long) = FileInfo(s"/t/$n", bytes, 1L, isDirectory = false)
    val files = Vector.tabulate(100)(n => file(n, 512L << 10)) :+ file(100, 1L)
    assert(KeptFiles.fitting(files).map(_.sizeBytes).sum === (8L << 20))
    assert(KeptFiles.fitting(Vector(file(1, 100L << 20), file(2, 5))).map(_.path) === Vector("/t/2"))
  }

  test("the end of a file gives what the file gives, at one read of it") {
    val content = Array.tabulate[Byte](200000)(i => (i * 31 % 127).toByte)
    forAll(Gen.choose(1, content.length), Gen.choose(0.0, 1.0), Gen.choose(0.0, 1.0)) { (size, a, b) =>
      KeptEnds.clear()
      var reads = 0
      val under = new RandomReader {
        private val all = new BytesReader(s"/t/$size", content.take(size))
        override def path: String = all.path
        override def sizeBytes: Long = all.sizeBytes
        override val stamp: FileStamp = FileStamp(path, sizeBytes, 0L, "")
        override def read(offset: Long, length: Int): ByteBuffer = {
          reads += 1
          all.read(offset, length)
        }
        override def close(): Unit = ()
      }
      def opened = KeptEnds.reader(FileInfo(under.path, under.sizeBytes, 0L, isDirectory = false))(under)
      val reader = opened
      val offset = (a * size).toInt
      val length = (b * (size - offset)).toInt
      val target = new Array[Byte](length)
      reader.readInto(offset.toLong, length, target)
      val read = new Array[Byte](length)
      reader.read(offset.toLong, length).get(read)
      assert(target.sameElements(content.slice(offset, offset + length)) && read.sameElements(target))
      reader.fetch()
      val before = reads
      assert(opened.read(size - 1L, 1).get() === content(size - 1))
      assert(reads === before, "the end is kept")
    }
  }

  test("files whose ends are read ahead give what they give without, also those that are gone or have another size") {
    val dir = Fixtures.newFolder("ahead")
    val sizes = Gen.nonEmptyListOf(Gen.frequency(3 -> Gen.choose(0, 200), 1 -> Gen.choose(60000, 200000)))
    forAll(sizes, Gen.choose(0.0, 1.0), Gen.choose(0.0, 1.0), Gen.oneOf(true, false)) { (sizes, a, b, isFar) =>
      val files = sizes.toVector.zipWithIndex.map { case (size, i) =>
        val path = Files.createTempFile(dir, "f", "")
        Files.write(path, Array.tabulate[Byte](size)(n => (n * 7 + i).toByte))
        if (i % 5 == 3) Files.delete(path)
        FileInfo(path.toString, if (i % 5 == 4) size + 5L else size.toLong, 0L, isDirectory = false)
      }
      val storage = if (isFar) new FarStorage(LocalStorage) else LocalStorage
      val ahead = new EndsAhead(storage)
      def read(from: Storage, file: FileInfo): Try[Seq[Byte]] = Try {
        val reader = from.open(file)
        try {
          val offset = (a * file.sizeBytes).toLong
          val bytes = new Array[Byte]((b * (file.sizeBytes - offset)).toInt)
          reader.read(offset, bytes.length).get(bytes)
          bytes.toSeq
        } finally reader.close()
      }
      val found = ahead.over(files)(f => Some(f).filter(_.sizeBytes != 7)).map(f => f -> read(ahead, f)).toVector
      assert(found.map(_._1) === files)
      found.foreach { case (file, told) =>
        val plain = read(storage, file)
        assert(told.toOption === plain.toOption && told.isFailure === plain.isFailure, file)
      }
    }
  }

  test("a file of another size than it is told to have is read as it is, and one of that size is not looked at") {
    val path = Fixtures.newFolder("told").resolve("f")
    put(path, "0123456789!")
    def ended(reader: RandomReader): String = {
      val all = whole(reader)
      if (all.endsWith("!")) all else throw new IOException(s"no end in $all")
    }
    for (told <- Seq(11L, 5L, 40L, 0L, -1L)) {
      assert(ToldSize.opening(new FarStorage(LocalStorage), path.toString, told)(ended) === "0123456789!", told)
      assert(ToldSize.opening(LocalStorage, path.toString, told)(ended) === "0123456789!", told)
    }
    put(path, "without")
    intercept[IOException](ToldSize.opening(new FarStorage(LocalStorage), path.toString, 7L)(ended))
  }

  test("properties are read again once they are other ones, and looked at in between") {
    val table = Fixtures.newFolder("known-properties")
    val file = table.resolve(".hoodie/hoodie.properties")
    Files.createDirectories(file.getParent)
    def write(version: Int): Unit = put(file, s"hoodie.table.name=t\nhoodie.table.version=$version\n"): Unit
    val far = new FarStorage(LocalStorage)
    assert(TableConfig.lastKnown(far, table.toString) === None)
    write(6)
    (1 to 3).foreach(_ => assert(TableConfig.read(far, table.toString).version === 6))
    assert(far.opens.get === 1 && far.looks.get === 2)
    assert(TableConfig.lastKnown(far, table.toString).map(_.version) === Some(6))
    Thread.sleep(20) // disks keep times in steps
    write(8)
    assert(TableConfig.lastKnown(far, table.toString).map(_.version) === Some(6), "a guess")
    assert(TableConfig.read(far, table.toString).version === 8 && far.opens.get === 2)
    Files.delete(file)
    intercept[hudiidx.NotAHudiTable](TableConfig.read(far, table.toString, _ => ()))
  }
}
