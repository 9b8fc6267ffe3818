package hudiidx.engine

import hudiidx.history.TableHistory
import hudiidx.history.HistoryTimeline
import java.nio.file.{Files, NoSuchFileException, Paths, StandardCopyOption}

import hudiidx.engine.column.ColumnFaultSuite
import hudiidx.storage.{CountingStorage, LocalStorage}
import hudiidx.sync.TableContext
import hudiidx.table.TableConfig
import hudiidx.timeline.{Action, ArchivedInstant, Instant, InstantState, TimelineHistory}
import hudiidx.{DamagedTable, Fixtures, TableChanged}
import org.apache.hadoop.fs.{Path => HadoopPath}
import org.apache.parquet.example.data.simple.SimpleGroup
import org.apache.parquet.hadoop.example.ExampleParquetWriter
import org.apache.parquet.schema.MessageTypeParser
import org.scalatest.funsuite.AnyFunSuite

class HistoryTimelineSuite extends AnyFunSuite {
  private val Tables = Seq("v8-archived-cow", "v9-archived-cow", "v9-archived-mor")

  private val Upgraded = "up-v6-archived-cow"

  private def historyDir(path: String): String = TableConfig.read(LocalStorage, path).historyDir(path)

  private def historyOf(path: String): HistoryTimeline =
    new HistoryTimeline(LocalStorage, historyDir(path), namesAreBounds = true)

  private def shown(instants: Iterator[ArchivedInstant]): Vector[(String, String, Option[String])] =
    instants.map(i => (i.requestedTime, i.action, i.completionTime)).toVector

  private def stock(name: String): Vector[(String, String, Option[String])] = {
    val all = Fixtures.json(name).get("archived_timeline")
    (0 until all.size)
      .map(all.get(_))
      .filter(_.get("state").asText == "COMPLETED")
      .map(i => (i.get("requested").asText, i.get("action").asText, Option(i.get("completion").asText)))
      .sortBy(i => (i._1, i._2))
      .toVector
  }

  test("the history equals stock Hudi's archived timeline, in the order of requested times") {
    for (name <- Tables) {
      assert(stock(name).size > 5)
      assert(shown(historyOf(Fixtures.table(name)).instantsFrom("")) === stock(name), name)
    }
  }

  test("instants are told from a given time on, and completion times by instant") {
    for (name <- Tables; (time, _, completion) <- stock(name)) {
      val history = historyOf(Fixtures.table(name))
      assert(shown(history.instantsFrom(time)) === stock(name).filter(_._1 >= time))
      assert(history.completionTime(time) === completion)
      assert(history.completionTime(time + "0") === None)
    }
  }

  for (name <- "v6-archived-cow" +: Tables)
    test(s"$name: what was archived since the timeline was read is read from the archive") {
      val table = TableContext.load(ColumnFaultSuite.access, Fixtures.table(name))
      val archived = table.history.instantsFrom("").toVector
      assert(archived.size > 5)
      archived.foreach { i =>
        val file = s"${i.requestedTime}.${i.action}"
        val instant = Instant(i.requestedTime, i.action, InstantState.Completed, i.completionTime, file)
        if (i.action == Action.Clean) assert(table.contents.clean(instant) === i.content.clean)
        else assert(table.contents.commit(instant) === i.content.commit)
      }
      val other = Instant("20010101000000000", Action.Commit, InstantState.Completed, None, "20010101000000000.commit")
      intercept[NoSuchFileException](table.contents.commit(other))
    }

  test("contents of archived instants decode") {
    for (name <- Tables; i <- historyOf(Fixtures.table(name)).instantsFrom("")) i.action match {
      case Action.Clean => assert(i.content.clean.partitions.nonEmpty)
      case _            =>
        val commit = i.content.commit
        assert(commit.writeStats.nonEmpty && commit.writeStats.forall(_.path.exists(_.contains(i.requestedTime))))
    }
  }

  test("a completion time is looked up in the files whose range holds it, without their contents") {
    val path = Fixtures.table("v9-archived-mor")
    val storage = new CountingStorage(LocalStorage)
    val history = new HistoryTimeline(storage, historyDir(path), namesAreBounds = true)
    assert(history.completionTime("20200101000000000") === None)
    assert(storage.counts.open === 0L)
    val (time, _, completion) = stock("v9-archived-mor").head
    assert(history.completionTime(time) === completion)
    val opened = storage.counts.open
    assert(opened > 0 && opened <= 3)
    assert(history.completionTime(time) === completion)
    assert(storage.counts.open === opened)
  }

