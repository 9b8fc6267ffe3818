package hudiidx

/** A text that tells when a letter of it is looked at too often.
  *
  * @param most how often all of them together may be
  */
final class CountedText(text: String, most: Long) extends CharSequence {
  private var looks = 0L

  override def charAt(i: Int): Char = {
    looks += 1
    if (looks > most) throw new CountedText.TooOften(most)
    text.charAt(i)
  }

  override def length: Int = text.length
  override def subSequence(from: Int, until: Int): CharSequence = text.subSequence(from, until)
  override def toString: String = text
}

object CountedText {
  final class TooOften(most: Long) extends RuntimeException(s"more than $most looks")
}
