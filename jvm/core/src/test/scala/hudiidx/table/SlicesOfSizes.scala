package hudiidx.table

import org.scalatest.Assertions._

/** Holds the slices of some file groups against those of all groups. */
object SlicesOfSizes {

  /** For each size that a file of the partition has, and for none. */
  def check(view: FileSystemView, partition: String): Unit = {
    val merged = view.latestMergedFileSlices(partition)
    val bases = view.latestBaseFiles(partition).map(FileSlice.of)
    val sizes = view.source.files(partition).map(_.sizeBytes).distinct.sorted
    (sizes.map(Array(_)).toVector :+ Array.emptyLongArray :+ sizes).foreach { wanted =>
      check(merged, view.latestOfSizes(partition, wanted, baseFiles = false), wanted)
      check(bases, view.latestOfSizes(partition, wanted, baseFiles = true), wanted)
    }
  }

  private def check(all: Vector[FileSlice], found: SlicesFound, wanted: Array[Long]): Unit = {
    val ids = found.slices.map(_.fileId).toSet
    val (in, out) = all.partition(s => ids(s.fileId))
    assert(found.slices === in)
    assert(found.passedOver === out.size)
    out.foreach { s =>
      assert(s.logFiles.isEmpty && s.baseFile.exists(b => !wanted.contains(b.sizeBytes)))
    }
  }
}
