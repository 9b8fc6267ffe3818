package hudiidx.benchmarks.hfile

import hudiidx.hfile.{BlockCache, HFileReader}
import hudiidx.storage.LocalStorage
import java.io.{InputStream, RandomAccessFile}
import java.nio.file.Path
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path => HadoopPath, RawLocalFileSystem}
import org.apache.hadoop.hbase.fs.HFileSystem
import org.apache.hadoop.hbase.io.compress.Compression
import org.apache.hadoop.hbase.io.hfile.{CacheConfig, HFile, HFileScanner}
import org.apache.hadoop.hbase.{HConstants, KeyValue}
import org.apache.hudi.io.SeekableDataInputStream
import org.apache.hudi.io.hfile.{HFileReader => HudiReader, HFileReaderImpl, UTF8StringKey}

/** What every HFile reader is asked. Each answer is the number of cells seen or found. No reader keeps blocks. */
trait ReaderUnderTest extends AutoCloseable {
  def scan(): Long
  def get(key: Array[Byte]): Long
  def getSorted(keys: Array[Array[Byte]]): Long
}

object ReaderUnderTest {
  final val Ours = "hudiidx"
  val HBase = "HBase 2.5.10"
  val HBaseUnchecked = "HBase 2.5.10, unchecked"
  val HudiIo = "hudi-io 1.1.1"

  def open(name: String, file: Path): ReaderUnderTest = name match {
    case Ours           => new OurReader(file)
    case HBase          => new HBaseReader(file, HBaseFiles.checked)
    case HBaseUnchecked => new HBaseReader(file, HBaseFiles.raw)
    case HudiIo         => new HudiIoReader(file)
  }
}

final class OurReader(file: Path) extends ReaderUnderTest {
  private val in = LocalStorage.open(file.toString)
  private val reader = HFileReader.open(in, new BlockCache(0))

  def scan(): Long = {
    val cursor = reader.scan()
    var cells = 0L
    while (cursor.next()) if (cursor.valueLength > 0) cells += 1
    cells
  }

  def get(key: Array[Byte]): Long = if (reader.get(key) == null) 0 else 1

  def getSorted(keys: Array[Array[Byte]]): Long = {
    val values = reader.getAll(keys)
    var found = 0L
    var i = 0
    while (i < values.length) {
      if (values(i) != null && values(i).remaining > 0) found += 1
      i += 1
    }
    found
  }

  def close(): Unit = in.close()
}

/** Hadoop's local file system without its own checksums. HBase compares the checksums of HFile blocks where it is given an
  * `HFileSystem`, as region servers do; with any other file system it does not.
  */
object HBaseFiles {
  val conf: Configuration = {
    val c = new Configuration(false)
    c.set("fs.defaultFS", "file:///")
    c.setClass("fs.file.impl", classOf[RawLocalFileSystem], classOf[FileSystem])
    c.set("hbase.io.compress.zstd.codec", "org.apache.hadoop.hbase.io.compress.zstd.ZstdCodec")
    Compression.Algorithm.ZSTD.reload(c)
    c
  }
  val raw: FileSystem = FileSystem.get(conf)
  val checked: FileSystem = new HFileSystem(conf, true)
}

final class HBaseReader(file: Path, fs: FileSystem) extends ReaderUnderTest {
  private val conf = HBaseFiles.conf
  private val reader = HFile.createReader(fs, new HadoopPath(file.toUri), CacheConfig.DISABLED, true, conf)
  private val none = Array.emptyByteArray
  private val gets = reader.getScanner(conf, false, true)

  private def cell(key: Array[Byte]) = new KeyValue(key, none, none, HConstants.LATEST_TIMESTAMP, none)
  private def valueOf(scanner: HFileScanner): Long = if (scanner.getValue.remaining > 0) 1 else 0

  def scan(): Long = {
    val scanner = reader.getScanner(conf, false, false)
    var cells = 0L
    var more = scanner.seekTo()
    while (more) {
      cells += valueOf(scanner)
      more = scanner.next()
    }
    scanner.close()
    cells
  }

  def get(key: Array[Byte]): Long = if (gets.seekTo(cell(key)) == 0) valueOf(gets) else 0

  /** Forward from one key to the next, as HBase's own readers go through sorted keys. */
  def getSorted(keys: Array[Array[Byte]]): Long = {
    val scanner = reader.getScanner(conf, false, true)
    var found = 0L
    var i = 0
    while (i < keys.length) {
      val order = if (i == 0) scanner.seekTo(cell(keys(i))) else scanner.reseekTo(cell(keys(i)))
      if (order == 0) found += valueOf(scanner)
      i += 1
    }
    scanner.close()
    found
  }

  def close(): Unit = reader.close()
}

final class HudiIoReader(file: Path) extends ReaderUnderTest {
  private val in = new RandomAccessFile(file.toFile, "r")
  private val reader = new HFileReaderImpl(new SeekableFile(in), in.length)
  reader.initializeMetadata()

  private def value: Long = if (reader.getKeyValue.get.getValueLength > 0) 1 else 0

  def scan(): Long = {
    var cells = 0L
    var more = reader.seekTo()
    while (more) {
      cells += value
      more = reader.next()
    }
    cells
  }

  /** It seeks forward only, so each single get starts from the first cell. */
  def get(key: Array[Byte]): Long = {
    reader.seekTo()
    find(key)
  }

  def getSorted(keys: Array[Array[Byte]]): Long = {
    reader.seekTo()
    var found = 0L
    var i = 0
    while (i < keys.length) {
      found += find(keys(i))
      i += 1
    }
    found
  }

  private def find(key: Array[Byte]): Long =
    if (reader.seekTo(new UTF8StringKey(key)) == HudiReader.SEEK_TO_FOUND) value else 0

  def close(): Unit = {
    reader.close()
    in.close()
  }
}

/** A file for hudi-io, which reads a block at a time: no buffer in between. */
final class SeekableFile(file: RandomAccessFile) extends SeekableDataInputStream(new RandomAccessStream(file)) {
  def getPos: Long = file.getFilePointer
  def seek(position: Long): Unit = file.seek(position)
}

final class RandomAccessStream(file: RandomAccessFile) extends InputStream {
  override def read(): Int = file.read()
  override def read(target: Array[Byte], from: Int, length: Int): Int = file.read(target, from, length)
}
