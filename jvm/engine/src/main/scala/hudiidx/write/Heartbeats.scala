package hudiidx.write

import hudiidx.{Log, WriteConflict}
import hudiidx.storage.{FileInfo, Lease, Storage}
import java.io.FileNotFoundException
import java.nio.charset.StandardCharsets.US_ASCII
import java.nio.file.{FileAlreadyExistsException, NoSuchFileException}
import java.util.UUID
import java.util.concurrent.{Executors, ScheduledExecutorService, ThreadFactory, TimeUnit}
import scala.util.control.NonFatal

/** How often a writer says that it is alive, and how long it may be silent. Named as in Hudi.
  *
  * @param intervalMillis `hoodie.client.heartbeat.interval_in_ms`
  * @param misses         `hoodie.client.heartbeat.tolerable.misses`
  */
final case class HeartbeatOptions(intervalMillis: Long = 60000L, misses: Int = 2) {
  def lease: Lease = Lease(intervalMillis * misses)
}

/** What is known of the writer of an instant.
  *
  * @param instant    or the name of what is left of a file that did not become one
  * @param lastMillis of its last sign of life
  * @param beats      there is a file whose modification time says so
  * @param isEarlier  that file is of a release of ours that kept no records
  * @param epochs     numbers of its records, ascending
  */
final case class Heartbeat(
    instant: String,
    lastMillis: Long,
    beats: Boolean,
    isEarlier: Boolean,
    epochs: Vector[Int]
) {
  def isOurs: Boolean = epochs.nonEmpty || isEarlier || instant.startsWith(".")
  def last: Int = epochs.lastOption.getOrElse(0)
}

/** Files `.hoodie/.heartbeat/<instant>` whose modification time tells when a writer was last alive, empty as stock Hudi's, and
  * beside each the records that decide about its write. Stock Hudi's lazy cleaning of failed writes reads the former alone.
  */
final class Heartbeats(storage: Storage, tablePath: String) {
  private[write] val epochs = new Epochs(storage, tablePath)

  /** Of names that no writer gives nothing is told: what is known of a write goes with it, by this name in other folders too. */
  def all: Vector[Heartbeat] = {
    val files = storage.list(epochs.dir).filterNot(_.isDirectory)
    val found = files.groupBy(f => Epochs.parse(f.name).fold(f.name)(_._1)).toVector.sortBy(_._1)
    found.collect { case (name, own) if Heartbeats.isName(name) => of(name, own) }
  }

  private def of(name: String, files: Vector[FileInfo]): Heartbeat = {
    val beat = files.find(_.name == name)
    val numbers = files.filter(_.name != name).flatMap(f => Epochs.parse(f.name)).map(_._2).sorted
    val isEarlier = numbers.isEmpty && beat.exists(_.sizeBytes > 0)
    Heartbeat(name, files.map(_.modifiedMillis).max, beat.isDefined, isEarlier, numbers)
  }

  def of(instant: String): Option[Heartbeat] = all.find(_.instant == instant)

  private def path(instant: String): String = s"${epochs.dir}/$instant"

  /** False from the moment at which the write ends, completed or rolled back, also if another writer begins it again. */
  def isOpen(instant: String, writer: String): Boolean = {
    val number = Beating.epochOf(writer)
    val names = storage.list(epochs.dir).map(_.name).toSet
    names(s"$instant.$number") && !names(s"$instant.${number + 1}")
  }

  /** Beats until it is closed. WriteConflict if another writer began the same instant.
    *
    * @param behind the record that this writer's comes after; 0: it is the first
    */
  private[write] def start(instant: String, options: HeartbeatOptions, behind: Int = 0): Beating = {
    val writer = s"${behind + 1}-" + f"${UUID.randomUUID().getMostSignificantBits}%016x"
    val open = Epoch.Open(writer)
    val isOurs =
      if (behind == 0) epochs.publish(instant, 1, open)
      else epochs.read(instant, behind).exists(epochs.follow(instant, behind, _, open).contains(open))
    if (!isOurs) throw new WriteConflict(s"${path(instant)}: another writer has the same instant; write again")
    val isMade = appear(instant)
    new Beating(writer, isMade, () => beat(instant), options)
  }

  /** One that came late may have removed it. */
  private def beat(instant: String): Unit = if (!isTouched(instant)) appear(instant): Unit

