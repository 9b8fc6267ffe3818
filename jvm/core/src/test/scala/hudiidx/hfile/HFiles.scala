package hudiidx.hfile

import hudiidx.bytes.Bytes
import hudiidx.storage.{BytesReader, FileStamp, RandomReader}
import java.io.ByteArrayOutputStream
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import scala.collection.immutable.TreeMap

/** What the HFile suites share: writing a map, reading one back, and keys of many lengths. */
object HFiles {
  type Cells = TreeMap[Vector[Byte], Array[Byte]]

  val byUnsignedBytes: Ordering[Vector[Byte]] = new Ordering[Vector[Byte]] {
    def compare(a: Vector[Byte], b: Vector[Byte]): Int = Bytes.compare(a.toArray, b.toArray)
  }

  def cells(entries: Iterable[(Array[Byte], Array[Byte])]): Cells =
    TreeMap.empty[Vector[Byte], Array[Byte]](byUnsignedBytes) ++ entries.map { case (k, v) => k.toVector -> v }

  def write(cells: Cells, options: HFileOptions, metas: Map[String, Array[Byte]] = Map.empty): Array[Byte] = {
    val out = new ByteArrayOutputStream
    val writer = new HFileWriter(out, options)
    cells.foreach { case (k, v) => writer.append(k.toArray, v) }
    metas.foreach { case (name, bytes) => writer.appendMeta(name, bytes) }
    writer.close()
    assert(writer.writtenBytes + HFileFormat.TrailerBytes == out.size)
    out.toByteArray
  }

  def open(
      bytes: Array[Byte],
      cache: BlockCache = new BlockCache,
      tailBytes: Int = HFileReader.TailBytes
  ): HFileReader =
    HFileReader.open(new BytesReader("memory.hfile", bytes), cache, tailBytes = tailBytes)

  def bytesOf(buffer: ByteBuffer): Option[Vector[Byte]] =
    Option(buffer).map { b =>
      val copy = new Array[Byte](b.remaining)
      b.duplicate().get(copy)
      copy.toVector
    }

  /** Keys and values from a cursor to its end. */
  def drain(cursor: HFileCursor): Vector[(Vector[Byte], Vector[Byte])] = {
    val all = Vector.newBuilder[(Vector[Byte], Vector[Byte])]
    while (cursor.next()) all += cursor.key.toVector -> bytesOf(cursor.valueBuffer).get
    all.result()
  }

  def plain(cells: Cells): Vector[(Vector[Byte], Vector[Byte])] = cells.toVector.map { case (k, v) => k -> v.toVector }

  /** `count` ASCII keys of 1 to `maxLength` bytes, with values of about `valueBytes` that compress a little. */
  def sample(seed: Long, count: Int, maxLength: Int, valueBytes: Int): Cells = {
    val random = new java.util.Random(seed)
    cells(Vector.fill(count) {
      val key = new StringBuilder
      val length = 1 + random.nextInt(maxLength)
      while (key.length < length) key.append((33 + random.nextInt(90)).toChar)
      val value = Array.fill(random.nextInt(valueBytes * 2 + 1))(random.nextInt(16).toByte)
      key.toString.getBytes(UTF_8) -> value
    })
  }

  /** Counts reads of a file. */
  final class CountingReader(under: RandomReader) extends RandomReader {
    var reads = 0
    def path: String = under.path
    def sizeBytes: Long = under.sizeBytes
    def stamp: FileStamp = under.stamp
    def read(offset: Long, length: Int): ByteBuffer = {
      reads += 1
      under.read(offset, length)
    }
    def close(): Unit = under.close()
  }
}
