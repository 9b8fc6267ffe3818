package hudiidx.column.segment

import hudiidx.column.{ColumnStats, ColumnType}
import hudiidx.hfile.{Codec, HFileOptions}
import hudiidx.table.FileEntry
import java.util.Comparator

/** How column files are laid out. docs/decisions.md has the figures.
  *
  *  @param filesPerPage consecutive files whose statistics of a column are one page
  */
final case class SegmentShape(filesPerPage: Int, hfile: HFileOptions) {
  require(filesPerPage > 0 && filesPerPage <= SegmentShape.MostFilesPerPage, s"$filesPerPage files a page")
}

object SegmentShape {
  private[column] val MostFilesPerPage = 1 << 16
  val Default: SegmentShape = SegmentShape(1024, HFileOptions(Codec.Zstd(3), 64 << 10))
}

/** Which files of a segment stand on which page: partitions follow each other in the order of their keys, and pages are
  * cut without regard to them.
  *
  *  @param counts files of each partition
  */
final case class SegmentLayout(counts: Vector[Int], filesPerPage: Int) {

  /** Ordinal of each partition's first file, and behind them the number of all files. */
  private val starts: Array[Int] = counts.scanLeft(0)(Math.addExact(_, _)).toArray

  def files: Int = starts.last
  def pages: Int = SegmentLayout.pages(files, filesPerPage)

  /** Ordinal of the page's first file. */
  def from(page: Int): Int = page * filesPerPage
  def until(page: Int): Int = math.min(files.toLong, (page + 1L) * filesPerPage).toInt

  /** How many files each partition has on a page, from the partition of its first file on; 0 for partitions without files. */
  def runs(page: Int): Array[Int] = {
    val first = partitionOf(from(page))
    val out = Array.newBuilder[Int]
    var p = first
    while (p < counts.size && starts(p) < until(page)) {
      out += math.min(until(page), starts(p + 1)) - math.max(from(page), starts(p))
      p += 1
    }
    out.result()
  }

  /** The partition that has the file of an ordinal. */
  def partitionOf(ordinal: Int): Int = {
    var (low, high) = (0, counts.size)
    while (low + 1 < high) {
      val mid = (low + high) >>> 1
      if (starts(mid) <= ordinal) low = mid else high = mid
    }
    low
  }
}

private[column] object SegmentLayout {
  def pages(files: Int, filesPerPage: Int): Int = ((files.toLong + filesPerPage - 1) / filesPerPage).toInt
}

/** The best order of a partition's files in a segment: as they were written, so that columns which grow with time, or were
  * sorted by a clustering, have narrow bounds page by page. Instant, then the writing task's number, then name.
  */
object SegmentOrder extends Comparator[FileEntry] with Serializable {
  override def compare(a: FileEntry, b: FileEntry): Int = {
    var c = a.instantTime.compareTo(b.instantTime)
    if (c == 0) c = java.lang.Long.compare(task(a), task(b))
    if (c == 0) c = a.fileName.compareTo(b.fileName)
    c
  }

  private def task(f: FileEntry): Long = {
    var (i, n) = (0, 0L)
    while (i < f.writeToken.length && i < 18 && f.writeToken.charAt(i) >= '0' && f.writeToken.charAt(i) <= '9') {
      n = n * 10 + (f.writeToken.charAt(i) - '0')
      i += 1
    }
    n
  }
}

/** A page of one column's statistics, as a task makes it.
  *
  *  @param bytes [[StatsPage]]
  *  @param runs  statistics of each partition's files on the page together, a page of statistics as well
  */
final case class EncodedPage(bytes: Array[Byte], runs: Array[Byte])

object EncodedPage {

  /** @param fileRows rows of each file, -1 where unknown: the same as the segment's [[CoveredFile]]s say
    * @param runs     of [[SegmentLayout.runs]]: their sum is the number of files
    */
  def of(columnType: ColumnType, stats: Array[ColumnStats], fileRows: Array[Long], runs: Array[Int]): EncodedPage = {
    require(runs.map(_.toLong).sum == stats.length, s"runs of ${runs.sum} files, statistics of ${stats.length}")
    var at = 0
    val unions = runs.map { n =>
      at += n
      stats.iterator.slice(at - n, at).foldLeft(ColumnStats.Empty)(_ union _)
    }
    EncodedPage(StatsPage.encode(columnType, stats, fileRows), summary(columnType, unions))
  }

  /** Of files that have nothing known of the column. */
  def unknown(columnType: ColumnType, runs: Array[Int]): EncodedPage = {
    val n = runs.sum
    of(columnType, Array.fill(n)(ColumnStats.Unknown), Array.fill(n)(-1L), runs)
  }

  private[column] def summary(columnType: ColumnType, unions: Array[ColumnStats]): Array[Byte] =
    StatsPage.encode(columnType, unions, new Array[Long](unions.length))

  private[column] def readSummary(columnType: ColumnType, bytes: Array[Byte]): Array[ColumnStats] = {
    val n = new hudiidx.bytes.PackedInput(bytes, 1, bytes.length).varint()
    require(n >= 0 && n <= StatsPage.MaxFiles, s"summary of $n")
    val page = StatsPage.decode(columnType, bytes, new Array[Long](n.toInt))
    Array.tabulate(page.count)(page.stats)
  }
}
