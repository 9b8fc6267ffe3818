package hudiidx.log

import hudiidx.storage._
import java.io.OutputStream
import java.nio.file.NoSuchFileException

/** Files in memory, to be read only. Counts those that are open. */
final class MemoryStorage(files: Map[String, Array[Byte]]) extends Storage {
  var opened = 0

  override def open(path: String): RandomReader = {
    val bytes = files.getOrElse(path, throw new NoSuchFileException(path))
    opened += 1
    val under = new BytesReader(path, bytes)
    new RandomReader {
      override def path: String = under.path
      override def sizeBytes: Long = under.sizeBytes
      override def stamp: FileStamp = under.stamp
      override def read(offset: Long, length: Int): java.nio.ByteBuffer = under.read(offset, length)
      override def close(): Unit = opened -= 1
    }
  }

  override def readAll(path: String): Array[Byte] = files.getOrElse(path, throw new NoSuchFileException(path))
  override def list(dir: String): Vector[FileInfo] = files.toVector.sortBy(_._1).collect {
    case (path, bytes) if path.startsWith(dir + "/") && path.lastIndexOf('/') == dir.length =>
      FileInfo(path, bytes.length.toLong, 1L, isDirectory = false)
  }
  override def status(path: String): Option[FileInfo] = None
  override def write(path: String)(content: OutputStream => Unit): Unit = throw new UnsupportedOperationException(path)
  override def publish(path: String, content: Array[Byte]): Boolean = throw new UnsupportedOperationException(path)
  override def delete(path: String): Boolean = throw new UnsupportedOperationException(path)
}
