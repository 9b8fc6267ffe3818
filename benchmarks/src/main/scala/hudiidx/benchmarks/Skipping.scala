package hudiidx.benchmarks

import hudiidx.bytes.PackedOutput
import hudiidx.column._
import hudiidx.column.segment.{ColumnIndex, ColumnKind, CoveredFile, EncodedPage, SegmentShape, SegmentWriter}
import hudiidx.hfile.BlockCache
import hudiidx.hfile.Codec
import hudiidx.hfile.HFileOptions
import hudiidx.hfile.HFileReader
import hudiidx.hfile.HFileWriter
import hudiidx.storage.LocalStorage
import hudiidx.store.Coverage
import hudiidx.store.IndexFile
import hudiidx.store.IndexStore
import hudiidx.store.IndexVersion
import hudiidx.store.TableIdentity
import java.io.BufferedOutputStream
import java.io.DataOutputStream
import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.Paths

/** RFC-27's table of figures for our column files, and for an HFile with a cell for each record.
  *
  * `Skipping --dir DIR --out OUT [--files N] [--columns N] [--repeats N] [--page FILES] [--codec none|zstd]`: writes both files, and the same records as plain
  * arrays for `columns.py`, which measures Parquet.
  */
object Skipping {
  val Partition = "day=2026-03-01"

  def main(args: Array[String]): Unit = {
    val o = Options.parse(args, Set("dir", "out", "files", "columns", "repeats", "page", "codec"), Set.empty)
    def int(name: String, default: Int): Int = o.value(name).map(_.toInt).getOrElse(default)
    val data = new SkippingData(int("files", 1288), int("columns", 2078), 27)
    val dir = Paths.get(o("dir"))
    Files.createDirectories(dir)
    val report = new Report(Paths.get(o("out")), "rfc27", "hudiidx")
    val default = SegmentShape.Default
    val codec = if (o.value("codec").contains("none")) Codec.None else default.hfile.codec
    val shape = SegmentShape(int("page", default.filesPerPage), default.hfile.copy(codec = codec))
    new Skipping(data, dir, shape, report, int("repeats", 7)).run()
    val cells = new Report(Paths.get(o("out")), "rfc27", "HFile, a cell a record")
    new CellPerRecord(data, dir.resolve("cells.hfile"), cells, int("repeats", 7)).run()
    SkippingRecords.write(data, dir)
  }

  def version(files: IndexFile*): IndexVersion = IndexVersion(
    1,
    TableIdentity("t", "COPY_ON_WRITE"),
    Coverage("", Vector.empty, Vector.empty),
    files.toVector,
    ColumnChoice(
      Map(IndexKind.Range -> Vector("*"), "bloom" -> Vector("*"))
    ).properties + (ColumnProperty.Complete -> "true"),
    0,
    "benchmark"
  )

  /** Repeats of a call in milliseconds, after some that do not count. */
  def timed(repeats: Int)(call: => Any): Seq[Double] = {
    (0 until math.max(1, repeats / 2)).foreach(_ => Report.millis(call))
    Seq.fill(repeats)(Report.millis(call))
  }

  /** Columns and files of the query for so many records, the same for every system. */
  def asked(data: SkippingData, records: Int, salt: Int): (Seq[Int], Seq[Int]) =
    if (records <= data.files)
      (Seq((17 + salt * 101) % data.columns), Seq.tabulate(records)(i => (i * 97 + salt) % data.files))
    else
      (
        Seq.tabulate(math.max(1, records / data.files + 1))(i => (i * 211 + salt * 13) % data.columns),
        0 until data.files
      )
}

private final class Skipping(data: SkippingData, dir: Path, shape: SegmentShape, report: Report, repeats: Int) {
  private val store = new IndexStore(LocalStorage, dir.toString)

