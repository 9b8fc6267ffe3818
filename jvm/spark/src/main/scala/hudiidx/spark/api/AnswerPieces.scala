package hudiidx.spark.api

import java.nio.charset.StandardCharsets.UTF_8
import java.util.Arrays

/** An answer that Python fetches piece by piece. Py4j writes what it returns in blocks of 8192 characters to a socket with
  * Nagle's algorithm on: the second block waits 40 ms for the first one's acknowledgement, a piece of one block does not.
  */
final class AnswerPieces private (bytes: Array[Byte]) {
  def count: Int = (bytes.length + AnswerPieces.PieceBytes - 1) / AnswerPieces.PieceBytes

  /** From 0 on; behind one another they are the answer. */
  def piece(n: Int): Array[Byte] = {
    val from = n * AnswerPieces.PieceBytes
    Arrays.copyOfRange(bytes, from, math.min(bytes.length, from + AnswerPieces.PieceBytes))
  }

  /** Of a text, the whole of it. */
  override def toString: String = new String(bytes, UTF_8)
}

object AnswerPieces {

  /** In base64 and with py4j's marks less than one block. */
  val PieceBytes = 6000

  /** Behind which its pieces take longer than the wait. */
  val MostTextBytes = 400000

  private val TextBlock = 8000

  /** The text itself if it is one block, or very long. */
  def of(text: String): AnyRef =
    if (text.length <= TextBlock || text.length > MostTextBytes) text else new AnswerPieces(text.getBytes(UTF_8))

  /** The bytes themselves if they are one piece. */
  def of(bytes: Array[Byte]): AnyRef = if (bytes.length <= PieceBytes) bytes else new AnswerPieces(bytes)
}
