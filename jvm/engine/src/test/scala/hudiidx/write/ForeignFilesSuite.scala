package hudiidx.write

import hudiidx.{DamagedTable, TableFormats, UnsupportedTable, WriteConflict}
import hudiidx.storage.{LocalStorage, PassingStorage}
import hudiidx.sync.IndexerSuite.filesBelow
import hudiidx.sync.{IndexerSuite, TableContext}
import hudiidx.table.{FileKind, FileName, TableFolder}
import hudiidx.timeline.InstantName
import java.nio.charset.StandardCharsets.ISO_8859_1
import java.nio.file.attribute.FileTime
import java.nio.file.{Files, NoSuchFileException, Path}
import org.scalatest.funsuite.AnyFunSuite
import scala.collection.JavaConverters._
import scala.util.Try

/** What others put into a table's folder leads no writer to files elsewhere, nor to any but those that a write of ours made. */
class ForeignFilesSuite extends AnyFunSuite {
  import WriteStepsSuite._

  private def put(table: String, file: String, content: String = ""): Path = {
    val path = Path.of(table).resolve(file)
    Files.createDirectories(path.getParent)
    Files.write(path, content.getBytes(ISO_8859_1))
    Files.setLastModifiedTime(path, FileTime.fromMillis(1))
  }

  private def timelineDir(table: String): String =
    TableContext.load(IndexerSuite.accessOf(LocalStorage), table).timeline.dir

  /** A write of ours as one that is dead leaves it. */
  private def dead(table: String, instant: String): Unit = {
    Seq("requested", "inflight").foreach { state =>
      put(timelineDir(table), s"$instant.deltacommit.$state")
    }
    put(table, s".hoodie/.heartbeat/$instant.1", "hudiidx-epoch 1\nopen\n1-w\n\n"): Unit
  }

  private val works = jobs :+ ("a compaction" -> ((s: hudiidx.storage.Storage, t: String) =>
    CompactionStepsSuite.compact(s, t, slow)
  )) :+ ("a rollback" -> ((s: hudiidx.storage.Storage, t: String) =>
    OpenWrite.takeBack(IndexerSuite.accessOf(s), t, slow, None, s"$t/.hoodie"): Unit
  ))

  private val locked = Some(LockOptions(settleMillis = 0))

  for (version <- TableFormats.written)
    test(s"version $version: nothing is written or removed through a link in the table's folder") {
      val links = Seq(".hoodie", ".hoodie/.heartbeat", ".hoodie/.temp", "p") ++
        (if (version == 9) Seq(".hoodie/timeline") else Nil)
      for (link <- links; (name, work) <- works if link != "p" || name != "a rollback") {
        val table = newTable(version)
        Seq("a", "b").foreach(write(LocalStorage, table, _))
        val place = Path.of(table).resolve(link)
        val elsewhere = Path.of(table).resolveSibling("elsewhere")
        Files.createDirectories(place)
        Files.move(place, elsewhere)
        Files.writeString(elsewhere.resolve("id_rsa"), "key")
        Files.createSymbolicLink(place, elsewhere)
        // It goes with the file by which it is known, and with the folder of its markers.
        put(table, ".hoodie/.heartbeat/20260101000000000.1")
        Seq("id_rsa", "p/id_rsa").foreach(n => put(table, s".hoodie/.temp/20260101000000000/$n.marker.CREATE"))
        val before = filesBelow(elsewhere)
        val said = intercept[UnsupportedTable](work(LocalStorage, table)).getMessage
        assert(said.startsWith(s"$table/$link: a link"), s"$name, $link")
        assert(filesBelow(elsewhere) === before, s"$name, $link")
        if (name == "a write") {
          val open = () => OpenWrite.begin(IndexerSuite.accessOf(LocalStorage), table, slow, locked)
          if (link != "p") assert(intercept[UnsupportedTable](open()).getMessage.contains(link))
          assert(filesBelow(elsewhere) === before, s"under a lock, $link")
        }
        IndexerSuite.delete(elsewhere)
      }
    }

