package hudiidx.manifest

import hudiidx.DamagedIndex
import hudiidx.bytes.PackedInput
import hudiidx.table.{FileEntry, FileKind, FileOrder}
import java.util.{Random, UUID}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class FilePageSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  test("a page gives back the entries that were put in, names and sizes to the letter") {
    forAll(FileEntryGen.entries("p/q=1")) { entries =>
      val sorted = FileOrder.sorted(entries.toArray)
      val page = FilePage.encode(sorted, 0, sorted.length)
      val decoded = FilePage.decode(page, "p/q=1", "test")
      // A completion time belongs to an instant: all entries of a page with that instant share it.
      assert(decoded.map(_.copy(completionTime = None)).toSeq === sorted.map(_.copy(completionTime = None)).toSeq)
      assert(FilePage.entryCount(new PackedInput(page), "test") === sorted.length)
    }
  }

  test("completion times come back with their instants, also those before the request") {
    val late = entry(1).copy(completionTime = Some("20261120000000009"), instantTime = "20261120000000000")
    val odd = entry(2).copy(completionTime = Some("20261119000000000"), instantTime = "20261120000000001")
    Seq(Seq(late), Seq(odd), Seq(late, odd)).foreach { es =>
      val sorted = FileOrder.sorted(es.toArray)
      assert(FilePage.decode(FilePage.encode(sorted, 0, sorted.length), "p", "test").toSeq === sorted.toSeq)
    }
  }

  test("a file of a large table takes at most 21 bytes: 15 of them are its random id") {
    val entries = FileOrder.sorted(Array.tabulate(1024)(entry))
    val bytes = FilePage.encode(entries, 0, entries.length).length
    assert(bytes / 1024.0 < 21.0)
  }

  test("a page cut at any length, or with any byte behind it, is refused with the place named") {
    val entries = FileOrder.sorted(Array.tabulate(40)(entry))
    val page = FilePage.encode(entries, 0, entries.length)
    (0 until page.length).foreach { n =>
      val e =
        intercept[DamagedIndex](FilePage.decode(java.util.Arrays.copyOf(page, n), "p", "m.master_manifest, page 7"))
      assert(e.getMessage.startsWith("m.master_manifest, page 7: "))
    }
    assertThrows[DamagedIndex](FilePage.decode(page :+ 0.toByte, "p", "m"))
  }

  test("parts of file names with a folder in them are refused") {
    val plain = entry(1)
    for (bad <- Seq(plain.copy(fileId = "../f"), plain.copy(writeToken = "a/b"), plain.copy(instantTime = "/1"))) {
      val page = FilePage.encode(Array(bad), 0, 1)
      assert(intercept[DamagedIndex](FilePage.decode(page, "p", "m")).getMessage.contains("part of no file name"))
    }
  }

  test("a flipped byte gives other entries or a typed error, nothing else") {
    val entries = FileOrder.sorted(Array.tabulate(30)(entry))
    val page = FilePage.encode(entries, 0, entries.length)
    for (at <- page.indices; bit <- Seq(1, 0x80, 0xff)) {
      val flipped = page.clone()
      flipped(at) = (flipped(at) ^ bit).toByte
      try FilePage.decode(flipped, "p", "test")
      catch { case _: DamagedIndex => () }
      val wanted = new WantedGroups(Array(entries(7).sizeBytes), Array.empty, Set.empty)
      try FilePage.select(new PackedInput(flipped), "p", wanted, 1, "test")
      catch { case _: DamagedIndex => () }
    }
  }

  private def entry(i: Int): FileEntry = {
    val r = new Random(i.toLong)
    val id = new UUID((r.nextLong() & ~0xf000L) | 0x4000L, (r.nextLong() >>> 2) | Long.MinValue)
    val task = r.nextInt(2000)
    val instant = 20261120000000000L + r.nextInt(50) * 60000L
    FileEntry(
      "p",
      s"$id-0",
      instant.toString,
      s"$task-${instant % 97}-${instant % 10007 + task}",
      FileKind.Parquet,
      0,
      (1L << 23) + r.nextInt(1 << 24)
    )
  }
}
