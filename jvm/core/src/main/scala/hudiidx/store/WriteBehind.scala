package hudiidx.store

import hudiidx.storage.{FileInfo, ForwardingStorage, RandomReader, Storage}
import java.io.{IOException, OutputStream}
import scala.collection.immutable.ListMap
import scala.util.{Failure, Try}

/** Index files on a store that is far, whose ends it takes while others are written. A file is there before it is asked for through this
  * storage, and all are before anything is published or `settle` returns. IndexNotWritable if one could not be written, again and
  * again, but for scratch files, which no version names: who is told may make another. Elsewhere files are written at once.
  */
private[hudiidx] final class WriteBehind(under: Storage) extends ForwardingStorage(under) {

  /** Those that may not be there yet, the oldest first; calling one waits for it. */
  private var ends = ListMap.empty[String, WriteBehind.Pending]

  override def writeOnce(path: String)(content: OutputStream => Unit): Unit =
    if (isFar(path)) begin(path, isScratch = false, content) else under.writeOnce(path)(content)

  override def writeScratch(path: String)(content: OutputStream => Unit): Unit =
    if (isFar(path)) begin(path, isScratch = true, content) else under.writeScratch(path)(content)

  private def begin(path: String, isScratch: Boolean, content: OutputStream => Unit): Unit = {
    val pending = WriteBehind.Pending(under.writeBehind(path)(content), isScratch)
    synchronized(ends += path -> pending)
    val tooMany = synchronized(ends.keys.take(ends.size - WriteBehind.Most).toVector)
    tooMany.foreach(first => settle(_ == first))
  }

  /** Returns when all files are there. */
  def settle(): Unit = settle(_ => true)

  /** Waits for what is on its way, and forgets what could not be written: nothing will name it. */
  def abandon(): Unit = forget(_ => true)

  private def settle(isMeant: String => Boolean): Unit =
    ended(isMeant).collectFirst { case (path, Failure(e)) => throw notWritten(path, e) }: Unit

  /** Waits for these files. One that could not be written stays known, so that nothing that names it is published. */
  private def ended(isMeant: String => Boolean): Vector[(String, Try[Unit])] = {
    val outcomes = synchronized(ends).toVector.collect { case (path, p) if isMeant(path) => (path, p, Try(p.end())) }
    val known = outcomes.collect { case (path, p, outcome) if outcome.isSuccess || p.isScratch => path }
    synchronized(ends --= known)
    outcomes.map { case (path, _, outcome) => path -> outcome }
  }

  private def notWritten(path: String, e: Throwable): Throwable = e match {
    case io: IOException => IndexStore.notWritable(path, io)
    case other           => other
  }

  /** What is removed need not have been written. */
  private def forget(isMeant: String => Boolean): Unit = {
    val gone = ended(isMeant).map(_._1)
    synchronized(ends --= gone)
  }

  private def below(dir: String): String => Boolean = path => path == dir || path.startsWith(dir + "/")

  override def list(dir: String): Vector[FileInfo] = {
    settle(below(dir))
    under.list(dir)
  }

  override def status(path: String): Option[FileInfo] = {
    settle(below(path))
    under.status(path)
  }

  override def filesBelow(dir: String): Vector[FileInfo] = {
    settle(below(dir))
    under.filesBelow(dir)
  }

  override def isThere(path: String): Boolean = {
    settle(below(path))
    under.isThere(path)
  }

  override def open(path: String): RandomReader = {
    settle(_ == path)
    under.open(path)
  }

  override def open(file: FileInfo): RandomReader = {
    settle(_ == file.path)
    under.open(file)
  }

  override def readAll(path: String): Array[Byte] = {
    settle(_ == path)
    under.readAll(path)
  }

  override def readAll(file: FileInfo): Array[Byte] = {
    settle(_ == file.path)
    under.readAll(file)
  }

  override def publish(path: String, content: Array[Byte]): Boolean = {
    settle()
    under.publish(path, content)
  }

  override def replace(path: String, content: Array[Byte]): Unit = {
    settle()
    under.replace(path, content)
  }

  override def delete(path: String): Boolean = {
    forget(below(path))
    under.delete(path)
  }

  override def deleteOne(path: String): Boolean = {
    forget(below(path))
    under.deleteOne(path)
  }

  override def deleteFile(path: String): Unit = {
    forget(_ == path)
    under.deleteFile(path)
  }

  // Whoever holds this one is asked for what it forwards at the same time too.
  override def writeBehind(path: String)(content: OutputStream => Unit): () => Unit = {
    writeOnce(path)(content)
    () => settle(_ == path)
  }
}

private[hudiidx] object WriteBehind {

  /** Of so many the ends may be on their way. */
  private val Most = 64

  /** @param end waits for the file */
  private final case class Pending(end: () => Unit, isScratch: Boolean)

  /** What `deed` gives, once all that it has written is there; where it fails nothing of it is on its way any more, unless it was
    * interrupted.
    */
  def of[A](under: Storage)(deed: WriteBehind => A): A = {
    val behind = new WriteBehind(under)
    val done =
      try deed(behind)
      catch {
        case e: Throwable =>
          behind.abandon()
          throw e
      }
    behind.settle()
    done
  }
}
