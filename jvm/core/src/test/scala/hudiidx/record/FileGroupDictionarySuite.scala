package hudiidx.record

import hudiidx.DamagedIndex
import hudiidx.hfile.BlockCache
import hudiidx.storage.BytesReader
import hudiidx.table.FileGroup
import java.io.ByteArrayOutputStream
import java.util.UUID
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class FileGroupDictionarySuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val fileId: Gen[String] = Gen.frequency(
    6 -> Gen.zip(Gen.long, Gen.long, Gen.choose(0, 12)).map { case (a, b, n) =>
      new UUID((a & ~0xf000L) | 0x4000L, (b & 0x3fffffffffffffffL) | Long.MinValue).toString + (if (n > 9) ""
                                                                                                else s"-$n")
    },
    1 -> Gen.zip(Gen.long, Gen.long).map { case (a, b) => new UUID(a, b).toString },
    1 -> Gen.oneOf("", "00000001-0000-0000-0000-000000000000", "FFFF", "ü")
  )
  private val group: Gen[FileGroup] =
    Gen.zip(Gen.oneOf("", "a", "a/b", "day=2026-01-01", "\uD83D\uDE00"), fileId).map { case (p, f) => FileGroup(p, f) }

  private def segment(first: Int, groups: Vector[FileGroup]): Array[Byte] = {
    val out = new ByteArrayOutputStream
    GroupSegment.write(out, first, groups)
    out.toByteArray
  }

  private def open(bytes: Array[Byte]): GroupSegmentReader =
    GroupSegment.open(new BytesReader("groups", bytes), new BlockCache)

  private def dictionary(parts: Vector[Vector[FileGroup]]): FileGroupDictionary = {
    val firsts = parts.scanLeft(0)(_ + _.size)
    new FileGroupDictionary(parts.zip(firsts).map { case (p, f) => open(segment(f, p)) })
  }

  test("a file group comes back by its ordinal and its ordinal by the group, over any segments") {
    forAll(Gen.listOf(Gen.listOf(group)), Gen.listOf(group), minSuccessful(25)) { (parts, absent) =>
      val distinct = parts.flatten.distinct.toVector
      val cut = if (parts.isEmpty) 1 else math.max(1, distinct.size / parts.size)
      val d = dictionary(distinct.grouped(cut).toVector)
      assert(d.size === distinct.size)
      distinct.indices.foreach(i => assert(d(i) === distinct(i)))
      assert(d.all.toVector === distinct)
      distinct.indices.foreach(i => assert(d.find(distinct(i)) === Some(i)))
      absent.filterNot(distinct.contains).foreach(g => assert(d.find(g) === None))
      Seq(-1, d.size, Int.MaxValue).foreach(o => assertThrows[DamagedIndex](d(o)))
    }
  }

  test("of a large dictionary only the pages asked for are read, and a group costs about 20 bytes") {
    val groups = Vector.tabulate(20000)(i =>
      FileGroup(f"day=2026-${1 + i / 1000}%02d-01", new UUID(mix(i), mix(-i)).toString + "-0")
    )
    val bytes = segment(0, groups)
    assert(bytes.length < 24 * groups.size)
    val cache = new BlockCache
    val d = new FileGroupDictionary(Vector(GroupSegment.open(new BytesReader("groups", bytes), cache)))
    assert(d(12345) === groups(12345))
    assert(d.find(groups(777)) === Some(777))
    assert(cache.counters.bytesRead < bytes.length / 3)
  }

  test("a partition that leaves the table is damage") {
    for (bad <- Seq("a/../../b", "/b", "s3a://b", "file:/b")) {
      val hostile = new FileGroupDictionary(Vector(open(segment(0, Vector(FileGroup(bad, "1"))))))
      assert(intercept[DamagedIndex](hostile(0)).getMessage.contains(s"'$bad' leaves the table"))
    }
  }

  test("segments that leave a gap or overlap are damage") {
    val a = Vector(FileGroup("", "1"), FileGroup("", "2"))
    Seq(0, 1, 3).foreach { first =>
      assertThrows[DamagedIndex](new FileGroupDictionary(Vector(open(segment(0, a)), open(segment(first, a)))))
    }
  }

  private def mix(i: Int): Long = new java.util.Random(i.toLong).nextLong()
}
