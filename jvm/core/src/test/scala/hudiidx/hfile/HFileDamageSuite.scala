package hudiidx.hfile

import hudiidx.{Allocated, DamagedIndex, DamagedTable, Figures}
import hudiidx.storage.BytesReader
import org.scalatest.funsuite.AnyFunSuite
import scala.util.{Failure, Success, Try}

final class HFileDamageSuite extends AnyFunSuite {
  private val cells = HFiles.sample(5, 60, 12, 20)
  private val masks = Vector(0x01, 0x80, 0xff, 0x10)
  private var keep = false
  private def file(codec: Codec, checksum: Checksum = Checksum.Crc32c): Array[Byte] =
    HFiles.write(cells, HFileOptions(codec, 200, checksum, 150), Map("m" -> Array[Byte](1, 2, 3)))

  /** All that a reader can be asked for, with a cache or, every other time, without. */
  private def readAll(bytes: Array[Byte]): (Vector[(Vector[Byte], Vector[Byte])], Option[Vector[Byte]]) = {
    keep = !keep
    val reader = HFiles.open(bytes, new BlockCache(if (keep) BlockCache.DefaultCapacityBytes else 0), 4096)
    cells.keysIterator.grouped(7).foreach(k => reader.get(k.head.toArray))
    (HFiles.drain(reader.scan()), reader.meta("m").flatMap(HFiles.bytesOf))
  }

  private def expectDamage(bytes: Array[Byte], what: => String, mayPass: Boolean): Unit = Try(readAll(bytes)) match {
    case Failure(_: DamagedIndex) => ()
    case Failure(other)           => fail(s"$what: $other", other)
    case Success((scanned, meta)) =>
      assert(mayPass, s"$what was not noticed")
      assert(scanned.size <= cells.size + 1 && meta.forall(_.size <= 4), what)
  }

  for (codec <- Seq(Codec.None, Codec.Gzip, Codec.Zstd(3))) {
    test(s"every flipped byte of a file with CRC32C is noticed: $codec") {
      val good = file(codec)
      assert(readAll(good)._1 === HFiles.plain(cells))
      Figures.add("bytes of index files changed", good.length.toLong)
      for (at <- good.indices) {
        val mask = masks(at % masks.size)
        val bad = good.clone()
        bad(at) = (bad(at) ^ mask).toByte
        expectDamage(bad, s"byte $at of ${good.length} flipped by $mask", mayPass = false)
      }
    }

    test(s"a flipped byte of a file without checksums gives an answer or a damage error, nothing else: $codec") {
      val good = file(codec, Checksum.Null)
      for (at <- good.indices) {
        val mask = masks(at % masks.size)
        val bad = good.clone()
        bad(at) = (bad(at) ^ mask).toByte
        expectDamage(bad, s"byte $at of ${good.length} flipped by $mask", mayPass = true)
      }
    }

    test(s"a file cut at any length is damaged: $codec") {
      val good = file(codec)
      for (length <- good.indices) expectDamage(good.take(length), s"cut at $length", mayPass = false)
    }
  }

  private def sayings(file: ForgedHFile)(use: HFileReader => Any): String =
    intercept[DamagedIndex](use(HFiles.open(file.bytes))).getMessage

  test("an index that leads to the same blocks again and again is damage, not a walk without end") {
    for (keys <- Vector(Vector("A"), Vector.empty)) {
      val lattice = ForgedHFile(Vector.fill(8)(keys), 16, _ => "~", 8)
      for (use <- Vector[HFileReader => Any](_.get("B".getBytes), r => HFiles.drain(r.scan())))
        assert(sayings(lattice)(use).contains("the index leads"))
      sayings(lattice)(_.requireOrdered())
    }
  }

  test("a file whose keys cannot all be found is damage to whoever asks whether it is in order") {
    val good = ForgedHFile(Vector(Vector("a", "b"), Vector("d", "e")), 1, Vector("a", "c"), 4)
    HFiles.open(good.bytes).requireOrdered()
    for (key <- Vector("a", "b", "d", "e")) assert(HFiles.open(good.bytes).get(key.getBytes) != null)
    def refusal(file: ForgedHFile): String = sayings(file)(_.requireOrdered())
    assert(refusal(good.copy(blocks = good.blocks.map(_.reverse))).contains("not above"))
    assert(refusal(good.copy(blocks = good.blocks.reverse, indexKeys = _ => "a")).contains("the index leads"))
    assert(refusal(good.copy(blocks = Vector(Vector("a", "a"), Vector("d", "e")))).contains("not above"))
    assert(refusal(good.copy(indexKeys = Vector("a", "e"))).contains("the index leads"))
    assert(refusal(good.copy(indexKeys = Vector("a", "b"))).contains("the index leads"))
    assert(refusal(good.copy(entryCount = 5)).contains("4 cells"))
  }

  test("blocks that reach into each other are damage that names file and offset, in each level of the index") {
    val keys = (10 to 49).map(_.toString).toVector
    for (levels <- 1 to 4; reach <- 0 until levels) {
      val file = ForgedHFile(keys.map(Vector(_)), levels, keys, keys.size.toLong, ladder = true, reach = reach)
      val asked = keys.map(_.getBytes).toArray
      for (use <- Vector[HFileReader => Any](r => HFiles.drain(r.scan()), _.requireOrdered(), _.getAll(asked))) {
        val said = sayings(file)(use)
        assert(said.matches("memory.hfile: .*(before the end|ends at).* at offset \\d+"), (levels, reach, said))
      }
      HFiles.open(file.copy(reach = -1).bytes).requireOrdered()
    }
  }

