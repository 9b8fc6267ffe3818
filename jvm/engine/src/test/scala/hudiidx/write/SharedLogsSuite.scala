package hudiidx.write

import hudiidx.WriteConflict
import hudiidx.log.{LogBlocks, LogHeaderKey}
import hudiidx.storage.LocalStorage
import hudiidx.sync.{IndexerSuite, TableContext}
import hudiidx.table.{FileKind, FileName}
import hudiidx.timeline.{Action, InstantTime}
import hudiidx.write.format.{CommitContent, CompletedWrite, WrittenFile}
import java.nio.file.{Files, Path, StandardOpenOption}
import java.time.ZoneOffset.UTC
import org.apache.avro.generic.GenericData
import org.scalatest.funsuite.AnyFunSuite

/** Stock Hudi 0.x, where the store can append, puts its blocks behind those of the newest log file that it sees, be it of a write of
  * ours that is pending or dead: what is committed there stays, whatever becomes of ours.
  */
class SharedLogsSuite extends AnyFunSuite {
  import WriteStepsSuite._

  private val locked = Some(LockOptions(settleMillis = 0))
  private val access = IndexerSuite.accessOf(LocalStorage)

  /** A write of ours to a file group that is there: one record in a log file of its own. */
  private def begun(table: String, beats: HeartbeatOptions): (OpenWrite, WrittenFile) = {
    val open = OpenWrite.begin(access, table, beats, locked)
    open.start()
    val log = FileName.parse("p", nameOfLog(table), 0L).get
    val name = FileName.render(log.fileId, log.instantTime, "0-1-7", FileKind.Log, 2)
    val file = logFile(open, log.fileId, name, "ours")
    open -> file.copy(logVersion = 2, sliceInstant = log.instantTime, isNewGroup = false)
  }

  private def nameOfLog(table: String): String =
    LocalStorage.list(s"$table/p").map(_.name).filter(_.endsWith(".log.1_0-1-2")).head

  /** A write of stock Hudi's that appends its record to the same file. */
  private def appended(table: String, file: WrittenFile, key: String): Unit = {
    val timeline = TableContext.load(access, table).timeline
    val instant = InstantTime.next(timeline.instants.map(_.requestedTime).max, 0L, UTC)
    val record = new GenericData.Record(schema)
    record.put("_hoodie_record_key", key)
    val block = LogBlocks.avro(Seq(LogHeaderKey.InstantTime -> instant), schema, Seq(record))
    val path = Path.of(table, file.path)
    Files.write(path, block, StandardOpenOption.APPEND)
    val stat = file.copy(sizeBytes = Files.size(path))
    val content = CommitContent.of(
      CompletedWrite("UPSERT", schema.toString, Vector(stat)),
      TableContext.load(access, table).config.format,
      instant
    )
    Seq(".requested", ".inflight").foreach { s =>
      LocalStorage.publish(s"${timeline.dir}/$instant.${Action.DeltaCommit}$s", Array.emptyByteArray)
    }
    LocalStorage.publish(s"${timeline.dir}/$instant.${Action.DeltaCommit}", content): Unit
  }

  private def pending(table: String): Vector[String] =
    TableContext.load(access, table).timeline.instants.filterNot(_.isCompleted).map(_.requestedTime)

  private val ends: Vector[(String, (String, OpenWrite, WrittenFile) => Unit)] = Vector(
    "is given up" -> ((_, open, _) => intercept[WriteConflict](open.abandon()): Unit),
    "meets stock's as a conflict" -> ((_, open, file) =>
      intercept[WriteConflict](open.complete(CompletedWrite("UPSERT", schema.toString, Vector(file)))): Unit
    ),
    "is found dead by one who is alone" -> { (table, open, _) =>
      open.stop()
      Thread.sleep(3)
      val said = intercept[WriteConflict](write(LocalStorage, table, "c")).getMessage
      assert(said.contains(open.instant) && said.contains("hudi-cli: commit rollback"))
    },
    "is found dead by one of several" -> { (table, open, _) =>
      open.stop()
      Thread.sleep(3)
      OpenWrite.begin(access, table, quick, locked).abandon()
    }
  )

  for ((how, end) <- ends)
    test(s"a write whose log file stock Hudi has appended to, and that $how, is left to stock Hudi") {
      val table = newTable(6)
      write(LocalStorage, table, "a")
      val (open, file) = begun(table, quick)
      appended(table, file, "stock's")
      end(table, open, file)
      assert(keys(table) === Set("a", "stock's"))
      assert(pending(table) === Vector(open.instant))
      // As stock Hudi finds what it rolls back.
      assert(Files.exists(Path.of(table, s".hoodie/.temp/${open.instant}/${file.path}.marker.APPEND")))
      Thread.sleep(3)
      val next = OpenWrite.begin(access, table, quick, locked)
      next.start()
      val log = logFile(next, "other-0", FileName.render("other-0", next.instant, "0-1-2", FileKind.Log, 1), "d")
      next.complete(CompletedWrite("UPSERT", schema.toString, Vector(log)))
      assert(keys(table) === Set("a", "stock's", "d"))
    }

  test("what stock Hudi has appended stays where the dead write had begun no block") {
    val table = newTable(6)
    write(LocalStorage, table, "a")
    for (left <- Vector("#HU", "\u0000" * 20, "#HUDI#")) withClue(left) {
      val (open, file) = begun(table, quick)
      val path = Path.of(table, file.path)
      Files.write(path, left.getBytes("ISO-8859-1"))
      appended(table, file, "stock's")
      val whole = Files.readAllBytes(path)
      open.stop()
      Thread.sleep(3)
      val said = intercept[WriteConflict](write(LocalStorage, table, "c")).getMessage
      assert(said.contains(open.instant) && said.contains("hudi-cli: commit rollback"))
      assert(Files.readAllBytes(path) === whole && pending(table) === Vector(open.instant))
      // Without stock's rows it goes.
      Files.write(path, left.getBytes("ISO-8859-1"))
      OpenWrite.begin(access, table, quick, None).abandon()
      assert(!Files.exists(path) && pending(table).isEmpty)
    }
  }

  test("a file of a try that does not count stays where stock Hudi has appended to it") {
    val table = newTable(6)
    write(LocalStorage, table, "a")
    val (open, file) = begun(table, slow)
    val other = logFile(open, "other-0", FileName.render("other-0", open.instant, "0-1-2", FileKind.Log, 1), "d")
    appended(table, file, "stock's")
    open.complete(CompletedWrite("UPSERT", schema.toString, Vector(other)))
    assert(keys(table).filterNot(_ == "ours") === Set("a", "stock's", "d"))
    assert(pending(table).isEmpty)
  }
}
