package hudiidx.merge

import hudiidx.bytes.Bytes
import hudiidx.storage.{BytesReader, FileInfo, RandomReader, Storage}
import java.io.OutputStream
import scala.collection.mutable

/** Reads whole files at their first opening and keeps them while they fit into a budget: a slice's log is walked for its
  * blocks, for its keys and for its rows. Files that do not fit are read piece by piece each time. For one thread.
  *
  * @param holds false: the file is read piece by piece whatever its size
  */
final class HeldFiles(under: Storage, budgetBytes: Long, holds: String => Boolean = _ => true) extends Storage {
  private val held = mutable.HashMap.empty[String, Array[Byte]]
  private var left = budgetBytes

  override def open(path: String): RandomReader = held.get(path) match {
    case Some(bytes) => new BytesReader(path, bytes)
    case None        => opened(path)
  }

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

  override def list(dir: String): Vector[FileInfo] = under.list(dir)
  override def status(path: String): Option[FileInfo] = under.status(path)
  override def readAll(path: String): Array[Byte] = under.readAll(path)
  override def write(path: String)(content: OutputStream => Unit): Unit = under.write(path)(content)
  override def writeOnce(path: String)(content: OutputStream => Unit): Unit = under.writeOnce(path)(content)
  override def publish(path: String, content: Array[Byte]): Boolean = under.publish(path, content)
  override def delete(path: String): Boolean = under.delete(path)
  override def deleteFile(path: String): Unit = under.deleteFile(path)
  override def deleteOne(path: String): Boolean = under.deleteOne(path)
  override def isFar(path: String): Boolean = under.isFar(path)
  override def atOnce[A](path: String)(calls: Vector[() => A]): Vector[A] = under.atOnce(path)(calls)
  override def isLink(path: String): Boolean = under.isLink(path)
  override def resolved(path: String): String = under.resolved(path)
}
