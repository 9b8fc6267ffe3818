package hudiidx.timeline

import java.nio.file.{Files, Paths, StandardCopyOption}

import hudiidx.{Fixtures, TableChanged}
import hudiidx.log.{LogBlocks, MemoryStorage}
import hudiidx.storage.{CountingStorage, LocalStorage}
import hudiidx.table.TableConfig
import java.nio.charset.StandardCharsets.UTF_8
import org.apache.avro.Schema
import org.apache.avro.generic.{GenericRecord, GenericRecordBuilder}
import org.scalatest.funsuite.AnyFunSuite
import scala.util.{Failure, Success, Try}

class ArchivedTimelineSuite extends AnyFunSuite {
  private val Table = "v6-archived-cow"

  private def archiveOf(path: String): ArchivedTimeline =
    new ArchivedTimeline(LocalStorage, TableConfig.read(LocalStorage, path).archiveDir(path))

  private def shown(instants: Iterator[ArchivedInstant]): Vector[(String, String, Option[String])] =
    instants.map(i => (i.requestedTime, i.action, i.completionTime)).toVector

  private lazy val stock: Vector[(String, String, Option[String])] = {
    val all = Fixtures.json(Table).get("archived_timeline")
    (0 until all.size)
      .map(all.get(_))
      .filter(_.get("state").asText == "COMPLETED")
      .map(i => (i.get("requested").asText, i.get("action").asText, Option(i.get("completion").asText)))
      .sortBy(i => (i._1, i._2))
      .toVector
  }

  test("completed instants of the archive equal stock Hudi's, in the order of their times") {
    assert(stock.size > 10)
    assert(shown(archiveOf(Fixtures.table(Table)).instantsFrom("")) === stock)
  }

  test("instants are told from a given time on, that one included") {
    val archive = archiveOf(Fixtures.table(Table))
    for ((time, _, completion) <- stock) {
      assert(shown(archive.instantsFrom(time)) === stock.filter(_._1 >= time))
      assert(archive.completionTime(time) === completion)
    }
    assert(archive.completionTime("20200101000000000") === None)
    assert(archive.instantsFrom("3").isEmpty)
  }

  test("contents of archived instants decode, and name files as live commits do") {
    archiveOf(Fixtures.table(Table)).instantsFrom("").foreach { i =>
      i.action match {
        case Action.Commit =>
          val commit = i.content.commit
          assert(commit.writeStats.nonEmpty && commit.extraMetadata.contains("schema"))
          commit.writeStats.foreach(s => assert(s.path.get.endsWith(s"_${i.requestedTime}.parquet")))
          assert(commit.writeStats.forall(_.fileSizeBytes > 0))
        case Action.Clean => assert(i.content.clean.partitions.values.exists(_.deletedFileNames.nonEmpty))
        case other        => fail(other)
      }
    }
  }

  test("a table that archived nothing has an empty history") {
    assert(archiveOf(Fixtures.table("v6-cow-part")).instantsFrom("").isEmpty)
    assert(archiveOf(Fixtures.table("v6-props-only")).completionTime("1") === None)
  }

  test("a file cut at any length gives instants of whole blocks only") {
    val path = Fixtures.copy(Table)
    val dir = Paths.get(path, ".hoodie/archived")
    LocalStorage.list(dir.toString).drop(1).foreach(f => LocalStorage.delete(f.path))
    val file = Paths.get(LocalStorage.list(dir.toString).head.path)
    val whole = Files.readAllBytes(file)
    val all = shown(archiveOf(path).instantsFrom(""))
    assert(all.nonEmpty)
    var sizes = Set.empty[Int]
    for (length <- (0 until whole.length by 997) ++ Seq(whole.length - 1, whole.length)) {
      Files.write(file, whole.take(length))
      val found = shown(archiveOf(path).instantsFrom(""))
      assert(found.toSet.subsetOf(all.toSet))
      sizes += found.size
    }
    assert(sizes.contains(0) && sizes.contains(all.size) && sizes.size > 2)
  }

