package hudiidx.sync

import hudiidx.{Fixtures, TableChanged}
import hudiidx.storage.LocalStorage
import hudiidx.table.FileSlice
import hudiidx.timeline._
import org.scalatest.funsuite.AnyFunSuite

/** Timelines that were read before an archival, and are looked into after it. */
class EarlierMomentSuite extends AnyFunSuite {
  private val listed = IndexOptions(enabled = false)

  private def fileOf(table: TableContext, instant: Instant): String = s"${table.timeline.dir}/${instant.fileName}"

  private def slices(table: TableContext): Vector[FileSlice] = {
    val view = TableSnapshot.of(table, listed).view
    view.partitions.sorted.flatMap(view.latestFileSlices(_))
  }

  for (name <- Seq("v6-cow-replace", "v9-cow-replace", "v6-mor-part", "v9-mor-part")) {
    test(s"$name: a timeline from before an archival still tells which files there are") {
      val path = Fixtures.copy(name)
      val loaded = TableContext.load(FakeArchive.access(Vector.empty), path)
      val before = slices(loaded)
      assert(before.nonEmpty)
      val archived = loaded.timeline.completed.map { i =>
        val content = InstantContent.of(i.fileName, LocalStorage.readAll(fileOf(loaded, i)))
        ArchivedInstant(i.requestedTime, i.completionTime, i.action, content)
      }
      val pinned = TableContext.of(FakeArchive.access(archived), path, loaded.config, loaded.timeline)
      loaded.timeline.completed.foreach(i => LocalStorage.delete(fileOf(loaded, i)))
      assert(slices(pinned) === before)
    }
  }

  test("a timeline of which a file is nowhere any more says that the table changed") {
    val path = Fixtures.copy("v9-cow-replace")
    val pinned = TableContext.load(FakeArchive.access(Vector.empty), path)
    pinned.timeline.completed.foreach(i => LocalStorage.delete(fileOf(pinned, i)))
    val e = intercept[TableChanged](PinnedInstantCheck.asOf(pinned)(TableSnapshot.of(pinned, listed)))
    assert(e.getMessage.contains("read the table again"))
  }
}
