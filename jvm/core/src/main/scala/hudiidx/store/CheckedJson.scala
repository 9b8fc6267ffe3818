package hudiidx.store

import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.ObjectNode
import java.nio.ByteBuffer
import java.nio.charset.CharacterCodingException
import java.nio.charset.StandardCharsets.UTF_8
import java.util.zip.CRC32C

/** UTF-8 JSON objects whose last member, `crc32c`, covers all bytes before it (docs/format.md, "Index version"). */
private[hudiidx] object CheckedJson {
  private val Mark = ",\"crc32c\":\""
  private val json = new ObjectMapper()

  /** @param root has a member at least */
  def encode(root: ObjectNode): Array[Byte] = {
    val body = json.writeValueAsString(root)
    val open = body.substring(0, body.length - 1)
    (open + Mark + checksum(open) + "\"}").getBytes(UTF_8)
  }

  /** The text, checked; IllegalArgumentException says what is wrong with it. */
  def checked(bytes: Array[Byte]): String = {
    val text = textOf(bytes)
    val mark = text.lastIndexOf(Mark)
    require(mark >= 0, s"no checksum in ${bytes.length} bytes")
    val (expected, tail) = text.substring(mark + Mark.length).splitAt(8)
    require(tail == "\"}", "it does not end behind the checksum")
    val actual = checksum(text.substring(0, mark))
    require(expected == actual, s"checksum is $actual, the file says $expected")
    text
  }

  /** Bytes that are no UTF-8 would all become one character, and the checksum that of others. */
  private def textOf(bytes: Array[Byte]): String =
    try UTF_8.newDecoder.decode(ByteBuffer.wrap(bytes)).toString
    catch {
      case e: CharacterCodingException => throw new IllegalArgumentException(s"it is not UTF-8: ${e.getMessage}", e)
    }

  private def checksum(text: String): String = {
    val crc = new CRC32C
    crc.update(text.getBytes(UTF_8))
    String.format("%08x", Long.box(crc.getValue))
  }
}
