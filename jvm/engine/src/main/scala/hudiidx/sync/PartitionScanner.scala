package hudiidx.sync

import hudiidx.manifest.{EncodedPartition, PartitionKey}
import hudiidx.table.listing.{FolderScan, TableListing}

/** Lists partitions for `create`: one after the other, or as tasks of an engine. */
trait PartitionScanner {

  /** Walks the table's folders to find the partitions. */
  def folders: FolderScan = FolderScan.Serial

  /** Every partition's committed files as pages, in the order of [[PartitionKey]]. */
  def scan(listing: TableListing, entriesPerPage: Int): Iterator[EncodedPartition]
}

/** Lists in this thread. */
object LocalScanner extends PartitionScanner {
  override def scan(listing: TableListing, entriesPerPage: Int): Iterator[EncodedPartition] =
    PartitionKey.sorted(listing.partitions).iterator.map(p => EncodedPartition.of(p, listing.files(p), entriesPerPage))
}
