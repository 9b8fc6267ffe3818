package hudiidx.benchmarks

import hudiidx.column._
import hudiidx.column.segment.{ColumnIndex, ColumnKind, CoveredFile, EncodedPage, SegmentWriter}
import hudiidx.hfile.BlockCache
import hudiidx.manifest.EncodedPartition
import hudiidx.manifest.IndexFileSource
import hudiidx.manifest.ManifestShape
import hudiidx.manifest.MasterManifest
import hudiidx.manifest.MasterWriter
import hudiidx.manifest.ManifestChanges
import hudiidx.storage.LocalStorage
import hudiidx.store.IndexFile
import hudiidx.store.IndexStore
import hudiidx.table.BaseFile
import hudiidx.table.FileEntry
import hudiidx.table.FileKind
import hudiidx.table.FileOrder
import hudiidx.table.FileSlice
import java.io.ByteArrayOutputStream
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Files
import java.nio.file.Paths
import java.time.LocalDate
import java.util.SplittableRandom

/** Planning of queries on tables of RFC-15's shapes with statistics that are made up: condition, partitions that are left, their
  * files from the manifest, file slices that are left.
  *
  * `SkippingPlans --dir DIR --out OUT [--columns N] [--repeats N] SHAPE`
  */
object SkippingPlans {

  def main(args: Array[String]): Unit = {
    val o = Options.parse(args, Set("dir", "out", "columns", "repeats"), Set.empty)
    val plan = new TablePlan(Shape.named(o.rest.head))
    val dir = Paths.get(o("dir"))
    Files.createDirectories(dir)
    val report = new Report(Paths.get(o("out")), s"columns-${o.rest.head}", "hudiidx")
    val columns = o.value("columns").map(_.toInt).getOrElse(20)
    require(columns >= 4, s"$columns columns; the queries are of the first four")
    new SkippingPlans(plan, columns, new IndexStore(LocalStorage, dir.toString), report).run(
      o.value("repeats").map(_.toInt).getOrElse(11)
    )
  }
}

private final class SkippingPlans(plan: TablePlan, columns: Int, store: IndexStore, report: Report) {
  private val random = new SplittableRandom(15)

  /** Column 0 grows with the partitions' days, column 1 is clustered within each partition, the others are what they are. */
  private def column(c: Int): IndexedColumn = IndexedColumn(
    f"column_$c%02d",
    if (c == 0) ColumnType.Timestamp
    else if (c % 3 == 1) ColumnType.Int64
    else if (c % 3 == 2) ColumnType.Float64
    else ColumnType.Text,
    IndexKind.Range
  )

  private val DayMicros = 86400000000L
  private val Ids = 1000000000L

  private def stats(c: Int, row: Int): ColumnStats = {
    val bounds = c match {
      case 0 =>
        val from = day(plan.partitionPath(plan.partitionOf(row))) * DayMicros + random.nextInt(3600) * 1000000L
        Bounds.LongRange(from, from + 80000000000L, exact = true)
      case 1 =>
        val from = random.nextLong(Ids)
        Bounds.LongRange(from, from + Ids / 1000, exact = true)
      case _ if c % 3 == 1 => Bounds.LongRange(random.nextLong(Ids), random.nextLong(Ids, 2 * Ids), exact = true)
      case _ if c % 3 == 2 =>
        val (min, max) = (random.nextInt(500) / 100.0, 90 + random.nextInt(1000) / 100.0)
        Bounds.LongRange(ColumnType.ofDouble(min), ColumnType.ofDouble(max), exact = true)
      case _ =>
        val from = random.nextInt(100000000)
        Bounds.TextRange(text(from), text(from + 900), exact = true)
    }
    ColumnStats(500000, 0, bounds)
  }

  private def noon(partition: Int): Long = day(plan.partitionPath(partition)) * DayMicros + DayMicros / 2

  private def text(customer: Int): Array[Byte] = f"customer-$customer%09d".getBytes(UTF_8)

  private def day(partition: String): Long = LocalDate.parse(partition).toEpochDay

