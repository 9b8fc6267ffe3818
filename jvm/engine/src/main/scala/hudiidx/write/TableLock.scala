package hudiidx.write

import hudiidx.{Elapsed, Log, WriteConflict}
import hudiidx.storage.{FileInfo, Lease, Storage}
import hudiidx.table.TableConfig
import java.util.UUID
import scala.annotation.tailrec
import scala.util.control.NonFatal

/** Where writers of a table wait for each other, named as in Hudi.
  *
  * @param folder        `hoodie.write.lock.filesystem.path`; None: the table's `.hoodie`
  * @param expireMinutes `hoodie.write.lock.filesystem.expire`: a lock that is older is nobody's; 0: none ever is
  * @param retries       `hoodie.write.lock.client.num_retries`
  * @param waitMillis    `hoodie.write.lock.client.wait_time_ms_between_retry`
  * @param settleMillis  Hadoop's local file system looks whether a file is there before it makes it: stock may have looked for so
  *                      long before a lock of ours was made
  */
final case class LockOptions(
    folder: Option[String] = None,
    expireMinutes: Int = 0,
    retries: Int = 50,
    waitMillis: Long = 5000L,
    settleMillis: Long = 10L
)

/** The lock file of Hudi's FileSystemBasedLockProvider, so that stock writers and ours exclude each other: who makes the file
  * `lock` has the lock, who removes it releases it. Stock looks at its being there and its modification time alone, and may
  * remove one that we have; so what is done under it is decided by records, see [[LockOrder]].
  */
final class TableLock(storage: Storage, tablePath: String, options: LockOptions) {
  import TableLock._

  private val folder = options.folder.getOrElse(Storage.join(tablePath, TableConfig.HoodieFolder)).stripSuffix("/")
  private val path = s"$folder/lock"
  private val writer = s"hudiidx ${UUID.randomUUID()}"
  private val mark = s"LOCK-OWNER : $writer \n".getBytes("UTF-8")
  private val lease = Lease(options.expireMinutes * 60000L)
  private def expires: Boolean = options.expireMinutes > 0
  private var since = 0L

  /** Runs it while nobody else has the lock. WriteConflict if others keep it too long. */
  def held[A](body: => A): A = {
    acquire(System.currentTimeMillis() + options.retries * options.waitMillis)
    try body
    finally release()
  }

  /** The same for what decides about a write: whoever had the lock before, and lost it, decides nothing more.
    *
    * @param instant of the write, or what its records are named by
    */
  def heldFor[A](instant: String)(body: => A): A = held {
    new LockOrder(storage, tablePath).enter(writer, instant)
    body
  }

  /** WriteConflict if the lock was taken away, as an expired one is, or may be from now on. */
  def requireHeld(): Unit = {
    if (!isOurs)
      throw new WriteConflict(s"$path: the lock was taken by another writer while this one had it; write again")
    if (expires && lease.isSpent(heldMillis))
      throw new WriteConflict(
        s"$path: the lock was held for ${Elapsed.text(heldMillis)}, and others take it after ${options.expireMinutes} minutes; write " +
          "again, with a greater hoodie.write.lock.filesystem.expire"
      )
  }

  private def heldMillis: Long = (System.nanoTime() - since) / 1000000

  @tailrec private def acquire(until: Long): Unit =
    if (!tryOnce()) {
      if (System.currentTimeMillis() >= until)
        throw new WriteConflict(
          s"$path: another writer has the table's lock; write again, or, if no writer is at work, remove that file"
        )
      Thread.sleep(math.min(options.waitMillis, PollMillis))
      acquire(until)
    }

  private def tryOnce(): Boolean = {
    since = System.nanoTime()
    val isMade =
      try if (expires) storage.status(path).fold(storage.publish(path, mark))(takeOver) else storage.publish(path, mark)
      catch {
        case NonFatal(e) =>
          // The store may have made it all the same: nobody would release it.
          release()
          throw e
      }
    isMade && {
      Thread.sleep(options.settleMillis)
      isOurs
    }
  }

  private def isExpired(f: FileInfo): Boolean = lease.isOver(System.currentTimeMillis() - f.modifiedMillis)

