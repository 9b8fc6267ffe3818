package hudiidx.column.segment

import hudiidx.column.{Bounds, ColumnType, IndexKind}
import hudiidx.table.FileSlice
import scala.collection.mutable

/** Bounds of columns over some file slices: of a slice those of its files together. Add slices, partition after partition, then
  * ask for columns. For one thread; a damaged file is DamagedIndex.
  */
final class SliceBounds(index: ColumnIndex) {
  private val segments = index.segments
  private val placed = segments.map(_ => mutable.ArrayBuffer.empty[(Int, Int)])
  private val slicesOfFiles = mutable.ArrayBuffer.empty[Int]
  private var added = 0

  /** Slices that were added. */
  def slices: Int = added

  /** Paths of the columns that have bounds, sorted. */
  def paths: Vector[String] =
    index.columns.filter(_.head.kind == IndexKind.Range).map(_.head.path).distinct.sorted

  def add(slice: FileSlice): Unit = {
    slice.baseFile.foreach(b => addFile(slice.partitionPath, b.fileName, b.sizeBytes))
    slice.dataLogFiles.foreach(l => addFile(slice.partitionPath, l.fileName, l.sizeBytes))
    added += 1
  }

  private def addFile(partitionPath: String, fileName: String, sizeBytes: Long): Unit = {
    index.places(partitionPath, fileName, sizeBytes).foreach { case (member, place) =>
      if (member.source < segments.size) placed(member.source) += ((member.from + place, slicesOfFiles.size))
    }
    slicesOfFiles += added
  }

  /** The column's type, and bounds of each slice in the order in which they were added; None if nothing is known of the
    * column. Where files have it in types that do not compare, the bounds of some slices are unknown.
    */
  def of(path: String): Option[(ColumnType, Array[Bounds])] = {
    val ofFiles = Array.fill[Bounds](slicesOfFiles.size)(Bounds.Unknown)
    val entries = for {
      s <- segments.indices.reverse.toVector
      entry <- segments(s).columns(path) if index.choice.has(entry.columns)
    } yield (s, entry)
    entries.headOption.map { case (_, first) =>
      val columnType = first.columns.head.columnType
      entries
        .filter { case (_, e) => SliceBounds.compare(columnType, e.columns.head.columnType) }
        .foreach { case (s, entry) => take(s, entry, ofFiles) }
      (columnType, ofSlices(ofFiles))
    }
  }

  private def take(segment: Int, entry: ColumnEntry, ofFiles: Array[Bounds]): Unit = {
    val fileAt = Array.fill(segments(segment).counts.files)(-1)
    placed(segment).foreach { case (ordinal, file) => fileAt(ordinal) = file }
    segments(segment).foreachBounds(entry) { (ordinal, bounds) =>
      val file = fileAt(ordinal)
      if (file >= 0 && ofFiles(file) == Bounds.Unknown) ofFiles(file) = bounds
    }
  }

  private def ofSlices(ofFiles: Array[Bounds]): Array[Bounds] = {
    val found = Array.fill[Bounds](added)(Bounds.NoValues)
    ofFiles.indices.foreach { f =>
      val slice = slicesOfFiles(f)
      found(slice) = found(slice).union(ofFiles(f))
    }
    found
  }
}

private object SliceBounds {

  /** Bounds of both types are numbers, or texts, that mean the same. */
  def compare(a: ColumnType, b: ColumnType): Boolean = a == b || alike.exists(t => t(a) && t(b))

  private val alike: Vector[Set[ColumnType]] =
    Vector(Set(ColumnType.Int32, ColumnType.Int64), Set(ColumnType.Float32, ColumnType.Float64))
}
