package hudiidx.log

import hudiidx.Fixtures
import hudiidx.storage.{BytesReader, LocalStorage, RandomReader, Storage}
import java.io.{ByteArrayOutputStream, DataOutputStream}
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
}
