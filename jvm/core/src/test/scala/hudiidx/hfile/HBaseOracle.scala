package hudiidx.hfile

import com.github.luben.zstd.{ZstdInputStream, ZstdOutputStream}
import java.io.{ByteArrayOutputStream, InputStream, OutputStream}
import java.nio.file.{Files, Path => LocalPath}
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.hadoop.hbase.io.compress.Compression
import org.apache.hadoop.hbase.io.hfile.{CacheConfig, HFile, HFileContextBuilder}
import org.apache.hadoop.hbase.util.ChecksumType
import org.apache.hadoop.hbase.{HConstants, KeyValue}
import org.apache.hadoop.io.compress._

/** HBase 2.5.10's own HFile writer and reader. */
object HBaseOracle {
  val conf: Configuration = {
    val c = new Configuration(false)
    c.set("fs.defaultFS", "file:///")
    c.set("hbase.io.compress.zstd.codec", classOf[RawZstdCodec].getName)
    Compression.Algorithm.ZSTD.reload(c)
    c
  }
  private val fs = FileSystem.getLocal(conf).getRawFileSystem
  val caching = new CacheConfig(conf)

  def algorithm(codec: Codec): Compression.Algorithm = codec match {
    case Codec.None    => Compression.Algorithm.NONE
    case Codec.Gzip    => Compression.Algorithm.GZ
    case _: Codec.Zstd => Compression.Algorithm.ZSTD
  }

  def write(
      cells: HFiles.Cells,
      codec: Codec,
      blockBytes: Int,
      checksum: ChecksumType,
      indexBytes: Int,
      metas: Map[String, Array[Byte]] = Map.empty
  ): Array[Byte] = {
    val file = Files.createTempFile("hbase", ".hfile")
    val own = new Configuration(conf)
    own.setInt("hfile.index.block.max.size", indexBytes)
    val context = new HFileContextBuilder()
      .withBlockSize(blockBytes)
      .withCompression(algorithm(codec))
      .withChecksumType(checksum)
      .build()
    val writer =
      HFile.getWriterFactory(own, caching).withPath(fs, new Path(file.toUri)).withFileContext(context).create()
    val none = Array.emptyByteArray
    cells.foreach { case (k, v) => writer.append(new KeyValue(k.toArray, none, none, HConstants.LATEST_TIMESTAMP, v)) }
    metas.foreach { case (name, v) => writer.appendMetaBlock(name, writable(v)) }
    writer.close()
    val bytes = Files.readAllBytes(file)
    Files.delete(file)
    bytes
  }

  private def writable(bytes: Array[Byte]) = new org.apache.hadoop.io.Writable {
    def write(out: java.io.DataOutput): Unit = out.write(bytes)
    def readFields(in: java.io.DataInput): Unit = throw new UnsupportedOperationException
  }

  def toFile(bytes: Array[Byte]): LocalPath = Files.write(Files.createTempFile("hudiidx", ".hfile"), bytes)

  def reader(file: LocalPath): HFile.Reader =
    HFile.createReader(fs, new Path(file.toUri), CacheConfig.DISABLED, true, conf)

  /** What HBase reads: all cells in order, the value of each key asked for (None if it is not found), meta blocks. */
  def read(
      bytes: Array[Byte],
      keys: Iterable[Array[Byte]],
      metas: Iterable[String] = Nil
  ): (Vector[(Vector[Byte], Vector[Byte])], Vector[Option[Vector[Byte]]], Map[String, Vector[Byte]]) = {
    val file = toFile(bytes)
    val in = reader(file)
    try {
      val scanner = in.getScanner(conf, false, true)
      val all = Vector.newBuilder[(Vector[Byte], Vector[Byte])]
      var more = scanner.seekTo()
      while (more) {
        val cell = scanner.getCell
        all += row(cell) -> HFiles.bytesOf(scanner.getValue).get
        more = scanner.next()
      }
      val none = Array.emptyByteArray
      val found = keys.toVector.map { k =>
        if (scanner.seekTo(new KeyValue(k, none, none, HConstants.LATEST_TIMESTAMP, none)) != 0) None
        else HFiles.bytesOf(scanner.getValue)
      }
      val blocks = metas.map(m => m -> metaBytes(in, m)).toMap
      (all.result(), found, blocks)
    } finally {
      in.close()
      Files.delete(file)
    }
  }

  private def metaBytes(in: HFile.Reader, name: String): Vector[Byte] = {
    val buffer = in.getMetaBlock(name, false).getBufferWithoutHeader
    Vector.fill(buffer.remaining)(buffer.get())
  }

  private def row(cell: org.apache.hadoop.hbase.Cell): Vector[Byte] =
    java.util.Arrays
      .copyOfRange(cell.getRowArray, cell.getRowOffset, cell.getRowOffset + cell.getRowLength)
      .toVector
}

/** Plain zstd frames, as Hadoop's native ZStandardCodec (HBase's default for ZSTD) has them, without the native library. */
final class RawZstdCodec extends DefaultCodec {
  override def createOutputStream(out: OutputStream, compressor: Compressor): CompressionOutputStream =
    new CompressionOutputStream(out) {
      private var pending = new ByteArrayOutputStream
      override def write(b: Int): Unit = pending.write(b)
      override def write(b: Array[Byte], from: Int, length: Int): Unit = pending.write(b, from, length)
      override def resetState(): Unit = pending = new ByteArrayOutputStream
      override def finish(): Unit = {
        val frame = new ByteArrayOutputStream
        val zstd = new ZstdOutputStream(frame)
        pending.writeTo(zstd)
        zstd.close()
        frame.writeTo(this.out)
        resetState()
      }
    }

  override def createInputStream(in: InputStream, decompressor: Decompressor): CompressionInputStream =
    new CompressionInputStream(in) {
      private val plain = new ZstdInputStream(this.in)
      override def read(): Int = plain.read()
      override def read(b: Array[Byte], from: Int, length: Int): Int = plain.read(b, from, length)
      override def resetState(): Unit = ()
    }
}
