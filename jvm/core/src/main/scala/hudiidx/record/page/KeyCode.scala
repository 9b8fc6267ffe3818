package hudiidx.record.page

import hudiidx.bytes.{Bytes, UuidText, XxHash64}
import java.nio.{ByteBuffer, ByteOrder}

/** Record keys in binary, order kept within a class, no two keys alike. docs/format.md, "Key code".
  *
  * A code is a class byte and what the class makes of the key's UTF-8 bytes: a decimal that fits a signed 64-bit number and
  * is written in its one canonical way, a canonical lower-case UUID, or anything else as it is. Codes order as unsigned bytes.
  */
object KeyCode {
  val Number = 1
  val Uuid = 2
  val Text = 3

  private val MaxNumberBytes = 20

  /** The code of a key that is `length` bytes of `key` from `from` on. */
  def encode(key: Array[Byte], from: Int, length: Int): Array[Byte] = {
    val parsed = new ParsedKey
    parsed.set(key, from, length)
    val code = new Array[Byte](codeLength(parsed.kind, length))
    write(parsed, code)
    code
  }

  def encode(key: Array[Byte]): Array[Byte] = encode(key, 0, key.length)

  /** The key of a code; IllegalArgumentException for what is no code. */
  def decode(code: Array[Byte]): Array[Byte] = {
    require(code.length >= 1, "key code is empty")
    code(0).toInt match {
      case Number =>
        require(code.length == 9, s"number code of ${code.length} bytes")
        decimal(ByteBuffer.wrap(code).getLong(1))
      case Uuid =>
        require(code.length == 17, s"UUID code of ${code.length} bytes")
        val bytes = ByteBuffer.wrap(code)
        val key = new Array[Byte](UuidText.Length)
        UuidText.render(bytes.getLong(1), bytes.getLong(9), key, 0)
        key
      case Text  => java.util.Arrays.copyOfRange(code, 1, code.length)
      case other => throw new IllegalArgumentException(s"key class $other")
    }
  }

  /** Order of two codes. */
  def compare(a: Array[Byte], b: Array[Byte]): Int = Bytes.compare(a, b)

  /** Place of a key among the hash groups: the upper 32 bits of XXH64 (seed 0) of its bytes, 0 to 2^32 - 1. */
  def hash(key: Array[Byte], from: Int, length: Int): Long = XxHash64.hash(key, from, length, 0L) >>> 32

  private[record] def codeLength(kind: Int, keyLength: Int): Int =
    if (kind == Number) 9 else if (kind == Uuid) 17 else keyLength + 1

  /** Writes a key's code, or as much of it as `out` takes; the bytes written. */
  private[record] def write(key: KeyParts, out: Array[Byte]): Int = {
    out(0) = key.kind.toByte
    key.kind match {
      case Number =>
        ByteBuffer.wrap(out).putLong(1, key.high)
        9
      case Uuid =>
        ByteBuffer.wrap(out).putLong(1, key.high).putLong(9, key.low)
        17
      case _ =>
        val length = math.min(out.length - 1, key.textLength)
        System.arraycopy(key.text, key.textFrom, out, 1, length)
        length + 1
    }
  }

  /** The value of a number's sign-flipped form as text. */
  private[record] def decimal(flipped: Long): Array[Byte] =
    java.lang.Long.toString(flipped ^ Long.MinValue).getBytes(java.nio.charset.StandardCharsets.ISO_8859_1)

  /** Reads a canonical decimal: no leading zero, no `-0`, no `+`, within 64 bits. False for anything else. */
  private[record] def parseNumber(key: Array[Byte], from: Int, length: Int, out: ParsedKey): Boolean =
    length > 0 && length <= MaxNumberBytes && {
      val negative = key(from) == '-'
      val first = if (negative) from + 1 else from
      val digits = length - (if (negative) 1 else 0)
      val lead = if (digits == 0) 0 else key(first).toInt
      val canonical = digits > 0 && digits <= 19 && (lead != '0' || (digits == 1 && !negative))
      canonical && {
        // Summed as a negative number, which has one more value than the positive ones.
        var value = 0L
        var fits = true
        var i = 0
        while (i < digits && fits) {
          val d = key(first + i) - '0'
          fits = d >= 0 && d <= 9 && (i < 18 || value > Long.MinValue / 10 ||
            (value == Long.MinValue / 10 && d <= (if (negative) 8 else 7)))
          value = value * 10 - d
          i += 1
        }
        fits && {
          out.high = (if (negative) value else -value) ^ Long.MinValue
          true
        }
      }
    }
}

