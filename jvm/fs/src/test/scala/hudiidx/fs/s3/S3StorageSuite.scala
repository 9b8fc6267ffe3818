package hudiidx.fs.s3

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{FileAlreadyExistsException, NoSuchFileException}
import java.util.concurrent.{Callable, Executors}
import java.util.concurrent.atomic.AtomicInteger

import hudiidx.{Figures, TestSettings}
import hudiidx.fs.HadoopStorage
import hudiidx.storage.{FileInfo, Storage, StorageContract}
import hudiidx.store.IndexFolderContract
import org.scalatest.BeforeAndAfterAll

/** On an S3-compatible server, through hadoop-aws. */
class S3StorageSuite extends StorageContract with IndexFolderContract with BeforeAndAfterAll {
  private lazy val server = new S3Server
  private val buckets = new AtomicInteger
  override lazy val storage: Storage = new HadoopStorage(server.configuration)

  /** A folder of an object store is there when something is in it. */
  override def newFolder(): String = {
    val folder = s"${newBucket()}/folder"
    folder
  }

  private def newBucket(): String = {
    val name = s"bucket-${buckets.incrementAndGet()}"
    server.bucket(name)
    s"s3a://$name"
  }

  override def afterAll(): Unit = server.close()

  private def publishAtOnce(folder: String, writers: Int, rounds: Int): Vector[Int] = {
    val pool = Executors.newFixedThreadPool(writers)
    try {
      (0 until rounds).toVector.map { round =>
        val offers = (0 until writers).map { w =>
          pool.submit(new Callable[Boolean] {
            override def call(): Boolean = storage.publish(s"$folder/$round", s"of $w".getBytes(UTF_8))
          })
        }
        val winners = offers.indices.filter(w => offers(w).get())
        if (winners.size == 1)
          assert(new String(storage.readAll(s"$folder/$round"), UTF_8) === s"of ${winners.head}")
        winners.size
      }
    } finally pool.shutdown()
  }

  test("of many who publish at once one wins, round after round") {
    val rounds = TestSettings.upTo(50, 8)
    Figures.add("rounds of six who publish at once on S3", rounds)
    assert(publishAtOnce(newFolder(), 6, rounds).forall(_ == 1))
  }

  test("a known file costs one get, a small one too, any other a question before") {
    val folder = newFolder()
    storage.write(s"$folder/f")(_.write("content".getBytes(UTF_8)))
    val Vector(known) = storage.list(folder)
    assert(server.callsOf(storage.readAll(known)) === Map("get" -> 1, S3Server.RoundTrips -> 1))
    assert(
      server.callsOf(storage.readAll(FileInfo(known.path, 7L, 0L, isDirectory = false))) === Map(
        "get" -> 1,
        S3Server.RoundTrips -> 1
      )
    )
    assert(server.callsOf(storage.readAll(known.path)) === Map("get" -> 1, S3Server.RoundTrips -> 1))
    storage.write(s"$folder/large")(_.write(new Array[Byte](2 << 20)))
    val calls = server.callsOf(assert(storage.readAll(s"$folder/large").length === (2 << 20)))
    assert(calls === Map("get" -> 2, S3Server.RoundTrips -> 2))
  }

  test("a folder costs one list, also where nothing is in it, and all below it one") {
    val folder = newFolder()
    val names = Vector("a", "b%2F c", "p=1/q/y", "p=1/x", "p=2/é", "z+&<")
    names.foreach(n => storage.write(s"$folder/$n")(_.write(n.getBytes(UTF_8))))
    val one = Map("list" -> 1, S3Server.RoundTrips -> 1)
    assert(server.callsOf(assert(storage.list(s"$folder/none") === Vector.empty)) === one)
    assert(
      server.callsOf(
        assert(
          storage.list(folder).map(f => f.name -> f.isDirectory) === Vector(
            "a" -> false,
            "b%2F c" -> false,
            "p=1" -> true,
            "p=2" -> true,
            "z+&<" -> false
          )
        )
      ) === one
    )
    assert(
      server.callsOf(assert(storage.filesBelow(folder).map(_.path) === names.map(n => s"$folder/$n"))) === one
    )
    assert(server.callsOf(assert(storage.filesBelow(s"$folder/none") === Vector.empty)) === one)
    val files = storage.list(folder).filterNot(_.isDirectory)
    assert(files.map(_.stamp) === files.map(f => storage.status(f.path).get.stamp))
    assert(storage.filesBelow(folder).find(_.name == "a") === files.find(_.name == "a"))
  }

