package hudiidx.sync

import hudiidx.manifest.{EncodedPartition, PartitionKey}
import hudiidx.table.listing.{FolderScan, TableListing}

/** Lists partitions for `create`: one after the other, or as tasks of an engine. */
trait PartitionScanner {

  /** Walks the table's folders to find the partitions. */
  def folders: FolderScan = FolderScan.InProcess

  /** Every partition's committed files as pages, in the order of [[PartitionKey]]. */
  def scan(listing: TableListing, entriesPerPage: Int): Iterator[EncodedPartition]
}

/** Lists in this process. */
object LocalScanner extends PartitionScanner {
  private val AtOnce = 32

  override def scan(listing: TableListing, entriesPerPage: Int): Iterator[EncodedPartition] =
    PartitionKey.sorted(listing.partitions).iterator.grouped(if (listing.isFar) AtOnce else 1).flatMap { some =>
      val partitions = some.toVector
      partitions.zip(listing.filesOf(partitions)).map { case (p, files) =>
        EncodedPartition.of(p, files, entriesPerPage)
      }
    }
}