/** A key in parts: `high` is a number with its sign bit flipped or a UUID's upper half, `low` a UUID's lower half; a text is
  * `textLength` bytes of `text` from `textFrom` on. Parts of other classes have no meaning.
  */
private[record] trait KeyParts {
  def kind: Int
  def high: Long
  def low: Long
  def text: Array[Byte]
  def textFrom: Int
  def textLength: Int
}

private[record] object KeyParts {

  /** Order of the codes of two keys. */
  def compare(a: KeyParts, b: KeyParts): Int =
    if (a.kind != b.kind) Integer.compare(a.kind, b.kind)
    else if (a.kind == KeyCode.Text)
      Bytes.compare(a.text, a.textFrom, a.textLength, b.text, b.textFrom, b.textLength)
    else {
      val order = java.lang.Long.compareUnsigned(a.high, b.high)
      if (order != 0 || a.kind == KeyCode.Number) order else java.lang.Long.compareUnsigned(a.low, b.low)
    }

  /** Unsigned, what keys of one class are ordered by unless it is the same of both: of a text its first eight bytes. */
  def lead(key: KeyParts): Long =
    if (key.kind != KeyCode.Text) key.high
    else {
      val length = math.min(8, key.textLength)
      var value = 0L
      var i = 0
      while (i < length) {
        value |= (key.text(key.textFrom + i) & 0xffL) << (56 - 8 * i)
        i += 1
      }
      value
    }

  /** The key's own bytes. */
  def bytes(key: KeyParts): Array[Byte] = key.kind match {
    case KeyCode.Number => KeyCode.decimal(key.high)
    case KeyCode.Uuid   =>
      val out = new Array[Byte](UuidText.Length)
      UuidText.render(key.high, key.low, out, 0)
      out
    case _ => java.util.Arrays.copyOfRange(key.text, key.textFrom, key.textFrom + key.textLength)
  }
}

/** One key at a time, without an object for each. */
private[record] final class ParsedKey extends KeyParts {
  var kind: Int = KeyCode.Text
  var high: Long = 0L
  var low: Long = 0L
  var text: Array[Byte] = Array.emptyByteArray
  var textFrom: Int = 0
  var textLength: Int = 0
  private val halves = new Array[Long](2)

  /** Takes another key's parts; a text is not copied. */
  def copy(key: KeyParts): Unit = {
    kind = key.kind
    high = key.high
    low = key.low
    text = key.text
    textFrom = key.textFrom
    textLength = key.textLength
  }

  /** Takes a key's UTF-8 bytes, which must stay as they are while the key is in use. */
  def set(key: Array[Byte], from: Int, length: Int): Unit = {
    text = key
    textFrom = from
    textLength = length
    if (length == UuidText.Length && UuidText.parse(key, from, halves)) {
      kind = KeyCode.Uuid
      high = halves(0)
      low = halves(1)
    } else if (KeyCode.parseNumber(key, from, length, this)) kind = KeyCode.Number
    else kind = KeyCode.Text
  }
}

/** Hashes keys in parts; renders numbers and UUIDs for it. */
private[record] final class KeyHasher {
  private val rendered = new Array[Byte](UuidText.Length)
  private val buffer = ByteBuffer.wrap(rendered).order(ByteOrder.LITTLE_ENDIAN)

  def hash(key: KeyParts): Long = key.kind match {
    case KeyCode.Uuid =>
      UuidText.render(key.high, key.low, rendered, 0)
      XxHash64.hash(buffer, 0, UuidText.Length, 0L) >>> 32
    case KeyCode.Number =>
      val text = KeyCode.decimal(key.high)
      KeyCode.hash(text, 0, text.length)
    case _ => KeyCode.hash(key.text, key.textFrom, key.textLength)
  }
}
