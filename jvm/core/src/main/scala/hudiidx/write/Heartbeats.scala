package hudiidx.write

import hudiidx.storage.Storage
import hudiidx.table.TableConfig
import java.nio.file.NoSuchFileException
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
    Heartbeat(f.name, f.modifiedMillis, f.sizeBytes == Heartbeats.Mark.length || f.name.startsWith("."))
  }

  private def path(instant: String): String = s"$dir/$instant"

  def delete(instant: String): Unit = storage.delete(path(instant)): Unit

  /** Tells tasks that outlive their write that it is over; they are asked by `isOpen`. The file stays until all else is gone. */
  def end(instant: String): Unit =
    if (storage.status(path(instant)).isDefined) storage.replace(path(instant), Heartbeats.Over)

  /** False from the moment at which a write of ours ends, completed or taken back. */
  def isOpen(instant: String): Boolean =
    try java.util.Arrays.equals(storage.readAll(path(instant)), Heartbeats.Mark)
    catch { case _: NoSuchFileException => false }

  /** Beats until it is closed. */
  def start(instant: String, options: HeartbeatOptions): AutoCloseable = {
    storage.publish(path(instant), Heartbeats.Mark)
    new Beating(() => storage.touch(path(instant)), options.intervalMillis)
  }
}

object Heartbeats {
  private val Mark = "hudiidx".getBytes("US-ASCII")
  private val Over = "is over".getBytes("US-ASCII") // as long, so that it is known for ours
}

private final class Beating(beat: () => Unit, intervalMillis: Long) extends AutoCloseable {
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
