package hudiidx.table

import scala.collection.mutable
import scala.util.Random

import hudiidx.storage.{FileInfo, LocalStorage}
import hudiidx.table.query.{StreamCommits, StreamOffset, StreamRequest, StreamStart}
import hudiidx.timeline._
import hudiidx.{InvalidOption, TableChanged}
import org.scalatest.funsuite.AnyFunSuite

/** A stream gives each commit once, whatever order writers complete in. */
final class StreamCommitsSuite extends AnyFunSuite {

  /** A table of which only the instants are there. */
  private final class Table(val version: Int, name: String = "t", more: Map[String, String] = Map.empty) {
    private val layout = if (version < 8) 1 else 2
    private val active = mutable.LinkedHashMap.empty[String, Vector[String]]
    private val archived = mutable.TreeMap.empty[String, Option[String]]
    var clock = 0

    /** What the reader's clock shows: all instants are behind it, unless a test says otherwise. */
    var nowMillis: Long = 4102444800000L

    val config: TableConfig = TableConfig.of(
      "t/.hoodie/hoodie.properties",
      Map(
        "hoodie.table.name" -> name,
        "hoodie.table.version" -> version.toString,
        "hoodie.table.type" -> "MERGE_ON_READ"
      ) ++ more
    )

    def time(): String = {
      clock += 1
      f"20260101${clock / 3600}%02d${clock / 60 % 60}%02d${clock % 60}%02d000"
    }

    def request(action: String = "deltacommit", at: String = time()): String = {
      active(at) = Vector(s"$at.$action.requested")
      at
    }

    def complete(at: String, action: String = "deltacommit"): String = {
      val done = if (layout == 1) at else s"${at}_${time()}"
      active(at) = active(at) :+ s"$done.$action"
      at
    }

    def commit(): String = complete(request())
    def rollBack(at: String): Unit = active.remove(at): Unit

    def archive(at: String): Unit = {
      val file = active.remove(at).get.last
      archived(at) = InstantName.parse(file, layout).get.completionTime
    }

    def timeline: ActiveTimeline = TimelineReader.of(
      "t",
      layout,
      active.values.flatten.toVector.map(f => FileInfo(s"t/$f", 0, 0, isDirectory = false)),
      java.time.ZoneOffset.UTC
    )

    private val history = new TimelineHistory {
      override def completionTime(at: String): Option[String] = archived.get(at).flatten
      override def instantsFrom(from: String): Iterator[ArchivedInstant] =
        archived.iteratorFrom(from).map { case (t, c) => ArchivedInstant(t, c, Action.DeltaCommit, null) }
    }

    def stream(changes: Boolean = false, fallback: Option[Boolean] = None, fail: Boolean = false): StreamCommits =
      new StreamCommits(
        config,
        timeline,
        new InstantContents(LocalStorage, "t"),
        history,
        StreamRequest(changes, fallback, fail),
        nowMillis
      )
  }

  /** What the next batch has. */
  private def step(table: Table, offset: StreamOffset, most: Option[Int] = None, changes: Boolean = false) = {
    val stream = table.stream(changes)
    val next = StreamOffset.parse(stream.next(offset, most).json)
    (next, if (next == offset) Set.empty[String] else stream.between(offset, next).commits)
  }

  for (version <- Seq(6, 9); changes <- Seq(false, true))
    test(s"version $version, ${if (changes) "changes" else "rows"}: random writers, limits and restarts") {
      val random = new Random(version * 10 + (if (changes) 1 else 0))
      (1 to 60).foreach { _ =>
        val table = new Table(version)
        val open = mutable.ArrayBuffer.empty[String]
        val hidden = mutable.ArrayBuffer.empty[String]
        val completed = mutable.LinkedHashSet.empty[String]
        var offset = table.stream(changes).start(StreamStart.Earliest)
        val given = mutable.ArrayBuffer.empty[String]
        def read(most: Option[Int]): Boolean = {
          val (next, batch) = step(table, offset, most, changes)
          assert(most.forall(batch.size <= _))
          // What is asked again, as after a restart, is the same.
          if (next != offset) assert(table.stream(changes).between(offset, next).commits === batch)
          given ++= batch.toVector.sorted
          val more = next != offset
          offset = next
          more
        }
        (1 to 40).foreach { _ =>
          random.nextInt(8) match {
            case 0 | 1 => open += table.request()
            // It took its instant long before it shows it.
            case 2                      => hidden += table.time()
            case 3 if hidden.nonEmpty   => open += table.request(at = hidden.remove(random.nextInt(hidden.size)))
            case 4 | 5 if open.nonEmpty => completed += table.complete(open.remove(random.nextInt(open.size)))
            case 6 if open.nonEmpty && random.nextInt(4) == 0 =>
              table.rollBack(open.remove(random.nextInt(open.size)))
            case _ => read(if (random.nextBoolean()) None else Some(1 + random.nextInt(3))): Unit
          }
          if (random.nextInt(10) == 0) {
            // None shows so late what instant it took.
            hidden.clear()
            table.clock += 3000
          }
        }
        open.foreach(t => completed += table.complete(t))
        while (read(Some(2))) {}
        assert(given.toVector.sorted === completed.toVector.sorted)
      }
    }

