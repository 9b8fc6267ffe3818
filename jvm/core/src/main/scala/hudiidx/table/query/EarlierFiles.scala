package hudiidx.table.query

import hudiidx.table.{FileEntry, FileGroup, FileSlice, FileSource, FileSystemView}

/** Files and slices of file groups, those that are replaced and those that later slices hide too. Many commits may ask for each group of
  * a partition: what a partition has is listed once.
  */
private[query] final class EarlierFiles(view: FileSystemView) {
  private val all = new FileSystemView(new EarlierFiles.Unreplaced(view.source), view.timeline)
  private val byPartition = scala.collection.mutable.HashMap.empty[String, EarlierFiles.OfPartition]

  def entry(group: FileGroup, name: String): Option[FileEntry] = of(group).entries.get(name)

  /** The slice of a base instant. */
  def slice(group: FileGroup, baseInstant: String): Option[FileSlice] =
    of(group).upTo(group, baseInstant).filter(_.baseInstantTime == baseInstant)

  /** The slice that a log file belongs to, behind a pending compaction with what is before it. */
  def withLog(group: FileGroup, name: String): Option[FileSlice] =
    of(group).byLog.get(name).filter(_.fileId == group.fileId).map(joined(group, _))

  /** What a query reads that ends before an instant. */
  def last(group: FileGroup, before: String): Option[FileSlice] = of(group).before(group, before).map(joined(group, _))

  private def joined(group: FileGroup, slice: FileSlice): FileSlice =
    if (slice.baseFile.isEmpty && view.timeline.plans.compaction.get(group).contains(slice.baseInstantTime))
      of(group).merged.getOrElse(group.fileId, slice)
    else slice

  private def of(group: FileGroup): EarlierFiles.OfPartition =
    byPartition.getOrElseUpdate(group.partitionPath, new EarlierFiles.OfPartition(all, group.partitionPath))
}

private object EarlierFiles {
  final class OfPartition(all: FileSystemView, partitionPath: String) {
    lazy val entries: Map[String, FileEntry] =
      all.source.files(partitionPath).iterator.map(f => f.fileName -> f).toMap

    /** By file id, in the order of their instants. */
    private lazy val slices: Map[String, Vector[FileSlice]] = all.allFileSlices(partitionPath).groupBy(_.fileId)

    lazy val byLog: Map[String, FileSlice] =
      slices.valuesIterator.flatten.flatMap(s => s.logFiles.map(_.fileName -> s)).toMap

    /** The newest of each group. */
    lazy val merged: Map[String, FileSlice] =
      all.latestMergedFileSlices(partitionPath).map(s => s.fileId -> s).toMap

    def upTo(group: FileGroup, instant: String): Option[FileSlice] = last(group, _ <= instant)

    def before(group: FileGroup, instant: String): Option[FileSlice] = last(group, _ < instant)

    /** @param counts true of instants up to one */
    private def last(group: FileGroup, counts: String => Boolean): Option[FileSlice] = {
      val own = slices.getOrElse(group.fileId, Vector.empty)
      var (low, high) = (0, own.size)
      while (low < high) {
        val middle = (low + high) / 2
        if (counts(own(middle).baseInstantTime)) low = middle + 1 else high = middle
      }
      own.lift(low - 1)
    }
  }

  /** As if no group was replaced. */
  final class Unreplaced(source: FileSource) extends FileSource {
    override def partitions: Vector[String] = source.partitions
    override def files(partitionPath: String): Array[FileEntry] =
      source.files(partitionPath).map(_.copy(replacedAt = None))
  }
}
