package hudiidx.table

import com.fasterxml.jackson.databind.JsonNode
import hudiidx.storage.LocalStorage
import hudiidx.timeline.{ActiveTimeline, InstantContents, TimelineReader}
import hudiidx.{DamagedTable, Fixtures}
import java.nio.file.{Files, Paths}
import org.scalatest.funsuite.AnyFunSuite

final class TableListingSuite extends AnyFunSuite {
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
        compareViews(listed.view, p, stock)
      }
    }

    test(s"$name: no file is called missing or short, whatever instant the timeline ends at") {
      val all = listed.timeline.instants
      (0 to all.size).foreach { n =>
        val cut = Listed(
          Fixtures.table(name),
          Some(new ActiveTimeline(listed.timeline.dir, listed.timeline.layout, all.take(n)))
        )
        cut.listing.partitions.foreach(p => cut.listing.files(p))
      }
    }
  }

  for (name <- Seq("v6-bad-missing-base", "v9-bad-missing-base"))
    test(s"$name: the missing base file is an error that names it, its instant and a remedy") {
      val file = Fixtures.json(name).path("damage").path("file").asText()
      val error = intercept[DamagedTable](readAll(name))
      assert(error.getMessage.contains(file) && error.getMessage.contains("the file is missing"))
      assert(error.getMessage.contains(s"instant ${instantOf(file)}") && error.getMessage.contains("restore"))
    }

  for (name <- Seq("v6-bad-truncated-log", "v6-bad-zero-log", "v9-bad-truncated-log", "v9-bad-zero-log"))
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

  private def compareViews(view: FileSystemView, p: String, stock: JsonNode): Unit = {
    def answer(call: String): JsonNode = {
      val found = if (call == "latestMergedBeforeOrOn") stock.path(call).path("slices") else stock.path(call)
      if (found.isTextual) answer(found.asText().stripPrefix("same as ")) else found
    }
    def bases(call: String) = elements(answer(call)).map(baseOf).sorted
    def slices(call: String) = elements(answer(call)).map(sliceOf).sortBy(s => (s._1, s._2))
    def ours(found: Vector[FileSlice]) = found.map(sliceOf).sortBy(s => (s._1, s._2))
    assert(view.latestBaseFiles(p).map(baseOf).sorted === bases("latestBaseFiles"), s"latestBaseFiles of '$p'")
    assert(view.allBaseFiles(p).map(baseOf).sorted === bases("allBaseFiles"), s"allBaseFiles of '$p'")
    assert(view.allFileGroups(p).map(_.fileId) === texts(answer("allFileGroups")).sorted, s"allFileGroups of '$p'")
    assert(view.allReplacedFileGroups(p).map(_.fileId) === texts(answer("replacedFileGroups")).sorted)
    assert(ours(view.latestFileSlices(p)) === slices("latestFileSlices"), s"latestFileSlices of '$p'")
    assert(ours(view.allFileSlices(p)) === slices("allFileSlices"), s"allFileSlices of '$p'")
    val instant = stock.path("latestMergedBeforeOrOn").path("instant").asText()
    assert(ours(view.latestMergedFileSlices(p, Some(instant))) === slices("latestMergedBeforeOrOn"), s"merged of '$p'")
    if (stock.has("latestUnCompactedFileSlices"))
      assert(
        ours(view.latestUncompactedFileSlices(p)) === slices("latestUnCompactedFileSlices"),
        s"uncompacted of '$p'"
      )
  }
}

object TableListingSuite {

  /** A table listed with a timeline, by default the one on storage. */
  final case class Listed(table: String, pinned: Option[ActiveTimeline] = None) {
    private val config = TableConfig.read(LocalStorage, table)
    val timeline: ActiveTimeline =
      pinned.getOrElse(TimelineReader.read(LocalStorage, config.timelineDir(table), config.timelineLayout))
    val contents = new InstantContents(LocalStorage, timeline.dir)
    private val viewTimeline = ViewTimeline.load(config, timeline, contents, _ => None)
    val listing: TableListing = TableListing(LocalStorage, table, config, timeline, contents, viewTimeline)
    val view = new FileSystemView(listing, viewTimeline)

    def files(partition: String): Map[String, Long] = listing.files(partition).map(f => f.fileName -> f.sizeBytes).toMap

    def pendingCompaction: Vector[(String, String)] =
      viewTimeline.plans.compaction.toVector.map { case (group, instant) => instant -> group.fileId }.sorted

    def pendingClustering: Vector[(String, String)] =
      viewTimeline.plans.clustering.keys.toVector.map(g => g.partitionPath -> g.fileId).sorted
  }

  /** On version 6 a rollback puts the size 1 into the metadata table; the listing by file system has the true one. */
  def stockFiles(name: String, partition: String): Map[String, Long] = {
    val answers = Fixtures.json(name)
    def filesIn(listing: String) =
      elements(answers.path(listing).path("per_partition").path(partition).path("files"))
        .map(f => f.get(0).asText() -> f.get(1).asLong())
        .toMap
    val onStorage = filesIn("listing_by_file_system")
    filesIn("listing").map { case (file, size) => file -> (if (size == 1) onStorage.getOrElse(file, size) else size) }
  }

  def instantOf(file: String): String = file.substring(file.lastIndexOf('_') + 1, file.lastIndexOf('.'))

  def elements(array: JsonNode): Vector[JsonNode] = Vector.tabulate(array.size)(array.get(_))

  def texts(array: JsonNode): Vector[String] = elements(array).map(_.asText())

  def pairs(array: JsonNode, a: Int, b: Int): Vector[(String, String)] =
    elements(array).map(e => e.get(a).asText() -> e.get(b).asText()).sorted

  def baseOf(b: BaseFile): (String, String, String, Long) = (b.fileId, b.instantTime, b.fileName, b.sizeBytes)

  def baseOf(b: JsonNode): (String, String, String, Long) =
    (b.path("fileId").asText(), b.path("instant").asText(), b.path("name").asText(), b.path("size").asLong())

  type Slice = (String, String, Option[(String, Long)], Vector[String])

  def sliceOf(s: FileSlice): Slice =
    (s.fileId, s.baseInstantTime, s.baseFile.map(b => b.fileName -> b.sizeBytes), s.logFiles.map(_.fileName))

  def sliceOf(s: JsonNode): Slice = {
    val base = if (s.path("base").isNull) None else Some(s.path("base").asText() -> s.path("baseSize").asLong())
    (s.path("fileId").asText(), s.path("baseInstant").asText(), base, texts(s.path("logs")))
  }
}
