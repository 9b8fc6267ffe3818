package hudiidx.manifest

import hudiidx.table.{FileEntry, FileOrder}

/** A page as it stands in a file, with its number of entries. */
final case class EncodedPage(entries: Int, bytes: Array[Byte])

/** A partition's entries as pages, in [[FileOrder]]: what listing tasks send to the writer of the manifest. */
final case class EncodedPartition(partitionPath: String, pages: Vector[EncodedPage]) {
  def entries: Int = pages.foldLeft(0)(_ + _.entries)
}

object EncodedPartition {
  def of(partitionPath: String, entries: Array[FileEntry], entriesPerPage: Int): EncodedPartition =
    EncodedPartition(partitionPath, pages(FileOrder.sorted(entries), entriesPerPage))

  /** Pages of about equal size, so that the last one is not a crumb. */
  def pages(sorted: Array[FileEntry], entriesPerPage: Int): Vector[EncodedPage] = {
    val count = (sorted.length + entriesPerPage - 1) / entriesPerPage
    Vector.tabulate(count) { i =>
      val from = (sorted.length.toLong * i / count).toInt
      val until = (sorted.length.toLong * (i + 1) / count).toInt
      EncodedPage(until - from, FilePage.encode(sorted, from, until))
    }
  }
}
