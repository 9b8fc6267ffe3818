package hudiidx.storage

import hudiidx.RecentlyUsed
import java.io.IOException
import java.nio.ByteBuffer

/** A file of a store that is far, whose size is known: what is read of its end, where footers and indexes are, comes from one read of
  * all of it, which is kept. It is opened when more than that is read.
  *
  *  @param kept ends by the files that they are of
  */
private[hudiidx] final class EndReader(
    override val stamp: FileStamp,
    kept: RecentlyUsed[FileStamp, Array[Byte]],
    open: () => RandomReader
) extends RandomReader {
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

  private def isInEnd(offset: Long, length: Int): Boolean =
    offset >= from && length > 0 && length <= sizeBytes - offset

  private def end: Array[Byte] = kept.getOrPut(stamp) {
    val bytes = new Array[Byte]((sizeBytes - from).toInt)
    under.readInto(from, bytes.length, bytes)
    bytes
  }

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

  /** As much as readers of HFiles and of Parquet's footers read at first. */
  val EndBytes: Int = 64 << 10
}

/** The storage of one task, which says what files it opens next: where the store is far their ends are read at the same time. Files
  * that are opened by name alone are read as always.
  */
private[hudiidx] final class EndsAhead(under: Storage) extends ForwardingStorage(under) {
  private val kept =
    new RecentlyUsed[FileStamp, Array[Byte]](2L * EndsAhead.Files * EndReader.EndBytes)(_.length.toLong)

  /** The items, each after the ends of it and of some that follow are there.
    *
    *  @param fileOf None: nothing of it is read ahead
    */
  def over[A](items: Vector[A])(fileOf: A => Option[FileInfo]): Iterator[A] =
    if (!items.iterator.flatMap(fileOf(_).iterator).take(1).exists(f => under.isFar(f.path))) items.iterator
    else
      items.grouped(EndsAhead.Files).flatMap { some =>
        val files = some.flatMap(fileOf(_)).filter(_.sizeBytes > 0)
        files.headOption.foreach(first => under.atOnce(first.path)(files.map(f => () => fetch(f))))
        some
      }

  /** What is wrong with a file is found out when it is opened. */
  private def fetch(file: FileInfo): Unit =
    try {
      val reader = new EndReader(file.stamp, kept, () => under.open(file))
      try reader.fetch()
      finally reader.close()
    } catch { case _: IOException => () }

  override def open(file: FileInfo): RandomReader =
    if (kept.get(file.stamp) == null) under.open(file) else new EndReader(file.stamp, kept, () => under.open(file))
}

private object EndsAhead {
  val Files = 16
}