  test("what has the name of the lock's next record, and is none, ends a writer's wait with its name") {
    for (number <- Seq(1, 2); isLink <- Seq(true, false)) {
      val table = newTable(9)
      if (number == 2) new LockOrder(LocalStorage, table).enter("1-w", "20260101000000000")
      val taken = Path.of(table, ".hoodie", ".heartbeat", s"lock.$number")
      Files.createDirectories(taken.getParent)
      if (isLink) Files.createSymbolicLink(taken, Path.of("/no/such/file")) else Files.createDirectory(taken)
      val told = intercept[Exception](new LockOrder(LocalStorage, table).enter("1-v", "20260101000000001")).getMessage
      assert(told.contains(taken.toString), told)
      // A store may tell of it as of nothing.
      val blind = new PassingStorage(LocalStorage) {
        override def readAll(path: String): Array[Byte] =
          if (path == taken.toString) throw new NoSuchFileException(path) else super.readAll(path)
        override def publish(path: String, content: Array[Byte]): Boolean =
          path != taken.toString && super.publish(path, content)
      }
      val said = intercept[WriteConflict](new LockOrder(blind, table).enter("1-v", "20260101000000001")).getMessage
      assert(said.startsWith(s"$taken: ") && said.contains("remove what has that name"), said)
    }
  }

  test("the time of a file behind a link is not set") {
    val table = newTable(9)
    val victim = Files.setLastModifiedTime(put(table, "../victim"), FileTime.fromMillis(1))
    val link = Path.of(table, ".hoodie", ".heartbeat", "20260101000000000")
    Files.createDirectories(link.getParent)
    Files.createSymbolicLink(link, victim)
    val said = intercept[UnsupportedTable](TableFolder.of(LocalStorage, table).touch(link.toString)).getMessage
    assert(said.startsWith(s"$link: a link") && Files.getLastModifiedTime(victim).toMillis === 1)
  }

  private def dataFiles(table: String): Set[String] =
    Files
      .list(Path.of(table, "p"))
      .iterator
      .asScala
      .map(f => s"p/${f.getFileName}")
      .filterNot(_.contains("metadata"))
      .toSet

  /** With a base file of a compaction and logs of writes; and its data files. */
  private def compacted(version: Int): (String, Set[String]) = {
    val table = newTable(version)
    Seq("a", "b").foreach(write(LocalStorage, table, _))
    CompactionStepsSuite.compact(LocalStorage, table, slow)
    write(LocalStorage, table, "c")
    (table, dataFiles(table))
  }

  /** What a plan says, which is taken away again. */
  private def takenPlan(table: String): String = {
    CompactionStepsSuite.plan(LocalStorage, table, slow)
    val now = TableContext.load(IndexerSuite.accessOf(LocalStorage), table)
    val file = Path.of(now.timeline.dir, OpenCompaction.planned(now).head.fileName)
    val content = Files.readAllBytes(file)
    Files.delete(file)
    new String(content, ISO_8859_1)
  }

  private def announce(table: String, instant: String, files: Set[String]): Unit =
    for (file <- files; kind <- Seq("CREATE", "APPEND"))
      put(table, s".hoodie/.temp/$instant/$file.marker.$kind"): Unit

  for (version <- TableFormats.written)
    test(s"version $version: markers of a dead write lead to no file of another write") {
      val (table, files) = compacted(version)
      val instant = "20260101000000000"
      dead(table, instant)
      announce(table, instant, files)
      val before = keys(table)
      Try(write(LocalStorage, table, "d"))
      assert(files.subsetOf(dataFiles(table)) && before.subsetOf(keys(table)))
    }

  for (version <- TableFormats.written; action <- Seq("deltacommit", "commit", "replacecommit", "compaction"))
    test(
      s"version $version: a pending $action at the time of another write that is complete is refused, and nothing goes"
    ) {
      val (table, files) = compacted(version)
      val timeline = TableContext.load(IndexerSuite.accessOf(LocalStorage), table).timeline
      val others = timeline.completedWrites
        .filter(i => InstantName.comparableAction(i.action) != InstantName.comparableAction(action))
      val before = keys(table)
      val plan = if (action == "compaction") takenPlan(table) else ""
      assert(others.nonEmpty)
      for (other <- others) {
        val states = if (action == "compaction") Seq("requested") else Seq("requested", "inflight")
        val pending = states.map(state => put(timelineDir(table), s"${other.requestedTime}.$action.$state", plan))
        put(table, s".hoodie/.heartbeat/${other.requestedTime}")
        put(table, s".hoodie/.heartbeat/${other.requestedTime}.1", "hudiidx-epoch 1\nopen\n1-w\n\n")
        announce(table, other.requestedTime, files)
        val said = intercept[DamagedTable] {
          if (action == "compaction") {
            val now = TableContext.load(IndexerSuite.accessOf(LocalStorage), table)
            OpenCompaction.begin(now, OpenCompaction.planned(now).head, slow): Unit
          } else write(LocalStorage, table, "d")
        }
        assert(
          said.getMessage
            .startsWith(s"${timeline.dir}/${other.requestedTime}.$action: pending at the time of another write")
        )
        assert(dataFiles(table) === files && keys(table) === before)
        pending.foreach(Files.delete(_))
      }
    }

