package hudiidx.logindex

import hudiidx.DamagedIndex
import hudiidx.record.{KeyGen, PackedKeys}
import hudiidx.storage.BytesReader
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks
import scala.util.Random

/** The bytes of tails and filters. */
final class TailSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val place = BlockPlace(".f_1.log.1_0-1-2", 0L, "20261121000000000")

  test("a filter gives back its entries, and finds each of them for the blocks that have it") {
    forAll(Gen.listOf(Gen.listOf(Gen.oneOf(Gen.choose(0L, 0xffffffffL), Gen.choose(0L, 300L))))) { blocks =>
      val single = blocks.zipWithIndex.map { case (hashes, i) =>
        FilterEntries.of(place.copy(offset = i.toLong), hashes.toArray)
      }
      whenever(single.nonEmpty) {
        val merged = FilterEntries.merge(single)
        val (bytes, shape) = HashFilter.encode(merged, 1, Array.emptyByteArray, Array.emptyByteArray)
        val back = HashFilter.decode(bytes, shape)
        assert(back.members === single.map(_.members.head))
        assert(back.entries === merged.entries)
        val model = blocks.zipWithIndex.flatMap { case (hashes, i) => hashes.map(_ -> i) }.toSet
        assert(back.entries.map(e => (e >>> 24) -> (e & 0xffffff).toInt).toSet === model)
      }
    }
  }

  test("one absent key in a thousand at most is taken for present, in a log of two million") {
    val random = new Random(7)
    val entries = FilterEntries.of(place, Array.fill(2000000)(random.nextInt() & 0xffffffffL))
    val (bytes, shape) = HashFilter.encode(entries, 0, Array[Byte](0), Array.fill[Byte](32)(-1))
    assert(bytes.length * 8.0 / 2000000 < 14, "bits a key")
    val reader = new BytesReader("f", bytes)
    val asked = new AskedKeys(PackedKeys.of((0 until 20000).map(i => s"absent $i")))
    var hits = 0
    FilterProbe.run(reader, FilterRef("f", 0L, shape), asked)((_, _) => hits += 1)
    assert(hits <= 20, "of 20,000")
  }

  test("a tail gives the records of each of its keys, and none of others") {
    forAll(Gen.listOf(KeyGen.string), Gen.listOf(KeyGen.string), Gen.choose(1, 9), minSuccessful(150)) {
      (keys, absent, page) =>
        val records = keys ++ keys.take(3)
        val builder = new TailBuilder(place, page)
        records.zipWithIndex.foreach { case (k, i) =>
          val utf8 = PackedKeys.utf8(k)
          builder.add(utf8, 0, utf8.length, 8 + i * 5)
        }
        val content = new Array[Byte](8 + records.size * 5)
        val tail = builder.build(content.length.toLong, Vector.empty, _ => fail("nothing to merge"))
        val reader = new BytesReader("f", content ++ tail.bytes)
        val read = TailReader.read(reader, 0L, reader.sizeBytes).get
        assert(read.offset === content.length.toLong && read.summary.keys === records.size)
        for (key <- keys ++ absent) {
          val asked = new AskedKeys(PackedKeys.of(Seq(key)))
          val expected = records.indices.filter(records(_) == key).map(8 + _ * 5)
          assert(expected.isEmpty || read.summary.mightHold(asked.byCode.code(0)))
          assert(PageProbe.run(reader, read, asked, Array(0)).toSeq === expected)
        }
        val together = new AskedKeys(PackedKeys.of(keys ++ absent))
        val found = PageProbe.run(reader, read, together, together.byHash.indices.toArray)
        assert(found.toSeq === records.indices.filter(i => (keys ++ absent).contains(records(i))).map(8 + _ * 5))
    }
  }

  test("a content without a tail has none, and a cut one is damage or none") {
    val builder = new TailBuilder(place)
    (0 until 600).foreach { i =>
      val key = s"k$i".getBytes
      builder.add(key, 0, key.length, 8 + i)
    }
    val tail = builder.build(700L, Vector.empty, _ => fail("nothing to merge")).bytes
    val content = new Array[Byte](700)
    assert(TailReader.read(new BytesReader("f", content), 0L, 700L).isEmpty)
    assert(TailReader.read(new BytesReader("f", Array.emptyByteArray), 0L, 0L).isEmpty)
    for (length <- 0 until tail.length by 7) {
      val cut = content ++ tail.take(length)
      assert(TailReader.read(new BytesReader("f", cut), 0L, cut.length.toLong).isEmpty)
    }
    // Cut from the front the trailer is there, but not what it speaks of.
    val e = intercept[DamagedIndex](TailReader.read(new BytesReader("f", tail.drop(9)), 0L, tail.length - 9L))
    assert(e.getMessage.contains("log index at offset"))
  }

  test("filters are merged by eights: few stay, and each key is written once a level") {
    var chain = Vector.empty[FilterRef]
    var written = 0L
    for (n <- 1 to 600) {
      val (taken, level) = TailBuilder.taken(chain, 10)
      val entries = taken.map(_.shape.entries).sum + 10
      written += entries
      val shape = FilterShape(level, entries, 1, 1, 1, 0, 0, 0, 0L, Array.emptyByteArray, Array.emptyByteArray)
      chain = chain.filterNot(taken.contains) :+ FilterRef(s"f$n", 0L, shape)
      assert(chain.map(_.shape.entries).sum === n * 10)
      assert(chain.groupBy(_.shape.level).values.forall(_.size < TailBuilder.Fanout))
    }
    assert(written <= 600 * 10 * 4)
  }
}
