package hudiidx.merge

import hudiidx.bytes.Bytes
import hudiidx.storage.{BytesReader, FileInfo, ForwardingStorage, RandomReader, Storage}
import scala.collection.mutable

/** Reads whole files at their first opening and keeps them while they fit into a budget: a slice's log is walked for its
  * blocks, for its keys and for its rows. Files that do not fit are read piece by piece each time. For one thread.
  *
  * @param holds false: the file is read piece by piece whatever its size
  */
final class HeldFiles(under: Storage, budgetBytes: Long, holds: String => Boolean = _ => true)
    extends ForwardingStorage(under) {
  private val held = mutable.HashMap.empty[String, Array[Byte]]
  private var left = budgetBytes

  override def open(path: String): RandomReader = held.get(path) match {
    case Some(bytes) => new BytesReader(path, bytes)
    case None        => opened(path)
  }

  override def open(file: FileInfo): RandomReader = open(file.path)

  /** Forgets what is held; files are read from below from here on. */
  def release(): Unit = {
    held.clear()
    left = 0L
  }

  private def opened(path: String): RandomReader = {
    val reader = under.open(path)
    val size = reader.sizeBytes
    if (size > left || !holds(path) || size > Int.MaxValue - 16) reader
    else
      try {
        val bytes = Bytes.ofBuffer(reader.read(0L, size.toInt))
        left -= size
        held.put(path, bytes)
        new BytesReader(path, bytes)
      } finally reader.close()
  }
}