  /** False if it was there. Who takes this writer for dead may remove it at any time: it is made again then. */
  private def appear(instant: String, triesLeft: Int = 3): Boolean =
    storage.createEmpty(path(instant)) || (
      if (isTouched(instant)) false
      else if (triesLeft > 0) appear(instant, triesLeft - 1)
      else throw new FileAlreadyExistsException(path(instant))
    )

  /** False if it is not there. */
  private def isTouched(instant: String): Boolean =
    try {
      storage.touch(path(instant))
      true
    } catch { case _: NoSuchFileException | _: FileNotFoundException => false }

  /** The instant turns out to be another's. */
  private[write] def leave(instant: String, beating: Beating): Unit = {
    beating.close()
    if (epochs.read(instant, beating.epoch).contains(beating.open)) {
      if (beating.isMade) stop(instant)
      epochs.remove(instant, Vector(beating.epoch))
    }
  }

  /** Tells a writer of a release that kept no records, and its tasks, that the write is over. */
  private[write] def endEarlier(instant: String): Unit = storage.replace(path(instant), Heartbeats.Over)

  def stop(instant: String): Unit = storage.deleteFile(path(instant))

  /** All that is there of a write that is not begun again. */
  private[write] def remove(instant: String, numbers: Seq[Int]): Unit = {
    stop(instant)
    epochs.remove(instant, numbers)
  }

  /** The same, up to a record whose number stands in the name of a file that anybody may have put there: where more would go than a
    * write has, those go that are listed.
    */
  private[write] def removeTo(instant: String, last: Int): Unit =
    if (last <= Heartbeats.UsualRecords) remove(instant, 1 to last)
    else remove(instant, of(instant).fold(Vector.empty[Int])(_.epochs).filter(_ < last) :+ last)
}

object Heartbeats {
  private val Over = "hudiidx: is over".getBytes(US_ASCII)
  private val UsualRecords = 100

  /** Of plans that are decided under a lock, before a UUID. */
  private[write] val Plan = "plan-"

  /** An instant, the order of the lock, a plan, or a file that did not become one of these. */
  private def isName(name: String): Boolean =
    name == LockOrder.Name || isUnfinished(name) ||
      (name.nonEmpty && (if (name.startsWith(Plan)) name.drop(Plan.length).forall(isOfUuid) else name.forall(isDigit)))

  private def isUnfinished(name: String): Boolean =
    name.startsWith(".") && (name.endsWith(".tmp") || name.endsWith(".claim"))

  private def isOfUuid(c: Char): Boolean = isDigit(c) || (c >= 'a' && c <= 'f') || c == '-'

  private def isDigit(c: Char): Boolean = c >= '0' && c <= '9'
}

/** @param writer what its tasks are known by, and its record has in it
  * @param isMade there was no heartbeat of the instant before
  */
private[write] final class Beating(val writer: String, val isMade: Boolean, beat: () => Unit, options: HeartbeatOptions)
    extends AutoCloseable {
  private val log = Log.of(classOf[Heartbeats])

  /** For how long others leave its write alone after its last beat. */
  val lease: Lease = options.lease

  /** The number of the record by which it writes. */
  val epoch: Int = Beating.epochOf(writer)

  /** That record. */
  val open: Epoch = Epoch.Open(writer)

  private val thread: ThreadFactory = (work: Runnable) => {
    val made = new Thread(work, "hudiidx-heartbeat")
    made.setDaemon(true)
    made
  }
  private val timer: ScheduledExecutorService = Executors.newSingleThreadScheduledExecutor(thread)
  private val work: Runnable = () =>
    try beat()
    catch { case NonFatal(e) => log.warn("a heartbeat could not be written: {}", e.toString) }
  timer.scheduleAtFixedRate(work, options.intervalMillis, options.intervalMillis, TimeUnit.MILLISECONDS)

  /** No beat begins after it. One that is under way, or whose answer is lost, may be done later: it sets a time, no more. */
  override def close(): Unit = {
    timer.shutdownNow()
    timer.awaitTermination(1, TimeUnit.MINUTES): Unit
  }
}

private[write] object Beating {
  def epochOf(writer: String): Int = writer.takeWhile(_ != '-').toInt
}
