package hudiidx.storage

import java.nio.ByteBuffer
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.{Callable, Executors}

import scala.collection.JavaConverters._
import scala.util.Try

/** As a store that is a network away. Calls at once are made by threads of their own, or, `backwards`, from the last to the first with
  * `between` before each that follows another: any order may be, and others may write meanwhile.
  */
final class FarStorage(inner: Storage, backwards: Boolean = false, between: () => Unit = () => ())
    extends PassingStorage(inner) {
  val looks, opens = new AtomicInteger

  override def isFar(path: String): Boolean = true

  override def atOnce[A](path: String)(calls: Vector[() => A]): Vector[A] = {
    val found = if (backwards) fromTheLast(calls) else together(calls)
    found.map(_.get)
  }

  private def fromTheLast[A](calls: Vector[() => A]): Vector[Try[A]] = {
    var isFirst = true
    calls.reverse.map { call =>
      if (!isFirst) between()
      isFirst = false
      Try(call())
    }.reverse
  }

  private def together[A](calls: Vector[() => A]): Vector[Try[A]] =
    if (calls.size < 2) calls.map(call => Try(call()))
    else {
      val threads = Executors.newFixedThreadPool(calls.size)
      val tasks = calls.map(task)
      try threads.invokeAll(tasks.asJava).asScala.toVector.map(_.get)
      finally threads.shutdown()
    }

  private def task[A](call: () => A): Callable[Try[A]] = () => Try(call())

  override def status(path: String): Option[FileInfo] = {
    looks.incrementAndGet()
    super.status(path)
  }

  override def open(path: String): RandomReader = {
    opens.incrementAndGet()
    super.open(path)
  }

  /** As stores do that need not be asked: the file is what it is said to be, until bytes of it are read. */
  override def open(file: FileInfo): RandomReader = {
    opens.incrementAndGet()
    new RandomReader {
      override def path: String = file.path
      override def sizeBytes: Long = file.sizeBytes
      override def stamp: FileStamp = file.stamp
      override def close(): Unit = ()
      override def read(offset: Long, length: Int): ByteBuffer = {
        val reader = inner.open(path)
        try reader.read(offset, length)
        finally reader.close()
      }
    }
  }

  override def readAll(file: FileInfo): Array[Byte] = {
    val reader = open(file)
    val bytes = new Array[Byte](Storage.requireWhole(file.path, file.sizeBytes))
    try reader.readInto(0, bytes.length, bytes)
    finally reader.close()
    bytes
  }
}
