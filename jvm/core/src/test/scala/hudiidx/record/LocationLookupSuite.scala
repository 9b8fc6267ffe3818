package hudiidx.record

import hudiidx.TableFormat
import hudiidx.table._
import hudiidx.table.FileSystemViewSuite.{activeTimeline, entry, models, t, viewOf}
import org.scalacheck.{Gen, Shrink}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class LocationLookupSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private implicit val dontShrink: Shrink[ViewModel] = Shrink.shrinkAny

  private val groups = Vector("a-0", "a-1", "b", "gone").map(FileGroup("p", _)) :+ FileGroup("other", "a-0")

  private def withIndex[A](changes: Seq[(String, Int)])(use: RecordIndex => A): A = {
    val model = new RecordModel(RecordModel.Tiny, RecordPlan(), 2)
    try {
      model.addGroups(groups.take(2))
      model.addGroups(groups.drop(2))
      model.create(changes.map { case (k, o) => (k, o, 0, 0) }, 1 << 20)
      val index = model.open()
      try use(index)
      finally index.close()
    } finally model.delete()
  }

  private val keys = Vector("1", "2", "k", "", "absent")
  private val changes =
    for ((k, i) <- keys.dropRight(1).zipWithIndex; o <- groups.indices if (i + o) % 2 == 0) yield (k, o)

  for (version <- Seq(6, 9))
    test(
      s"on version $version a mapping is a location where the view has a slice of its group, with the slice's instant"
    ) {
      withIndex(changes) { index =>
        forAll(models(version), Gen.option(Gen.oneOf(FileSystemViewSuite.instants)), minSuccessful(60)) {
          (model, asOf) =>
            val slices = model.latestMergedFileSlices(asOf).map(s => s.fileId -> s.baseInstantTime).toMap
            val asked = PackedKeys.of(keys)
            val found =
              LocationLookup.locate(index.lookup(asked), index.dictionary, new SliceInstants(viewOf(model), asOf))
            val due = keys.flatMap { k =>
              changes.filter(_._1 == k).map(c => groups(c._2)).filter(_.partitionPath == "p").flatMap { g =>
                slices.get(g.fileId).map(RecordLocation(k, "p", g.fileId, _))
              }
            }
            assert(found.records(asked) === due)
            val back = PackedLocations.decode(PackedLocations.encode(found))
            assert(back.records(asked) === due)
        }
      }
    }

  test("only the partitions of the groups found are read, once, and what is kept is bounded") {
    var read = Vector.empty[String]
    val source = new FileSource {
      override def partitions: Vector[String] = throw new IllegalStateException("partitions are not asked for")
      override def files(path: String): Array[FileEntry] = {
        read :+= path
        Array(entry("a-0", t(1), FileKind.Parquet, 0).copy(partitionPath = path))
      }
    }
    val timeline =
      ViewTimeline(activeTimeline(Map(t(1) -> t(1)), Set.empty, Map.empty), TableFormat.V9, mergeOnRead = true)
    val view = new FileSystemView(source, timeline)
    withIndex(Seq("x" -> 0, "y" -> 4, "z" -> 0)) { index =>
      val instants = new SliceInstants(view, None, mostGroups = 1)
      def locate(keys: String*): Vector[RecordLocation] = {
        val asked = PackedKeys.of(keys)
        LocationLookup.locate(index.lookup(asked), index.dictionary, instants).records(asked)
      }
      assert(locate("x", "z", "x").map(l => (l.key, l.fileId)) === Vector("x" -> "a-0", "z" -> "a-0", "x" -> "a-0"))
      assert(read === Vector("p"))
      locate("x")
      assert(read === Vector("p"))
      assert(locate("y") === Vector(RecordLocation("y", "other", "a-0", t(1))))
      locate("y", "x")
      assert(read === Vector("p", "other", "p"))
    }
  }

  test("a caller may keep fewer mappings than there are") {
    val model = ViewModel(9, Map(t(1) -> t(1)), Set.empty, Map.empty, Vector(entry("b", t(1), FileKind.Parquet, 0)))
    withIndex(Seq("x" -> 2, "y" -> 2)) { index =>
      val asked = PackedKeys.of(Seq("x", "y"))
      val found = LocationLookup.locate(
        index.lookup(asked),
        index.dictionary,
        new SliceInstants(viewOf(model), None),
        (key, _, group) => key == 1 && group.fileId == "b"
      )
      assert(found.records(asked) === Vector(RecordLocation("y", "p", "b", t(1))))
    }
  }

  test("packed locations cut at any length are refused") {
    val some =
      new Locations(Array(0, 1, 1, 3), Array(0, 1, 0), Vector(VisibleGroup("p", "f", "1"), VisibleGroup("", "ü", "2")))
    val packed = PackedLocations.encode(some)
    packed.indices.foreach { n =>
      assertThrows[IllegalArgumentException](PackedLocations.decode(java.util.Arrays.copyOf(packed, n)))
    }
    assertThrows[IllegalArgumentException](PackedLocations.decode(packed :+ 0.toByte))
  }
}
