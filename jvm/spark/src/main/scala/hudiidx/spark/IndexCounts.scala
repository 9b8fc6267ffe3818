package hudiidx.spark

import hudiidx.store.IndexVersion
import hudiidx.sync.ManifestProperty._

/** How much an index version holds, by its own account. */
object IndexCounts {
  def files(v: IndexVersion): Long = v.long(MasterFiles) + v.long(DeltaAdded) - v.long(DeltaRemoved)

  def partitions(v: IndexVersion): Long =
    v.long(MasterPartitions) + v.long(DeltaAddedPartitions) - v.long(DeltaRemovedPartitions)
}
