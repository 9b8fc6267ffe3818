package hudiidx.column.segment

import hudiidx.bytes.{PackedInput, PackedOutput}
import hudiidx.column.{Bounds, ColumnStats, IndexKind, IndexedColumn}
import hudiidx.hfile.{BlockCache, HFileCursor}
import hudiidx.storage.RandomReader
import java.io.OutputStream

/** Writes a segment: statistics of some files' columns, front to back. First the partitions in the order of their keys
  * ([[hudiidx.manifest.PartitionKey]]), then columns in any order. docs/format.md, "Column files".
  *
  *  `close` completes the file and leaves `out` open. The same calls give the same bytes.
  */
final class SegmentWriter(out: OutputStream, shape: SegmentShape = SegmentShape.Default) {
  private val file = new ColumnFileWriter(out, ColumnKind.Stats, shape)

  /** Files in the order in which pages have them; [[SegmentOrder]] is a good one. */
  def partition(path: String, files: IndexedSeq[CoveredFile]): Unit = file.partition(path, files)

  private[column] def partition(path: String, files: Array[(NameDigest, Long)], rows: Array[Long]): Unit =
    file.partition(path, files, rows)

  /** Which files make up which page; once it is asked for no partition can follow. */
  def layout: SegmentLayout = file.layout

  /** @param column of kind `range`
    * @param pages  one for each page of the layout
    */
  def column(column: IndexedColumn, pages: Iterator[EncodedPage]): Unit = {
    require(column.kind == IndexKind.Range, s"$column is not of kind ${IndexKind.Range}")
    val number = file.begin(Vector(column))
    val unions = new Array[ColumnStats](layout.pages)
    val partitions = Array.fill(layout.counts.size)(ColumnStats.Empty)
    var page = 0
    pages.foreach { p =>
      require(page < unions.length, s"$column has more than ${unions.length} pages")
      file.cell(number, page, p.bytes)
      val runs = EncodedPage.readSummary(column.columnType, p.runs)
      unions(page) = runs.foldLeft(ColumnStats.Empty)(_ union _)
      val first = layout.partitionOf(layout.from(page))
      runs.indices.foreach(i => partitions(first + i) = partitions(first + i).union(runs(i)))
      page += 1
    }
    require(page == unions.length, s"$column has $page pages, not ${unions.length}")
    val top = new PackedOutput(256)
    top.bytes(EncodedPage.summary(column.columnType, unions))
    top.bytes(EncodedPage.summary(column.columnType, partitions))
    file.cell(number, Segment.TopCell, top.toBytes)
  }

  def close(): ColumnFileCounts = file.close()
}

/** A column's statistics by page and by partition. */
private[column] final class ColumnTop(val pages: StatsPage, val partitions: StatsPage)

/** An open segment. Safe for several threads; each cursor over pages is for one. */
final class Segment private[column] (private[column] val file: ColumnFileReader) {
  def counts: ColumnFileCounts = file.counts
  private[column] def directory: PartitionDirectory = file.directory
  private[column] def pages: Int = file.pages

  /** Columns of this path, one for each type that files have it in. */
  def columns(path: String): Vector[ColumnEntry] = file.entries(path)

  def columns: Vector[ColumnEntry] = file.allEntries

  private[column] def top(entry: ColumnEntry): ColumnTop = {
    val columnType = entry.columns.head.columnType
    val in = file.cell(ColumnFile.cellKey(entry.number, Segment.TopCell))
    ColumnFile.guard(file.path, s"bounds of column ${entry.columns.head.path}") {
      def page(count: Int): StatsPage = {
        val bytes = in.bytes()
        val found = StatsPage.decode(columnType, bytes, new Array[Long](count))
        found
      }
      new ColumnTop(page(pages), page(counts.partitions))
    }
  }

  /** @param rows of the page's files; null if nobody asks for numbers of rows and nulls */
  private[column] def page(entry: ColumnEntry, page: Int, rows: Array[Long]): StatsPage =
    decode(entry, page, file.cell(ColumnFile.cellKey(entry.number, page)), rows)

  /** As `page`, through a cursor that goes forward. */
  private[column] def pageAt(cursor: HFileCursor, entry: ColumnEntry, page: Int, rows: Array[Long]): StatsPage = {
    if (!cursor.seek(ColumnFile.cellKey(entry.number, page)))
      throw ColumnFile.damaged(file.path, s"column ${entry.columns.head.path} has no page $page")
    decode(entry, page, ColumnFileReader.value(cursor), rows)
  }

  /** Hands statistics of columns and all files to `use`: column after column, files by ordinal. */
  def foreach(entries: Vector[ColumnEntry])(use: (ColumnEntry, Int, ColumnStats) => Unit): Unit = {
    val rows = allRows
    entries.foreach { entry =>
      foreachPage(entry, java.util.Arrays.copyOfRange(rows, _, _)) { (from, page) =>
        var i = 0
        while (i < page.count) {
          use(entry, from + i, page.stats(i))
          i += 1
        }
      }
    }
  }

