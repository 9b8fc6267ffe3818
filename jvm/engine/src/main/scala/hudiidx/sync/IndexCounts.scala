package hudiidx.sync

import hudiidx.store.IndexVersion
import hudiidx.sync.{ManifestProperty => P}

/** How much an index version holds, by its own account. */
object IndexCounts {
  def files(v: IndexVersion): Long = v.long(P.MasterFiles) + v.long(P.DeltaAdded) - v.long(P.DeltaRemoved)

  def partitions(v: IndexVersion): Long =
    v.long(P.MasterPartitions) + v.long(P.DeltaAddedPartitions) - v.long(P.DeltaRemovedPartitions)
}
