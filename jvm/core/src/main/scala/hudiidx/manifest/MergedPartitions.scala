package hudiidx.manifest

/** Partitions of a master with a delta applied, in key order: the content of the next master. Pages that the delta does not
  *  touch are handed on undecoded.
  */
final class MergedPartitions(master: MasterManifest, delta: DeltaManifest, entriesPerPage: Int)
    extends Iterator[EncodedPartition] {
  private val runs = master.runs.buffered
  private val cells = delta.cells.map { case (key, value) => PartitionKey.decode(key) -> value }.buffered
  private val removed = delta.partitionChanges.removed.toSet
  private val added = delta.partitionChanges.added.toSet
  private var ready: Option[EncodedPartition] = advance()

  override def hasNext: Boolean = ready.isDefined

  override def next(): EncodedPartition = {
    val partition = ready.getOrElse(throw new NoSuchElementException("no more partitions"))
    ready = advance()
    partition
  }

  private def advance(): Option[EncodedPartition] = {
    var found: Option[EncodedPartition] = None
    while (found.isEmpty && (runs.hasNext || cells.hasNext)) {
      val order =
        if (!cells.hasNext) -1
        else if (!runs.hasNext) 1
        else PartitionKey.Order.compare(PartitionKey.encode(runs.head._1), PartitionKey.encode(cells.head._1))
      if (order < 0) {
        val (path, run) = runs.next()
        found = Some(EncodedPartition(path, master.pages(run)))
      } else {
        val (path, cell) = cells.next()
        found =
          merged(path, DeltaPartition.decode(cell, delta.where(path)), if (order == 0) Some(runs.next()._2) else None)
      }
    }
    found
  }

  /** None for a partition that is gone, or that never came to be. */
  private def merged(path: String, change: DeltaPartition, run: Option[PartitionRun]): Option[EncodedPartition] =
    if (removed(path) || (run.isEmpty && !added(path))) None
    else {
      val kept = run.map(r => change.remaining(master.entries(path, r), r.firstNumber)).getOrElse(Array.empty)
      val entries = FileMerge.merge(kept, change.added(path, delta.where(path)))
      Some(EncodedPartition(path, EncodedPartition.pages(entries, entriesPerPage)))
    }
}
