package hudiidx.storage

import java.io.{EOFException, IOException}
import java.nio.{ByteBuffer, MappedByteBuffer}
import java.nio.channels.FileChannel
import java.nio.file.Paths
import java.util.concurrent.atomic.{AtomicInteger, AtomicLong}

/** Reads of a local file through a mapping, once so much of it was read that one is worth making: bytes go from the page
  * cache to the caller's array in one copy, where a positional read makes two and a call.
  *
  * Bytes are only ever copied out, and the file's size is looked at before each copy: a file that was cut meanwhile is an
  * EOFException as with any other read. A cut between that look and the copy is an InternalError of whatever the thread does later,
  * so that a file which others may cut is not mapped. Safe for several threads, also while it is closed.
  */
private[storage] final class MappedFile(path: String, channel: FileChannel, sizeBytes: Long) {
  import MappedFile._

  private val users = new AtomicInteger // reads under way, and Closed once it is closed
  private val bytesRead = new AtomicLong
  private var mapping: MappedByteBuffer = _
  @volatile private var mapped: MappedByteBuffer = _
  @volatile private var refused = sizeBytes > MostBytes

  /** True if the bytes were copied to the start of `target`; false if the file must be read otherwise. */
  def copy(offset: Long, length: Int, target: Array[Byte]): Boolean = !refused && enter() && {
    try {
      val from = if (mapped != null) mapped else mapAfter(length)
      from != null && {
        copy(from, offset, length, target)
        true
      }
    } finally leave()
  }

  /** What is mapped and no longer in the file must not be touched: the virtual machine tells of it later, at any place. */
  private def copy(from: MappedByteBuffer, offset: Long, length: Int, target: Array[Byte]): Unit = {
    val end = offset + length
    if (channel.size() < end)
      throw new EOFException(s"$path: the file ends before offset $end; it was cut while being read")
    try from.get(offset.toInt, target, 0, length)
    catch {
      case e: InternalError =>
        throw new IOException(s"$path: $length bytes at offset $offset cannot be read (${e.getMessage})", e)
    }
  }

  private def mapAfter(length: Int): MappedByteBuffer =
    if (bytesRead.addAndGet(length.toLong) < WorthBytes) null else map()

  private def map(): MappedByteBuffer = synchronized {
    if (mapping == null && !refused) {
      if (total.addAndGet(sizeBytes) > MostBytes || !FileOwner.isOursAlone(Paths.get(LocalStorage.absolute(path))))
        refuse()
      else
        try mapping = channel.map(FileChannel.MapMode.READ_ONLY, 0, sizeBytes)
        catch { case _: IOException | _: UnsupportedOperationException => refuse() }
      mapped = mapping
    }
    mapping
  }

  private def refuse(): Unit = {
    total.addAndGet(-sizeBytes)
    refused = true
  }

  private def enter(): Boolean = {
    var n = users.get
    while (n < Closed && !users.compareAndSet(n, n + 1)) n = users.get
    n < Closed
  }

  private def leave(): Unit = if (users.decrementAndGet() == Closed) unmap()

  /** The mapping goes with the last read that is under way. */
  def close(): Unit = {
    var n = users.get
    while (n < Closed && !users.compareAndSet(n, n + Closed)) n = users.get
    if (n == 0) unmap()
  }

  private def unmap(): Unit = synchronized {
    if (mapping != null) {
      total.addAndGet(-sizeBytes)
      release(mapping)
      mapping = null
      mapped = null
    }
  }
}

private[storage] object MappedFile {

  /** Bytes of all mapped files together: they count as the process's memory where somebody watches that. */
  val MostBytes: Long = 1L << 30

  /** A file is mapped when so many bytes of it were read: single looks into many files map none. */
  private val WorthBytes = 1L << 20
  private val Closed = 1 << 30
  private val total = new AtomicLong

  /** Bytes of the files that are mapped now. */
  def totalBytes: Long = total.get

  // Java has no public way before 22; without this one the collector unmaps.
  private val cleaner: Option[ByteBuffer => Unit] =
    try {
      val unsafe = Class.forName("sun.misc.Unsafe")
      val field = unsafe.getDeclaredField("theUnsafe")
      field.setAccessible(true)
      val instance = field.get(null)
      val method = unsafe.getMethod("invokeCleaner", classOf[ByteBuffer])
      Some(b => method.invoke(instance, b): Unit)
    } catch { case _: ReflectiveOperationException | _: RuntimeException => None }

  private def release(mapping: ByteBuffer): Unit = cleaner.foreach(_(mapping))
}
