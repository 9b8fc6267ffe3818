package hudiidx.write

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.attribute.FileTime
import java.nio.file.{Files, Path}

import hudiidx.storage.LocalStorage
import hudiidx.sync.IndexerSuite.{accessOf, withTable}
import hudiidx.sync.{FakeTable, FakeWrite, TableContext}
import org.scalatest.funsuite.AnyFunSuite

/** Files beside instants of a timeline that writers of ours did not give their name: they go when nobody may come back for them. */
class UnfinishedFilesSuite extends AnyFunSuite {
  private val options = HeartbeatOptions(1000L, 2)
  private val dead = "20260102000000000"
  private val alive = "20260102000000001"

  /** As a writer leaves it that is killed before the file has its name: what is there while it is written. */
  private def unfinished(timeline: Path, name: String): String = {
    var seen = Vector.empty[String]
    val before = LocalStorage.list(timeline.toString).map(_.name).toSet
    LocalStorage.write(timeline.resolve(name).toString) { _ =>
      seen = LocalStorage.list(timeline.toString).map(_.name).filterNot(before)
    }
    Files.delete(timeline.resolve(name))
    assert(seen.size === 1)
    Files.writeString(timeline.resolve(seen.head), "cut")
    seen.head
  }

  private def age(file: Path): Unit = Files.setLastModifiedTime(file, FileTime.fromMillis(1)): Unit

  private def settle(table: FakeTable): Unit = {
    val heartbeats = new Heartbeats(LocalStorage, table.path)
    val known = heartbeats.all
    val context = TableContext.load(accessOf(LocalStorage), table.path)
    new PendingWrites(context, heartbeats, known, options).settle(isAlone = true): Unit
  }

  for (version <- Seq(6, 9))
    test(s"version $version: a write removes what killed writers left in the timeline, and nothing of others") {
      withTable(version) { table =>
        table.write(Seq(FakeWrite("a", -1, isLog = false, 10)), complete = true)
        val timeline = Path.of(TableContext.load(accessOf(LocalStorage), table.path).timeline.dir)
        val completed = if (version == 6) s"$dead.deltacommit" else s"${dead}_20260102000000009.deltacommit"
        val old =
          Seq(s"$dead.deltacommit.requested", s"$dead.deltacommit.inflight", completed).map(unfinished(timeline, _))
        val young = unfinished(timeline, s"$dead.deltacommit.requested")
        val living = unfinished(timeline, s"$alive.deltacommit.requested")
        val uuid = "0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f"
        val others = Seq(
          s"$dead.deltacommit.tmp",
          s".$dead.deltacommit.tmp",
          s".$dead.deltacommit.$uuid",
          s".$dead.deltacommit.${uuid.toUpperCase}.tmp",
          s".$dead.note.$uuid.tmp",
          s".a.deltacommit.$uuid.tmp",
          s".$uuid.tmp",
          s"..$uuid.tmp",
          "hoodie.properties.backup"
        )
        others.foreach(n => Files.writeString(timeline.resolve(n), "other"))
        Files.createDirectory(timeline.resolve(s".$dead.clean.$uuid.tmp"))
        (old ++ others :+ living).foreach(n => age(timeline.resolve(n)))
        val beat = Path.of(table.path, ".hoodie", ".heartbeat", alive)
        Files.createDirectories(beat.getParent)
        Files.write(beat, "".getBytes(UTF_8))
        val before = LocalStorage.list(timeline.toString).map(_.name).toSet
        assert(old.toSet.subsetOf(before))
        settle(table)
        assert(LocalStorage.list(timeline.toString).map(_.name).toSet === before -- old)
        assert(before(young) && before(living))
        Files.delete(beat)
        age(timeline.resolve(young))
        settle(table)
        assert(LocalStorage.list(timeline.toString).map(_.name).toSet === before -- old - young - living)
      }
    }
}
