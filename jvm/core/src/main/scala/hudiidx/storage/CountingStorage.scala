package hudiidx.storage

import java.io.OutputStream
import java.nio.ByteBuffer
import java.util.concurrent.atomic.AtomicLong

/** Calls so far, by kind, and the bytes that reads returned. */
final case class StorageCounts(
    list: Long,
    status: Long,
    open: Long,
    read: Long,
    readAll: Long,
    write: Long,
    publish: Long,
    delete: Long,
    bytesRead: Long
)

/** Passes everything on and counts it. */
final class CountingStorage(inner: Storage) extends Storage {
  private val lists, statuses, opens, reads, readAlls, writes, publishes, deletes, bytes = new AtomicLong

  def counts: StorageCounts = StorageCounts(
    lists.get,
    statuses.get,
    opens.get,
    reads.get,
    readAlls.get,
    writes.get,
    publishes.get,
    deletes.get,
    bytes.get
  )

  def reset(): Unit =
    Seq(lists, statuses, opens, reads, readAlls, writes, publishes, deletes, bytes).foreach(_.set(0))

  override def list(dir: String): Vector[FileInfo] = {
    lists.incrementAndGet()
    inner.list(dir)
  }

  override def status(path: String): Option[FileInfo] = {
    statuses.incrementAndGet()
    inner.status(path)
  }

  override def filesBelow(dir: String): Vector[FileInfo] = {
    lists.incrementAndGet()
    inner.filesBelow(dir)
  }

  override def isThere(path: String): Boolean = {
    statuses.incrementAndGet()
    inner.isThere(path)
  }

  override def open(path: String): RandomReader = opening(inner.open(path))

  override def open(file: FileInfo): RandomReader = opening(inner.open(file))

  override def readAll(path: String): Array[Byte] = reading(inner.readAll(path))

  override def readAll(file: FileInfo): Array[Byte] = reading(inner.readAll(file))

  private def opening(reader: => RandomReader): RandomReader = {
    opens.incrementAndGet()
    new CountingReader(reader)
  }

  private def reading(all: => Array[Byte]): Array[Byte] = {
    readAlls.incrementAndGet()
    val content = all
    bytes.addAndGet(content.length.toLong)
    content
  }

  override def write(path: String)(content: OutputStream => Unit): Unit = {
    writes.incrementAndGet()
    inner.write(path)(content)
  }

  override def writeOnce(path: String)(content: OutputStream => Unit): Unit = {
    writes.incrementAndGet()
    inner.writeOnce(path)(content)
  }

  override def writeScratch(path: String)(content: OutputStream => Unit): Unit = {
    writes.incrementAndGet()
    inner.writeScratch(path)(content)
  }

  override def writeInPlace(path: String)(content: OutputStream => Unit): Unit = {
    writes.incrementAndGet()
    inner.writeInPlace(path)(content)
  }

  override def replace(path: String, content: Array[Byte]): Unit = {
    writes.incrementAndGet()
    inner.replace(path, content)
  }

  override def touch(path: String): Unit = {
    writes.incrementAndGet()
    inner.touch(path)
  }

  override def publish(path: String, content: Array[Byte]): Boolean = {
    publishes.incrementAndGet()
    inner.publish(path, content)
  }

  override def delete(path: String): Boolean = {
    deletes.incrementAndGet()
    inner.delete(path)
  }

  override def deleteOne(path: String): Boolean = {
    deletes.incrementAndGet()
    inner.deleteOne(path)
  }

  override def deleteFile(path: String): Unit = {
    deletes.incrementAndGet()
    inner.deleteFile(path)
  }

  override def isFar(path: String): Boolean = inner.isFar(path)

  override def atOnce[A](path: String)(calls: Vector[() => A]): Vector[A] = inner.atOnce(path)(calls)

  override def isLink(path: String): Boolean = inner.isLink(path)

  override def resolved(path: String): String = inner.resolved(path)

  private final class CountingReader(reader: RandomReader) extends RandomReader {
    override def path: String = reader.path
    override def sizeBytes: Long = reader.sizeBytes
    override def stamp: FileStamp = reader.stamp
    override def close(): Unit = reader.close()
    override def read(offset: Long, length: Int): ByteBuffer = {
      count(length)
      reader.read(offset, length)
    }
    override def readInto(offset: Long, length: Int, target: Array[Byte]): Unit = {
      count(length)
      reader.readInto(offset, length, target)
    }
    private def count(length: Int): Unit = {
      reads.incrementAndGet()
      bytes.addAndGet(length.toLong)
    }
  }
}
