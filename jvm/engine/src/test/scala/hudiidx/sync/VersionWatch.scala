package hudiidx.sync

import hudiidx.store.{IndexStore, Retention}
import scala.collection.mutable

/** Sees to it that the index version in force never names a file that is gone (law 6).
  *
  * A file that no version named for as long as orphans stay may be removed: who publishes it nevertheless took longer than
  * `hudiidx.expire.orphan.minutes` allows. Such a version is no fault; it is counted.
  */
final class VersionWatch(simulation: Simulation, dir: String, retention: Retention) {
  private val store = new IndexStore(simulation.storage, dir)
  private val prefix = dir + "/versions/"
  private var names = Vector.empty[String]

  /** When files came that were named too late. */
  private val late = mutable.Set.empty[String]
  private val known = mutable.Set.empty[String]

  /** Number of the version in force; 0 before there is one. */
  var newest = 0L

  /** The first violation. */
  var fault = Option.empty[String]

  /** The version in force has lost a file that it named too late. */
  def isBroken: Boolean = broken(newest)

  /** Versions that have lost such a file while they were in force. */
  val broken = mutable.Set.empty[Long]

  simulation.files.onPublished = path => if (path.startsWith(prefix)) published(path)
  simulation.files.onRemoved = path => if (names.contains(path)) lost(path)

  private def published(path: String): Unit = {
    val version = store.read(path.stripPrefix(prefix).stripSuffix(".json").toLong)
    val paths = version.files.map(f => s"$dir/${f.name}")
    val now = simulation.clock.millis()
    paths.filter(known.add).foreach { p =>
      if (simulation.files.millisOf(p).forall(now - _ >= retention.orphanAgeMillis)) late += p
    }
    if (version.number > newest) {
      newest = version.number
      names = paths
      paths.filterNot(simulation.files.has).foreach(lost)
    }
  }

  private def lost(path: String): Unit =
    if (late(path)) broken += newest
    else if (fault.isEmpty) fault = Some(s"version $newest is in force and has lost $path")
}
