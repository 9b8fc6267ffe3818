package hudiidx.table.listing

import hudiidx.table.{DataFiles, FileEntry, FileSlice, FileSource, TableConfig, ViewTimeline}
import hudiidx.{DamagedTable, Log, TableChanged}
import hudiidx.storage.Storage
import hudiidx.timeline.{ActiveTimeline, Instant, InstantContents, TimelineReader}

/** Visits folders for a listing: in this process, or as tasks of an engine. */
trait FolderScan {

  /** The visits of the folders, in their order. */
  def visit(lister: PartitionLister, folders: Vector[String]): Vector[FolderVisit]

  /** Partitions by their folders, sorted: level by level, so that a scan can share out a level. */
  final def partitions(lister: PartitionLister): Vector[String] = {
    val found = Vector.newBuilder[String]
    var level = Vector("")
    while (level.nonEmpty) {
      val visits = visit(lister, level)
      visits.foreach(v => if (v.isPartition) found += v.path)
      level = visits.flatMap(_.subfolders)
    }
    found.result().sorted
  }
}

object FolderScan {

  val InProcess: FolderScan = new FolderScan {
    override def visit(lister: PartitionLister, folders: Vector[String]): Vector[FolderVisit] = lister.visits(folders)
  }
}

/** A table's committed files from listing its folders: what an index is made from, and what stands in for one. Pinned to
  *  a timeline; folders are listed when asked for.
  *
  *  DamagedTable from all calls if a file that the timeline says must be there is missing or shorter (`SizeCheck`).
  *  Callers that list partitions elsewhere, by `lister.rules`, hand what `expected` finds suspect to `confirm`.
  *
  *  @param damagedAsStock such a file is skipped with a warning, as stock Hudi does without its metadata table
  *  @param isFollowed    what completed since the timeline was read is taken in later, cleans too, so that a file which one of these
  *                        removed is no error
  */
