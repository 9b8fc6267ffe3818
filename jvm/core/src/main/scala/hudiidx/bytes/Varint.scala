package hudiidx.bytes

import java.io.OutputStream

/** Variable-length integers: protobuf's (7 bits a byte, least first) and Hadoop's (length in the first byte). */
object Varint {

  /** Writes `value` as a protobuf varint; negative numbers take 10 bytes. */
  def write(out: OutputStream, value: Long): Unit = {
    var rest = value
    while ((rest & ~0x7fL) != 0) {
      out.write(((rest & 0x7f) | 0x80).toInt)
      rest >>>= 7
    }
    out.write(rest.toInt)
  }

  /** Bytes that `write` needs for `value`. */
  def size(value: Long): Int = {
    val bits = 64 - java.lang.Long.numberOfLeadingZeros(value | 1L)
    (bits + 6) / 7
  }

  /** Signed to unsigned, small magnitudes to small numbers; Avro's and protobuf's zig-zag. */
  def zigZag(value: Long): Long = (value << 1) ^ (value >> 63)

  def unZigZag(value: Long): Long = (value >>> 1) ^ -(value & 1L)

  /** Writes `value` as Hadoop's WritableUtils does. */
  def writeHadoop(out: OutputStream, value: Long): Unit =
    if (value >= -112 && value <= 127) out.write(value.toInt)
    else {
      val magnitude = if (value < 0) ~value else value
      val count = (71 - java.lang.Long.numberOfLeadingZeros(magnitude)) / 8
      out.write((if (value < 0) -120 else -112) - count)
      var shift = (count - 1) * 8
      while (shift >= 0) {
        out.write((magnitude >>> shift).toInt & 0xff)
        shift -= 8
      }
    }

  /** Length in bytes of the Hadoop vint that starts with `first`, itself included. */
  def hadoopSize(first: Byte): Int =
    if (first >= -112) 1 else if (first >= -120) -111 - first else -119 - first
}
