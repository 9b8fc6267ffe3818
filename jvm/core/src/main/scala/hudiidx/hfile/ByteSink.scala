package hudiidx.hfile

import java.nio.ByteBuffer

/** A growing array of bytes, big-endian, that can be read in place. */
private[hfile] final class ByteSink(initial: Int) extends java.io.OutputStream {
  private var buffer = ByteBuffer.allocate(math.max(16, initial))

  def size: Int = buffer.position()

  /** The bytes from 0 until `size`; replaced when the sink grows. */
  def array: Array[Byte] = buffer.array

  def clear(): Unit = buffer.clear()

  override def write(b: Int): Unit = {
    room(1)
    buffer.put(b.toByte)
  }

  override def write(bytes: Array[Byte], from: Int, length: Int): Unit = {
    room(length)
    buffer.put(bytes, from, length)
  }

  def short(value: Int): Unit = {
    room(2)
    buffer.putShort(value.toShort)
  }

  def int(value: Int): Unit = {
    room(4)
    buffer.putInt(value)
  }

  def long(value: Long): Unit = {
    room(8)
    buffer.putLong(value)
  }

  private def room(bytes: Int): Unit =
    if (buffer.remaining < bytes) {
      val needed = buffer.position().toLong + bytes
      require(needed < Int.MaxValue - 64, s"a block of $needed bytes is more than an HFile holds")
      val larger = ByteBuffer.allocate(math.min(Int.MaxValue - 64L, math.max(needed, buffer.capacity * 2L)).toInt)
      larger.put(buffer.array, 0, buffer.position())
      buffer = larger
    }
}