  test("a table that archived nothing has an empty history") {
    for (name <- Seq("v9-cow-part", "v9-props-only")) {
      assert(historyOf(Fixtures.table(name)).instantsFrom("").isEmpty)
      assert(historyOf(Fixtures.table(name)).completionTime("1") === None)
    }
  }

  test("each layout's archive is found through the table's properties") {
    for (name <- Tables ++ Seq("v6-archived-cow", Upgraded)) {
      val path = Fixtures.table(name)
      val history = TableHistory.of(LocalStorage, path, TableConfig.read(LocalStorage, path))
      assert(shown(history.instantsFrom("")) === stock(name), name)
    }
  }

  test("instants are found in files of an upgrade, whose names are their first and last rows and leave others out") {
    val path = Fixtures.table(Upgraded)
    val names = LocalStorage.list(historyDir(path)).map(_.name).filter(_.endsWith(".parquet"))
    assert(names.exists(n => n.takeWhile(_ != '_') > n.dropWhile(_ != '_').drop(1)))
    def history = TableHistory.of(LocalStorage, path, TableConfig.read(LocalStorage, path))
    val all = shown(history.instantsFrom(""))
    assert(all.size > 15 && all === stock(Upgraded))
    all.foreach { case (time, _, completion) =>
      assert(history.completionTime(time) === completion)
      assert(shown(history.instantsFrom(time)) === all.filter(_._1 >= time))
    }
  }

  test("files that the manifest does not list do not count, and without a version file the newest manifest does") {
    val name = "v9-archived-mor"
    val path = Fixtures.copy(name)
    val dir = Paths.get(historyDir(path))
    Files.write(dir.resolve("manifest_99.tmp"), Array[Byte](1))
    Files.write(dir.resolve("1_2_0.parquet"), Array[Byte](1))
    for (version <- Seq("", "x", "4000")) {
      Files.write(dir.resolve("_version_"), version.getBytes("UTF-8"))
      assert(shown(historyOf(path).instantsFrom("")) === stock(name))
    }
    Files.delete(dir.resolve("_version_"))
    assert(shown(historyOf(path).instantsFrom("")) === stock(name))
  }

  test("a damaged manifest or history file gives DamagedTable that names it") {
    def naming(file: String) = s"""{"files":[{"fileName":"$file"}]}"""
    val outside = Seq("../1_2_0.parquet", "/x/1_2_0.parquet", "s3a://b/1_2_0.parquet", "file:/1_2_0.parquet")
    for (bad <- Seq("", "{", "[]", "{\"files\":[{}]}") ++ outside.map(naming)) {
      val path = Fixtures.copy("v9-archived-mor")
      val dir = historyDir(path)
      Files.write(Paths.get(dir, "manifest_9"), bad.getBytes("UTF-8"))
      assert(intercept[DamagedTable](historyOf(path).instantsFrom("")).getMessage.contains("manifest_9"), bad)
    }
    val path = Fixtures.copy("v9-archived-mor")
    val file = LocalStorage.list(historyDir(path)).find(_.name.endsWith(".parquet")).get.path
    val whole = Files.readAllBytes(Paths.get(file))
    for (length <- Seq(0, 3, 100, whole.length / 2, whole.length - 1)) {
      Files.write(Paths.get(file), whole.take(length))
      assert(intercept[DamagedTable](historyOf(path).instantsFrom("").foreach(_.content)).getMessage.contains(file))
    }
  }

  test("a history file with instants that its name leaves out is damage: whoever looks for them would not find them") {
    val path = Fixtures.copy("v9-archived-mor")
    val dir = Paths.get(historyDir(path))
    val file = LocalStorage.list(dir.toString).find(_.name.endsWith(".parquet")).get
    val renamed = "1_2_0.parquet"
    LocalStorage.list(dir.toString).filter(_.name.startsWith("manifest_")).foreach { f =>
      Files.writeString(Paths.get(f.path), Files.readString(Paths.get(f.path)).replace(file.name, renamed))
    }
    Files.move(Paths.get(file.path), dir.resolve(renamed))
    val said = intercept[DamagedTable](historyOf(path).instantsFrom("").foreach(_.content)).getMessage
    assert(said.contains(renamed) && said.contains("which its name leaves out"))
  }

