package hudiidx.write

import hudiidx.WriteConflict
import hudiidx.storage.Storage
import hudiidx.sync.TableContext
import java.nio.file.NoSuchFileException
import scala.util.Try
import scala.util.control.NonFatal

/** The step from a write that may be rolled back to one that is complete: a record that excludes every other end, then the file that
  * makes the write visible. What the store does not tell is a WriteUnknown.
  *
  * @param table as the write began on it
  */
private[write] final class WriteDecision(table: TableContext, instant: String, kind: WriteKind, beating: Beating) {
  private def storage: Storage = table.storage

  private def epochs: Epochs = new Epochs(storage, table.tablePath)

  private var mayBe = false

  /** The write is visible, or may become so: nothing of it is rolled back. */
  def mayBeVisible: Boolean = mayBe

  /** A file that says that the write goes on. */
  def file(pending: String): String = s"${table.timeline.dir}/$instant.${kind.pending}$pending"

  /** Decides, and makes the file that says it.
    *
    * @param path    of that file
    * @param pending the file that says that the write goes on
    */
  def complete(path: String, content: Array[Byte], pending: String): Unit = {
    decide(path, content, pending)
    requirePending(pending)
    if (!isPublished(path, content)) {
      mayBe = false
      throw lostError("it is complete already")
    }
    try requirePending(pending)
    catch {
      case e: WriteConflict =>
        known(s"$path is gone again")(storage.delete(path))
        throw e
    }
  }

  /** What must be done after all where another writer rolled the write back. */
  def known(what: String)(work: => Any): Unit =
    try work: Unit
    catch { case NonFatal(e) => throw Epochs.unknown(table.tablePath, what, e) }

  /** From here on the write completes, whoever comes: no other may take it back.
    *
    * @param pending the file that says that it goes on
    */
  def decide(path: String, content: Array[Byte], pending: String): Unit = {
    val decided = epochs.decided(beating.writer, Some(file(pending)), path)(content)
    val inForce =
      try epochs.follow(instant, beating.epoch, beating.open, decided)
      catch { case NonFatal(e) => settled(decided, e) }
    // Without records the write has ended: one that came and completed it by this one's took them away as well.
    val isDecided = inForce.contains(decided) || (inForce.isEmpty && WriteDecision.isThere(storage, path, content))
    if (!isDecided) throw lostError("it was silent for too long, or its lock was taken")
    mayBe = true
  }

  /** Stock Hudi knows no records: what it rolled back has no pending file. */
  def requirePending(pending: String): Unit = {
    val isThere =
      try storage.isThere(file(pending))
      catch {
        case NonFatal(e) =>
          throw Epochs.unknown(table.tablePath, s"another writer rolled the write $instant back meanwhile", e)
      }
    if (!isThere) {
      mayBe = false
      throw lostError(s"another writer rolled it back, its $pending file is gone")
    }
  }

  /** The store did not say whether it took the decision. One against it under the same number excludes it. */
  private def settled(decided: Epoch.Decided, unanswered: Throwable): Option[Epoch] = {
    def unknown(e: Throwable): Nothing = {
      mayBe = true
      if (e ne unanswered) unanswered.addSuppressed(e)
      throw Epochs.unknown(table.tablePath, s"the write $instant is decided", unanswered)
    }
    val inForce =
      try epochs.follow(instant, beating.epoch, beating.open, Epoch.Over(beating.writer))
      catch { case NonFatal(e) => unknown(e) }
    inForce match {
      case Some(Epoch.Cut)     => unknown(unanswered)
      case Some(_: Epoch.Over) => throw unanswered
      case other               => other.filter(_ == decided)
    }
  }

  /** A store may lose its answer, or get the same twice: what is there then is this write's, or another's who completed it by
    * its record.
    */
  def isPublished(path: String, content: Array[Byte]): Boolean =
    try storage.publish(path, content) || WriteDecision.isThere(storage, path, content)
    catch {
      case NonFatal(e) =>
        Try(WriteDecision.isThere(storage, path, content))
          .filter(identity)
          .getOrElse(throw Epochs.unknown(table.tablePath, s"the write $instant is complete", e))
    }

  def requireInflight(): Unit =
    if (!storage.isThere(file(WriteDecision.Inflight))) throw lostError("its inflight file is gone")

  def lostError(why: String): WriteConflict = new WriteConflict(
    s"${table.tablePath}: write $instant was rolled back by another writer: $why; write again"
  )
}

private[write] object WriteDecision {

  /** False where the file is another's, or gone since it was found to be there. */
  def isThere(storage: Storage, path: String, content: Array[Byte]): Boolean =
    try java.util.Arrays.equals(storage.readAll(path), content)
    catch { case _: NoSuchFileException => false }

  val Inflight = ".inflight"
  val Requested = ".requested"
}
