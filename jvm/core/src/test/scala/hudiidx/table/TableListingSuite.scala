package hudiidx.table

import hudiidx.storage.{FarStorage, FileInfo, LocalStorage, PassingStorage, Storage}
import hudiidx.table.listing.{ListingRules, PartitionLister, SizeCheck, TableListing}
import hudiidx.timeline.{Action, ActiveTimeline, Instant, InstantContents, TimelineReader}
import hudiidx.{DamagedTable, Fixtures, TableChanged}
import java.nio.file.{Files, Paths}
import org.scalatest.funsuite.AnyFunSuite
import scala.util.Try

final class TableListingSuite extends AnyFunSuite {
  import StockAnswers._
  import TableListingSuite._

  for (name <- Fixtures.good) {
    lazy val listed = Listed(Fixtures.table(name))
    lazy val answers = Fixtures.json(name).path("listing")

    test(s"$name: partitions, files and every view call equal stock Hudi's") {
      assert(listed.listing.partitions === texts(answers.path("partitions")).sorted)
      assert(listed.pendingCompaction === pairs(answers.path("pendingCompaction"), 0, 1))
      assert(listed.pendingClustering === pairs(answers.path("pendingClustering"), 0, 1))
      listed.listing.partitions.foreach { p =>
        val stock = answers.path("per_partition").path(p)
        assert(listed.files(p) === stockFiles(name, p), s"files of '$p'")
        compareViews(name, listed.view, p, stock)
      }
    }

    test(s"$name: partitions and files are the same on a store that is far") {
      val far = Listed(Fixtures.table(name), storage = new FarStorage(LocalStorage))
      assert(far.listing.partitions === listed.listing.partitions)
      far.listing.partitions.foreach(p => assert(far.files(p) === listed.files(p), s"files of '$p'"))
    }

    test(
      s"$name: no file is called missing or short, whatever instant the timeline ends at; if cleaned since, that is told"
    ) {
      val all = listed.timeline.instants
      (0 to all.size).foreach { n =>
        val cut = Listed(
          Fixtures.table(name),
          Some(new ActiveTimeline(listed.timeline.dir, listed.timeline.layout, all.take(n)))
        )
        cut.listing.partitions.foreach { p =>
          try cut.listing.files(p): Unit
          catch { case _: TableChanged if n < all.size => assert(hasCleaned(all.drop(n)), s"files of '$p' at $n") }
        }
      }
    }
  }

  for (name <- WithMovedLogs)
    test(
      s"$name: stock Hudi has log files of version 6 in other slices than ours, which is why these are compared otherwise"
    ) {
      val listed = Listed(Fixtures.table(name))
      val stock = Fixtures.json(name).path("listing").path("per_partition")
      assert(listed.listing.partitions.exists { p =>
        ours(listed.view.allFileSlices(p)) != toldSlices(stock.path(p), "allFileSlices")
      })
    }

  for (name <- Seq("v6-cow-part", "v8-cow-part", "v9-cow-part"))
    test(s"$name: a file that was cleaned since the timeline was read is told of, and not left out") {
      val whole = Listed(Fixtures.table(name))
      val at = whole.timeline.instants.lastIndexWhere(i => i.action == Action.Clean && i.isCompleted)
      val before = whole.timeline.instants.take(at)
      val told = (1 to at).flatMap { n =>
        val timeline = new ActiveTimeline(whole.timeline.dir, whole.timeline.layout, before.take(n))
        val cut = Listed(Fixtures.table(name), Some(timeline))
        cut.listing.partitions.flatMap(p => Try(cut.listing.files(p)).failed.toOption)
      }
      assert(
        told.nonEmpty && told.forall(e => e.isInstanceOf[TableChanged] && e.getMessage.contains("read the table again"))
      )
    }

  private def hasCleaned(later: Vector[Instant]): Boolean = later.exists(_.action == Action.Clean)

  for (name <- Fixtures.damaged("missing-base"))
    test(s"$name: the missing base file is an error that names it, its instant and a remedy") {
      val file = Fixtures.json(name).path("damage").path("file").asText()
      val error = intercept[DamagedTable](readAll(name))
      assert(error.getMessage.contains(file) && error.getMessage.contains("the file is missing"))
      assert(error.getMessage.contains(s"instant ${instantOf(file)}") && error.getMessage.contains("restore"))
    }

  for (name <- Fixtures.damaged("truncated-log", "zero-log"))
    test(s"$name: a log file shorter than its commit says is an error that names it and both sizes") {
      val damage = Fixtures.json(name).path("damage")
      val error = intercept[DamagedTable](readAll(name))
      assert(error.getMessage.contains(damage.path("file").asText()))
      assert(error.getMessage.contains(s"only ${damage.path("now").asLong()} bytes"))
      assert(error.getMessage.contains(s"wrote ${damage.path("was").asLong()} bytes"))
    }

  test("a partition whose folder is gone is an error already when partitions are listed") {
    val table = Fixtures.copy("v9-cow-part")
    LocalStorage.delete(s"$table/nyc")
    assert(intercept[DamagedTable](Listed(table).listing.partitions).getMessage.contains("/nyc/"))
  }

