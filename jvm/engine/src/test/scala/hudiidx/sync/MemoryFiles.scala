package hudiidx.sync

import hudiidx.storage._
import java.io.{ByteArrayOutputStream, OutputStream}
import java.nio.file.{FileAlreadyExistsException, NoSuchFileException}
import java.time.Clock
import scala.collection.mutable

/** What comes before, or in the place of, a call of a store. */
trait CallOrder {
  def call[A](verb: String, path: String)(effect: => A): A
}

object AtOnce extends CallOrder {
  override def call[A](verb: String, path: String)(effect: => A): A = effect
}

/** Files in memory, and when they were written. */
final class MemoryFiles(clock: Clock) {
  private var count = 0L

  private final class Stored(path: String, val bytes: Array[Byte], val millis: Long) {
    private val number = count
    count += 1

    /** Names that differ by their tokens alone, which are chance, are listed in the order in which they came. */
    lazy val rank: (String, Long) = MemoryFiles.withoutTokens(path) -> number
  }
  private val stored = new java.util.TreeMap[String, Stored]

  /** Are told of each file that is published or removed, right behind it. */
  var onPublished: String => Unit = (_: String) => ()
  var onRemoved: String => Unit = (_: String) => ()

  def get(path: String): Option[Array[Byte]] = Option(stored.get(path)).map(_.bytes)
  def has(path: String): Boolean = stored.containsKey(path)
  def millisOf(path: String): Option[Long] = Option(stored.get(path)).map(_.millis)

  def put(path: String, bytes: Array[Byte]): Unit = stored.put(path, new Stored(path, bytes, clock.millis())): Unit

  def publish(path: String, bytes: Array[Byte]): Boolean = {
    val isFirst = stored.putIfAbsent(path, new Stored(path, bytes, clock.millis())) == null
    if (isFirst) onPublished(path)
    isFirst
  }

  def remove(path: String): Boolean = {
    val below = mutable.ArrayBuffer.empty[String]
    var next = stored.ceilingKey(path)
    while (next != null && next.startsWith(path)) {
      if (next.length == path.length || next.charAt(path.length) == '/') below += next
      next = stored.higherKey(next)
    }
    below.foreach { p =>
      stored.remove(p)
      onRemoved(p)
    }
    below.nonEmpty
  }

  def isFolder(path: String): Boolean = Option(stored.ceilingKey(path + "/")).exists(_.startsWith(path + "/"))

  def info(path: String): FileInfo = {
    val file = stored.get(path)
    FileInfo(path, file.bytes.length.toLong, file.millis, isDirectory = false)
  }

  def list(dir: String): Vector[FileInfo] = {
    val prefix = dir + "/"
    val found = Vector.newBuilder[((String, Long), FileInfo)]
    var next = stored.ceilingKey(prefix)
    while (next != null && next.startsWith(prefix)) {
      val end = next.indexOf('/', prefix.length)
      if (end < 0) {
        found += stored.get(next).rank -> info(next)
        next = stored.higherKey(next)
      } else {
        val name = next.substring(0, end)
        found += (MemoryFiles.withoutTokens(name) -> 0L) -> MemoryFiles.folder(name)
        // Past all that is in it.
        next = stored.ceilingKey(name + ('/' + 1).toChar)
      }
    }
    found.result().sortBy(_._1).map(_._2)
  }
}

object MemoryFiles {
  private val Token = "(?<=[./-])[0-9a-z]{10}(?=[./])|(?<=-)[0-9a-z]{10}$".r

  /** A call or path without what is chance in names of index files. */
  def withoutTokens(path: String): String = if (path.contains("/hudiidx/")) Token.replaceAllIn(path, "token") else path

  def folder(path: String): FileInfo = FileInfo(path, 0, 0, isDirectory = true)
}

/** Files in memory as one actor sees them, whose calls come in some order with others'. */
final class SteppedStorage(files: MemoryFiles, order: CallOrder) extends Storage {

  /** Number of the index version that was read last. */
  var versionRead = 0L

  override def list(dir: String): Vector[FileInfo] = order.call("list", dir)(files.list(dir))

  override def status(path: String): Option[FileInfo] = order.call("status", path) {
    if (files.has(path)) Some(files.info(path))
    else if (files.isFolder(path)) Some(MemoryFiles.folder(path))
    else None
  }

  override def open(path: String): RandomReader = {
    val under = new BytesReader(path, readAll(path))
    val file = if (files.has(path)) files.info(path).stamp else under.stamp
    new RandomReader {
      override def path: String = under.path
      override def sizeBytes: Long = under.sizeBytes
      override def stamp: FileStamp = file
      override def read(offset: Long, length: Int): java.nio.ByteBuffer =
        order.call("read of", path)(under.read(offset, length))
      override def close(): Unit = ()
    }
  }

  override def readAll(path: String): Array[Byte] = order.call("read", path) {
    if (path.contains("/versions/")) versionRead = path.substring(path.lastIndexOf('/') + 1).takeWhile(_.isDigit).toLong
    files.get(path).getOrElse(throw new NoSuchFileException(path))
  }

  override def write(path: String)(content: OutputStream => Unit): Unit = {
    val out = new ByteArrayOutputStream
    content(out)
    if (!publish(path, out.toByteArray)) throw new FileAlreadyExistsException(path)
  }

  override def replace(path: String, content: Array[Byte]): Unit =
    order.call("replace", path)(files.put(path, content))

  override def touch(path: String): Unit =
    order.call("touch", path)(files.get(path).foreach(files.put(path, _)))

  override def publish(path: String, content: Array[Byte]): Boolean =
    order.call("publish", path)(files.publish(path, content))

  override def delete(path: String): Boolean = order.call("delete", path)(files.remove(path))
}
