package hudiidx.record.page

import hudiidx.bytes.PackedOutput

/** Finds the pattern of a page's texts and writes what is needed to read its numbers. One object serves page after page. */
private[record] final class PatternBuilder(maxEntries: Int) {
  private var literalCount = 0
  private val literalFrom, literalTo = new Array[Int](TextPattern.MaxFields)
  private val least, most = new Array[Int](TextPattern.MaxFields)
  private val values = Array.fill(TextPattern.MaxFields)(Array.emptyLongArray)
  private val digits = Array.fill(TextPattern.MaxFields)(Array.emptyByteArray)
  private val lowest, sizes = new Array[Long](TextPattern.MaxFields)
  private val fields = new Array[DigitField](TextPattern.MaxFields)

  /** The pattern of the first `n` texts behind the prefix of `common` bytes; their numbers are then in `numbers`.
    *
    *  @param ends of the texts in `texts`
    *  @return false if they have none, or their numbers do not fit 63 bits
    */
  def find(texts: Array[Byte], ends: Array[Int], n: Int, common: Int, numbers: Array[Long]): Boolean =
    literals(texts, common, ends(0)) && {
      java.util.Arrays.fill(least, Int.MaxValue)
      java.util.Arrays.fill(most, 0)
      var i = 0
      while (i < n && read(texts, (if (i == 0) 0 else ends(i - 1)) + common, ends(i), i)) i += 1
      i == n && number(texts, n) && {
        combine(n, numbers)
        true
      }
    }

  /** Takes the literals of the first text. */
  private def literals(texts: Array[Byte], from: Int, to: Int): Boolean = {
    literalCount = 0
    var fits = true
    var at = from
    while (at < to && fits) {
      while (at < to && TextPattern.isDigit(texts(at))) at += 1
      if (at < to) {
        fits = literalCount < TextPattern.MaxFields - 1
        if (fits) {
          literalFrom(literalCount) = at
          while (at < to && !TextPattern.isDigit(texts(at))) at += 1
          literalTo(literalCount) = at
          literalCount += 1
        }
      }
    }
    fits
  }

  /** Reads the fields of text number `i`; false if it has other literals or too many digits. */
  private def read(texts: Array[Byte], from: Int, to: Int, i: Int): Boolean = {
    var at = from
    var f = 0
    var fits = true
    while (fits && f <= literalCount) {
      val start = at
      var value = 0L
      val limit = math.min(to, start + TextPattern.MaxDigits)
      while (at < limit && TextPattern.isDigit(texts(at))) {
        value = value * 10 + (texts(at) - '0')
        at += 1
      }
      keep(f, i, value, at - start)
      if (f < literalCount) {
        val length = literalTo(f) - literalFrom(f)
        fits = length <= to - at &&
          java.util.Arrays.equals(texts, at, at + length, texts, literalFrom(f), literalTo(f))
        at += length
      }
      f += 1
    }
    fits && at == to
  }

  private def keep(f: Int, i: Int, value: Long, length: Int): Unit = {
    if (values(f).length == 0) {
      values(f) = new Array[Long](maxEntries)
      digits(f) = new Array[Byte](maxEntries)
    }
    values(f)(i) = value
    digits(f)(i) = length.toByte
    if (length < least(f)) least(f) = length
    if (length > most(f)) most(f) = length
  }

  /** Replaces each field's values by its numbers less the lowest; false if those of all fields together do not fit. */
  private def number(texts: Array[Byte], n: Int): Boolean = {
    var room = Long.MaxValue
    var f = 0
    while (f <= literalCount && room > 0) {
      if (!DigitField.fits(least(f), most(f))) room = 0
      else {
        val isLast = f == literalCount
        fields(f) = new DigitField(least(f), most(f), isLast, if (isLast) 0 else texts(literalFrom(f)) & 0xff)
        spread(f, n)
        room /= sizes(f)
      }
      f += 1
    }
    room > 0
  }

  private def spread(f: Int, n: Int): Unit = {
    val all = values(f)
    var min = Long.MaxValue
    var max = 0L
    var i = 0
    while (i < n) {
      val number = fields(f).number(all(i), digits(f)(i).toInt)
      all(i) = number
      if (number < min) min = number
      if (number > max) max = number
      i += 1
    }
    i = 0
    while (i < n) {
      all(i) -= min
      i += 1
    }
    lowest(f) = min
    sizes(f) = max - min + 1
  }

  private def combine(n: Int, numbers: Array[Long]): Unit = {
    System.arraycopy(values(0), 0, numbers, 0, n)
    var f = 1
    while (f <= literalCount) {
      var i = 0
      while (i < n) {
        numbers(i) = numbers(i) * sizes(f) + values(f)(i)
        i += 1
      }
      f += 1
    }
  }

  /** Writes the pattern found last. */
  def write(out: PackedOutput, texts: Array[Byte]): Unit = {
    out.byte(literalCount + 1)
    var f = 0
    while (f < literalCount) {
      val length = literalTo(f) - literalFrom(f)
      out.varint(length.toLong)
      out.raw(texts, literalFrom(f), length)
      f += 1
    }
    f = 0
    while (f <= literalCount) {
      out.byte(least(f))
      out.byte(most(f))
      out.varint(lowest(f))
      out.varint(sizes(f))
      f += 1
    }
  }
}
