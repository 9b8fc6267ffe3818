package hudiidx.storage

import java.io.IOException
import java.nio.ByteBuffer
import java.nio.channels.ClosedChannelException

import scala.util.control.NonFatal

/** Owns the open files of readers that live for as long as somebody holds them: a DataFrame has no end at which its files could
  * be closed. A file that nobody read for a while is closed, and so is the one read least recently where there are too many. Its
  * reader opens it again when it reads, and takes no other file for it.
  *
  *  @param most      files that are open at a time; those that are being read count too, and stay open
  *  @param idleNanos after so long without a read a file is closed
  *  @param clock     nanoseconds from any start
  */
final class FilePool(most: Int, idleNanos: Long, clock: () => Long) {

  /** Files that are open, by the time of their last read, the oldest first. */
  private val open = new java.util.LinkedHashMap[PooledReader, Long](16, 0.75f, true)
  private var sweeper = Option.empty[Thread]

  /** As `Storage.open`, whose reader this takes over. */
  def open(storage: Storage, file: FileInfo): RandomReader =
    new PooledReader(this, () => storage.open(file), storage.open(file))

  /** Files that are open now. */
  def size: Int = synchronized(open.size)

  private[storage] def isSweeping: Boolean = synchronized(sweeper.nonEmpty)

  private[storage] def used(reader: PooledReader): Unit = {
    val now = clock()
    closeEach(synchronized {
      open.put(reader, now)
      if (sweeper.isEmpty) sweeper = Some(startSweeper())
      if (open.size > most) first(open.size - most) else Vector.empty
    })
  }

  private[storage] def forget(reader: PooledReader): Unit = synchronized(open.remove(reader): Unit)

  /** Closes what was idle for too long. */
  private[storage] def sweep(): Unit = {
    val now = clock()
    closeEach(synchronized {
      val all = open.entrySet.iterator
      var idle = 0
      while (all.hasNext && now - all.next().getValue >= idleNanos) idle += 1
      first(idle)
    })
  }

  /** Takes the oldest out, before they are closed: whoever opens one again meanwhile puts it back. */
  private def first(n: Int): Vector[PooledReader] = {
    val all = open.keySet.iterator
    Vector.fill(n) {
      val oldest = all.next()
      all.remove()
      oldest
    }
  }

  // Outside of the pool's lock: a store may take its time.
  private def closeEach(readers: Vector[PooledReader]): Unit =
    readers.foreach(r => if (!r.rest()) synchronized(open.putIfAbsent(r, clock()): Unit))

  /** Lives for as long as a file is open. */
  private def startSweeper(): Thread = {
    val thread = new Thread(() => while (isNeeded()) sweepLater(), "hudiidx-idle-files")
    thread.setDaemon(true)
    thread.start()
    thread
  }

  private def isNeeded(): Boolean = synchronized {
    if (open.isEmpty) sweeper = None
    !open.isEmpty
  }

  private def sweepLater(): Unit = {
    Thread.sleep(math.max(1L, idleNanos / 2000000))
    sweep()
  }
}

object FilePool {
  private val Most = 512
  private val IdleNanos = 60L * 1000 * 1000 * 1000

  /** Of this process. */
  val shared: FilePool = new FilePool(Most, IdleNanos, () => System.nanoTime())
}

private[storage] final class PooledReader(pool: FilePool, openAgain: () => RandomReader, opened: RandomReader)
    extends RandomReader {
  override val path: String = opened.path
  override val sizeBytes: Long = opened.sizeBytes
  override val stamp: FileStamp = opened.stamp

  private var file: RandomReader = opened // null while it is closed
  private var users = 0
  private var isClosed = false
  pool.used(this)

  override def read(offset: Long, length: Int): ByteBuffer = using(_.read(offset, length))

  override def readInto(offset: Long, length: Int, target: Array[Byte]): Unit =
    using(_.readInto(offset, length, target))

  private def using[A](read: RandomReader => A): A = {
    val from = enter()
    pool.used(this)
    val found =
      try Right(read(from))
      catch { case e: ClosedChannelException => Left(e) }
      finally leave()
    found match {
      case Right(value) => value
      // A thread that is interrupted while it reads closes the file for all who read it.
      case Left(e) =>
        forget(from)
        if (Thread.currentThread.isInterrupted) throw e else using(read)
    }
  }

  private def forget(closed: RandomReader): Unit = synchronized { if (file eq closed) file = null }

  private def enter(): RandomReader = synchronized {
    if (isClosed) throw new IOException(s"$path: the reader is closed")
    if (file == null) file = again()
    users += 1
    file
  }

  private def leave(): Unit = synchronized { users -= 1 }

  private def again(): RandomReader = {
    val found = openAgain()
    if (found.stamp != stamp) {
      found.close()
      throw new IOException(s"$path: another file than the one that was opened; open the table anew")
    }
    found
  }

  /** Closes the file until the next read; false if one is under way. */
  private[storage] def rest(): Boolean = synchronized {
    if (users == 0 && file != null) {
      try file.close()
      catch { case NonFatal(_) => () } // of a file that was read, and that nobody waits for
      file = null
    }
    users == 0
  }

  override def close(): Unit = {
    pool.forget(this)
    synchronized {
      isClosed = true
      if (file != null) file.close()
      file = null
    }
  }
}
