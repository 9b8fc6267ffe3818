package hudiidx.storage

import java.io.EOFException
import java.nio.ByteBuffer

/** Bytes in memory as an open file. The bytes are not copied and must not change. */
final class BytesReader(val path: String, bytes: Array[Byte]) extends RandomReader {
  def sizeBytes: Long = bytes.length.toLong

  lazy val stamp: FileStamp = FileStamp.ofMemory(path, sizeBytes)

  def read(offset: Long, length: Int): ByteBuffer = {
    require(offset >= 0 && length >= 0, s"range of $length bytes at $offset")
    if (offset + length > bytes.length)
      throw new EOFException(s"$path: $length bytes at $offset pass the end (${bytes.length})")
    ByteBuffer.wrap(bytes, offset.toInt, length).slice()
  }

  def close(): Unit = ()
}
