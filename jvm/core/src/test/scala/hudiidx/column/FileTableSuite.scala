package hudiidx.column

import hudiidx.bytes.PackedInput
import hudiidx.column.segment.{FileTable, NameDigest, PartitionDirectory, SegmentLayout, SegmentOrder}
import hudiidx.table.{FileEntry, FileKind}
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class FileTableSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val half: Gen[Long] = Gen.oneOf(Gen.choose(-2L, 2L), Gen.oneOf(Long.MinValue, Long.MaxValue), Gen.long)

  test("a file is found by digest and size; one that shares its digest with another never is") {
    forAll(Gen.listOf(Gen.zip(half, half, Gen.choose(1L, 3L))), Gen.zip(half, half)) { (files, absent) =>
      val digests = files.map(f => NameDigest(f._1, f._2)).toArray
      val rows = digests.indices.map(_.toLong).toArray
      val table =
        FileTable.decode(new PackedInput(FileTable.encode(digests, files.map(_._3).toArray, rows)))
      files.indices.foreach { i =>
        val alone = digests.count(_ == digests(i)) == 1
        assert(table.find(digests(i), files(i)._3) === (if (alone) i else -1))
        assert(table.find(digests(i), files(i)._3 + 5) === -1)
        assert(table.rows(i) === i.toLong)
      }
      val other = NameDigest(absent._1, absent._2)
      if (!digests.contains(other)) assert(table.find(other, 1) === -1)
      assert(table.byPlace.toSeq === digests.toSeq.zip(files.map(_._3)))
    }
  }

  test("fingerprints are the same for the same files in any order, and differ where a name or a size does") {
    forAll(Gen.nonEmptyListOf(Gen.zip(Gen.long, Gen.long, Gen.choose(1L, 1000L)))) { files =>
      def of(all: Seq[(Long, Long, Long)]): Long =
        FileTable.fingerprint(all.map(f => NameDigest(f._1, f._2)).toArray, all.map(_._3).toArray)
      assert(of(files) === of(files.reverse))
      assert(of(files) !== of(files.tail))
      assert(of(files) !== of(files.head.copy(_3 = files.head._3 + 1) :: files.tail))
    }
  }

  test("partitions come back with their paths, files and fingerprints") {
    val path = Gen.oneOf(
      Gen.const(""),
      Gen.alphaNumStr,
      Gen.choose(1, 28).map(d => f"day=2026-02-$d%02d/h=1"),
      Gen.const("ü/名前")
    )
    forAll(Gen.listOf(Gen.zip(path, Gen.choose(0, 90000), Gen.long))) { all =>
      val distinct = all.groupBy(_._1).values.map(_.head).toVector
      val directory = new PartitionDirectory(
        distinct.map(_._1).toArray,
        distinct.map(_._2).scanLeft(0)(_ + _).toArray,
        distinct.map(_._3).toArray
      )
      val read = PartitionDirectory.decode(new PackedInput(directory.encode))
      assert(read.paths.toSeq === directory.paths.toSeq && read.starts.toSeq === directory.starts.toSeq)
      assert(read.fingerprints.toSeq === directory.fingerprints.toSeq)
      distinct.indices.foreach(i => assert(read.find(distinct(i)._1) === i))
      assert(read.find("no such") === -1)
    }
  }

  test("runs of a page's partitions tell its files") {
    forAll(Gen.listOf(Gen.choose(0, 7)), Gen.choose(1, 9)) { (counts, filesPerPage) =>
      val layout = SegmentLayout(counts.toVector, filesPerPage)
      val owner = counts.indices.flatMap(p => Vector.fill(counts(p))(p))
      (0 until layout.pages).foreach { page =>
        val first = layout.partitionOf(layout.from(page))
        val told = layout.runs(page).zipWithIndex.flatMap { case (n, i) => Vector.fill(n)(first + i) }
        assert(told.toSeq === owner.slice(layout.from(page), layout.until(page)))
      }
      assert(layout.files === counts.sum && layout.pages * filesPerPage >= layout.files)
    }
  }

  test("files stand in the order in which they were written, tasks by number") {
    def entry(instant: String, token: String, id: String): FileEntry =
      FileEntry("p", id, instant, token, FileKind.Parquet, 0, 1)
    val wanted = Vector(
      entry("20260101000000000", "2-0-9", "z"),
      entry("20260101000000000", "10-0-1", "a"),
      entry("20260101000000000", "10-0-1", "b"),
      entry("20260102000000000", "", "c"),
      entry("20260102000000000", "1-0-1", "a")
    )
    wanted.permutations.take(60).foreach(p => assert(p.sortWith(SegmentOrder.compare(_, _) < 0) === wanted))
  }
}
