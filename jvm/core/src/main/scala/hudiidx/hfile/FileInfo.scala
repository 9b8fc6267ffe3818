package hudiidx.hfile

import hudiidx.bytes.{ByteCursor, Varint}
import java.io.ByteArrayOutputStream
import java.nio.charset.StandardCharsets.UTF_8
import scala.collection.immutable.TreeMap

/** The file info block: names to bytes, as a protobuf message behind `PBUF`. Format notes §11.1. */
private[hfile] object FileInfoBlock {
  private val Magic = 0x50425546 // PBUF

  def encode(entries: TreeMap[String, Array[Byte]]): Array[Byte] = {
    val message = new ByteArrayOutputStream
    entries.foreach { case (name, value) =>
      val key = name.getBytes(UTF_8)
      val pair = new ByteArrayOutputStream
      bytes(pair, 1, key)
      bytes(pair, 2, value)
      bytes(message, 1, pair.toByteArray)
    }
    val out = new ByteArrayOutputStream
    var shift = 24
    while (shift >= 0) {
      out.write(Magic >>> shift)
      shift -= 8
    }
    Varint.write(out, message.size.toLong)
    message.writeTo(out)
    out.toByteArray
  }

  private def bytes(out: ByteArrayOutputStream, field: Int, value: Array[Byte]): Unit = {
    out.write(field << 3 | 2)
    Varint.write(out, value.length.toLong)
    out.write(value, 0, value.length)
  }

  def decode(in: ByteCursor): Map[String, Array[Byte]] = {
    if (in.int("file info magic") != Magic) in.fail("file info does not start with PBUF")
    val message = in.slice(in.varintUpTo(in.remaining.toLong, "file info length"), "file info")
    val entries = Map.newBuilder[String, Array[Byte]]
    while (message.remaining > 0) field(message, "file info").foreach { case (number, body) =>
      if (number == 1) entries += pair(body)
    }
    entries.result()
  }

  private def pair(in: ByteCursor): (String, Array[Byte]) = {
    var name = ""
    var value = Array.emptyByteArray
    while (in.remaining > 0) field(in, "file info entry").foreach { case (number, body) =>
      if (number == 1) name = body.utf8(body.remaining, "file info name")
      else if (number == 2) value = body.take(body.remaining, "file info value")
    }
    (name, value)
  }

  /** The next field if it is of bytes; None for a number, which is skipped. */
  private def field(in: ByteCursor, what: String): Option[(Int, ByteCursor)] = {
    val tag = in.varint(what)
    (tag & 7).toInt match {
      case 2 => Some(((tag >>> 3).toInt, in.slice(in.varintUpTo(in.remaining.toLong, what), what)))
      case 0 =>
        in.varint(what)
        None
      case 1 =>
        in.skip(8, what)
        None
      case 5 =>
        in.skip(4, what)
        None
      case wire => in.fail(s"$what has wire type $wire")
    }
  }
}
