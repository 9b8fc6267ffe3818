package hudiidx.fs

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID
import java.util.concurrent.ConcurrentHashMap

import scala.annotation.tailrec
import scala.util.control.NonFatal

import hudiidx.{Elapsed, Log, WriteConflict}
import hudiidx.storage.Lease
import org.apache.hadoop.fs.{FileSystem, Path}

/** Publishing where the store itself refuses nothing: of two who look and then put, both would believe they won. So each leaves a
  * file that claims the name, and puts only after a listing that shows its own claim and no other one. Of two who claim at once
  * the later listing shows the earlier claim, unless that one's owner has published and is seen by the look behind it. Right
  * where a listing shows what was written before, and among those who claim; nobody's clock is asked.
  *
  * @param leaseMillis a claim that somebody has seen for so long is a dead process's; nobody puts behind half of that, see [[Lease]]
  */
private[hudiidx] final class Claims(leaseMillis: Long) {
  private val lease = Lease(leaseMillis)

  /** False if something is at `target`. WriteConflict if others claim it for too long. */
  def publish(fs: FileSystem, target: Path, content: Array[Byte]): Boolean =
    new Claimant(fs, target, content, lease).publish()
}

private[hudiidx] object Claims {
  private val LeaseMillis = 60000L
  private val log = Log.of(classOf[Claims])
  private val told = ConcurrentHashMap.newKeySet[String]

  val Default = new Claims(LeaseMillis)

  /** Once of each store. */
  def warn(fs: FileSystem, why: String): Unit = if (told.add(fs.getUri.toString))
    log.warn(
      "{}: {}; let one process at a time write indexes and tables here. hudiidx's own claim a name before they publish " +
        "under it, and wait for each other; other writers do not",
      fs.getUri: Any,
      why: Any
    )
}

private final class Claimant(fs: FileSystem, target: Path, content: Array[Byte], lease: Lease) {
  import Claimant._

  /** A reader of the folder must not take it for a file of the target's kind: the name is in the claim alone. */
  private val prefix = s".${UUID.nameUUIDFromBytes(target.getName.getBytes(UTF_8))}."
  private val begun = now

  /** Others' claims, and when they were first seen. */
  private var seen = Map.empty[String, Long]

  private def now: Long = System.nanoTime() / 1000000

  @tailrec def publish(): Boolean =
    if (fs.exists(target)) false
    else
      claimed() match {
        case Some(isOurs) => isOurs
        case None         =>
          awaitOthers()
          publish()
      }

  /** Publishes under a claim; None if another's is before it. */
  private def claimed(): Option[Boolean] = {
    val claim = s"$prefix${UUID.randomUUID()}$Suffix"
    val since = now
    var isUnsure = false
    try {
      ByCreation.create(fs, path(claim))(_.write(target.getName.getBytes(UTF_8)))
      if (!isAlone(claim, since)) None
      else if (fs.exists(target)) Some(false)
      else if (isLate(since)) None
      else {
        isUnsure = true
        val isOurs = put()
        isUnsure = false
        Some(isOurs)
      }
      // A put without an answer may be done yet: the claim keeps others from the name for as long as it is not taken for dead.
    } finally if (!isUnsure) remove(claim)
  }

  private def put(): Boolean =
    try ByCreation.put(fs, target, content)
    catch {
      case NonFatal(e) =>
        try removePart()
        catch { case NonFatal(why) => e.addSuppressed(why) }
        throw e
    }

  /** A store that shows a file before all of it is there may be left with its beginning, which every reader would take for
    * damage. What is there whole, without an answer, stays.
    */
  private def removePart(): Unit =
    if (fs.exists(target)) {
      val found = ByCreation.readAll(fs, target)
      if (found.length < content.length && content.startsWith(found)) fs.delete(target, false): Unit
    }

  /** The first claim by name waits for the others to go. False if this one has to. */
  @tailrec private def isAlone(claim: String, since: Long): Boolean = {
    val all = claims()
    val others = all.filter(_ != claim)
    // A claim that is not listed is nobody's: the store lists what is past, or another has taken its owner for dead.
    if (others.size == all.size || others.exists(_ < claim) || isLate(since)) false
    else if (others.isEmpty) true
    else {
      Thread.sleep(PauseMillis)
      isAlone(claim, since)
    }
  }

  private def isLate(since: Long): Boolean = lease.isSpent(now - since)

  @tailrec private def awaitOthers(): Unit = {
    Thread.sleep(PauseMillis)
    val others = claims()
    if (now - begun > MostLeases * lease.termMillis)
      throw new WriteConflict(
        s"$target: other processes have claimed this name for ${Elapsed.text(now - begun)} (${others.mkString(", ")}); let one " +
          "process at a time write here, and run this one again"
      )
    if (others.nonEmpty) awaitOthers()
  }

  /** Names of claims of this target, without those of the dead, which are removed. */
  private def claims(): Vector[String] = {
    val found = fs.listStatus(target.getParent).toVector.map(_.getPath.getName).filter { n =>
      n.startsWith(prefix) && n.endsWith(Suffix)
    }
    seen = found.map(c => c -> seen.getOrElse(c, now)).toMap
    val (dead, alive) = found.partition(c => lease.isOver(now - seen(c)))
    dead.foreach { c =>
      log.warn("{}: {} stood for too long, its owner is taken for dead", target: Any, c: Any)
      remove(c)
    }
    alive
  }

  /** What has been published is so, whatever becomes of the claim. */
  private def remove(claim: String): Unit =
    try fs.delete(path(claim), false): Unit
    catch { case e: IOException => log.warn("{}: a claim stays, remove it: {}", path(claim): Any, e.toString: Any) }

  private def path(claim: String): Path = new Path(target.getParent, claim)
}

private object Claimant {
  private val log = Log.of(classOf[Claims])
  private val Suffix = ".claim"
  private val PauseMillis = 20L

  /** So long others may be before this one, one after the other. */
  private val MostLeases = 3
}
