package hudiidx.spark.api

import java.nio.charset.StandardCharsets.UTF_8

/** An answer that Python fetches piece by piece. Py4j writes what it returns in blocks of 8192 characters to a socket with
  * Nagle's algorithm on: the second block waits 40 ms for the first one's acknowledgement, a piece of one block does not.
  *
  *  @param text of a text, the whole of it
  */
final class AnswerPieces private (pieces: Vector[AnyRef], text: => String) {
  def count: Int = pieces.length

  /** From 0 on: texts or arrays of bytes, which behind one another are the answer, of a text in UTF-8. */
  def piece(n: Int): AnyRef = pieces(n)

  override def toString: String = text
}

object AnswerPieces {

  /** With py4j's marks, and bytes in base64, less than one block. */
  val PieceBytes = 6000
  val PieceLetters = 8000

  /** Length above which a text's pieces take longer than the wait. */
  val MostTextBytes = 400000

  /** The text itself if it is one piece, or very long. */
  def of(text: String): AnyRef = {
    val bytes = text.getBytes(UTF_8)
    if (bytes.length <= PieceLetters || bytes.length > MostTextBytes) text
    // Letters beyond ASCII take several bytes, and a piece must not end within one.
    else if (bytes.length > text.length) new AnswerPieces(cut(bytes), text)
    else new AnswerPieces(text.grouped(PieceLetters).toVector, text)
  }

  /** The bytes themselves if they are one piece. */
  def of(bytes: Array[Byte]): AnyRef =
    if (bytes.length <= PieceBytes) bytes else new AnswerPieces(cut(bytes), new String(bytes, UTF_8))

  private def cut(bytes: Array[Byte]): Vector[AnyRef] = bytes.grouped(PieceBytes).toVector
}