  def run(repeats: Int): Unit = {
    var file: IndexFile = null
    report.median("write", "table", "", Seq(Report.millis { file = write(); file }))
    report.add("bytes a file and column", "table", "", file.sizeBytes.toDouble / plan.shape.files / columns, "bytes", 1)
    val (master, index) = manifest()
    val version = Skipping.version(file)
    val middle = plan.shape.partitions / 2
    val conditions = Seq(
      "a minute" -> range(0, noon(middle), noon(middle) + 60000000L),
      "an id in one file of 1,000" -> range(1, Ids / 2, Ids / 2),
      "an id, and a string" -> ColumnCondition.And(Vector(range(1, Ids / 2, Ids / 2), one(3, 50000000))),
      "a string in no file of most" -> one(3, 50000000)
    )
    conditions.foreach { case (what, condition) =>
      def planned(index: ColumnIndex, source: IndexFileSource): (Int, Int) = {
        val selection = index.select(condition)
        val partitions = source.partitions.filter(selection.mightMatch(_: String))
        val kept = partitions.iterator.map { p =>
          slices(p, source, selection.wantedSizes(p)).count(s => selection.mightMatch(s))
        }.sum
        (partitions.size, kept)
      }
      def source(cache: BlockCache) =
        new IndexFileSource(MasterManifest.inMemory(master, index, cache), None, new ManifestChanges)
      def cold(): (Int, Int) = {
        val cache = new BlockCache(CacheBytes)
        val opened = ColumnIndex.open(store, version, cache)
        try planned(opened, source(cache))
        finally opened.close()
      }
      report.median(what, "table", "cold", Seq.fill(3)(Report.millis(cold())))
      cpu(s"$what: processor time", "cold", 3)(cold())
      val cache = new BlockCache(CacheBytes)
      val opened = ColumnIndex.open(store, version, cache)
      try {
        val files = source(cache)
        val (partitions, kept) = planned(opened, files)
        report.median(what, "table", "warm", Skipping.timed(repeats)(planned(opened, files)))
        cpu(s"$what: processor time", "warm", repeats)(planned(opened, files))
        val selection = opened.select(condition)
        val left = files.partitions.filter(selection.mightMatch(_: String))
        cpu(s"$what: condition alone, processor time", "warm", repeats)(opened.select(condition))
        cpu(s"$what: files of the partitions left alone, processor time", "warm", repeats) {
          left.iterator.map(p => slices(p, files, selection.wantedSizes(p)).size).sum
        }
        report.add(s"$what: partitions left", "table", "", partitions.toDouble, "partitions", 1)
        report.add(s"$what: file slices left", "table", "", kept.toDouble, "files", 1)
      } finally opened.close()
    }
  }

  /** The best of the repeats: what it costs where nothing else runs. */
  private def cpu(what: String, state: String, repeats: Int)(call: => Any): Unit =
    report.add(what, "table", state, Seq.fill(repeats)(Report.cpuMillis(call)).min, "ms", repeats)

  private val CacheBytes = 256L << 20

  private def range(c: Int, low: Long, high: Long): ColumnCondition =
    ColumnCondition.In(column(c).path, nulls = false, _ => Some(new ValueSet.Longs(Array(low), Array(high))))

  private def one(c: Int, customer: Int): ColumnCondition = {
    val value = text(customer)
    ColumnCondition.In(
      column(c).path,
      nulls = false,
      _ => Some(new ValueSet.Texts(Array(value), Array(value :+ 0.toByte)))
    )
  }

  private def entry(row: Int): FileEntry = FileEntry(
    plan.partitionPath(plan.partitionOf(row)),
    plan.fileId(row),
    plan.requestedTime(plan.instantOf(row)),
    plan.writeToken(row),
    FileKind.Parquet,
    0,
    plan.sizeBytes(row)
  )

  /** As a file-system view makes them, of the groups that are wanted. */
  private def slices(partition: String, source: IndexFileSource, sizes: Option[Array[Long]]): Iterator[FileSlice] = {
    val files = sizes.fold(source.files(partition))(source.filesOfSizes(partition, _).files)
    files.indices.iterator.filter(i => i == files.length - 1 || files(i + 1).fileId != files(i).fileId).map { i =>
      val f = files(i)
      val base = BaseFile(partition, f.fileId, f.instantTime, f.fileName, f.sizeBytes)
      FileSlice(partition, f.fileId, f.instantTime, Some(base), Vector.empty)
    }
  }

  private def rows(p: Int): Range = plan.partitionStart(p) until plan.partitionStart(p + 1)

  private def manifest(): (Array[Byte], Array[Byte]) = {
    val (master, index) = (new ByteArrayOutputStream, new ByteArrayOutputStream)
    val shape = ManifestShape.choose(plan.shape.files.toLong, plan.shape.partitions.toLong)
    val writer = new MasterWriter(master, index, shape)
    (0 until plan.shape.partitions).foreach { p =>
      val entries = FileOrder.sorted(rows(p).map(entry).toArray)
      writer.append(EncodedPartition.of(plan.partitionPath(p), entries, shape.entriesPerPage))
    }
    writer.close()
    (master.toByteArray, index.toByteArray)
  }

  private def write(): IndexFile =
    store.write(ColumnKind.fileName("20260301120000000", IndexStore.newToken(), ColumnKind.Stats), ColumnKind.Stats) {
      out =>
        val writer = new SegmentWriter(out)
        (0 until plan.shape.partitions).foreach { p =>
          writer.partition(
            plan.partitionPath(p),
            rows(p).map(r => CoveredFile(plan.fileName(r), plan.sizeBytes(r), 500000))
          )
        }
        val layout = writer.layout
        (0 until columns).foreach { c =>
          writer.column(
            column(c),
            Iterator.range(0, layout.pages).map { p =>
              val stats = Array.tabulate(layout.until(p) - layout.from(p))(i => this.stats(c, layout.from(p) + i))
              EncodedPage.of(column(c).columnType, stats, Array.fill(stats.length)(500000L), layout.runs(p))
            }
          )
        }
        writer.close(): Unit
    }
}