  test("a folder of more files than one answer has is listed whole") {
    val folder = newFolder()
    val few = server.configuration
    few.set("fs.s3a.paging.maximum", "3")
    few.setBoolean("fs.s3a.impl.disable.cache", true)
    val paged = new HadoopStorage(few)
    val names = (0 until 11).map(i => if (i % 4 == 3) s"$i/x" else i.toString).toVector
    names.foreach(n => storage.write(s"$folder/$n")(_.write(n.getBytes(UTF_8))))
    assert(paged.list(folder).map(_.name) === names.map(_.takeWhile(_ != '/')).sorted)
    assert(paged.filesBelow(folder).map(_.path) === names.map(n => s"$folder/$n").sorted)
  }

  test("whether a file is there costs one head, and a file that is opened one get with its first bytes") {
    val folder = newFolder()
    val first = 64 << 10
    val one = Map("get" -> 1, S3Server.RoundTrips -> 1)
    for (size <- Seq(1, 1000, first, first + 1, 5 * first)) {
      val path = s"$folder/$size"
      val content = Array.tabulate(size)(i => (i * 7 + size).toByte)
      storage.write(path)(_.write(content))
      assert(server.callsOf(assert(storage.isThere(path))) === Map("head" -> 1, S3Server.RoundTrips -> 1))
      val known = math.min(size, first)
      val calls = server.callsOf {
        val reader = storage.open(path)
        assert(reader.stamp === storage.status(path).get.stamp)
        assert(reader.sizeBytes === size)
        val bytes = new Array[Byte](known)
        reader.read(0L, known).get(bytes)
        assert(bytes.sameElements(content.take(known)))
        reader.close()
      }
      assert(calls - "head" - S3Server.RoundTrips === one - S3Server.RoundTrips, size)
      val reader = storage.open(path)
      for ((from, to) <- Seq(0 -> size, size / 2 -> size, (size - 1) -> size, 0 -> 0, size / 3 -> size / 2)) {
        val bytes = new Array[Byte](to - from)
        reader.readInto(from.toLong, to - from, bytes)
        assert(bytes.sameElements(content.slice(from, to)), s"$from to $to of $size")
      }
      reader.close()
    }
    val nothing = Map("head" -> 1, S3Server.RoundTrips -> 1)
    assert(server.callsOf(assert(!storage.isThere(s"$folder/none"))) === nothing)
    assert(server.callsOf(intercept[NoSuchFileException](storage.open(s"$folder/none"))) === one)
    storage.write(s"$folder/empty")(_ => ())
    assert(storage.open(s"$folder/empty").sizeBytes === 0L)
    assert(storage.isThere(s"$folder/empty"))
  }

  test("a file of any size is read whole by its name; one that is absent, and a folder, are none") {
    val folder = newFolder()
    val most = 1 << 20
    for (size <- Seq(0, 1, 1000, most - 1, most, most + 1, 3 * most)) {
      val content = Array.tabulate(size)(i => (i * 31 + size).toByte)
      storage.write(s"$folder/$size")(_.write(content))
      assert(storage.readAll(s"$folder/$size").sameElements(content), size)
    }
    for (none <- Seq("absent", "")) intercept[IOException](storage.readAll(s"$folder/$none".stripSuffix("/")))
    intercept[NoSuchFileException](storage.readAll(s"$folder/absent"))
    assert(!intercept[IOException](storage.readAll("s3a://no-such-bucket/f")).isInstanceOf[NoSuchFileException])
  }

  test("a file whose answer is cut is asked for again, and whole") {
    val folder = newFolder()
    for (size <- Seq(1000, 200000)) {
      val content = Array.tabulate(size)(i => (i % 251).toByte)
      storage.write(s"$folder/$size")(_.write(content))
      val known = storage.list(folder).find(_.name == size.toString).get
      for (cuts <- Seq(1, 2); read <- Seq(() => storage.readAll(s"$folder/$size"), () => storage.readAll(known))) {
        server.cutsGets.set(cuts)
        try assert(read().sameElements(content), s"$cuts answers of $size bytes are cut")
        finally server.cutsGets.set(0)
      }
    }
  }

  test("a version costs one put, and the first of a bucket three more that ask whether a second one is refused") {
    val folder = newFolder()
    storage.list(folder)
    assert(
      server.callsOf(assert(storage.publish(s"$folder/1", "a".getBytes))) === Map(
        "put" -> 3,
        "delete" -> 1,
        S3Server.RoundTrips -> 4
      )
    )
    assert(
      server.callsOf(assert(storage.publish(s"$folder/2", "a".getBytes))) === Map("put" -> 1, S3Server.RoundTrips -> 1)
    )
    assert(
      server.callsOf(assert(!storage.publish(s"$folder/2", "b".getBytes))) === Map(
        "put" -> 1,
        "head" -> 1,
        S3Server.RoundTrips -> 2
      )
    )
    assert(storage.list(folder).map(_.name) === Vector("1", "2"))
  }

