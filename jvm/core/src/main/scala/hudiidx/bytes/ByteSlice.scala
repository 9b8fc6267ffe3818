package hudiidx.bytes

import java.nio.charset.StandardCharsets.UTF_8

/** A range of bytes, set anew for one value after the other so that none needs an object. */
final class ByteSlice {
  var bytes: Array[Byte] = Array.emptyByteArray
  var from: Int = 0
  var length: Int = 0

  def set(bytes: Array[Byte], from: Int, length: Int): Unit = {
    this.bytes = bytes
    this.from = from
    this.length = length
  }

  def set(whole: Array[Byte]): Unit = set(whole, 0, whole.length)

  def copy: Array[Byte] = java.util.Arrays.copyOfRange(bytes, from, from + length)

  def text: String = new String(bytes, from, length, UTF_8)

  def contentEquals(other: Array[Byte]): Boolean =
    java.util.Arrays.equals(bytes, from, from + length, other, 0, other.length)
}