  test("rows come in the order of completion, and a write that completes late is given then") {
    val table = new Table(9)
    val first = table.commit()
    val late = table.request()
    val second = table.commit()
    val start = table.stream().start(StreamStart.Earliest)
    val (after, batch) = step(table, start)
    assert(batch === Set(first, second) && after.open === Set(late))
    assert(step(table, after)._2.isEmpty)
    table.complete(late)
    assert(step(table, start, Some(2))._2 === Set(first, second))
    assert(step(table, after)._2 === Set(late))
  }

  for ((version, changes) <- Seq(6 -> false, 9 -> true))
    test(s"version $version, changes $changes: nothing passes a write that has not completed, but compactions") {
      val table = new Table(version)
      val first = table.commit()
      table.request("compaction")
      val second = table.commit()
      val hole = table.request()
      val third = table.commit()
      val start = table.stream(changes).start(StreamStart.Earliest)
      val (after, batch) = step(table, start, changes = changes)
      assert(batch === Set(first, second))
      assert(table.stream(changes).hole(after) === Some(hole))
      val e = intercept[InvalidOption](table.stream(changes, fail = true).next(after, None))
      assert(e.getMessage.contains(hole) && e.getMessage.contains("holes.resolution.policy"))
      table.complete(hole)
      assert(step(table, after, changes = changes)._2 === Set(hole, third))
    }

  test("a stream from the latest, or after an instant, has what comes then") {
    val table = new Table(9)
    val first = table.commit()
    val behind = table.timeline.completedWrites.last.completionTime.get
    val open = table.request()
    val second = table.commit()
    val latest = table.stream().start(StreamStart.Latest)
    val after = table.stream().start(StreamStart.After(behind))
    assert(step(table, latest)._2.isEmpty && step(table, after)._2 === Set(second))
    val future = table.stream().start(StreamStart.After("20260101230000000"))
    table.complete(open)
    assert(step(table, latest)._2 === Set(open) && step(table, after)._2 === Set(second, open))
    assert(step(table, future)._2.isEmpty)
    table.clock = 23 * 3600
    val last = table.commit()
    assert(step(table, future)._2 === Set(last))
    assert(!table.stream().start(StreamStart.Earliest).has(first))
  }

  test("archived commits are given from the latest files where the stream began before them, and else named") {
    val table = new Table(9)
    val old = Vector.fill(3)(table.commit())
    old.take(2).foreach(table.archive)
    val start = table.stream().start(StreamStart.Earliest)
    val (after, batch) = step(table, start, Some(1))
    assert(batch === old.take(2).toSet && table.stream().between(start, after).fallback)
    val (caughtUp, rest) = step(table, after)
    assert(rest === Set(old(2)))
    val changed = intercept[InvalidOption](table.stream(changes = true).next(start.copy(changes = true), None))
    assert(changed.getMessage.contains(old.head) && changed.getMessage.contains(StreamCommits.Start))
    val refused = intercept[TableChanged](table.stream(fallback = Some(false)).next(start, None))
    assert(refused.getMessage.contains(old.head) && refused.getMessage.contains("fallback"))
    // The stream stands still while commits come and are archived.
    val missed = table.commit()
    table.commit()
    table.archive(old(2))
    table.archive(missed)
    val e = intercept[TableChanged](table.stream().next(caughtUp, None))
    assert(e.getMessage.contains(missed) && e.getMessage.contains("startOffset=earliest"))
    assert(table.stream(fallback = Some(true)).next(caughtUp, None).has(missed))
  }

  test("a commit that was open and is archived before it is given is named") {
    val table = new Table(9)
    val start = table.stream().start(StreamStart.Earliest)
    val first = table.commit()
    val late = table.request()
    val second = table.commit()
    val (after, _) = step(table, start)
    table.complete(late)
    Seq(first, late).foreach(table.archive)
    assert(table.timeline.start === Some(second))
    assert(intercept[TableChanged](table.stream().next(after, None)).getMessage.contains(late))
  }

  test("an offset of another table, or of one that was rolled back or made anew, is refused") {
    val table = new Table(9)
    val first = table.commit()
    val last = table.commit()
    val (after, _) = step(table, table.stream().start(StreamStart.Earliest))
    def refused(other: Table, changes: Boolean = false): String =
      intercept[RuntimeException](other.stream(changes).next(after, None)).getMessage
    assert(refused(new Table(9, "u")).contains("the stream's checkpoint is of t"))
    assert(refused(new Table(9)).contains(last))
    val remade =
      Map(TableConfig.RemadeSince -> "20260101", TableConfig.TimelinePath -> TableConfig.remadeTimeline("20260101"))
    assert(refused(new Table(9, more = remade)).contains("made anew"))
    assert(refused(table, changes = true).contains("latest_state"))
    table.rollBack(last)
    assert(refused(table).contains(last) && refused(table).contains("with latest it goes on"))
    // What was given long ago is archived; the last one tells that the table is the same.
    val kept = new Table(9)
    val (offset, _) = { kept.commit(); kept.commit(); step(kept, kept.stream().start(StreamStart.Earliest)) }
    kept.archive(first)
    kept.archive(last)
    val next = kept.commit()
    assert(step(kept, offset)._2 === Set(next))
  }

