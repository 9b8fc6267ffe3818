package hudiidx.write.format

import hudiidx.log.{LogBlockKind, LogHeaderKey}
import java.io.{ByteArrayOutputStream, DataOutputStream}
import java.nio.charset.StandardCharsets.{US_ASCII, UTF_8}

/** Frames blocks of log files. Format notes §6.1: no footers and no header keys but Hudi's, since stock readers fail on
  * others.
  */
object LogBlockWriter {
  private val Magic = "#HUDI#".getBytes(US_ASCII)
  private val FormatVersion = 1

  /** A whole block.
    *
    * @param schema  Avro JSON of the records, meta columns included
    * @param content pieces that follow each other
    */
  def block(kind: LogBlockKind, instant: String, schema: String, content: Vector[BytesPiece]): Array[Byte] = {
    val header = headerOf(Vector(LogHeaderKey.InstantTime -> instant, LogHeaderKey.Schema -> schema))
    val contentLength = content.map(_.length.toLong).sum
    // Version, type, header, content with its length, an empty footer, the trailing length.
    val size = 4L + 4L + header.length + 8L + contentLength + 4L + 8L
    val whole = new ByteArrayOutputStream(Math.toIntExact(size + Magic.length + 8))
    val out = new DataOutputStream(whole)
    out.write(Magic)
    out.writeLong(size)
    out.writeInt(FormatVersion)
    out.writeInt(kind.number)
    out.write(header)
    out.writeLong(contentLength)
    content.foreach(p => out.write(p.bytes, 0, p.length))
    out.writeInt(0)
    out.writeLong(size + Magic.length)
    whole.toByteArray
  }

  private def headerOf(entries: Vector[(Int, String)]): Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    val out = new DataOutputStream(bytes)
    out.writeInt(entries.size)
    entries.foreach { case (key, value) =>
      val utf8 = value.getBytes(UTF_8)
      out.writeInt(key)
      out.writeInt(utf8.length)
      out.write(utf8)
    }
    bytes.toByteArray
  }
}

/** The first `length` bytes of an array. */
final case class BytesPiece(bytes: Array[Byte], length: Int)
