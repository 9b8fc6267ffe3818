package hudiidx.timeline

import java.nio.file.{Files, Paths}
import java.time.{ZoneId, ZoneOffset}

import hudiidx.storage.{CountingStorage, FileInfo, LocalStorage}
import hudiidx.table.TableConfig
import hudiidx.{CpuClock, Fixtures, TableChanged}
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class TimelineReaderSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private def timelineOf(names: Seq[String], layout: Int): ActiveTimeline =
    TimelineReader.of(
      "d",
      layout,
      names.map(n => FileInfo(s"d/$n", 1, 0, isDirectory = false)).toVector,
      ZoneOffset.UTC
    )

  private def shown(names: Seq[String], layout: Int): Seq[String] =
    timelineOf(names, layout).instants.map(i => s"${i.requestedTime} ${i.action} ${i.state.name}")

  test("an upgrade that is moving the timeline of a table of version 6 is told of: what is left is not the table's") {
    val table = Fixtures.copy("v6-mor-part")
    val folder = Paths.get(table, ".hoodie")
    def read = TimelineReader.read(LocalStorage, folder.toString, 1, java.time.ZoneOffset.UTC, "timeline")
    val whole = read.instants
    val moved = Files.createDirectories(folder.resolve("timeline/history")).getParent
    assert(read.instants === whole, "a downgrade leaves the folder, with nothing in it")
    val first = whole.head
    Files.move(
      folder.resolve(first.fileName),
      moved.resolve(s"${first.requestedTime}_20990101000000000.${first.action}")
    )
    val error = intercept[TableChanged](read)
    assert(error.getMessage.contains("/.hoodie/timeline") && error.getMessage.contains("being upgraded"))
    // It moves them to where the properties say; another folder has a timeline of the past.
    val left = TimelineReader.read(LocalStorage, folder.toString, 1, java.time.ZoneOffset.UTC, "timeline_1").instants
    assert(left.map(_.requestedTime) === whole.map(_.requestedTime) && left.tail === whole.tail)
  }

  test("an inflight file of a plan that is not there is of no instant, and is told as what is left") {
    for ((layout, actions) <- Seq(1 -> Seq("compaction", "logcompaction"), 2 -> Seq("compaction", "clustering")))
      actions.foreach { action =>
        val inflight = s"20260101000000000.$action.inflight"
        val left = timelineOf(Seq(inflight), layout)
        assert(left.instants === Vector.empty && left.unfinished.map(_.name) === Vector(inflight))
        val planned = timelineOf(Seq(inflight, s"20260101000000000.$action.requested"), layout)
        assert(planned.instants.map(_.state) === Vector(InstantState.Inflight) && planned.unfinished === Vector.empty)
      }
    assert(timelineOf(Seq("20260101000000000.deltacommit.inflight"), 2).instants.size === 1)
    val done = Seq("20260101000000000.compaction.inflight", "20260101000000000.commit")
    assert(timelineOf(done, 1).instants.map(_.fileName) === Vector("20260101000000000.commit"))
  }

  test("the active timeline of every fixture table equals stock Hudi's") {
    for (name <- Fixtures.names; stock = Fixtures.json(name).get("active_timeline") if stock.isArray) {
      val path = Fixtures.table(name)
      val config = TableConfig.read(LocalStorage, path)
      val storage = new CountingStorage(LocalStorage)
      val timeline = TimelineReader.read(
        storage,
        config.timelineDir(path),
        config.timelineLayout,
        config.timelineZone,
        config.timelineFolder
      )
      assert(storage.counts.list === 1L)
      assert(storage.counts.status + storage.counts.open + storage.counts.readAll === 0L)
      val expected = (0 until stock.size).map { i =>
        val s = stock.get(i)
        // Of layout 1 stock gives the file's modification time, which depends on the unzipping.
        val completion =
          if (config.version == 6 || s.get("completion").isNull) None else Some(s.get("completion").asText)
        (s.get("requested").asText, s.get("action").asText, s.get("state").asText, completion)
      }
      val ours = timeline.instants.map(i => (i.requestedTime, i.action, i.state.name, i.completionTime))
      assert(ours.toSet === expected.toSet, name)
      assert(ours.map(_._1) === expected.map(_._1), name)
    }
  }

  test("a pending compaction, log compaction or clustering becomes the commit of its time") {
    assert(
      shown(
        Seq("1.commit", "1.compaction.requested", "1.compaction.inflight", "2.compaction.requested", "3.inflight") ++
          Seq("3.commit.requested", "4.deltacommit", "4.logcompaction.requested", "5.replacecommit.inflight") ++
          Seq("5.replacecommit.requested", "6.savepoint.inflight"),
        layout = 1
      ) === Seq(
        "1 commit COMPLETED",
        "2 compaction REQUESTED",
        "3 commit INFLIGHT",
        "4 deltacommit COMPLETED",
        "5 replacecommit INFLIGHT",
        "6 savepoint INFLIGHT"
      )
    )
    assert(
      shown(
        Seq("7.clustering.requested", "7.clustering.inflight", "7_9.replacecommit") ++
          Seq("8.clustering.requested", "8.clustering.inflight"),
        layout = 2
      ) === Seq("7 replacecommit COMPLETED", "8 clustering INFLIGHT")
    )
  }

  test("names that are no instant's are skipped") {
    val strange =
      Seq("hoodie.properties", "hoodie.properties.backup", "history", "1", "1.", ".commit", "1.foo", "x.commit") ++
        Seq(
          "1.commit.tmp",
          "1.commit.crc",
          "1.compaction",
          "1_.commit",
          "1_2",
          "1__2.commit",
          "1_2.commit.requested"
        ) ++
        Seq("1_2.inflight", "1-2.commit", "", "1.commit.requested.x", "1.schemacommit")
    assert(shown(strange, layout = 2) === Nil)
    assert(shown(strange :+ "1_2.commit", layout = 1) === Nil)
    val folder = Vector(FileInfo("d/1.commit", 0, 0, isDirectory = true))
    assert(TimelineReader.of("d", 1, folder, ZoneOffset.UTC).instants.isEmpty)
  }

  test("completion time comes from the name, or in layout 2 from the modification time in the given zone") {
    val file = Vector(FileInfo("d/20240101000000000.commit", 1, 1704110405678L, isDirectory = false))
    def completion(layout: Int, zone: ZoneId) =
      TimelineReader.of("d", layout, file, zone).instants.map(_.completionTime)
    assert(completion(2, ZoneOffset.UTC) === Vector(Some("20240101120005678")))
    assert(completion(2, ZoneId.of("Asia/Kolkata")) === Vector(Some("20240101173005678")))
    assert(completion(1, ZoneOffset.UTC) === Vector(None))
    assert(
      timelineOf(Seq("1_2.commit", "3.commit.requested"), 2).instants.map(_.completionTime) === Vector(Some("2"), None)
    )
  }

  test("a modification time that cannot be compared with the requested time gives way to that") {
    val file = Vector(FileInfo("d/20240101000000.commit", 1, 1704110405678L, isDirectory = false))
    val timeline = TimelineReader.of("d", 2, file, ZoneOffset.UTC)
    assert(timeline.instants.map(_.completionTime) === Vector(Some("20240101000000")))
  }

  test("of two completed files of one clean one is kept") {
    val timeline = timelineOf(Seq("1_4.clean", "1_3.clean", "1.clean.requested", "1.clean.inflight"), 2)
    assert(timeline.instants.map(i => (i.action, i.completionTime)) === Vector(("clean", Some("3"))))
  }

  test("instants come in the order of their times as strings, whatever the order of the listing") {
    val time = Gen.oneOf(14, 17, 20).flatMap(n => Gen.listOfN(n - 4, Gen.numChar).map("2024" + _.mkString))
    forAll(Gen.nonEmptyListOf(time), Gen.oneOf(".commit", ".deltacommit.requested", ".clean.inflight")) {
      (times, extension) =>
        val timeline = timelineOf(times.map(_ + extension).distinct, 1)
        assert(timeline.instants.map(_.requestedTime) === times.distinct.sorted.toVector)
    }
  }

  test("any subset of an instant's files gives the highest state among them") {
    val states = Seq("5.commit.requested" -> 0, "5.inflight" -> 1, "5.commit.inflight" -> 1, "5.commit" -> 2)
    forAll(Gen.someOf(states)) { chosen =>
      val timeline = timelineOf(chosen.map(_._1).toSeq, 1)
      assert(
        timeline.instants.map(_.state.ordinal) === (if (chosen.isEmpty) Nil else Seq(chosen.map(_._2).max)).toVector
      )
    }
  }

  test("100,000 instant files parse quickly") {
    val files = (0 until 33334).flatMap { i =>
      val t = f"2024010100${i}%07d"
      Seq(s"$t.deltacommit.requested", s"$t.deltacommit.inflight", s"${t}_${t}9.deltacommit")
    }
    val infos = files.map(n => FileInfo(s"/table/.hoodie/timeline/$n", 1, 0, isDirectory = false)).toVector
    val millis = (0 until 3)
      .map(_ => CpuClock.millis(assert(TimelineReader.of("d", 2, infos, ZoneOffset.UTC).instants.size === 33334)))
      .min
    info(s"$millis ms")
    assert(millis < 1000)
  }
}