  test("a commit of a writer whose clock is ahead hides none that come before it, archived ones neither") {
    for (version <- Seq(6, 9); changes <- Seq(false, true)) {
      val table = new Table(version)
      val first = table.commit()
      table.nowMillis = InstantTime.toMillis(first, java.time.ZoneOffset.UTC).get + 60000
      val ahead = table.complete(table.request(at = "29991231235959999"))
      val (offset, given) = step(table, table.stream(changes).start(StreamStart.Earliest), changes = changes)
      assert(given === Set(first, ahead))
      val later = table.commit()
      val (next, found) = step(table, offset, changes = changes)
      assert(found === Set(later))
      assert(step(table, next, changes = changes)._2.isEmpty)
      val gone = table.commit()
      Seq(first, later, gone).foreach(table.archive)
      // All that is below the last commit of the beginning counts as there then: its rows are taken from the latest files.
      if (changes) intercept[InvalidOption](table.stream(changes).next(next, None))
      else assert(step(table, next)._2 === Set(gone))
    }
  }

  test("an offset is as docs/format.md says, and others are refused") {
    val offset = StreamOffset("t", None, changes = false, "", "20260101000000001")
      .after(Vector("20260101000000001", "20260101000000003"), Vector("20260101000000002"), "99991231000000000")
    assert(
      offset.json ===
        """{"version":1,"table":"t","of":"rows","begin":"","backlog":"20260101000000001","from":"20251231210000003",""" +
        """"open":["20260101000000002"],"given":["20260101000000001","20260101000000003"]}"""
    )
    assert(StreamOffset.parse(offset.json) === offset)
    Seq("{}", "[]", "x", """{"commitTime":"20260101000000001"}""", offset.json.replace("rows", "cells")).foreach {
      text =>
        assert(intercept[InvalidOption](StreamOffset.parse(text)).getMessage.contains("checkpointLocation"))
    }
    val none = offset.given.empty
    val contradictions = Vector(
      offset.copy(given = none),
      offset.copy(given = none, open = none),
      offset.copy(given = none, from = ""),
      offset.copy(from = "99999999999999999"),
      offset.copy(open = offset.open ++ Vector("20260101000000003", "20260101000000009"))
    ).map(_.json) ++ Vector(-1, 0).map(v => offset.json.replace("\"version\":1", "\"version\":" + v))
    contradictions.foreach { text =>
      assert(
        intercept[InvalidOption](StreamOffset.parse(text)).getMessage.contains("is not a hudiidx stream offset"),
        text
      )
    }
    val later = intercept[InvalidOption](StreamOffset.parse(offset.json.replace("\"version\":1", "\"version\":2")))
    assert(later.getMessage.contains("later hudiidx"))
  }

  test("whatever a checkpoint says, a stream goes on or ends with an error of ours") {
    val texts =
      Vector("", "0", "zzz", "../../x", "20260101", "00010101000000", "99999999999999999", "\u0000\u202e", "9" * 5000)
    for (version <- Seq(6, 9); changes <- Seq(false, true)) {
      val table = new Table(version)
      val archived = table.commit()
      Seq.fill(3)(table.commit())
      table.request(): Unit
      val (offset, _) = step(table, table.stream(changes).start(StreamStart.Earliest), changes = changes)
      table.archive(archived)
      table.commit()
      val forged = texts.flatMap { text =>
        Vector(offset.copy(table = text), offset.copy(begin = text), offset.copy(backlog = text)) ++
          Vector(offset.copy(from = text), offset.copy(remade = Some(text)), offset.copy(open = offset.open + text)) ++
          Vector(offset.copy(given = offset.given + text), offset.copy(given = offset.given.empty + text))
      }
      val drawn = new Random(7)
      val cut = Vector.fill(300) {
        val json = offset.json
        val at = drawn.nextInt(json.length)
        json.take(at) + "{}[],:\"a0\\\u0000".charAt(drawn.nextInt(11)) + json.drop(at + drawn.nextInt(3))
      }
      for (json <- forged.map(_.json) ++ cut :+ ("[" * 100000)) {
        val stream = table.stream(changes)
        try {
          val from = StreamOffset.parse(json)
          stream.between(from, stream.next(from, Some(2))): Unit
        } catch {
          case e: hudiidx.HudiIdxException => assert(e.getMessage.length < 11000 && !e.getMessage.contains('\n'))
        }
      }
    }
  }

  test("commits that were given long before the last one are not named one by one") {
    val table = new Table(9)
    var offset = table.stream().start(StreamStart.Earliest)
    (1 to 20).foreach { _ =>
      table.clock += 1800
      table.commit()
      offset = step(table, offset)._1
    }
    assert(offset.given.size <= 7 && offset.open.isEmpty)
  }
}