  test("of partitions that nothing marks the timeline is read once again, not once each") {
    val table = Fixtures.copy("v9-cow-part")
    val listed = Listed(table)
    val partitions = listed.listing.partitions
    partitions.foreach(p => LocalStorage.delete(s"$table/$p/.hoodie_partition_metadata"))
    var looks = 0
    val told = new PassingStorage(LocalStorage) {
      override def list(dir: String): Vector[FileInfo] = {
        if (dir == listed.timeline.dir) looks += 1
        super.list(dir)
      }
    }
    val unmarked = Listed(table, Some(listed.timeline), told)
    assert(unmarked.listing.partitions === partitions && partitions.size > 1)
    assert(looks === 1)
  }

  test("a folder in the place of the file that marks a partition is an error that names it") {
    for {
      partition <- Seq("", "nyc/")
      storage <- Seq(LocalStorage, new FarStorage(LocalStorage))
    } {
      val table = Fixtures.copy("v9-cow-part")
      LocalStorage.delete(s"$table/$partition.hoodie_partition_metadata")
      Files.createDirectories(Paths.get(table, s"$partition.hoodie_partition_metadata"))
      val said = Try(Listed(table, storage = storage).listing.partitions)
      if (partition.isEmpty) assert(said.failed.get.getMessage.contains("/.hoodie_partition_metadata: a folder"))
      assert(said.failed.toOption.forall(_.isInstanceOf[DamagedTable]), said)
    }
  }

  test("a partition that only a write in progress made is left out, one with a committed metafile stays") {
    val table = Fixtures.copy("v9-cow-part")
    def addPartition(name: String, instant: String): Unit = {
      val folder = Files.createDirectories(Paths.get(table, name))
      Files.write(
        folder.resolve(".hoodie_partition_metadata"),
        s"commitTime=$instant\npartitionDepth=1\n".getBytes("ISO-8859-1")
      ): Unit
    }
    val timeline = Listed(table).timeline
    addPartition("pending", "29990101000000000")
    addPartition("empty", timeline.completedWrites.head.requestedTime)
    assert(Listed(table).listing.partitions === Vector("empty", "lima", "nyc", "oslo", "sf"))
  }

  test("a table that is itself a partition has the partition '' alone") {
    assert(Listed(Fixtures.table("v9-mor-event")).listing.partitions === Vector(""))
  }

  test("a log file grown since its commit is no damage") {
    val table = Fixtures.copy("v6-mor-part")
    val log = Fixtures.filesBelow(table).filter(f => f.contains(".log.") && !f.startsWith(".hoodie")).last
    Files.write(Paths.get(table, log), Array[Byte](0), java.nio.file.StandardOpenOption.APPEND)
    val listed = Listed(table)
    listed.listing.partitions.foreach(p => listed.listing.files(p))
  }

  test("expected files hold the newest base file of each group and only log files after it") {
    val listed = Listed(Fixtures.table("v9-mor-part"))
    val files = listed.listing.partitions.flatMap(p => listed.listing.files(p))
    val logsToRead =
      listed.listing.partitions.flatMap(p => listed.view.latestMergedFileSlices(p)).map(_.logFiles.size).sum
    val expected = listed.listing.partitions.map(p => listed.listing.expected(p).size).sum
    assert(expected > 0 && expected <= files.map(f => (f.partitionPath, f.fileId)).distinct.size + logsToRead)
    assert(SizeCheck.expected(new ActiveTimeline("none", 2, Vector.empty), listed.contents).isEmpty)
  }

  test("the rules of a listing can be sent to tasks elsewhere") {
    val rules = Listed(Fixtures.table("v6-mor-rollback")).listing.lister.rules
    val bytes = new java.io.ByteArrayOutputStream
    new java.io.ObjectOutputStream(bytes).writeObject(rules)
    val copy = new java.io.ObjectInputStream(new java.io.ByteArrayInputStream(bytes.toByteArray)).readObject()
    val lister = new PartitionLister(LocalStorage, copy.asInstanceOf[ListingRules])
    assert(lister.list("nyc").toVector === new PartitionLister(LocalStorage, rules).list("nyc").toVector)
  }

  private def readAll(name: String): Unit = {
    val listing = Listed(Fixtures.table(name)).listing
    listing.partitions.foreach(p => listing.files(p))
  }
}

object TableListingSuite {

  /** A table listed with a timeline, by default the one on storage. */
  final case class Listed(
      table: String,
      pinned: Option[ActiveTimeline] = None,
      storage: Storage = LocalStorage
  ) {
    private val config = TableConfig.read(LocalStorage, table)
    val timeline: ActiveTimeline =
      pinned.getOrElse(
        TimelineReader.read(
          LocalStorage,
          config.timelineDir(table),
          config.timelineLayout,
          config.timelineZone,
          config.timelineFolder
        )
      )
    val contents = new InstantContents(LocalStorage, timeline.dir)
    private val viewTimeline = ViewTimeline.load(config, timeline, contents, _ => None)
    val listing: TableListing = TableListing(storage, table, config, timeline, contents, viewTimeline)
    val view = new FileSystemView(listing, viewTimeline)

    def files(partition: String): Map[String, Long] = listing.files(partition).map(f => f.fileName -> f.sizeBytes).toMap

    def pendingCompaction: Vector[(String, String)] =
      viewTimeline.plans.compaction.toVector.map { case (group, instant) => instant -> group.fileId }.sorted

    def pendingClustering: Vector[(String, String)] =
      viewTimeline.plans.clustering.keys.toVector.map(g => g.partitionPath -> g.fileId).sorted
  }
}
