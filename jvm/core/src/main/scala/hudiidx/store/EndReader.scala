package hudiidx.store

import hudiidx.bytes.{Bytes, RecentlyUsed}
import hudiidx.storage.{FileStamp, RandomReader}
import java.nio.ByteBuffer

/** A file of an index on a store that is far: what is read of its end, where footers and indexes are, comes from one read of all of
  * it, which is kept for the process. No other file ever bears its name.
  */
private[hudiidx] final class EndReader(under: RandomReader) extends RandomReader {
  private val from = math.max(0L, under.sizeBytes - EndReader.EndBytes)

  override def path: String = under.path
  override def sizeBytes: Long = under.sizeBytes
  override def stamp: FileStamp = under.stamp

  /** Reads the end now, if it is not there. */
  def fetch(): Unit = end: Unit

  override def read(offset: Long, length: Int): ByteBuffer =
    if (isInEnd(offset, length)) {
      val at = (offset - from).toInt
      ByteBuffer.wrap(java.util.Arrays.copyOfRange(end, at, at + length))
    } else under.read(offset, length)

  override def readInto(offset: Long, length: Int, target: Array[Byte]): Unit =
    if (isInEnd(offset, length)) System.arraycopy(end, (offset - from).toInt, target, 0, length)
    else under.readInto(offset, length, target)

  private def isInEnd(offset: Long, length: Int): Boolean = offset >= from && length > 0

  private def end: Array[Byte] =
    EndReader.kept.getOrPut(stamp)(Bytes.ofBuffer(under.read(from, (sizeBytes - from).toInt)))

  override def close(): Unit = under.close()
}

private[hudiidx] object EndReader {

  /** As much as HFile readers read at first. */
  val EndBytes: Int = 64 << 10
  private val MostBytes = 32L << 20
  private val kept = new RecentlyUsed[FileStamp, Array[Byte]](MostBytes)(_.length.toLong)

  /** Keeps a file that was written here, all of it. */
  def keep(path: String, content: Array[Byte]): Unit =
    kept.put(FileStamp(path, content.length.toLong, 0L, ""), content)

  /** Forgets all, as a process that begins. */
  def clear(): Unit = kept.clear()
}
