package hudiidx.storage

import java.io.{IOException, OutputStream}
import java.nio.file.AccessDeniedException
import scala.collection.concurrent.TrieMap
import java.util.concurrent.atomic.{AtomicInteger, AtomicLong}

/** Does what another does; those below differ in some calls. */
class PassingStorage(inner: Storage) extends Storage {
  override def list(dir: String): Vector[FileInfo] = inner.list(dir)
  override def status(path: String): Option[FileInfo] = inner.status(path)
  override def open(path: String): RandomReader = inner.open(path)
  override def readAll(path: String): Array[Byte] = inner.readAll(path)
  override def write(path: String)(content: OutputStream => Unit): Unit = inner.write(path)(content)
  override def writeInPlace(path: String)(content: OutputStream => Unit): Unit = inner.writeInPlace(path)(content)
  override def replace(path: String, content: Array[Byte]): Unit = inner.replace(path, content)
  override def touch(path: String): Unit = inner.touch(path)
  override def publish(path: String, content: Array[Byte]): Boolean = inner.publish(path, content)
  override def delete(path: String): Boolean = inner.delete(path)
  override def deleteOne(path: String): Boolean = inner.deleteOne(path)
  override def isLink(path: String): Boolean = inner.isLink(path)
  override def resolved(path: String): String = inner.resolved(path)
}

/** As a read-only or partly unreadable mount: what `denies` says of path and of writing is refused. */
final class DenyingStorage(inner: Storage, denies: (String, Boolean) => Boolean) extends Storage {
  override def list(dir: String): Vector[FileInfo] = reading(dir)(inner.list(dir))
  override def status(path: String): Option[FileInfo] = inner.status(path)
  override def open(path: String): RandomReader = reading(path)(inner.open(path))
  override def readAll(path: String): Array[Byte] = reading(path)(inner.readAll(path))
  override def write(path: String)(content: OutputStream => Unit): Unit = writing(path)(inner.write(path)(content))
  override def publish(path: String, content: Array[Byte]): Boolean = writing(path)(inner.publish(path, content))
  override def delete(path: String): Boolean = writing(path)(inner.delete(path))
  override def deleteOne(path: String): Boolean = writing(path)(inner.deleteOne(path))
  override def isLink(path: String): Boolean = inner.isLink(path)
  override def resolved(path: String): String = inner.resolved(path)

  private def reading[A](path: String)(call: => A): A =
    if (denies(path, false)) throw new AccessDeniedException(path) else call

  private def writing[A](path: String)(call: => A): A =
    if (denies(path, true)) throw new AccessDeniedException(path) else call
}

object DenyingStorage {
  def readOnlyBelow(dir: String): Storage =
    new DenyingStorage(LocalStorage, (path, write) => write && path.startsWith(dir))

  def unreadable(path: String): Storage = new DenyingStorage(LocalStorage, (p, write) => !write && p == path)
}

/** How often each file was read whole, by its name. */
final class ReadsStorage(inner: Storage) extends PassingStorage(inner) {
  private val counts = TrieMap.empty[String, Int]

  def reads: Map[String, Int] = counts.toMap.withDefaultValue(0)

  override def readAll(path: String): Array[Byte] = {
    val name = path.substring(path.lastIndexOf('/') + 1)
    counts(name) = counts.getOrElse(name, 0) + 1
    super.readAll(path)
  }
}

/** A disk with room for so many bytes. */
final class FullStorage(inner: Storage, capacityBytes: Long) extends PassingStorage(inner) {
  private val left = new AtomicLong(capacityBytes)

  override def write(path: String)(content: OutputStream => Unit): Unit =
    inner.write(path)(out => content(new Limited(out)))

  override def writeInPlace(path: String)(content: OutputStream => Unit): Unit = write(path)(content)

  override def publish(path: String, content: Array[Byte]): Boolean = {
    take(content.length)
    inner.publish(path, content)
  }

  private def take(bytes: Int): Unit =
    if (left.addAndGet(-bytes.toLong) < 0) throw new IOException("No space left on device")

  private final class Limited(out: OutputStream) extends OutputStream {
    override def write(b: Int): Unit = {
      take(1)
      out.write(b)
    }
    override def write(b: Array[Byte], off: Int, len: Int): Unit = {
      take(len)
      out.write(b, off, len)
    }
    override def flush(): Unit = out.flush()
  }
}

/** A disk that is full from so many calls on that write; from then on files can be read and removed. */
final class FillingStorage(inner: Storage, room: Int) extends PassingStorage(inner) {
  private val calls = new AtomicInteger

  def writes: Int = calls.get

  override def write(path: String)(content: OutputStream => Unit): Unit = taking(super.write(path)(content))
  override def writeInPlace(path: String)(content: OutputStream => Unit): Unit =
    taking(super.writeInPlace(path)(content))
  override def replace(path: String, content: Array[Byte]): Unit = taking(super.replace(path, content))
  override def publish(path: String, content: Array[Byte]): Boolean = taking(super.publish(path, content))

  private def taking[A](call: => A): A =
    if (calls.incrementAndGet() > room) throw new IOException("No space left on device") else call
}

/** One file has other bytes than on storage. */
final class ReplacingStorage(inner: Storage, replaced: String, bytes: Array[Byte]) extends PassingStorage(inner) {
  override def status(path: String): Option[FileInfo] =
    inner.status(path).map(s => if (path == replaced) s.copy(sizeBytes = bytes.length.toLong) else s)
  override def open(path: String): RandomReader =
    if (path == replaced) new BytesReader(path, bytes) else inner.open(path)
  override def readAll(path: String): Array[Byte] = if (path == replaced) bytes else inner.readAll(path)
}