  def run(): Unit = {
    var file: IndexFile = null
    val wrote = Report.millis { file = write(); file }
    report.median("write", "table", "", Seq(wrote))
    report.add("bytes", "table", "", file.sizeBytes.toDouble, "bytes", 1)
    report.add("bytes a record", "table", "", file.sizeBytes.toDouble / data.files / data.columns, "bytes", 1)
    val version = Skipping.version(file)
    report.median("scan all", "table", "warm", Skipping.timed(repeats)(scanAll(version)))
    report.add(
      "scan all, processor time",
      "table",
      "warm",
      Seq.fill(3)(Report.cpuMillis(scanAll(version))).min,
      "ms",
      3
    )
    var salt = 0
    val cold = Skipping.timed(repeats) {
      salt += 1
      opened(version)(few(_, salt))
    }
    report.median("10 records", "table", "cold", cold)
    opened(version) { index =>
      Seq("10 records" -> 10, "5,000 records" -> 5000).foreach { case (what, n) =>
        report.median(
          what,
          "table",
          "warm",
          Skipping.timed(repeats * 5) {
            salt += 1
            if (n == 10) few(index, salt) else many(index, n, salt)
          }
        )
      }
    }
    new SkippingQueries(data, report, repeats).run(store, version)
  }

  private def write(): IndexFile =
    store.write(ColumnKind.fileName("20260301120000000", IndexStore.newToken(), ColumnKind.Stats), ColumnKind.Stats) {
      out =>
        val writer = new SegmentWriter(out, shape)
        writer.partition(
          Skipping.Partition,
          Vector.tabulate(data.files)(f => CoveredFile(data.fileName(f), data.sizeBytes(f), data.rows(f)))
        )
        val layout = writer.layout
        (0 until data.columns).foreach { c =>
          writer.column(
            data.column(c),
            Iterator.range(0, layout.pages).map { p =>
              val (from, until) = (layout.from(p), layout.until(p))
              val stats = Array.tabulate(until - from)(i => data.stats(c, from + i))
              EncodedPage.of(data.column(c).columnType, stats, data.rows.slice(from, until), layout.runs(p))
            }
          )
        }
        writer.close(): Unit
    }

  private def opened[A](version: IndexVersion)(use: ColumnIndex => A): A = {
    val index = ColumnIndex.open(store, version, new BlockCache(64L << 20))
    try use(index)
    finally index.close()
  }

  /** Every record, opened anew with nothing cached. */
  private def scanAll(version: IndexVersion): Long = opened(version) { index =>
    var seen = 0L
    var sum = 0L
    index.segments.foreach { s =>
      s.foreach(s.columns) { (_, ordinal, stats) =>
        seen += 1
        sum += SkippingRecords.weight(stats) + ordinal
      }
    }
    require(seen == data.files.toLong * data.columns, s"$seen records")
    sum
  }

  private def few(index: ColumnIndex, salt: Int): Int = {
    val (columns, files) = Skipping.asked(data, 10, salt)
    files.iterator.map { f =>
      val found = index.stats(Skipping.Partition, data.fileName(f), data.sizeBytes(f), data.column(columns.head).path)
      require(found.size == 1 && found.head._2 == data.stats(columns.head, f), s"column ${columns.head} of file $f")
      found.size
    }.sum
  }

  private def many(index: ColumnIndex, records: Int, salt: Int): Long = {
    val columns = Skipping.asked(data, records, salt)._1.map(data.column(_).path).toVector
    var sum = 0L
    var seen = 0L
    index.segments.foreach { s =>
      s.foreach(columns.flatMap(s.columns(_))) { (_, _, stats) =>
        seen += 1
        sum += SkippingRecords.weight(stats)
      }
    }
    require(seen >= records, s"$seen records")
    sum
  }
}

/** What the same records take and cost with a cell for each in an HFile, as Hudi's metadata table has them. */
private final class CellPerRecord(data: SkippingData, path: Path, report: Report, repeats: Int) {

  def run(): Unit = {
    report.median("write", "table", "", Seq(Report.millis { write(); path }))
    report.add("bytes", "table", "", Files.size(path).toDouble, "bytes", 1)
    report.add("bytes a record", "table", "", Files.size(path).toDouble / data.files / data.columns, "bytes", 1)
    report.median("scan all", "table", "warm", Skipping.timed(math.min(3, repeats))(opened(scan(_, 0, data.columns))))
    var salt = 0
    report.median(
      "10 records",
      "table",
      "cold",
      Skipping.timed(repeats) {
        salt += 1
        opened(few(_, salt))
      }
    )
    opened { file =>
      report.median(
        "10 records",
        "table",
        "warm",
        Skipping.timed(repeats * 5) {
          salt += 1
          few(file, salt)
        }
      )
      report.median(
        "5,000 records",
        "table",
        "warm",
        Skipping.timed(repeats) {
          salt += 1
          Skipping.asked(data, 5000, salt)._1.map(c => scan(file, c, c + 1)).sum
        }
      )
    }
  }