  /** The history of a table, in one file of these times. */
  private def ofTimes(times: Iterator[String]): TimelineHistory = {
    val path = Fixtures.copy("v9-archived-mor")
    val dir = Paths.get(historyDir(path))
    LocalStorage.list(dir.toString).filter(_.name.startsWith("manifest_")).foreach { f =>
      Files.writeString(Paths.get(f.path), """{"files":[{"fileName":"1_2_0.parquet"}]}""")
    }
    val columns = Seq("instantTime", "completionTime", "action").map(c => s"optional binary $c (STRING);")
    val schema =
      MessageTypeParser.parseMessageType(columns.mkString("message h { ", " ", " optional binary metadata; }"))
    val writer =
      ExampleParquetWriter.builder(new HadoopPath(dir.resolve("1_2_0.parquet").toUri)).withType(schema).build()
    times.foreach { time =>
      val row = new SimpleGroup(schema)
      Seq("instantTime" -> time, "completionTime" -> time, "action" -> "commit", "metadata" -> "{}").foreach {
        case (c, v) =>
          row.append(c, v)
      }
      writer.write(row)
    }
    writer.close()
    historyOf(path)
  }

  test("a history file whose rows are in no order, or more than its bytes can tell of, is damage") {
    val times = (10000 until 15000).map(_.toString)
    assert(ofTimes(times.iterator).instantsFrom("").size === times.size)
    val turned = times.grouped(100).toVector.reverse.flatten
    assert(ofTimes(turned.iterator).instantsFrom("").map(_.requestedTime).toVector === times)
    val none = intercept[DamagedTable](ofTimes(times.reverseIterator).instantsFrom("").foreach(_.content)).getMessage
    assert(none.contains("1_2_0.parquet") && none.contains("in no order of time"))
    val equal = intercept[DamagedTable](ofTimes(Iterator.fill(200000)("15")).instantsFrom("")).getMessage
    assert(equal.contains("1_2_0.parquet") && equal.contains("more rows than instants"))
  }

  test("a history file that the manifest names twice counts once; one that is not there is TableChanged by its name") {
    val name = "v9-archived-mor"
    val path = Fixtures.copy(name)
    val dir = Paths.get(historyDir(path))
    val manifest = LocalStorage.list(dir.toString).filter(_.name.startsWith("manifest_")).maxBy(_.name.drop(9).toLong)
    val files = "[0-9]+_[0-9]+_[0-9]+[.]parquet".r.findAllIn(Files.readString(Paths.get(manifest.path))).toVector
    def say(names: Seq[String]): Unit = {
      val list = names.map(n => s"""{"fileName":"$n"}""").mkString("""{"files":[""", ",", "]}")
      LocalStorage.list(dir.toString).filter(_.name.startsWith("manifest_")).foreach { f =>
        Files.write(Paths.get(f.path), list.getBytes("UTF-8"))
      }
    }
    say(files ++ files ++ files)
    assert(shown(historyOf(path).instantsFrom("")) === stock(name))
    say(files :+ "1_9_7.parquet")
    assert(intercept[TableChanged](historyOf(path).instantsFrom("").foreach(_.content)).getMessage.contains("1_9_7"))
  }

  test(
    "a history file in whose place another one came since its instants were read is TableChanged, not its contents"
  ) {
    val name = "v9-archived-mor"
    val path = Fixtures.copy(name)
    val history = historyOf(path)
    assert(shown(history.instantsFrom("")) === stock(name))
    val files = LocalStorage.list(historyDir(path)).filter(_.name.endsWith(".parquet")).sortBy(_.sizeBytes)
    val (small, large) = (files.head, files.last)
    val others = files.filter(f => f.path != large.path)
    others.foreach(f => Files.copy(Paths.get(large.path), Paths.get(f.path), StandardCopyOption.REPLACE_EXISTING))
    val changed = intercept[TableChanged](history.instantsFrom("").foreach(_.content))
    assert(others.exists(f => changed.getMessage.contains(f.path)) && small.path != large.path)
  }
}
