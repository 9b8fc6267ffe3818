package hudiidx.storage

import java.io.EOFException
import java.nio.ByteBuffer

/** A range of a file as a file, whose path is `<file>@<offset>`. Closing it leaves the file open. */
final class RangeReader(under: RandomReader, from: Long, val sizeBytes: Long) extends RandomReader {
  val path: String = s"${under.path}@$from"

  lazy val stamp: FileStamp = under.stamp.part(path)

  def read(offset: Long, length: Int): ByteBuffer = {
    require(offset >= 0 && length >= 0, s"range of $length bytes at $offset")
    if (offset > sizeBytes - length)
      throw new EOFException(s"$path: $length bytes at $offset pass the end ($sizeBytes)")
    under.read(from + offset, length)
  }

  def close(): Unit = ()
}