  test(
    "a small file under a name that is its own costs one put and one delete; a large one is streamed; what fails leaves nothing"
  ) {
    val folder = newFolder()
    storage.list(folder)
    val small = Array.fill(1000)(7.toByte)
    val large = Array.tabulate(3 << 20)(i => (i % 251).toByte)
    def calls(kind: String) = Map(kind -> 1, S3Server.RoundTrips -> 1)
    assert(server.callsOf(storage.writeOnce(s"$folder/small")(_.write(small))) === calls("put"))
    storage.writeOnce(s"$folder/large")(out => large.grouped(100000).foreach(out.write(_)))
    assert(storage.readAll(s"$folder/small").sameElements(small))
    assert(storage.readAll(s"$folder/large").sameElements(large))
    for (content <- Seq(small, large))
      intercept[IOException](storage.writeOnce(s"$folder/failed") { out =>
        out.write(content)
        throw new IOException("no more")
      })
    assert(storage.list(folder).map(_.name) === Vector("large", "small"))
    assert(server.callsOf(storage.deleteFile(s"$folder/small")) === calls("delete"))
    storage.deleteFile(s"$folder/small")
    assert(storage.list(folder).map(_.name) === Vector("large"))
  }

  test(
    "an empty file in its place costs one put, and so does a small one once the store is known; nothing is replaced"
  ) {
    val folder = newFolder()
    storage.publish(s"$folder/known", Array[Byte](1))
    def calls(kinds: (String, Long)*) = kinds.toMap
    def counted(deed: => Unit) = server.callsOf(deed) - S3Server.RoundTrips
    assert(counted(assert(storage.createEmpty(s"$folder/e"))) === calls("put" -> 1))
    assert(counted(assert(!storage.createEmpty(s"$folder/e"))) === calls("put" -> 1, "head" -> 1))
    assert(counted(storage.writeInPlace(s"$folder/small")(_.write("one".getBytes))) === calls("put" -> 1))
    intercept[FileAlreadyExistsException](storage.writeInPlace(s"$folder/small")(_.write("two".getBytes)))
    assert(new String(storage.readAll(s"$folder/small")) === "one")
    val large = Array.tabulate(3 << 20)(i => (i % 251).toByte)
    storage.writeInPlace(s"$folder/large")(out => large.grouped(100000).foreach(out.write(_)))
    intercept[FileAlreadyExistsException](storage.writeInPlace(s"$folder/large")(_.write(large)))
    assert(storage.readAll(s"$folder/large").sameElements(large))
    for (content <- Seq("small".getBytes, large))
      intercept[IOException](storage.writeInPlace(s"$folder/failed") { out =>
        out.write(content)
        throw new IOException("no more")
      })
    assert(storage.list(folder).map(_.name) === Vector("e", "known", "large", "small"))
  }

  test("of many who make an empty file at once one does") {
    val folder = newFolder()
    val made = storage.atOnce(folder)(Vector.fill(8)(() => storage.createEmpty(s"$folder/e")))
    assert(made.count(identity) === 1)
  }

  test(
    "a folder of a few files costs one list and a delete for each, at the same time; one of many, or of none, goes as well"
  ) {
    val folder = newFolder()
    storage.write(s"$folder/d2")(_.write(1))
    for (files <- Seq(3, 70)) {
      (1 to files).foreach(i => storage.writeOnce(s"$folder/d/${i % 2}/$i")(_.write(1)))
      val calls = server.callsOf(assert(storage.delete(s"$folder/d")))
      if (files == 3)
        assert(calls - S3Server.RoundTrips === Map("list" -> 1, "delete" -> 3) && calls(S3Server.RoundTrips) <= 3)
      assert(storage.list(folder).map(_.name) === Vector("d2"))
      assert(!storage.delete(s"$folder/d"))
    }
    assert(storage.delete(s"$folder/d2") && storage.list(folder).isEmpty)
  }

  Seq(Conditions.PassedOver, Conditions.Refused).foreach { conditions =>
    test(s"where the store has conditions $conditions names are claimed: of many who publish at once one wins") {
      val folder = newFolder()
      server.conditions = conditions
      try {
        storage.write(s"$folder/there")(_.write("zero".getBytes(UTF_8)))
        assert(!storage.publish(s"$folder/there", "one".getBytes(UTF_8)))
        assert(new String(storage.readAll(s"$folder/there"), UTF_8) === "zero")
        val rounds = TestSettings.upTo(10, 3)
        Figures.add("rounds of six who publish at once on a store without conditions", rounds)
        assert(publishAtOnce(folder, 6, rounds).forall(_ == 1))
        assert(storage.list(folder).map(_.name) === ((0 until rounds).map(_.toString) :+ "there").toVector)
      } finally server.conditions = Conditions.Kept
    }
  }
}
