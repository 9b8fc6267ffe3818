package hudiidx.store

import hudiidx.{CpuClock, DamagedIndex, Fixtures, HashSpreadSuite, IndexNotWritable}
import hudiidx.storage.{DenyingStorage, LocalStorage}
import hudiidx.sync.{AtOnce, CallOrder, MemoryFiles, SimulatedClock, SteppedStorage}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path, Paths}
import org.scalatest.funsuite.AnyFunSuite

class IndexStoreSuite extends AnyFunSuite {
  private val coverage = Coverage(
    "20260101000000000",
    Vector(InstantId("20250101000000000", "deltacommit")),
    Vector(InstantId("20260102000000000", "commit"))
  )

  private def version(number: Long, files: String*): IndexVersion =
    IndexVersion(
      number,
      TableIdentity("trips", "COPY_ON_WRITE"),
      coverage,
      files.map(f => IndexFile(f, "kind", 3)).toVector,
      Map("a.b" -> "7"),
      5,
      "test"
    )

  private def newStore(): IndexStore = new IndexStore(LocalStorage, Fixtures.newFolder("hudiidx-store").toString)

  test("a version comes back as it was published") {
    val store = newStore()
    assert(store.current() === Current.Absent)
    assert(store.publish(version(1, "f")))
    assert(store.current() === Current.Found(version(1, "f"), Vector.empty))
    assert(store.nextNumber() === 2)
  }

  test("of two writers that publish the same number one is told that it came second") {
    val store = newStore()
    assert(store.publish(version(1, "mine")))
    assert(!store.publish(version(1, "yours")))
    assert(store.read(1).files.map(_.name) === Vector("mine"))
  }

  test("a folder where the file of a version is to be is told, and is no other writer's version") {
    val store = newStore()
    val path = versionFile(store, 1)
    Files.createDirectories(path)
    val said = intercept[IndexNotWritable](store.publish(version(1, "mine"))).getMessage
    assert(said.contains(path.toString) && said.contains("remove it"))
    Files.delete(path)
    assert(store.publish(version(1, "mine")))
  }

  test("a version with any byte changed or cut off is skipped for the one before, with the reason") {
    val store = newStore()
    store.publish(version(1, "one"))
    val whole = IndexVersion.encode(version(2, "two"))
    val path = versionFile(store, 2)
    for (at <- whole.indices) {
      val changed = whole.clone()
      changed(at) = (changed(at) ^ 1).toByte
      Files.write(path, changed)
      store.current() match {
        case Current.Found(v, reasons) => assert(v.number === 1); assert(reasons.size === 1)
        case other                     => fail(s"byte $at: $other")
      }
    }
    for (length <- whole.indices)
      assertThrows[DamagedIndex](IndexVersion.decode(java.util.Arrays.copyOf(whole, length), "v"))
    Files.write(path, whole)
    assert(store.current() === Current.Found(version(2, "two"), Vector.empty))
  }

  test("a version that names a file twice is refused: each would take memory by itself") {
    val twice = version(1, "a", "b", "a")
    val said = intercept[DamagedIndex](IndexVersion.decode(IndexVersion.encode(twice), "v"))
    assert(said.getMessage.contains("file a is named twice"))
    assert(IndexVersion.decode(IndexVersion.encode(version(1, "a", "b")), "v").files.size === 2)
  }

  test("a version whose names have one hash code is refused: maps of them take the square in time") {
    val names = HashSpreadSuite.ofOneHash(60000)
    val bytes = IndexVersion.encode(version(1, names: _*))
    val took = CpuClock.millis {
      assert(intercept[DamagedIndex](IndexVersion.decode(bytes, "v")).getMessage.contains("the same hash code"))
    }
    assert(took < 5000)
  }

  test("a version that names a file outside the index folder is refused") {
    for (name <- Seq("../f", "a/../../f", "..", "/f", "s3a://b/f", "file:/f")) {
      val said = intercept[DamagedIndex](IndexVersion.decode(IndexVersion.encode(version(1, "f", name)), "v"))
      assert(said.getMessage.contains(s"$name is outside the index folder"))
    }
    assert(IndexVersion.decode(IndexVersion.encode(version(1, "a/..f")), "v").files.map(_.name) === Vector("a/..f"))
  }

  test("a version with bytes that are no UTF-8 is damaged, also where its text has the checksum that it says") {
    val text = new String(IndexVersion.encode(version(1).copy(writer = "\uFFFD")), UTF_8)
    val Array(before, after) = text.split("\uFFFD", 2).map(_.getBytes(UTF_8))
    val bytes = (before :+ 0xe6.toByte) ++ after
    assert(new String(bytes, UTF_8) === text)
    assert(intercept[DamagedIndex](IndexVersion.decode(bytes, "f")).getMessage.contains("not UTF-8"))
    assert(IndexVersion.ofEarlierFormat(bytes, "f") === None)
  }

  test("a version of a later format is refused by name, not guessed at") {
    val text = new String(IndexVersion.encode(version(1)), UTF_8).replace("\"format\":1", "\"format\":2")
    val body = text.substring(0, text.lastIndexOf(",\"crc32c\""))
    val crc = new java.util.zip.CRC32C
    crc.update(body.getBytes(UTF_8))
    val later = body + ",\"crc32c\":\"" + String.format("%08x", Long.box(crc.getValue)) + "\"}"
    val e = intercept[DamagedIndex](IndexVersion.decode(later.getBytes(UTF_8), "v"))
    assert(e.getMessage.contains("a later hudiidx wrote it"))
  }

