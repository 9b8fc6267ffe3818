package hudiidx.spark.pinned

import java.util.concurrent.ConcurrentHashMap

import hudiidx.log.{LogFile => LogBlocks, SliceLog}
import hudiidx.storage.Storage
import hudiidx.table.{FileGroup, FileName, FileSlice, LogFile}
import hudiidx.timeline.Action
import hudiidx.{DamagedTable, TableChanged}

/** The file slices of an incremental read whose logs hold rows with the changed columns alone, as MERGE INTO writes them. The other
  * columns are in files of earlier commits, so these slices are merged as of the range's end, with all their rows; of what comes out
  * the rows of the range count, as everywhere.
  */
private[spark] final class WholeSlices(shared: SharedTable, increment: PinnedIncrement) {
  private val groups = ConcurrentHashMap.newKeySet[FileGroup]

  def contains(slice: FileSlice): Boolean = groups.contains(groupOf(slice))

  /** Commits of the slice's logs that were requested behind one of the range and completed before it. Merging takes blocks by
    * request, so that rows to which both gave columns bear the time of the former: these count too, or the range would lack them.
    */
  def overtaken(slice: FileSlice): Set[String] =
    if (overtaken.isEmpty) Set.empty else slice.logFiles.flatMap(instantOf(slice, _)).toSet.intersect(overtaken)

  private lazy val overtaken: Set[String] = {
    val own = increment.found.instants.flatMap(i => completions.get(i).map(i -> _))
    def isOvertaken(requested: String, completed: String) =
      own.exists { case (from, to) => from < requested && completed < to }
    completions.collect { case (requested, completed) if isOvertaken(requested, completed) => requested }.toSet
  }

  /** The slices that are to be read for those of a partition that the range has.
    *
    * TableChanged if one of them is there no more.
    */
  def of(partitionPath: String, slices: Vector[FileSlice]): Vector[FileSlice] = {
    val partial = partialOf(slices)
    if (partial.isEmpty) slices
    else {
      groups.addAll(java.util.Arrays.asList(partial.toSeq: _*))
      val whole = wholes(partitionPath)
      slices.map { slice =>
        if (increment.view.isEmpty || !partial(groupOf(slice))) slice
        else upToEnd(whole.iterator.flatMap(_().get(groupOf(slice))).find(has(_, slice)).getOrElse(throw gone(slice)))
      }
    }
  }

  /** By file group its slice as of the range's last instant, then as of each compaction behind it: a commit that completes behind a
    * compaction's request has its log files there, whenever it was requested itself.
    */
  private def wholes(partitionPath: String): Vector[() => Map[FileGroup, FileSlice]] = {
    val last = increment.found.last
    val compactions = shared.timeline.instants.collect {
      case i if WholeSlices.Compactions(i.action) && last.exists(_ < i.requestedTime) => Some(i.requestedTime)
    }
    (last +: compactions).map { asOf =>
      lazy val found = shared.view.latestMergedFileSlices(partitionPath, asOf).map(s => groupOf(s) -> s).toMap
      () => found
    }
  }

  /** True if `whole` holds what a slice of the range has. */
  private def has(whole: FileSlice, slice: FileSlice): Boolean =
    slice.dataLogFiles.forall(l => whole.logFiles.exists(_.fileName == l.fileName))

  private def groupOf(slice: FileSlice): FileGroup = FileGroup(slice.partitionPath, slice.fileId)

  private def partialOf(slices: Vector[FileSlice]): Set[FileGroup] =
    if (!shared.config.format.hasPartialRecords) Set.empty
    else {
      val found = ConcurrentHashMap.newKeySet[FileGroup]
      java.util.Arrays
        .stream(slices.filter(_.dataLogFiles.nonEmpty).toArray)
        .parallel()
        .forEach(slice => if (slice.dataLogFiles.exists(l => isPartial(slice, l.fileName))) found.add(groupOf(slice)))
      found.toArray(Array.empty[FileGroup]).toSet
    }

  /** A log file has the blocks of one write, which are alike. What is damaged is told where rows are read. */
  private def isPartial(slice: FileSlice, file: String): Boolean = {
    val path = Storage.join(Storage.join(shared.path, slice.partitionPath), file)
    try {
      val reader = SliceLog.open(shared.context.storage, path)
      try LogBlocks.blocks(reader).take(1).exists(_.isPartial)
      finally reader.close()
    } catch { case _: DamagedTable => false }
  }

  /** Instants that were requested within the range and completed behind it are of a later one. */
  private def upToEnd(slice: FileSlice): FileSlice = {
    def isIn(log: LogFile) = instantOf(slice, log).flatMap(completions.get).forall(c => end.forall(c <= _))
    slice.copy(logFiles = slice.logFiles.filter(isIn))
  }

  private def instantOf(slice: FileSlice, log: LogFile): Option[String] =
    FileName.parse(slice.partitionPath, log.fileName, 0L).map(_.instantTime)

  private lazy val completions: Map[String, String] =
    shared.timeline.completed.flatMap(i => i.completionTime.map(i.requestedTime -> _)).toMap

  private lazy val end: Option[String] = increment.found.instants.flatMap(completions.get) match {
    case Vector() => None
    case some     => Some(some.max)
  }

  private def gone(slice: FileSlice): TableChanged = new TableChanged(
    s"${Storage.join(shared.path, slice.partitionPath)}: commits of the range wrote changed columns alone to file group ${slice.fileId}, " +
      "and the file slice that has the other columns is gone; read a later range, or a snapshot"
  )
}

private object WholeSlices {

  /** Pending and completed. */
  val Compactions = Set(Action.Compaction, Action.Commit)
}