  /** Hands bounds of a column and all files to `use`, files by ordinal; what is known of rows and nulls is not read. */
  private[column] def foreachBounds(entry: ColumnEntry)(use: (Int, Bounds) => Unit): Unit =
    foreachPage(entry, (_, _) => null) { (from, page) =>
      var i = 0
      while (i < page.count) {
        use(from + i, page.stats(i).bounds)
        i += 1
      }
    }

  /** @param rowsOf rows of the files from an ordinal until another; null if nobody asks for them */
  private def foreachPage(
      entry: ColumnEntry,
      rowsOf: (Int, Int) => Array[Long]
  )(use: (Int, StatsPage) => Unit): Unit = {
    val cursor = file.file.scan(ColumnFile.cellKey(entry.number, 0))
    var p = 0
    while (p < pages) {
      val from = p * file.filesPerPage
      val until = math.min(counts.files.toLong, from.toLong + file.filesPerPage).toInt
      use(from, pageAt(cursor, entry, p, rowsOf(from, until)))
      p += 1
    }
  }

  private[column] def allRows: Array[Long] = {
    val rows = new Array[Long](counts.files)
    directory.paths.indices.foreach { p =>
      val found = file.fileTable(p).allRows
      System.arraycopy(found, 0, rows, directory.starts(p), found.length)
    }
    rows
  }

  /** Of the file at a place of a partition.
    *
    *  @param rows that it holds
    */
  private[column] def stats(entry: ColumnEntry, partition: Int, place: Int, rows: Long): ColumnStats = {
    val ordinal = directory.starts(partition) + place
    val page = ordinal / file.filesPerPage
    val from = page * file.filesPerPage
    val all = new Array[Long](math.min(file.filesPerPage.toLong, counts.files - from.toLong).toInt)
    all(ordinal - from) = rows
    this.page(entry, page, all).stats(ordinal - from)
  }

  private[column] def decode(entry: ColumnEntry, page: Int, in: PackedInput, rows: Array[Long]): StatsPage = {
    val files = math.min(file.filesPerPage.toLong, counts.files - page.toLong * file.filesPerPage)
    val found = ColumnFile.guard(file.path, s"page $page of column ${entry.columns.head.path}")(
      StatsPage.decode(entry.columns.head.columnType, in, rows, files.toInt)
    )
    if (found.count != files)
      throw ColumnFile.damaged(file.path, s"page $page of column ${entry.number} has ${found.count} files, not $files")
    found
  }
}

object Segment {

  /** Above all pages. */
  private[column] val TopCell = -1

  /** DamagedIndex for anything but a whole segment of a known format. The reader stays the caller's to close. */
  def open(reader: RandomReader, cache: BlockCache): Segment =
    new Segment(ColumnFileReader.open(reader, cache, ColumnKind.Stats))
}

/** Writes records of kinds other than `range`: for columns and a file a string of bytes that only its kind reads. First the
  * partitions in the order of their keys, then columns in any order, each with its records in ascending order of ordinals.
  */
final class RecordsWriter(out: OutputStream, shape: SegmentShape = SegmentShape.Default) {
  private val file = new ColumnFileWriter(out, ColumnKind.Records, shape)
  private var number = -1

  /** As of [[SegmentWriter.partition]]. */
  def partition(path: String, files: IndexedSeq[CoveredFile]): Unit = file.partition(path, files)

  private[column] def partition(path: String, files: Array[(NameDigest, Long)], rows: Array[Long]): Unit =
    file.partition(path, files, rows)

  def layout: SegmentLayout = file.layout

  /** Columns that are indexed together; records follow. */
  def columns(columns: Vector[IndexedColumn]): Unit = number = file.begin(columns)

  /** The record of the file of an ordinal; files without one match everything. */
  def record(ordinal: Int, bytes: Array[Byte]): Unit = {
    require(number >= 0, "a record before its column")
    require(ordinal >= 0 && ordinal < layout.files, s"ordinal $ordinal of ${layout.files} files")
    file.cell(number, ordinal, bytes)
  }

  def close(): ColumnFileCounts = file.close()
}

/** An open file of records. Safe for several threads. */
final class RecordsFile private[column] (private[column] val file: ColumnFileReader) {
  def counts: ColumnFileCounts = file.counts
  private[column] def directory: PartitionDirectory = file.directory

  def columns(path: String): Vector[ColumnEntry] = file.entries(path)

  def columns: Vector[ColumnEntry] = file.allEntries

  /** The record of a file; null if it has none. A view that must not be changed. */
  def record(entry: ColumnEntry, ordinal: Int): java.nio.ByteBuffer =
    file.file.get(ColumnFile.cellKey(entry.number, ordinal))
}

object RecordsFile {

  /** As of [[Segment.open]]. */
  def open(reader: RandomReader, cache: BlockCache): RecordsFile =
    new RecordsFile(ColumnFileReader.open(reader, cache, ColumnKind.Records))
}
