package hudiidx.write

import hudiidx.WriteConflict
import hudiidx.storage.Storage
import hudiidx.table.TableConfig
import java.util.UUID
import org.slf4j.LoggerFactory
import scala.annotation.tailrec
import scala.util.control.NonFatal

/** Where writers of a table wait for each other, named as in Hudi.
  *
  * @param folder        `hoodie.write.lock.filesystem.path`; None: the table's `.hoodie`
  * @param expireMinutes `hoodie.write.lock.filesystem.expire`: a lock that is older is nobody's; 0: none ever is
  * @param retries       `hoodie.write.lock.client.num_retries`
  * @param waitMillis    `hoodie.write.lock.client.wait_time_ms_between_retry`
  */
final case class LockOptions(
    folder: Option[String] = None,
    expireMinutes: Int = 0,
    retries: Int = 50,
    waitMillis: Long = 5000L
)

/** The lock file of Hudi's FileSystemBasedLockProvider, so that stock writers and ours exclude each other: who makes the file
  * `lock` has the lock, who removes it releases it. Stock looks at its being there and its modification time alone.
  */
final class TableLock(storage: Storage, tablePath: String, options: LockOptions) {
  import TableLock._

  private val path =
    s"${options.folder.getOrElse(Storage.join(tablePath, TableConfig.HoodieFolder)).stripSuffix("/")}/lock"
  private val mark = s"LOCK-OWNER : hudiidx ${UUID.randomUUID()} \n".getBytes("UTF-8")

  /** Runs it while nobody else has the lock. WriteConflict if others keep it too long. */
  def held[A](body: => A): A = {
    acquire(System.currentTimeMillis() + options.retries * options.waitMillis)
    try body
    finally release()
  }

  /** WriteConflict if the lock was taken away, as an expired one is. */
  def requireHeld(): Unit =
    if (!isOurs)
      throw new WriteConflict(s"$path: the lock was taken by another writer while this one had it; write again")

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
    if (isExpired) {
      log.warn("{}: the lock has expired, its owner is taken for dead", path)
      storage.delete(path): Unit
    }
    storage.publish(path, mark) && {
      // Hadoop's local file system looks whether the file is there before it makes it: stock may have looked before.
      Thread.sleep(SettleMillis)
      isOurs
    }
  }

  private def isExpired: Boolean = options.expireMinutes > 0 && storage
    .status(path)
    .exists(f => System.currentTimeMillis() - f.modifiedMillis > options.expireMinutes * 60000L)

  private def isOurs: Boolean =
    try java.util.Arrays.equals(storage.readAll(path), mark)
    catch { case _: java.nio.file.NoSuchFileException => false }

  private def release(): Unit =
    try if (isOurs) storage.delete(path): Unit
    catch { case NonFatal(e) => log.warn(s"$path: the lock could not be released, remove it: $e") }
}

object TableLock {
  private val log = LoggerFactory.getLogger(classOf[TableLock])
  private val PollMillis = 100L
  private val SettleMillis = 10L
}