  private def write(): Unit = LocalStorage.write(path.toString) { out =>
    val writer = new HFileWriter(out, HFileOptions(Codec.Zstd(3), 64 << 10))
    for (c <- 0 until data.columns; f <- 0 until data.files) writer.append(key(c, f), value(data.stats(c, f)))
    writer.close()
  }

  /** 12 bytes; Hudi's own keys take 48. */
  private def key(c: Int, f: Int): Array[Byte] = ByteBuffer.allocate(12).putLong(c.toLong).putInt(f).array

  private def value(stats: ColumnStats): Array[Byte] = {
    val out = new PackedOutput(48)
    out.varint(stats.rows)
    out.varint(stats.nulls)
    stats.bounds match {
      case Bounds.LongRange(min, max, _) =>
        out.long(min)
        out.long(max)
      case Bounds.TextRange(min, max, _) =>
        out.bytes(min)
        out.bytes(max)
      case _ => ()
    }
    out.toBytes
  }

  private def opened[A](use: HFileReader => A): A = {
    val reader = LocalStorage.open(path.toString)
    try use(HFileReader.open(reader, new BlockCache(64L << 20)))
    finally reader.close()
  }

  private def scan(file: HFileReader, from: Int, until: Int): Long = {
    val cursor = file.scan(key(from, 0))
    val wanted = (until - from).toLong * data.files
    var seen, sum = 0L
    while (seen < wanted && cursor.next()) {
      seen += 1
      sum += cursor.valueBytes(cursor.valueOffset) + cursor.valueBytes(cursor.valueOffset + cursor.valueLength - 1)
    }
    require(seen == wanted, s"$seen of $wanted records")
    sum
  }

  private def few(file: HFileReader, salt: Int): Int = {
    val (columns, files) = Skipping.asked(data, 10, salt)
    val found = file.getAll(files.sorted.map(key(columns.head, _)).toArray)
    require(found.forall(_ != null))
    found.length
  }
}

/** The records as plain arrays: little-endian, one file for each field, rows by column and file. */
private object SkippingRecords {

  /** So that no part of a record can be left undecoded. */
  def weight(stats: ColumnStats): Long = stats.rows + stats.nulls + (stats.bounds match {
    case Bounds.LongRange(min, max, _) => min ^ max
    case Bounds.TextRange(min, max, _) => min.length.toLong + max.length
    case _                             => 0L
  })

  def write(data: SkippingData, dir: Path): Unit = {
    val names = new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(dir.resolve("names.txt"))))
    (0 until data.columns).foreach(c =>
      names.write(s"${data.column(c).path} ${data.column(c).columnType.text}\n".getBytes)
    )
    (0 until data.files).foreach(f =>
      names.write(s"${data.fileName(f)} ${data.sizeBytes(f)} ${data.rows(f)}\n".getBytes)
    )
    names.close()
    val out = new BufferedOutputStream(Files.newOutputStream(dir.resolve("records.bin")), 1 << 20)
    val number = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN)
    def long(value: Long): Unit = out.write(number.putLong(0, value).array)
    for (c <- 0 until data.columns) {
      val all = Array.tabulate(data.files)(data.stats(c, _))
      all.foreach(s => long(s.nulls))
      for (upper <- Seq(false, true)) data.column(c).columnType.order match {
        case ValueOrder.Longs =>
          val double = data.column(c).columnType == ColumnType.Float64
          all.map(_.bounds).foreach {
            case Bounds.LongRange(min, max, _) =>
              val value = if (upper) max else min
              long(if (double) java.lang.Double.doubleToLongBits(ColumnType.toDouble(value)) else value)
            case other => throw new IllegalStateException(s"$other")
          }
        case ValueOrder.Texts =>
          val texts = all.map(_.bounds).map {
            case Bounds.TextRange(min, max, _) => if (upper) max else min
            case other                         => throw new IllegalStateException(s"$other")
          }
          texts.scanLeft(0L)(_ + _.length).foreach(long)
          texts.foreach(t => out.write(t))
      }
    }
    out.close()
  }
}
