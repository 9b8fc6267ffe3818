package hudiidx.record

import hudiidx.InvalidOption
import java.nio.{ByteBuffer, ByteOrder}
import java.nio.charset.StandardCharsets.UTF_8
import java.util.Arrays

/** Keys behind one another in one array: key `i` is `bytes` from `starts(i)` until `starts(i + 1)`. */
final class PackedKeys(val bytes: Array[Byte], val starts: Array[Int]) extends Serializable {
  def count: Int = starts.length - 1
  def from(i: Int): Int = starts(i)
  def length(i: Int): Int = starts(i + 1) - starts(i)
  def key(i: Int): String = new String(bytes, from(i), length(i), UTF_8)

  /** Those at these places. */
  def some(places: Array[Int]): PackedKeys =
    PackedKeys.ofBytes(places.map(i => Arrays.copyOfRange(bytes, from(i), from(i) + length(i))).toVector)
}

object PackedKeys {

  def of(keys: Seq[String]): PackedKeys = ofBytes(keys.map(utf8))

  def ofBytes(keys: Seq[Array[Byte]]): PackedKeys = {
    val starts = new Array[Int](keys.size + 1)
    var n = 0
    keys.foreach { k =>
      starts(n + 1) = Math.addExact(starts(n), k.length)
      n += 1
    }
    val bytes = new Array[Byte](starts(n))
    n = 0
    keys.foreach { k =>
      System.arraycopy(k, 0, bytes, starts(n), k.length)
      n += 1
    }
    new PackedKeys(bytes, starts)
  }

  /** The packed form that Python sends, all little-endian: int32 count, int32 length of each key, the keys' bytes.
    * InvalidOption for anything else.
    */
  def decode(packed: Array[Byte]): PackedKeys = {
    val in = ByteBuffer.wrap(packed).order(ByteOrder.LITTLE_ENDIAN)
    def need(holds: Boolean, what: => String): Unit =
      if (!holds) throw new InvalidOption(s"packed keys of ${packed.length} bytes: $what; pass a list of strings")
    need(packed.length >= 4, "no count")
    val count = in.getInt()
    need(count >= 0 && count <= in.remaining / 4, s"count is $count")
    val starts = new Array[Int](count + 1)
    val base = 4 + 4 * count
    starts(0) = base
    var i = 0
    while (i < count) {
      val length = in.getInt()
      need(length >= 0 && length <= packed.length - starts(i), s"key $i has length $length")
      starts(i + 1) = starts(i) + length
      i += 1
    }
    need(starts(count) == packed.length, s"${packed.length - starts(count)} bytes after the last key")
    new PackedKeys(packed, starts)
  }

  /** What `decode` reads. */
  def encode(keys: Seq[String]): Array[Byte] = {
    val all = keys.map(utf8)
    val out = ByteBuffer.allocate(4 + 4 * all.size + all.map(_.length).sum).order(ByteOrder.LITTLE_ENDIAN)
    out.putInt(all.size)
    all.foreach(k => out.putInt(k.length))
    all.foreach(k => out.put(k))
    out.array
  }

  /** UTF-8, but for surrogates without a partner: they take three bytes of their own, so that a text which no table can hold
    * is not taken for one with a question mark in its place.
    */
  def utf8(key: String): Array[Byte] = {
    var lone = false
    var i = 0
    while (i < key.length && !lone) {
      val c = key.charAt(i)
      if (Character.isSurrogate(c)) {
        lone = !(Character.isHighSurrogate(c) && i + 1 < key.length && Character.isLowSurrogate(key.charAt(i + 1)))
        i += 1
      }
      i += 1
    }
    if (lone) surrogates(key) else key.getBytes(UTF_8)
  }

  private def surrogates(key: String): Array[Byte] = {
    val out = new java.io.ByteArrayOutputStream
    var i = 0
    while (i < key.length) {
      val point = key.codePointAt(i)
      if (point >= 0xd800 && point <= 0xdfff) {
        out.write(0xe0 | point >> 12)
        out.write(0x80 | point >> 6 & 0x3f)
        out.write(0x80 | point & 0x3f)
      } else out.writeBytes(new String(Character.toChars(point)).getBytes(UTF_8))
      i += Character.charCount(point)
    }
    out.toByteArray
  }
}
