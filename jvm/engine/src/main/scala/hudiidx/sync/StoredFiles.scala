package hudiidx.sync

import hudiidx.table.{FileEntry, FileSource}
import hudiidx.table.listing.{FolderScan, PartitionLister, TableListing}

/** What lies on storage; a file that should be there is no error here. */
final class StoredFiles private (lister: PartitionLister, override val partitions: Vector[String]) extends FileSource {
  override def files(partitionPath: String): Array[FileEntry] = lister.list(partitionPath)
}

object StoredFiles {

  /** Partitions as `TableListing.partitions` finds them, whose files need not be whole here. */
  def of(listing: TableListing, folders: FolderScan): StoredFiles = {
    val lister = listing.lister
    val found = folders.partitions(lister)
    val known = found.toSet
    val overlooked = listing.expectedPartitions.filter(p => !known(p) && lister.list(p).nonEmpty)
    new StoredFiles(lister, (found ++ overlooked).sorted)
  }
}