  test("a zstd block that says it holds very much more than its bytes is refused before memory is asked for") {
    val claimed = 1 << 30
    // A frame of one block: single segment, a size of four bytes, and what it holds are runs of one byte.
    val frame = java.nio.ByteBuffer.allocate(13).order(java.nio.ByteOrder.LITTLE_ENDIAN)
    frame.putInt(0xfd2fb528).put(0xa0.toByte).putInt(claimed).put(Array[Byte](3, 0, 0x10, 7))
    val bytes = frame.array
    val said = intercept[DamagedIndex] {
      BlockCompression.decompress(Codec.Zstd(3), bytes, 0, bytes.length, claimed, null)(w => throw new DamagedIndex(w))
    }
    assert(said.getMessage === s"zstd block of 13 bytes says it holds $claimed, more than is taken for true")
    // What compresses as well, and is not so large, is read.
    val many = new Array[Byte](8 << 20)
    val (packed, length) = BlockCompression.compress(Codec.Zstd(3), many, many.length)
    assert(many.length > length * 1040L)
    val plain = BlockCompression.decompress(Codec.Zstd(3), packed, 0, length, many.length, null)(w => fail(w))
    assert(java.util.Arrays.equals(plain, many))
  }

  private def refusal(codec: Codec, bytes: Array[Byte], expected: Int): String = intercept[DamagedIndex] {
    val before = Allocated.bytes()
    try BlockCompression.decompress(codec, bytes, 0, bytes.length, expected, null)(w => throw new DamagedIndex(w))
    finally assert(Allocated.bytes() - before < (1 << 20), s"bytes taken for $codec")
  }.getMessage

  test("a gzip block that says it holds more than its bytes can is refused before memory is asked for") {
    val (packed, length) = BlockCompression.compress(Codec.Gzip, new Array[Byte](100), 100)
    val claimed = length * 1040 + 1
    assert(refusal(Codec.Gzip, packed, claimed) === s"gzip block of $length bytes cannot hold $claimed")
    assert(refusal(Codec.Gzip, packed, Int.MaxValue) === s"gzip block of $length bytes cannot hold ${Int.MaxValue}")
    assert(refusal(Codec.Gzip, packed, 99).endsWith("holds more than 99 bytes"))
    assert(refusal(Codec.Gzip, packed, 101).endsWith("ends after 100 of 101 bytes"))
  }

  test("a gzip block that holds more than it says is read no further than that, in every form of its header") {
    val bomb = new Array[Byte](64 << 20)
    val (packed, length) = BlockCompression.compress(Codec.Gzip, bomb, bomb.length)
    val plain = packed.take(length)
    assert(refusal(Codec.Gzip, plain, 1000).endsWith("holds more than 1000 bytes"))
    // With a comment in its header Java's own stream reads it.
    val commented =
      plain.take(3) ++ Array[Byte](16) ++ plain.slice(4, 10) ++ "c\u0000".getBytes("UTF-8") ++ plain.drop(10)
    assert(refusal(Codec.Gzip, commented, 1000) === "gzip block does not hold the 1000 bytes it says")
    // A whole one of what it says is read: no bound stands in the way of what compresses best.
    val all = BlockCompression.decompress(Codec.Gzip, packed, 0, length, bomb.length, null)(w => fail(w))
    assert(java.util.Arrays.equals(all, bomb))
  }

  test("a plain block and a zstd frame that say another size than they have are refused before memory is asked for") {
    val said = refusal(Codec.None, new Array[Byte](100), Int.MaxValue)
    assert(said === s"plain block of 100 bytes says it holds ${Int.MaxValue}")
    val bomb = new Array[Byte](64 << 20)
    val (packed, length) = BlockCompression.compress(Codec.Zstd(3), bomb, bomb.length)
    assert(
      refusal(
        Codec.Zstd(3),
        packed.take(length),
        1000
      ) === s"zstd block holds ${bomb.length} bytes, its header says 1000"
    )
  }

  test("no class that a trailer names for the order of keys is loaded") {
    val hostile = HFileOptions(Codec.None, 200).copy(comparator = classOf[HostileOrder].getName)
    assert(readAll(HFiles.write(cells, hostile, Map.empty))._1 === HFiles.plain(cells))
    assert(!HostileOrder.wasMade)
    val absent = hostile.copy(comparator = "org.example.Absent")
    assert(readAll(HFiles.write(cells, absent, Map.empty))._1 === HFiles.plain(cells))
  }

  test("damage of a table's file has the table's error, and names file and offset") {
    val bad = file(Codec.None)
    bad(40) = (bad(40) ^ 1).toByte
    val error = intercept[DamagedTable] {
      val reader = HFileReader.open(new BytesReader("t/x.hfile", bad), new BlockCache, new DamagedTable(_))
      HFiles.drain(reader.scan())
    }
    assert(error.getMessage.startsWith("t/x.hfile: block differs from its checksum"))
    assert(error.getMessage.endsWith("at offset 0"))
  }
}

/** Tells that somebody made one. */
final class HostileOrder extends java.util.Comparator[AnyRef] {
  HostileOrder.wasMade = true
  override def compare(a: AnyRef, b: AnyRef): Int = 0
}

object HostileOrder {
  @volatile var wasMade = false
}
