package hudiidx.column

import hudiidx.column.segment.{CoveredFile, EncodedPage, SegmentPlan, SegmentShape, SegmentWriter}
import hudiidx.hfile.{Codec, HFileOptions}
import hudiidx.storage.{CountingStorage, LocalStorage}
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** How many files the segments of an index are, and what it takes to read and to write them. */
class SegmentCostSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 60)

  test("however many updates, few files: at most nine of a kind, and the largest is seldom rewritten") {
    forAll(Gen.listOfN(300, Gen.choose(5000L, 500000L))) { updates =>
      var files = Vector(100000000L)
      var written = 0L
      updates.foreach { bytes =>
        files :+= bytes
        SegmentPlan.mergeFrom(files).foreach { from =>
          written += files.drop(from).sum
          files = files.take(from) :+ files.drop(from).sum
        }
        assert(files.size <= SegmentPlan.MostFiles)
      }
      assert(written < 20 * (100000000L + updates.sum))
    }
  }

  test("of 4,000 columns a query reads what it asks for, and of a sorted one a few pages") {
    val files = Vector.tabulate(200)(i => ModelFile(f"p${i / 10}%02d", f"f$i%04d.parquet", 1000L + i, 10))
    def range(low: Long, width: Long): ColumnStats =
      ColumnStats(10, 0, Bounds.LongRange(low, low + width, exact = true))

    /** Column 0 goes with the files, the others all over. */
    def segment(columns: Int): ModelSegment = {
      val known = Vector.tabulate(columns)(c => IndexedColumn(s"c$c", ColumnType.Int64, IndexKind.Range))
      val stats = files.indices.map { i =>
        files(i) -> Vector.tabulate(columns)(c => range(if (c == 0) i * 10L else (i * 7919L + c) % 4001, 9))
      }
      ModelSegment(known, stats.toMap)
    }

    /** Bytes of the file, and those that queries of one column each read of it when it is new. */
    def bytesOf(columns: Int, queries: (String, Long)*): (Long, Seq[Long]) = {
      val storage = new CountingStorage(LocalStorage)
      val model = new ColumnModel(SegmentShape(20, HFileOptions(Codec.None, 4096)), storage)
      try {
        val version = model.version(Vector(model.write(segment(columns))))
        val read = queries.map { case (path, low) =>
          storage.reset()
          model.opened(version) { index =>
            val set = new ValueSet.Longs(Array(low), Array(low + 20))
            val selection = index.select(ColumnCondition.In(path, nulls = false, _ => Some(set)))
            val kept = files.filter(f => selection.mightMatch(ColumnModel.slice(Seq(f))))
            assert(kept.nonEmpty && kept.size < files.size / 2)
          }
          storage.counts.bytesRead
        }
        (version.files.map(_.sizeBytes).sum, read)
      } finally model.delete()
    }

    val (_, Seq(ofFew)) = bytesOf(4, "c3" -> 100)
    val (size, Seq(ofMany, ofSorted)) = bytesOf(4000, "c3" -> 100, "c0" -> 1000)
    info(s"one of 4 columns: $ofFew bytes; one of 4,000: $ofMany of $size; a page of a sorted one: $ofSorted")
    // What more there is to read is the list of columns.
    assert(ofMany < ofFew + 4000 * 32 && ofMany < size / 20)
    assert(ofSorted < ofMany)
  }

  test("a column's pages are written as they come: memory holds a few blocks of them") {
    val shape = SegmentShape(20, HFileOptions(Codec.None, 4096))
    val out = new java.io.ByteArrayOutputStream
    val writer = new SegmentWriter(out, shape)
    writer.partition("p", Vector.tabulate(40000)(i => CoveredFile(f"f$i%05d.parquet", 1000L + i, 10)))
    val layout = writer.layout
    var encoded = 0L
    var most = 0L
    val pages = Iterator.range(0, layout.pages).map { page =>
      most = math.max(most, encoded - out.size)
      val stats = (layout.from(page) until layout.until(page)).map { i =>
        ColumnStats(10, 0, Bounds.LongRange(i * 7919L % 100003, 200000L + i, exact = true))
      }
      val made = EncodedPage.of(ColumnType.Int64, stats.toArray, Array.fill(stats.size)(10L), layout.runs(page))
      encoded += made.bytes.length
      made
    }
    writer.column(IndexedColumn("a", ColumnType.Int64, IndexKind.Range), pages)
    writer.close(): Unit
    assert(encoded > 30 * 4096 && most < 4 * 4096, s"$most of $encoded bytes were held")
  }
}
