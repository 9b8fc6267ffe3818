package hudiidx.record.page

import hudiidx.bytes.{Bytes, PackedInput}

/** Texts of one pattern as numbers that order like them: docs/format.md, "Entry page". Behind the prefix that all share come
  * fields of digits with the same literals between them: `account:12,item:3` and `account:7,item:11` have the literal
  * `,item:` and two fields.
  *
  * A field's number is its digits written to the left of as many places as the longest of the page's has, times the number of
  * lengths, plus what orders texts of which one begins with the other: a shorter one comes first where a byte below the digits
  * or the end follows (the empty places are zeros), else last (nines).
  */
private[record] object TextPattern {
  val MaxFields = 8

  /** Digits whose number fits a signed 64-bit one whatever they are. */
  val MaxDigits = 18

  val Tens: Array[Long] = Array.iterate(1L, MaxDigits + 1)(_ * 10)

  def isDigit(b: Byte): Boolean = b >= '0' && b <= '9'
}

/** The digits of one field of a page's texts.
  *
  *  @param least, most digits that it has
  *  @param isLast      nothing follows
  *  @param next        the first byte of the literal behind it, if one follows
  */
private[record] final class DigitField(val least: Int, val most: Int, isLast: Boolean, next: Int) {
  require(least >= 0 && least <= most && most <= TextPattern.MaxDigits, s"field of $least to $most digits")
  private val lengths: Long = most - least + 1L
  require(DigitField.fits(least, most), s"field of $least to $most digits passes 63 bits")

  /** All its numbers are below. */
  val size: Long = TextPattern.Tens(most) * lengths
  private val shorterFirst = isLast || next < '0'

  /** The number of a field of so many digits, from `least` to `most`, and their value. */
  def number(value: Long, digits: Int): Long = {
    val places = TextPattern.Tens(most - digits)
    if (shorterFirst) value * places * lengths + (digits - least)
    else (value * places + places - 1) * lengths + (most - digits)
  }

  /** Writes the digits of a number; the index behind them. */
  def render(number: Long, out: Array[Byte], from: Int): Int = {
    val places = number / lengths
    val rest = (number - places * lengths).toInt
    val digits = if (shorterFirst) least + rest else most - rest
    var value = places / TextPattern.Tens(most - digits)
    val end = from + digits
    var at = end - 1
    while (at >= from) {
      val left = value / 10
      out(at) = ('0' + (value - left * 10)).toByte
      value = left
      at -= 1
    }
    end
  }
}

private[record] object DigitField {

  /** True if numbers of such a field fit 63 bits. */
  def fits(least: Int, most: Int): Boolean = TextPattern.Tens(most) <= Long.MaxValue / (most - least + 1)
}

/** Turns texts into numbers of a page's pattern and back. One object serves page after page. */
private[record] final class PatternReader {
  private var bytes: Array[Byte] = _
  private var prefixFrom, prefixLength = 0
  private var count = 0
  private val fields = new Array[DigitField](TextPattern.MaxFields)
  private val lowest, sizes = new Array[Long](TextPattern.MaxFields)
  private val literalFrom, literalLength = new Array[Int](TextPattern.MaxFields)
  private val parts = new Array[Long](TextPattern.MaxFields)
  private var length0 = 0
  private var number0 = 0L

  /** Most bytes of a text of the pattern. */
  def maxLength: Int = length0

  /** The number that `find` found. */
  def number: Long = number0

  /** One field of so many digits behind the prefix, as pages of version 1 have it. */
  def openDigits(page: Array[Byte], prefixAt: Int, prefixBytes: Int, digits: Int): Unit = {
    start(page, prefixAt, prefixBytes, 1)
    field(0, digits, digits, 0L, TextPattern.Tens(digits), 0)
  }

  /** Takes the pattern that starts at the cursor, which goes on behind it. */
  def open(in: PackedInput, page: Array[Byte], prefixAt: Int, prefixBytes: Int): Unit = {
    val n = in.byte()
    require(n >= 1 && n <= TextPattern.MaxFields, s"$n fields")
    start(page, prefixAt, prefixBytes, n)
    var f = 0
    while (f < n - 1) {
      literalLength(f) = in.count(8)
      require(literalLength(f) >= 1, s"literal $f is empty")
      literalFrom(f) = in.skip(literalLength(f))
      require(!TextPattern.isDigit(page(literalFrom(f))), s"literal $f begins with a digit")
      length0 = Math.addExact(length0, literalLength(f))
      f += 1
    }
    f = 0
    var room = Long.MaxValue
    while (f < n) {
      field(f, in.byte(), in.byte(), in.varint(), in.varint(), if (f == n - 1) 0 else page(literalFrom(f)) & 0xff)
      room /= sizes(f)
      f += 1
    }
    require(room > 0, "numbers of more than 63 bits")
  }

  private def start(page: Array[Byte], prefixAt: Int, prefixBytes: Int, n: Int): Unit = {
    bytes = page
    prefixFrom = prefixAt
    prefixLength = prefixBytes
    length0 = prefixBytes
    count = n
  }

  private def field(f: Int, least: Int, most: Int, low: Long, size: Long, next: Int): Unit = {
    val made = new DigitField(least, most, f == count - 1, next)
    require(low >= 0 && size >= 1 && low <= made.size - size, s"field $f has $size numbers from $low of ${made.size}")
    fields(f) = made
    lowest(f) = low
    sizes(f) = size
    length0 = Math.addExact(length0, most)
  }

  /** True if the text is of the pattern and no field of it is outside of what the page's have; then `number` is its. */
  def find(key: KeyParts): Boolean = {
    val from = key.textFrom
    val to = from + key.textLength
    key.textLength >= prefixLength &&
    Bytes.compare(key.text, from, prefixLength, bytes, prefixFrom, prefixLength) == 0 &&
    findFields(key.text, from + prefixLength, to)
  }

  private def findFields(text: Array[Byte], from: Int, to: Int): Boolean = {
    number0 = 0L
    var at = from
    var f = 0
    var fits = true
    while (fits && f < count) {
      val field = fields(f)
      val start = at
      val limit = math.min(to, start + field.most)
      var value = 0L
      while (at < limit && TextPattern.isDigit(text(at))) {
        value = value * 10 + (text(at) - '0')
        at += 1
      }
      fits = at - start >= field.least && {
        val number = field.number(value, at - start) - lowest(f)
        number0 = number0 * sizes(f) + number
        number >= 0 && number < sizes(f)
      }
      if (fits && f < count - 1) {
        val length = literalLength(f)
        fits = length <= to - at && Bytes.compare(text, at, length, bytes, literalFrom(f), length) == 0
        at += length
      }
      f += 1
    }
    fits && at == to
  }

  /** Writes the text of a number; the index behind it. It takes at most `maxLength` bytes. */
  def render(number: Long, out: Array[Byte], from: Int): Int = {
    var rest = number
    var f = count - 1
    while (f > 0) {
      val left = rest / sizes(f)
      parts(f) = rest - left * sizes(f) + lowest(f)
      rest = left
      f -= 1
    }
    parts(0) = rest + lowest(0)
    System.arraycopy(bytes, prefixFrom, out, from, prefixLength)
    var at = from + prefixLength
    while (f < count) {
      at = fields(f).render(parts(f), out, at)
      if (f < count - 1) {
        System.arraycopy(bytes, literalFrom(f), out, at, literalLength(f))
        at += literalLength(f)
      }
      f += 1
    }
    at
  }
}
