package hudiidx.store

import hudiidx.RecentlyUsed
import hudiidx.bytes.Bytes
import hudiidx.storage.{FileStamp, RandomReader}
import java.nio.ByteBuffer

/** A file of an index on a store that is far: what is read of its end, where footers and indexes are, comes from one read of all of
  * it, which is kept for the process. No other file ever bears its name. It is opened when more than that is read.
  */
private[hudiidx] final class EndReader(override val stamp: FileStamp, open: () => RandomReader) extends RandomReader {
  private val from = math.max(0L, stamp.sizeBytes - EndReader.EndBytes)
  private var opened = Option.empty[RandomReader]

  override def path: String = stamp.path
  override def sizeBytes: Long = stamp.sizeBytes

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

  private def under: RandomReader = synchronized {
    opened.getOrElse {
      val reader = open()
      opened = Some(reader)
      reader
    }
  }

  override def close(): Unit = synchronized(opened.foreach(_.close()))
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
