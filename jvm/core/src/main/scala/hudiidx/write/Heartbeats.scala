package hudiidx.write

import hudiidx.WriteConflict
import hudiidx.storage.Storage
import hudiidx.table.TableConfig
import java.nio.charset.StandardCharsets.US_ASCII
import java.nio.file.NoSuchFileException
import java.util.UUID
import java.util.concurrent.{Executors, ScheduledExecutorService, ThreadFactory, TimeUnit}
import org.slf4j.LoggerFactory
import scala.util.control.NonFatal

/** How often a writer says that it is alive, and how long it may be silent. Named as in Hudi.
  *
  * @param intervalMillis `hoodie.client.heartbeat.interval_in_ms`
  * @param misses         `hoodie.client.heartbeat.tolerable.misses`
  */
final case class HeartbeatOptions(intervalMillis: Long = 60000L, misses: Int = 2) {
  def expiryMillis: Long = intervalMillis * misses
}

/** What is known of the writer of a pending instant.
  *
  * @param instant or the name of what is left of a file that did not become one
  * @param isOurs  a hudiidx writer's
  */
final case class Heartbeat(instant: String, lastMillis: Long, isOurs: Boolean)

/** Files `.hoodie/.heartbeat/<instant>` whose modification time tells when a writer was last alive. Stock Hudi's lazy cleaning
  * of failed writes reads them too; ours have a word in them, stock's are empty.
  */
final class Heartbeats(storage: Storage, tablePath: String) {
  private val dir = s"${Storage.join(tablePath, TableConfig.HoodieFolder)}/.heartbeat"

  def all: Vector[Heartbeat] = storage.list(dir).filterNot(_.isDirectory).map { f =>
    Heartbeat(f.name, f.modifiedMillis, f.sizeBytes > 0 || f.name.startsWith("."))
  }

  private def path(instant: String): String = s"$dir/$instant"

  def delete(instant: String): Unit = storage.delete(path(instant)): Unit

  /** Tells the writer and its tasks that the write is over; they ask by `isOpen`. The file stays until all else is gone. */
  def end(instant: String): Unit = storage.replace(path(instant), Heartbeats.Over)

  /** False from the moment at which the write ends, completed or taken back, also if another writer begins it again. */
  def isOpen(instant: String, writer: String): Boolean = owner(instant).contains(writer)

  /** The writer; another text once the write is over, None if there is no heartbeat any more. */
  def owner(instant: String): Option[String] =
    try Some(new String(storage.readAll(path(instant)), US_ASCII))
    catch { case _: NoSuchFileException => None }

  /** Beats until it is closed. WriteConflict if another writer began the same instant. */
  def start(instant: String, options: HeartbeatOptions): Beating = {
    val writer = f"${UUID.randomUUID().getMostSignificantBits}%016x"
    // Of a store that is sent the same twice the answer is no, too.
    if (!storage.publish(path(instant), writer.getBytes(US_ASCII)) && !isOpen(instant, writer))
      throw new WriteConflict(s"${path(instant)}: another writer has the same instant; write again")
    new Beating(writer, () => storage.touch(path(instant)), options.intervalMillis)
  }
}

object Heartbeats {
  private val Over = "hudiidx: is over".getBytes(US_ASCII)
}

/** @param writer in 16 characters, what the heartbeat has in it */
private[write] final class Beating(val writer: String, beat: () => Unit, intervalMillis: Long) extends AutoCloseable {
  private val log = LoggerFactory.getLogger(classOf[Heartbeats])
  private val thread: ThreadFactory = (work: Runnable) => {
    val made = new Thread(work, "hudiidx-heartbeat")
    made.setDaemon(true)
    made
  }
  private val timer: ScheduledExecutorService = Executors.newSingleThreadScheduledExecutor(thread)
  private val work: Runnable = () =>
    try beat()
    catch { case NonFatal(e) => log.warn("a heartbeat could not be written: {}", e.toString) }
  timer.scheduleAtFixedRate(work, intervalMillis, intervalMillis, TimeUnit.MILLISECONDS)

  /** No beat comes after it. */
  override def close(): Unit = {
    timer.shutdownNow()
    timer.awaitTermination(1, TimeUnit.MINUTES): Unit
  }
}