  test("damage to a block's length hides only that block") {
    val path = Fixtures.copy(Table)
    val file = Paths.get(LocalStorage.list(s"$path/.hoodie/archived").head.path)
    val bytes = Files.readAllBytes(file)
    // The second block; the first holds pending states only.
    val size = bytes.indexOfSlice("#HUDI#".getBytes("UTF-8"), 6) + 13
    bytes(size) = (bytes(size) + 1).toByte
    Files.write(file, bytes)
    assert(shown(archiveOf(path).instantsFrom("")) === stock.drop(1))
  }

  test("an instant that an interrupted merge left in two files is told once") {
    val path = Fixtures.copy(Table)
    val dir = Paths.get(path, ".hoodie/archived")
    Files.copy(dir.resolve(".commits_.archive.3_1-0-1"), dir.resolve(".commits_.archive.99_1-0-1"))
    Files.write(dir.resolve("mergeArchivePlan"), Array[Byte](1))
    assert(shown(archiveOf(path).instantsFrom("")) === stock)
  }

  test(
    "an archive file in whose place another one came since its instants were read is TableChanged, not its contents"
  ) {
    val path = Fixtures.copy(Table)
    val archive = archiveOf(path)
    assert(shown(archive.instantsFrom("")) === stock)
    val dir = Paths.get(path, ".hoodie/archived")
    val (from, to) = (dir.resolve(".commits_.archive.8_1-0-1"), dir.resolve(".commits_.archive.4_1-0-1"))
    Files.copy(from, to, StandardCopyOption.REPLACE_EXISTING)
    val asked = archive.instantsFrom("").map(i => i.requestedTime -> Try(i.content.commit)).toVector
    val changed = asked.collect { case (_, Failure(e: TableChanged)) => e }
    assert(changed.nonEmpty && changed.forall(_.getMessage.contains(to.toString)))
    // What can be read is of the instant that was asked for.
    for ((instant, Success(commit)) <- asked; stat <- commit.writeStats)
      assert(stat.path.get.endsWith(s"_$instant.parquet"))
  }

  /** What is read of an archive file until all its instants are told, and these. */
  private def reading(bytes: Array[Byte]): (Vector[String], CountingStorage) = {
    val storage = new CountingStorage(new MemoryStorage(Map("a/.commits_.archive.1_1-0-1" -> bytes)))
    val instants = new ArchivedTimeline(storage, "a").instantsFrom("").map(_.requestedTime).toVector
    (instants, storage)
  }

  private val entrySchema = new Schema.Parser().parse(
    """{"type":"record","name":"HoodieArchivedMetaEntry","fields":[{"name":"commitTime","type":"string"},""" +
      """{"name":"actionType","type":"string"}]}"""
  )

  private def entry(time: String): GenericRecord =
    new GenericRecordBuilder(entrySchema).set("commitTime", time).set("actionType", Action.Commit).build()

  private def block(times: Seq[Int]): Array[Byte] =
    LogBlocks.avro(Seq.empty, entrySchema, times.map(t => entry(f"$t%017d")))

  test("bytes in which the magic stands again and again are read once, and what is behind them is found") {
    val magic = "#HUDI#".getBytes(UTF_8)
    // A size that the file has room for, and no length behind so many bytes that says the same.
    val framed = magic ++ Array[Byte](0, 0, 0, 0, 0, 0, 0, 100)
    for (damage <- Seq(magic, framed)) {
      val bytes = Array.fill(9000)(damage).flatten ++ block(Seq(1, 2))
      val (instants, storage) = reading(bytes)
      assert(instants === Vector(f"${1}%017d", f"${2}%017d"))
      assert(storage.counts.bytesRead < 3 * bytes.length, damage.length)
      assert(storage.counts.read < 100, damage.length)
    }
  }

  test("a block is read twice at most, however its instants are mixed with those of other blocks") {
    val blocks = 20
    val bytes = (0 until blocks).map(b => block((0 until 50).map(i => i * blocks + b))).toArray.flatten
    val (instants, storage) = reading(bytes)
    assert(instants === (0 until 50 * blocks).map(t => f"$t%017d"))
    assert(storage.counts.bytesRead < 3 * bytes.length)
  }
}
