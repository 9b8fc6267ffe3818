package hudiidx.hfile

import hudiidx.bytes.Bytes
import hudiidx.storage.{FileStamp, RandomReader}
import java.io.EOFException

/** Makes the errors of one file. A block keeps it for as long as a cache keeps the block, so it has no reader in it. */
private[hfile] final class Damage(path: String, error: String => RuntimeException) {
  def fail(what: String, offset: Long): Nothing = throw error(s"$path: $what at offset $offset")
}

/** The file that an HFile reader reads: ranges of bytes, with errors of one kind. A file no longer than `tailBytes` is
  * held whole after the first read.
  */
private[hfile] final class Source(
    reader: RandomReader,
    val damaged: String => RuntimeException,
    counters: HFileCounters,
    tailBytes: Int
) {
  val path: String = reader.path
  val stamp: FileStamp = reader.stamp
  val damage = new Damage(path, damaged)
  val size: Long = reader.sizeBytes

  /** The end of the file, read once when it is opened; dropped by `trim`. */
  private var tailFrom: Long = math.max(0L, size - tailBytes)
  private var tail: Array[Byte] = fetch(tailFrom, (size - tailFrom).toInt)

  def fail(what: String, offset: Long): Nothing = damage.fail(what, offset)

  /** Exactly the bytes asked for, which the caller has checked to lie in the file. */
  def read(offset: Long, length: Int): Array[Byte] =
    if (offset >= tailFrom && tail.length > 0) {
      val from = (offset - tailFrom).toInt
      java.util.Arrays.copyOfRange(tail, from, from + length)
    } else fetch(offset, length)

  /** As above, at the start of `target`, which is given back. */
  def read(offset: Long, length: Int, target: Array[Byte]): Array[Byte] = {
    if (offset >= tailFrom && tail.length > 0) System.arraycopy(tail, (offset - tailFrom).toInt, target, 0, length)
    else {
      try reader.readInto(offset, length, target)
      catch { case _: EOFException => cut(offset, length) }
      counters.readDone(length.toLong)
    }
    target
  }

  private def cut(offset: Long, length: Int): Nothing = fail(s"file of $size bytes ends before $length bytes", offset)

  /** Lets the tail go once the load-on-open section is read, unless it is the whole file. */
  def trim(): Unit = if (tailFrom > 0) {
    tail = Array.emptyByteArray
    tailFrom = size
  }

  private def fetch(offset: Long, length: Int): Array[Byte] = {
    val buffer =
      try reader.read(offset, length)
      catch { case _: EOFException => cut(offset, length) }
    counters.readDone(length.toLong)
    Bytes.ofBuffer(buffer)
  }
}
