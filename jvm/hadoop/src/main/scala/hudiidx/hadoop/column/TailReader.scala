package hudiidx.hadoop.column

import java.nio.ByteBuffer

import hudiidx.storage.RandomReader

/** Reads the end of a file once, so that a footer costs one request and not three. */
private[column] final class TailReader(under: RandomReader, tailBytes: Int = TailReader.TailBytes)
    extends RandomReader {
  override val path: String = under.path
  override val sizeBytes: Long = under.sizeBytes
  private val from = math.max(0L, sizeBytes - tailBytes)
  private lazy val tail = under.read(from, (sizeBytes - from).toInt)

  override def read(offset: Long, length: Int): ByteBuffer =
    if (offset < from || length < 0 || length > sizeBytes - offset) under.read(offset, length)
    else {
      val part = tail.duplicate()
      part.position(tail.position() + (offset - from).toInt)
      part.limit(part.position() + length)
      part.slice()
    }

  override def close(): Unit = under.close()
}

private object TailReader {

  /** More than the footer of a file of a few hundred columns and a few row groups. */
  val TailBytes: Int = 64 << 10
}
