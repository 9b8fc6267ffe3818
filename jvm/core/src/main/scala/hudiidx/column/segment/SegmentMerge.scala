package hudiidx.column.segment

import hudiidx.column.{Bounds, ColumnStats, IndexedColumn}
import java.io.OutputStream

/** Merges segments into one: files that the table has no more and columns that are not wanted are left out. Holds ordinals of
  * all files, and a few pages of one column at a time.
  *
  *  @param inputs oldest first
  *  @param live   name and size of each file that the table has in a partition
  *  @param keeps  columns that stay
  */
final class SegmentMerge(
    inputs: Vector[Segment],
    live: String => Iterator[(String, Long)],
    keeps: IndexedColumn => Boolean
) {

  /** Writes the merged segment; `out` stays open. */
  def write(out: OutputStream, shape: SegmentShape = SegmentShape.Default): ColumnFileCounts = {
    val writer = new SegmentWriter(out, shape)
    val files = new MergedFiles(inputs.map(_.file), live)
    val rows = Array.newBuilder[Long]
    files.foreachPartition { (path, found, counts) =>
      writer.partition(path, found, counts)
      rows ++= counts
    }
    val layout = writer.layout
    val fileRows = rows.result()
    val entries = inputs.map(_.columns.map(e => e.columns.head -> e).toMap)
    inputs.flatMap(_.columns.map(_.columns.head)).distinct.filter(keeps).foreach { column =>
      val sources = entries.zipWithIndex.flatMap { case (known, i) =>
        known.get(column).map(e => new PagesOfColumn(inputs(i), e, files.inputRows(i))).map(i -> _)
      }
      writer.column(
        column,
        Iterator.range(0, layout.pages).map { page =>
          val (from, until) = (layout.from(page), layout.until(page))
          val stats = Array.tabulate(until - from)(f => best(sources, files, from + f))
          EncodedPage
            .of(column.columnType, stats, java.util.Arrays.copyOfRange(fileRows, from, until), layout.runs(page))
        }
      )
    }
    writer.close()
  }

  /** Of several inputs that cover a file one that knows bounds, else what any knows. */
  private def best(sources: Vector[(Int, PagesOfColumn)], files: MergedFiles, ordinal: Int): ColumnStats = {
    var found = ColumnStats.Unknown
    var i = 0
    while (i < sources.length && found.bounds == Bounds.Unknown) {
      val (input, pages) = sources(i)
      val origin = files.origin(input, ordinal)
      if (origin >= 0) {
        val stats = pages(origin)
        if (stats.bounds != Bounds.Unknown || found.nulls < 0) found = stats
      }
      i += 1
    }
    found
  }
}

/** Statistics of a column by ordinal, the pages last asked for being kept. */
private[column] final class PagesOfColumn(segment: Segment, entry: ColumnEntry, rows: Array[Long]) {
  private val filesPerPage = segment.file.filesPerPage
  private val recent = new java.util.LinkedHashMap[Integer, StatsPage](16, 0.75f, true)
  private var number = -1
  private var page: StatsPage = _

  def apply(ordinal: Int): ColumnStats = {
    val wanted = ordinal / filesPerPage
    if (wanted != number) {
      page = load(wanted)
      number = wanted
    }
    page.stats(ordinal - wanted * filesPerPage)
  }

  private def load(wanted: Int): StatsPage = {
    val kept = recent.get(wanted)
    if (kept != null) kept
    else {
      val from = wanted * filesPerPage
      val until = math.min(rows.length.toLong, from.toLong + filesPerPage).toInt
      val found = segment.page(entry, wanted, java.util.Arrays.copyOfRange(rows, from, until))
      recent.put(wanted, found)
      if (recent.size > PagesOfColumn.Kept) {
        val oldest = recent.entrySet.iterator
        oldest.next()
        oldest.remove()
      }
      found
    }
  }
}

private[column] object PagesOfColumn {

  /** Merged files stand in the order of their inputs but within partitions: few pages are wanted by turns. */
  val Kept = 16
}

/** Merges files of records likewise.
  *
  *  @param keeps columns, indexed together, that stay
  */
final class RecordsMerge(
    inputs: Vector[RecordsFile],
    live: String => Iterator[(String, Long)],
    keeps: Vector[IndexedColumn] => Boolean
) {

  /** Writes the merged file; `out` stays open. */
  def write(out: OutputStream, shape: SegmentShape = SegmentShape.Default): ColumnFileCounts = {
    val writer = new RecordsWriter(out, shape)
    val files = new MergedFiles(inputs.map(_.file), live)
    files.foreachPartition(writer.partition(_, _, _))
    val count = writer.layout.files
    val entries = inputs.map(_.columns.map(e => e.columns -> e).toMap)
    inputs.flatMap(_.columns.map(_.columns)).distinct.filter(keeps).foreach { columns =>
      writer.columns(columns)
      val sources = entries.indices.toVector.flatMap(i => entries(i).get(columns).map(i -> _))
      var ordinal = 0
      while (ordinal < count) {
        record(sources, files, ordinal).foreach(writer.record(ordinal, _))
        ordinal += 1
      }
    }
    writer.close()
  }

  private def record(
      sources: Vector[(Int, ColumnEntry)],
      files: MergedFiles,
      ordinal: Int
  ): Option[Array[Byte]] = sources.iterator
    .map { case (input, entry) => (input, entry, files.origin(input, ordinal)) }
    .collectFirst {
      case (input, entry, origin) if origin >= 0 && inputs(input).record(entry, origin) != null =>
        val view = inputs(input).record(entry, origin)
        val bytes = new Array[Byte](view.remaining)
        view.duplicate().get(bytes)
        bytes
    }
}
