package hudiidx.benchmarks

import hudiidx.hfile.BlockCache
import hudiidx.hfile.Codec
import hudiidx.hfile.HFileOptions
import hudiidx.hfile.HFileReader
import hudiidx.hfile.HFileWriter
import hudiidx.storage.LocalStorage
import java.io.BufferedOutputStream
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.Paths
import java.util.UUID

/** `HFileBench --dir DIR --out OUT [--cells N]`: writes files of sorted UUID keys (none, gzip, zstd; blocks of 64 KiB, in
  *  DIR) and times our reader: a scan of all cells, 1,000 ascending lookups after opening; nothing cached. The peers
  *  (HFileReaders) read the same files.
  */
object HFileBench {
  private val Lookups = 1000
  private val Repeats = 9

  def main(args: Array[String]): Unit = {
    val options = Options.parse(args, Set("dir", "out", "cells"), Set.empty)
    val dir = Files.createDirectories(Paths.get(options("dir")))
    val keys = sortedKeys(options.value("cells").map(_.toInt).getOrElse(1000000))
    val asked = Array.tabulate(Lookups)(i => keys((i.toLong * keys.length / Lookups).toInt))
    Files.write(dir.resolve("keys.txt"), asked.map(new String(_, UTF_8)).mkString("\n").getBytes(UTF_8))
    Seq("none" -> Codec.None, "gzip" -> Codec.Gzip, "zstd" -> Codec.Zstd(3)).foreach { case (name, codec) =>
      val file = dir.resolve(s"$name.hfile")
      val report = new Report(Paths.get(options("out")), s"HFile $name", "hudiidx")
      write(file, keys, codec)
      report.add("file size", "table", "", Files.size(file).toDouble, "bytes", 1)
      time(report, "scan", scan(file))
      time(report, "1000 lookups", lookups(file, asked))
    }
  }

  private def sortedKeys(n: Int): Array[Array[Byte]] = {
    val random = TablePlan.random(7L, 0)
    val keys = Array.fill(n)(new UUID(random.nextLong(), random.nextLong()).toString).distinct.sorted
    keys.map(_.getBytes(UTF_8))
  }

  private def write(file: Path, keys: Array[Array[Byte]], codec: Codec): Unit = {
    val out = new BufferedOutputStream(Files.newOutputStream(file), 1 << 20)
    try {
      val writer = new HFileWriter(out, HFileOptions(codec))
      val value = new Array[Byte](20)
      keys.indices.foreach { i =>
        java.nio.ByteBuffer.wrap(value).putLong(i.toLong).putLong(i.toLong / 1000)
        writer.append(keys(i), value)
      }
      writer.close()
    } finally out.close()
  }

  private def time(report: Report, what: String, call: => Long): Unit = {
    val times = (0 until Repeats + 3).map(_ => Report.millis(call)).drop(3)
    report.add(s"$what, cells", "table", "", call.toDouble, "cells", 1)
    report.median(what, "table", "warm", times)
  }

  private def withReader(file: Path)(use: HFileReader => Long): Long = {
    val in = LocalStorage.open(file.toString)
    try use(HFileReader.open(in, new BlockCache(0)))
    finally in.close()
  }

  private def scan(file: Path): Long = withReader(file) { reader =>
    val cursor = reader.scan()
    var cells = 0L
    while (cursor.next()) if (cursor.valueLength > 0) cells += 1
    cells
  }

  private def lookups(file: Path, keys: Array[Array[Byte]]): Long = withReader(file) { reader =>
    reader.getAll(keys).count(v => v != null && v.remaining > 0).toLong
  }
}