  test("expiring keeps the newest versions, the current one, young ones, and every file that they name") {
    val store = newStore()
    (1 to 5).foreach { n =>
      store.write(file(n), "kind")(_.write("abc".getBytes))
      store.publish(version(n.toLong, file(n)))
    }
    store.write(file(0), "kind")(_.write(1))
    val hour = 3600000L
    val now = System.currentTimeMillis() + 2 * hour
    assert(store.expire(5, Retention(2, 3 * hour, hour), now) === Vector(file(0)))
    assert(store.versionNumbers() === Vector(1, 2, 3, 4, 5))
    assert(
      store.expire(1, Retention(2, hour, hour), now).sorted === Vector(
        "00000000000000000002.json",
        "00000000000000000003.json",
        file(2),
        file(3)
      )
    )
    assert(store.versionNumbers() === Vector(1, 4, 5))
  }

  test("expiring removes no file while a version that stays cannot be read, whatever the reason") {
    val store = newStore()
    (1 to 3).foreach { n =>
      store.write(file(n), "kind")(_.write("abc".getBytes))
      store.publish(version(n.toLong, file(n)))
    }
    val now = System.currentTimeMillis() + 3600000L
    val rule = Retention(2, 0, 0)
    val behindBadMount = new IndexStore(DenyingStorage.unreadable(versionFile(store, 3).toString), store.dir)
    assert(behindBadMount.expire(3, rule, now) === Vector("00000000000000000001.json"))
    Files.write(versionFile(store, 2), Array[Byte](1))
    assert(store.expire(3, rule, now) === Vector.empty)
    store.publish(version(4, file(3)))
    assert(store.expire(4, rule, now) === Vector("00000000000000000002.json", file(1), file(2)))
  }

  test("expiring removes no file of the version in force when another writer expires a listed one before it is read") {
    val files = new MemoryFiles(new SimulatedClock)
    val direct = new IndexStore(new SteppedStorage(files, AtOnce), "/index")
    direct.write(file(1), "kind")(_.write(1))
    direct.publish(version(1, file(1)))
    val overtaken = new CallOrder {
      override def call[A](verb: String, path: String)(effect: => A): A = {
        if (verb == "read" && path == "/index/versions/00000000000000000001.json") {
          direct.publish(version(2, file(1)))
          direct.storage.delete(path)
        }
        effect
      }
    }
    val store = new IndexStore(new SteppedStorage(files, overtaken), "/index")
    val now = new SimulatedClock().millis() + 1
    assert(store.expire(1, Retention(1, 0, 0), now) === Vector.empty)
    assert(direct.expire(2, Retention(1, 0, 0), now) === Vector.empty && files.has(s"/index/${file(1)}"))
  }

  test("a version stays for as long as readers may need since it was replaced, however old it is") {
    val clock = new SimulatedClock
    val store = new IndexStore(new SteppedStorage(new MemoryFiles(clock), AtOnce), "/index")
    val rule = Retention(1, 10 * SimulatedClock.StepMillis, 0)
    store.publish(version(1))
    clock.steps = 100
    store.publish(version(2))
    clock.steps = 109
    assert(store.expire(2, rule, clock.millis()) === Vector.empty)
    clock.steps = 110
    assert(store.expire(2, rule, clock.millis()) === Vector("00000000000000000001.json"))
  }

  test("expiring removes work folders in which nothing was written for long, and no other folder") {
    val store = newStore()
    store.publish(version(1))
    val now = System.currentTimeMillis()
    def fileIn(folder: String, ageMillis: Long): Unit = {
      store.write(s"$folder/${file(1)}", "kind")(_.write(1))
      Files.setLastModifiedTime(
        Paths.get(store.dir, folder, file(1)),
        java.nio.file.attribute.FileTime.fromMillis(now - ageMillis)
      ): Unit
    }
    fileIn("record-update-0000000000", 2000)
    fileIn("record-update-1111111111", 0)
    fileIn("record-build", 2000)
    fileIn("another", 2000)
    assert(store.expire(1, Retention(1, 0, 1000), now) === Vector("record-build", "record-update-0000000000"))
    assert(
      LocalStorage.list(store.dir).filter(_.isDirectory).map(_.name) ===
        Vector("another", "record-update-1111111111", "versions")
    )
  }

  test("coverage takes in what is listed or under the watermark, but not what was pending then") {
    assert(coverage.covers(InstantId("20251231000000000", "clean")))
    assert(!coverage.covers(InstantId("20250101000000000", "deltacommit")))
    assert(coverage.covers(InstantId("20260102000000000", "commit")))
    assert(!coverage.covers(InstantId("20260102000000000", "clean")))
    assert(!coverage.covers(InstantId("20260103000000000", "commit")))
  }

  test("coverage of a long timeline lists its newest instants only, and still knows all") {
    val ids = Vector.tabulate(2500)(i => InstantId(f"2026010100${i}%07d", "commit"))
    val pending = Vector(InstantId("20260101000000100", "deltacommit"), InstantId("99990101000000000", "clean"))
    val c = Coverage.of(ids, pending)
    assert(c.covered.size === Coverage.MaxListed)
    assert(ids.forall(c.covers))
    assert(pending.forall(p => !c.covers(p)))
  }

  private def file(n: Int): String = s"$n.0123456789.log_index"

  private def versionFile(store: IndexStore, n: Int): Path = Paths.get(store.dir, "versions", f"$n%020d.json")
}
