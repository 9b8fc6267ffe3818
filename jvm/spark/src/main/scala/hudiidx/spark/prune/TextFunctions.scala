package hudiidx.spark.prune

import java.nio.charset.StandardCharsets.UTF_8

import hudiidx.column.ValueSet.{Longs, Texts}
import hudiidx.column.ValueSets
import org.apache.spark.unsafe.types.UTF8String

/** Which strings a function of strings takes into a set. Strings are ordered by their bytes, which is the order of code points. */
private[prune] object TextFunctions {

  /** Strings whose first `length` characters are in the set. */
  def ofStart(wanted: Texts, length: Int): Texts =
    if (length <= 0) startsOfNothing(wanted)
    else
      ValueSets.texts(ValueSets.intervals(wanted).flatMap { case (from, until) =>
        // No start has more characters: it is below a longer text if it is not above that text's own start.
        def bound(text: Array[Byte]) =
          if (text == null || charactersOf(text) <= length) text else ValueSets.afterPrefix(start(text, length))
        val low = bound(from)
        if (low == null) None else Some((low, bound(until)))
      })

  /** Strings of which upper or lower case is in the set, and perhaps more. */
  def ofCase(wanted: Texts, mapping: CaseMapping): Texts = {
    val most = (MostTexts / wanted.lows.length.max(1)).min(CaseMapping.MostTexts)
    ValueSets.texts(ValueSets.intervals(wanted).flatMap { case (from, until) =>
      val start = commonStart(from, until)
      val isOne = ValueSets.isPoint(from, until) && start.length == from.length
      mapping.sources(new String(start, UTF_8), most).flatMap { case (source, isWhole) =>
        val bytes = source.getBytes(UTF_8)
        if (isWhole && isOne) Vector((bytes, ValueSets.next(bytes)))
        else ValueSets.intervals(ValueSets.beginning(bytes))
      }
    })
  }

  /** In all; of long lists fewer characters of each text are looked at. */
  private val MostTexts = 20000

  /** What `LIKE pattern` takes; the second is false if it may take less. */
  def like(pattern: String, escape: Char): (Texts, Boolean) = {
    val start = new StringBuilder
    var i = 0
    var isOpen = false
    while (i < pattern.length && !isOpen) {
      val c = pattern.charAt(i)
      if (c == escape && i + 1 < pattern.length) { start.append(pattern.charAt(i + 1)); i += 2 }
      else if (c == '%' || c == '_') isOpen = true
      else { start.append(c); i += 1 }
    }
    val bytes = start.toString.getBytes(UTF_8)
    if (!isOpen) (ValueSets.textRange(bytes, ValueSets.next(bytes)), true)
    else (ValueSets.beginning(bytes), pattern.substring(i).forall(_ == '%'))
  }

  /** The integers whose texts are in the set; None if it is not a list of single texts. An integer has one text, but texts have another order. */
  def numbers(wanted: Texts): Option[Longs] = {
    val texts = ValueSets.intervals(wanted)
    if (!texts.forall { case (from, until) => ValueSets.isPoint(from, until) }) None
    else
      Some(ValueSets.oneOf(texts.map(t => UTF8String.fromBytes(t._1).toString).flatMap(integer).toArray))
  }

  private def integer(text: String): Option[Long] =
    try Some(text.toLong).filter(_.toString == text)
    catch { case _: NumberFormatException => None }

  private def startsOfNothing(wanted: Texts): Texts =
    if (wanted.meets(Array.emptyByteArray, Array.emptyByteArray)) ValueSets.AllTexts else ValueSets.NoTexts

  private def charactersOf(bytes: Array[Byte]): Int = UTF8String.fromBytes(bytes).numChars

  private def start(bytes: Array[Byte], characters: Int): Array[Byte] =
    UTF8String.fromBytes(bytes).substring(0, characters).getBytes

  /** The whole characters, not more than a few, with which all strings of the interval begin. */
  private def commonStart(from: Array[Byte], until: Array[Byte]): Array[Byte] = {
    val whole = UTF8String.fromBytes(from)
    (math.min(whole.numChars, LongestStart) to 0 by -1).iterator
      .map(n => whole.substring(0, n).getBytes)
      .find { prefix =>
        val end = ValueSets.afterPrefix(prefix)
        end == null || (until != null && java.util.Arrays.compareUnsigned(until, end) <= 0)
      }
      .getOrElse(Array.emptyByteArray)
  }

  private val LongestStart = 64
}

/** Upper or lower case, turned round: from what a text came.
  *
  *  @param map as Spark maps a whole text
  */
final private[prune] class CaseMapping(map: String => String) {

  /** Code points by the first code point of what they become, each with all that it becomes. A code point whose form depends on
    * its neighbours stands under each of its forms.
    */
  private lazy val byFirst: Map[Int, Vector[(Int, String)]] = {
    val found = for {
      point <- (0 to Character.MAX_CODE_POINT).iterator
      if Character.toUpperCase(point) != point || Character.toLowerCase(point) != point || changes(point)
      form <- forms(point)
      if form.nonEmpty
    } yield (form.codePointAt(0), (point, form))
    found.toVector.groupBy(_._1).map { case (first, all) => first -> all.map(_._2) }
  }

  private def changes(point: Int): Boolean =
    Character.isLetter(point) && map(CaseMapping.text(point)) != CaseMapping.text(point)

  private def forms(point: Int): Vector[String] = {
    val one = CaseMapping.text(point)
    Vector(
      map(one),
      map("a" + one).substring(1),
      map("a" + one + "a").drop(1).dropRight(1),
      map("\u00e9" + one).substring(1)
    ).distinct
  }

  /** Texts with which one that becomes `prefix` and more begins; true if it is all of what becomes `prefix` alone. No more
    * than about `most`.
    */
  def sources(prefix: String, most: Int): Vector[(String, Boolean)] = {
    val points = prefix.codePoints.toArray
    var found = Vector(("", true))
    var i = 0
    while (i < points.length && points(i) != CaseMapping.Damaged && found.length * 2 <= most) {
      val next = froms(points(i))
      found = found.flatMap { case (head, isOpen) =>
        if (!isOpen) Vector((head, false))
        else
          next.map { case (from, to) =>
            // One that becomes several ends the search: what follows it is out of step.
            (head + CaseMapping.text(from), to.codePointCount(0, to.length) == 1)
          }
      }
      i += 1
    }
    if (i == points.length) found else found.map(_._1 -> false)
  }

  private def froms(point: Int): Vector[(Int, String)] = {
    val known = byFirst.getOrElse(point, Vector.empty)
    val one = CaseMapping.text(point)
    if (known.exists(_._1 == point) || map(one) != one) known else (point, one) +: known
  }
}

private[prune] object CaseMapping {
  val MostTexts = 64

  /** What bytes that are no text are shown as. */
  private val Damaged = 0xfffd

  private def text(point: Int): String = new String(Character.toChars(point))

  lazy val Upper = new CaseMapping(t => UTF8String.fromString(t).toUpperCase.toString)
  lazy val Lower = new CaseMapping(t => UTF8String.fromString(t).toLowerCase.toString)
}