  test("names beside heartbeats that no writer gives lead to nothing that is removed") {
    val table = newTable(9)
    write(LocalStorage, table, "a")
    val names = Seq("...1", "..1", "documents.1", "plan-documents.1", "2026x.1", "lock ..2")
    val kept = names.map(n => put(table, s".hoodie/.heartbeat/$n")) ++
      Seq("documents/a.txt", "plan-documents/a.txt", "2026x/a.txt").map(n => put(table, s".hoodie/.temp/$n"))
    Seq("b", "c").foreach(write(LocalStorage, table, _))
    assert(keys(table) === Set("a", "b", "c"))
    kept.foreach(f => assert(Files.exists(f), f))
  }

  for (version <- TableFormats.written)
    test(s"version $version: records of a dead write go by their names, however great the numbers in these are") {
      val great = 999999998
      for (numbers <- Seq(Seq(great), Seq(great - 1, great), Seq(2, 500, great))) {
        val table = newTable(version)
        write(LocalStorage, table, "a")
        val instant = "20260101000000000"
        dead(table, instant)
        Files.delete(Path.of(table, s".hoodie/.heartbeat/$instant.1"))
        numbers.foreach(n => put(table, s".hoodie/.heartbeat/$instant.$n", "hudiidx-epoch 1\nover\nx\n"))
        Seq("b", "c").foreach(write(LocalStorage, table, _))
        assert(keys(table) === Set("a", "b", "c"))
        assert(!filesBelow(Path.of(table, ".hoodie/.heartbeat")).keys.exists(_.contains(instant)))
      }
    }

  for (version <- TableFormats.written)
    test(s"version $version: so do those of a plan, whose compaction is run") {
      val table = CompactionStepsSuite.written(version)
      CompactionStepsSuite.plan(LocalStorage, table, quick)
      def planned = OpenCompaction.planned(TableContext.load(IndexerSuite.accessOf(LocalStorage), table))
      val instant = planned.head.requestedTime
      put(table, s".hoodie/.heartbeat/$instant.999999990", "hudiidx-epoch 1\nover\nx\n")
      CompactionStepsSuite.runPlanned(LocalStorage, table, quick)
      assert(planned.isEmpty)
      assert(!filesBelow(Path.of(table, ".hoodie/.heartbeat")).keys.exists(_.contains(instant)))
    }

  test("with a table whose first rows did not come nothing goes that others put there meanwhile") {
    val others = Seq("notes.txt", "q/notes.txt", "documents/.hoodie/a.txt")
    for (those <- Seq(Nil, others); made <- Seq("", "/.hoodie")) {
      val table = newTable(9)
      put(table, "p/.hoodie_partition_metadata")
      those.foreach(put(table, _))
      assert(OpenWrite.takeBack(IndexerSuite.accessOf(LocalStorage), table, slow, None, table + made))
      assert(those.forall(f => Files.exists(Path.of(table, f))) && !Files.exists(Path.of(table, ".hoodie")))
      assert(Files.exists(Path.of(table, "p")) === (made != ""))
      assert(Files.exists(Path.of(table)) === (made != "" || those.nonEmpty))
    }
  }

  for (version <- TableFormats.written)
    test(s"version $version: of what markers name, files of their write alone are removed") {
      val table = newTable(version)
      write(LocalStorage, table, "a")
      val instant = "20260101000000000"
      dead(table, instant)
      def named(time: String) = s"p/${FileName.render("f-0", time, "0-1-1", FileKind.Parquet, 0)}"
      val others =
        Seq("p/notes.txt", "notes.txt", "documents/a.txt", named("20250101000000000"), ".hoodie/notes.txt")
      val own = Seq(named(instant), s"p/${FileName.render("f-1", instant, "0-1-1", FileKind.Log, 1)}")
      val folder = named(instant).replace("f-0", "f-2")
      val marked = others ++ own ++ Seq("documents", "p", ".hoodie/hoodie.properties", folder)
      marked.foreach(m => put(table, s".hoodie/.temp/$instant/$m.marker.CREATE"))
      (others ++ own :+ s"$folder/a.txt").foreach(put(table, _))
      write(LocalStorage, table, "b")
      assert(keys(table) === Set("a", "b"))
      (others :+ s"$folder/a.txt").foreach(f => assert(Files.exists(Path.of(table, f)), f))
      own.foreach(f => assert(!Files.exists(Path.of(table, f)), f))
      assert(!Files.exists(Path.of(table, s".hoodie/.temp/$instant")))
    }
}
