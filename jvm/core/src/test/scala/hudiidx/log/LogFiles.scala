package hudiidx.log

import hudiidx.Fixtures
import hudiidx.storage.{BytesReader, FileStamp, LocalStorage, RandomReader, Storage}
import java.io.{ByteArrayOutputStream, DataOutputStream}
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8

/** Log files for the suites: those of the fixtures, and small ones made here. */
object LogFiles {

  /** Paths of all log files below a fixture table, the metadata table's included. */
  def of(table: String): Vector[String] = {
    val root = Fixtures.table(table)
    Fixtures.filesBelow(root).filter(f => f.contains(".log.") && !f.endsWith(".crc")).map(f => s"$root/$f")
  }

  def using[A](path: String, storage: Storage = LocalStorage)(use: RandomReader => A): A = {
    val reader = storage.open(path)
    try use(reader)
    finally reader.close()
  }

  /** A block as Hudi frames it. */
  def block(kind: Int, header: Seq[(Int, String)], content: Array[Byte]): Array[Byte] = {
    val body = new ByteArrayOutputStream
    val out = new DataOutputStream(body)
    out.writeInt(1)
    out.writeInt(kind)
    out.writeInt(header.size)
    header.foreach { case (key, value) =>
      val bytes = value.getBytes(UTF_8)
      out.writeInt(key)
      out.writeInt(bytes.length)
      out.write(bytes)
    }
    out.writeLong(content.length.toLong)
    out.write(content)
    out.writeInt(0)
    val whole = new ByteArrayOutputStream
    val framed = new DataOutputStream(whole)
    framed.write("#HUDI#".getBytes(UTF_8))
    framed.writeLong(body.size + 8L)
    body.writeTo(framed)
    framed.writeLong(body.size + 14L)
    whole.toByteArray
  }

  def instant(n: Int): Seq[(Int, String)] = Seq(LogHeaderKey.InstantTime -> f"2026112000000000$n%1d")

  def reader(bytes: Array[Byte]): RandomReader = new BytesReader("x.log.1", bytes)

  /** A reader that counts what is asked of it. */
  final class Counted(of: Array[Byte]) extends RandomReader {
    private val under = reader(of)
    var bytes = 0L
    var reads = 0
    override def path: String = under.path
    override def sizeBytes: Long = under.sizeBytes
    override def stamp: FileStamp = under.stamp
    override def close(): Unit = ()
    override def read(offset: Long, length: Int): ByteBuffer = {
      bytes += length
      reads += 1
      under.read(offset, length)
    }
  }

  /** Blocks whose lengths agree, each beginning in the header of the one before, with a header value of about half the file.
    *
    * @param content length of the content that each tells
    */
  def nested(count: Int, content: Long): Array[Byte] = {
    val headBytes = 6 + 8 + 4 + 4 + 4 + 4 + 4
    val ends = count * headBytes + 64 // where the trailing lengths begin, 8 bytes each, before that zeros
    val out = ByteBuffer.allocate(ends + count * 8 + 16)
    (0 until count).foreach { i =>
      val end = ends + (i + 1) * 8
      val size = end - i * headBytes - 14
      out.put("#HUDI#".getBytes(UTF_8)).putLong(size.toLong).putInt(1).putInt(3).putInt(1).putInt(LogHeaderKey.Schema)
      out.putInt(count * headBytes + 16 - (i + 1) * headBytes)
      out.putLong(end - 8, size + 6L): Unit
    }
    out.putLong(count * headBytes + 16, content)
    out.array
  }
}
