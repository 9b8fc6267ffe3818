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
    val levels = Iterator.iterate(folders.visit(lister, Vector(""))) { visits =>
      folders.visit(lister, visits.flatMap(_.subfolders))
    }
    val found = levels.takeWhile(_.nonEmpty).flatten.filter(_.isPartition).map(_.path).toVector
    val known = found.toSet
    val overlooked = listing.expectedPartitions.filter(p => !known(p) && lister.list(p).nonEmpty)
    new StoredFiles(lister, (found ++ overlooked).sorted)
  }
}