final class TableListing(
    storage: Storage,
    tablePath: String,
    config: TableConfig,
    timeline: ActiveTimeline,
    contents: InstantContents,
    val lister: PartitionLister,
    scan: FolderScan,
    damagedAsStock: Boolean,
    isFollowed: Boolean
) extends FileSource {

  private lazy val expectedFiles: Map[String, ExpectedPartition] = SizeCheck.expected(timeline, contents)

  /** What a partition must have. Serialisable. */
  def expected(partitionPath: String): ExpectedPartition =
    expectedFiles.getOrElse(partitionPath, ExpectedPartition.Empty)

  /** Partitions that must have files. */
  def expectedPartitions: Iterable[String] = expectedFiles.keys

  /** Those that are marked as such, and those to which commits of the timeline wrote what lies there. */
  override lazy val partitions: Vector[String] = {
    val found = scan.partitions(lister)
    val known = found.toSet
    val unmarked = expectedFiles.iterator.filterNot(e => known(e._1)).map(e => e._1 -> e._2.suspects(Array.empty))
    val suspect = unmarked.filter(_._2.nonEmpty).toVector
    if (suspect.isEmpty) found
    else {
      val again = look()
      // What is gone may have been removed since that look.
      def there(partition: String, files: Vector[Suspect]) =
        try confirm(partition, files, again)
        catch { case _: DamagedTable | _: TableChanged => confirm(partition, files) }
      val overlooked = suspect.filter { case (partition, files) => there(partition, files).nonEmpty }
      (found ++ overlooked.map(_._1)).sorted
    }
  }

  override def files(partitionPath: String): Array[FileEntry] = {
    val found = lister.list(partitionPath)
    val suspects = expected(partitionPath).suspects(found)
    if (suspects.isEmpty) found else confirm(partitionPath, suspects)
  }

  /** As [[hudiidx.storage.Storage.isFar]]. */
  def isFar: Boolean = storage.isFar(tablePath)

  /** As `files`, of each of these. */
  def filesOf(partitionPaths: Vector[String]): Vector[Array[FileEntry]] =
    storage.atOnce(tablePath)(partitionPaths.map(p => () => files(p)))

  /** The files that a second look finds; a store may list what is past. Before it raises, since after the timeline was read a
    * suspect may have been rolled back, which is no damage. Where it was cleaned, replaced or compacted away, the rows of this
    * timeline are no more: TableChanged.
    */
  def confirm(partitionPath: String, suspects: Vector[Suspect]): Array[FileEntry] =
    confirm(partitionPath, suspects, look())

  private def look(): TableListing.Look = {
    val fresh =
      TimelineReader.read(storage, timeline.dir, config.timelineLayout, config.timelineZone, config.timelineFolder)
    TableListing.Look(fresh, SizeCheck.expected(fresh, contents))
  }

  private def confirm(partitionPath: String, suspects: Vector[Suspect], again: TableListing.Look): Array[FileEntry] = {
    val still = again.expected.getOrElse(partitionPath, ExpectedPartition.Empty)
    val asked = suspects.map(_.nameHash).toSet
    val found = lister.listed(partitionPath)
    // Everything on storage counts here: an entry is left out of a listing for reasons that are no damage.
    val all = found.flatMap(f => lister.rules.files.entry(partitionPath, f.name, f.sizeBytes)).toArray
    still.suspects(all).filter(s => asked(s.nameHash)).foreach(report(partitionPath, _))
    if (!damagedAsStock && !isFollowed) requireNotPast(partitionPath, suspects, all, again.timeline)
    lister.committed(partitionPath, found)
  }

  /** Of a write that was not rolled back a file went away: with it rows that nothing else of this timeline holds. */
  private def requireNotPast(
      partitionPath: String,
      suspects: Vector[Suspect],
      onStorage: Array[FileEntry],
      fresh: ActiveTimeline
  ): Unit = {
    val there = onStorage.iterator.map(f => SizeCheck.hash(f.fileName)).toSet
    suspects.find(s => !there(s.nameHash) && isNotTakenBack(s.instant, fresh)).foreach { s =>
      throw new TableChanged(
        s"${Storage.join(tablePath, partitionPath)}: a file of instant ${s.instant.requestedTime} was cleaned or replaced since " +
          "the timeline was read; read the table again"
      )
    }
  }

  /** Archived ones are older than all that the timeline has left. */
  private def isNotTakenBack(instant: Instant, fresh: ActiveTimeline): Boolean =
    fresh.isCompletedWrite(instant.requestedTime) || fresh.start.exists(_ > instant.requestedTime)

  private def report(partitionPath: String, suspect: Suspect): Unit = {
    if (!damagedAsStock) throw damaged(partitionPath, suspect)
    TableListing.log.warn(
      "{}; it is skipped, rows may be missing or old",
      damaged(partitionPath, suspect).getMessage
    )
  }

  /** Of the file slices that a query of an instant reads, `expected` tells nothing: they need not be the latest ones. DamagedTable
    * for a log file that is shorter than the writes up to that instant have left it.
    *
    * @param known from `SizeCheck.logsAsOf`
    */
  def confirmLogs(partitionPath: String, slices: Vector[FileSlice], known: Map[String, ExpectedPartition]): Unit =
    known.get(partitionPath).foreach { expected =>
      for (slice <- slices; log <- slice.logFiles; suspect <- expected.shorter(log.fileName, log.sizeBytes))
        report(partitionPath, suspect)
    }

  private def damaged(partitionPath: String, suspect: Suspect): DamagedTable = {
    val name =
      contents.commit(suspect.instant).writeStats.flatMap(_.fileName).find(SizeCheck.hash(_) == suspect.nameHash)
    val path = Storage.join(Storage.join(tablePath, partitionPath), name.getOrElse("?"))
    SizeCheck.damaged(path, suspect.foundBytes, suspect.instant.requestedTime, suspect.expectedBytes)
  }
}

object TableListing {
  private val log = Log.of(classOf[TableListing])

  /** A second look at the timeline, and the files that it says must be there. */
  private final case class Look(timeline: ActiveTimeline, expected: Map[String, ExpectedPartition])

  /** Reads the metadata that the listing rules need. `view` is the view's timeline, made from the same active timeline. */
  def apply(
      storage: Storage,
      tablePath: String,
      config: TableConfig,
      timeline: ActiveTimeline,
      contents: InstantContents,
      view: ViewTimeline,
      scan: FolderScan = FolderScan.InProcess,
      damagedAsStock: Boolean = false,
      isFollowed: Boolean = false
  ): TableListing = {
    val rules = ListingRules.of(tablePath, timeline, contents, view, DataFiles.of(config))
    val lister = new PartitionLister(storage, rules)
    new TableListing(storage, tablePath, config, timeline, contents, lister, scan, damagedAsStock, isFollowed)
  }
}
