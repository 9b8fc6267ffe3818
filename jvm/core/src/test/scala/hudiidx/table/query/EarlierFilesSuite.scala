package hudiidx.table.query

import hudiidx.TableFormats
import hudiidx.table.FileSystemViewSuite._
import hudiidx.table._
import java.util.concurrent.atomic.AtomicInteger
import org.scalacheck.Shrink
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class EarlierFilesSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private implicit val dontShrink: Shrink[ViewModel] = Shrink.shrinkAny

  for (version <- Seq(6, 8, 9))
    test(s"slices of any commit of version $version are those that a look through all slices finds") {
      forAll(models(version), minSuccessful(100)) { model =>
        val earlier = new EarlierFiles(viewOf(model))
        val all = viewOf(model.copy(files = model.files.map(_.copy(replacedAt = None))))
        val merged = all.latestMergedFileSlices("p")
        for (id <- model.files.map(_.fileId).distinct) {
          val group = FileGroup("p", id)
          val slices = all.allFileSlices("p").filter(_.fileId == id)
          def joined(s: FileSlice) =
            if (s.baseFile.isEmpty && model.compaction.get(id).contains(s.baseInstantTime))
              merged.find(_.fileId == id).getOrElse(s)
            else s
          for (instant <- instants) {
            assert(earlier.slice(group, instant) === slices.find(_.baseInstantTime == instant))
            assert(earlier.last(group, instant) === slices.filter(_.baseInstantTime < instant).lastOption.map(joined))
          }
          for (log <- model.files.filterNot(_.isBase).map(_.fileName))
            assert(earlier.withLog(group, log) === slices.find(_.logFiles.exists(_.fileName == log)).map(joined))
        }
      }
    }

  test("a partition is listed as often for many groups and commits as for one") {
    def listings(groups: Int): Int = {
      val ids = Vector.tabulate(groups)(i => f"g$i%04d")
      val all = ids.flatMap(id => Vector(entry(id, t(1), FileKind.Parquet, 0), entry(id, t(4), FileKind.Log, 1)))
      val calls = new AtomicInteger
      val counted = new FileSource {
        override def partitions: Vector[String] = Vector("p")
        override def files(partitionPath: String): Array[FileEntry] = {
          calls.incrementAndGet()
          all.toArray
        }
      }
      val plans = PendingPlans(ids.map(FileGroup("p", _) -> t(3)).toMap, Map.empty)
      val timeline = activeTimeline(Map(t(1) -> t(1), t(4) -> t(5)), Set.empty, Map("g" -> t(3)))
      val view = new FileSystemView(counted, ViewTimeline(timeline, TableFormats.of(9), mergeOnRead = true, plans))
      val files = new EarlierFiles(view)
      for (id <- ids) {
        val group = FileGroup("p", id)
        assert(files.withLog(group, entry(id, t(4), FileKind.Log, 1).fileName).exists(_.baseFile.isDefined))
        assert(files.last(group, t(5)).exists(_.baseFile.isDefined) && files.slice(group, t(1)).isDefined)
      }
      calls.get
    }
    assert(listings(200) === listings(1))
  }
}
