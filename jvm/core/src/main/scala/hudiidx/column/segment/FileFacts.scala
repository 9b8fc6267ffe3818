package hudiidx.column.segment

import hudiidx.column.{ColumnStats, ColumnType}
import scala.collection.mutable

/** What a column index knows of files, one by one. Ask partition after partition, for pages that were decoded last are kept, one
  * for each column. For one thread; a damaged file is DamagedIndex.
  */
final class FileFacts(index: ColumnIndex) {
  private val pages = mutable.HashMap.empty[(Int, Int), (Int, StatsPage)]
  private val rowsOf = mutable.HashMap.empty[Int, Array[Long]]

  /** Rows of a file; of a log file its records. None: unknown. */
  def rows(partitionPath: String, fileName: String, sizeBytes: Long): Option[Long] =
    places(partitionPath, fileName, sizeBytes).map { case (member, place) => member.table.rows(place) }.find(_ >= 0)

  /** Statistics of a column, by the type that the file has it in; None unless they are known of one type. */
  def stats(
      partitionPath: String,
      fileName: String,
      sizeBytes: Long,
      columnPath: String
  ): Option[(ColumnType, ColumnStats)] = {
    val found = for {
      (member, place) <- places(partitionPath, fileName, sizeBytes) if member.source < index.segments.size
      entry <- index.segments(member.source).columns(columnPath).filter(e => index.choice.has(e.columns))
      stats = statsAt(member.source, entry, member.from + place) if stats != ColumnStats.Unknown
    } yield (entry.columns.head.columnType, stats)
    if (found.map(_._1).distinct.size == 1) Some(found.head) else None
  }

  private def statsAt(source: Int, entry: ColumnEntry, ordinal: Int): ColumnStats = {
    val segment = index.segments(source)
    val page = ordinal / segment.file.filesPerPage
    val from = page * segment.file.filesPerPage
    val decoded = pages.get((source, entry.number)).collect { case (`page`, known) => known }.getOrElse {
      val rows = rowsOf.getOrElseUpdate(source, segment.allRows)
      val until = math.min(rows.length.toLong, from.toLong + segment.file.filesPerPage).toInt
      val read = segment.page(entry, page, java.util.Arrays.copyOfRange(rows, from, until))
      pages((source, entry.number)) = page -> read
      read
    }
    decoded.stats(ordinal - from)
  }

  private def places(partitionPath: String, fileName: String, sizeBytes: Long): Vector[(CoveredPartition, Int)] =
    index.places(partitionPath, fileName, sizeBytes)
}
