package hudiidx.benchmarks.hfile

import hudiidx.benchmarks.TablePlan
import hudiidx.hfile.{Codec, HFileOptions, HFileWriter}
import java.io.BufferedOutputStream
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}
import java.util.UUID
import org.apache.hadoop.fs.{Path => HadoopPath}
import org.apache.hadoop.hbase.io.compress.Compression
import org.apache.hadoop.hbase.io.hfile.{CacheConfig, HFile, HFileContextBuilder}
import org.apache.hadoop.hbase.util.ChecksumType
import org.apache.hadoop.hbase.{HConstants, KeyValue}

/** The files that all readers read: `<codec>.hfile` of sorted UUID keys, values of 20 bytes, blocks of 64 KiB. `none` and
  * `gzip` are written by hudiidx, `zstd` by HBase with its own zstd codec, which frames blocks in a way that only
  * HBase and hudiidx read; a bare zstd frame, as hudiidx writes it, HBase reads through Hadoop's native library only.
  */
object BenchFiles {
  val Codecs: Seq[String] = Seq("none", "gzip", "zstd")

  def file(dir: Path, codec: String): Path = dir.resolve(s"$codec.hfile")

  /** Ascending; the same for the same number. */
  def keys(n: Int): Array[Array[Byte]] = {
    val random = TablePlan.random(7L, 0)
    Array.fill(n)(new UUID(random.nextLong(), random.nextLong()).toString).distinct.sorted.map(_.getBytes(UTF_8))
  }

  def make(dir: Path, cells: Int): Unit = {
    Files.createDirectories(dir)
    val all = keys(cells)
    writeOurs(file(dir, "none"), all, Codec.None)
    writeOurs(file(dir, "gzip"), all, Codec.Gzip)
    writeHBase(file(dir, "zstd"), all)
  }

  private def value(i: Int): Array[Byte] = ByteBuffer.allocate(20).putLong(i.toLong).putLong(i.toLong / 1000).array

  private def writeOurs(file: Path, keys: Array[Array[Byte]], codec: Codec): Unit = {
    val out = new BufferedOutputStream(Files.newOutputStream(file), 1 << 20)
    try {
      val writer = new HFileWriter(out, HFileOptions(codec))
      keys.indices.foreach(i => writer.append(keys(i), value(i)))
      writer.close()
    } finally out.close()
  }

  private def writeHBase(file: Path, keys: Array[Array[Byte]]): Unit = {
    val context = new HFileContextBuilder()
      .withBlockSize(64 << 10)
      .withCompression(Compression.Algorithm.ZSTD)
      .withChecksumType(ChecksumType.CRC32C)
      .build()
    val writer = HFile
      .getWriterFactory(HBaseFiles.conf, new CacheConfig(HBaseFiles.conf))
      .withPath(HBaseFiles.raw, new HadoopPath(file.toUri))
      .withFileContext(context)
      .create()
    val none = Array.emptyByteArray
    try
      keys.indices.foreach { i =>
        writer.append(new KeyValue(keys(i), none, none, HConstants.LATEST_TIMESTAMP, value(i)))
      }
    finally writer.close()
  }
}
