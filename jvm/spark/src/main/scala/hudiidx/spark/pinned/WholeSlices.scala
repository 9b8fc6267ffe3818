package hudiidx.spark.pinned

import java.util.concurrent.ConcurrentHashMap

import hudiidx.log.{LogFile, SliceLog}
import hudiidx.storage.Storage
import hudiidx.table.{FileGroup, FileName, FileSlice}
import hudiidx.{DamagedTable, TableChanged}

/** The file slices of an incremental read whose logs hold rows with the changed columns alone, as MERGE INTO writes them. The other
  * columns are in files of earlier commits, so these slices are merged as of the range's end, with all their rows; of what comes out
  * the rows of the range count, as everywhere.
  */
private[spark] final class WholeSlices(shared: SharedTable, increment: PinnedIncrement) {
  private val groups = ConcurrentHashMap.newKeySet[FileGroup]

  def contains(slice: FileSlice): Boolean = groups.contains(groupOf(slice))

  /** The slices that are to be read for those of a partition that the range has.
    *
    * TableChanged if one of them is there no more.
    */
  def of(partitionPath: String, slices: Vector[FileSlice]): Vector[FileSlice] = {
    val partial = partialOf(slices)
    if (partial.isEmpty) slices
    else {
      groups.addAll(java.util.Arrays.asList(partial.toSeq: _*))
      lazy val ended =
        shared.view.latestMergedFileSlices(partitionPath, increment.found.last).map(s => groupOf(s) -> s).toMap
      slices.map { slice =>
        if (increment.view.isEmpty || !partial(groupOf(slice))) slice
        else upToEnd(ended.getOrElse(groupOf(slice), throw gone(slice)))
      }
    }
  }

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
      try LogFile.blocks(reader).take(1).exists(_.isPartial)
      finally reader.close()
    } catch { case _: DamagedTable => false }
  }

  /** Instants that were requested within the range and completed behind it are of a later one. */
  private def upToEnd(slice: FileSlice): FileSlice = {
    def isIn(file: String) =
      FileName
        .parse(slice.partitionPath, file, 0L)
        .flatMap(f => completions.get(f.instantTime))
        .forall(c => end.forall(c <= _))
    slice.copy(logFiles = slice.logFiles.filter(l => isIn(l.fileName)))
  }

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