  /** Takes one that has expired: in its place, so that there is no moment without a lock. */
  private def takeOver(seen: FileInfo): Boolean = isExpired(seen) && content.exists { found =>
    alone(found) {
      val isStill = storage.status(path).exists(_.modifiedMillis == seen.modifiedMillis) &&
        content.exists(java.util.Arrays.equals(_, found))
      if (isStill) {
        log.warn("{}: the lock has expired, its owner is taken for dead", path)
        storage.replace(path, mark)
      }
      isStill
    }
  }

  /** Of those who would take or remove the same lock behind its term one does: who makes the file that is named by it. False if
    * another is about it.
    */
  private def alone(of: Array[Byte])(work: => Boolean): Boolean = {
    val taking = s"$folder/.lock.${UUID.nameUUIDFromBytes(of)}.taking"
    if (storage.publish(taking, mark))
      try work
      finally storage.delete(taking): Unit
    else {
      // Who made it may have died.
      storage.status(taking).filter(isExpired).foreach(_ => storage.delete(taking))
      false
    }
  }

  private def content: Option[Array[Byte]] =
    try Some(storage.readAll(path))
    catch { case _: java.nio.file.NoSuchFileException => None }

  private def isOurs: Boolean = content.exists(java.util.Arrays.equals(_, mark))

  private def release(): Unit =
    try
      if (isOurs) {
        if (expires && lease.isSpent(heldMillis)) alone(mark)(isOurs && storage.delete(path)): Unit
        else storage.delete(path): Unit
      }
    catch { case NonFatal(e) => log.warn(s"$path: the lock could not be released, remove it: $e") }
}

object TableLock {
  private val log = Log.of(classOf[TableLock])
  private val PollMillis = 100L
}

/** In which order writers of ours had the lock: records beside those of writes, each naming the write that it was taken for. Who
  * comes next ends the write of the one before, if that is still open: its writer lost the lock, or is dead. So a process that
  * stood still, or whose lock stock Hudi removed, decides nothing behind the looks of another.
  */
private[write] final class LockOrder(storage: Storage, tablePath: String) {
  private val heartbeats = new Heartbeats(storage, tablePath)
  private val epochs = heartbeats.epochs

  /** WriteConflict where others enter first again and again, or something that is no record has the next one's name. */
  @tailrec def enter(writer: String, instant: String, triesLeft: Int = LockOrder.Tries): Unit = {
    val known = heartbeats.all
    val numbers = known.find(_.instant == LockOrder.Name).fold(Vector.empty[Int])(_.epochs)
    val last = numbers.lastOption.getOrElse(0)
    val before = if (last > 0) epochs.read(LockOrder.Name, last) else None
    before match {
      case Some(Epoch.Open(_, of)) => known.find(_.instant == of).foreach(b => if (of != instant) endOf(b))
      case _                       => ()
    }
    val open = Epoch.Open(writer, instant)
    val isNext =
      if (last > 0) before.exists(epochs.follow(LockOrder.Name, last, _, open).contains(open))
      else epochs.publish(LockOrder.Name, 1, open) && isFirst
    if (isNext) epochs.remove(LockOrder.Name, numbers)
    else if (triesLeft > 1) enter(writer, instant, triesLeft - 1)
    else
      throw new WriteConflict(
        s"${epochs.dir}/${LockOrder.Name}.${last + 1}: the name of the lock's next record was taken ${LockOrder.Tries} times; write again, " +
          "or, if no writer is at work, remove what has that name"
      )
  }

  private def endOf(beat: Heartbeat): Unit =
    if (beat.last > 0) epochs.end(beat.instant, beat.last, "lock"): Unit

  /** Who looked before there was any, and comes when the first has gone already. */
  private def isFirst: Boolean = {
    val isAlone = heartbeats.of(LockOrder.Name).exists(_.last == 1)
    if (!isAlone) epochs.remove(LockOrder.Name, Vector(1))
    isAlone
  }
}

private[write] object LockOrder {
  val Name = "lock"

  /** Each that fails says that another writer went on. */
  private val Tries = 100
}
