package hudiidx.sync.build

import hudiidx.column.NeverColumns
import hudiidx.sync.{IndexOptions, TableContext}
import hudiidx.{DamagedIndex, Log}
import hudiidx.store._
import java.time.Clock

/** Publishes index versions, and removes what they make superfluous. */
private[sync] final class VersionPublisher(store: IndexStore, retention: Retention, clock: Clock) {
  private val log = Log.of(classOf[Indexer])

  /** A version that takes in all that is completed on the table's timeline. */
  def versionOf(
      table: TableContext,
      files: Vector[IndexFile],
      properties: Map[String, String],
      number: Long
  ): IndexVersion = IndexVersion(
    number,
    table.identity,
    Coverage.of(table.takenIn, table.pending),
    files,
    properties,
    clock.millis(),
    Indexer.Writer
  )

  /** False if another writer was first; then `leftovers`, paths of files that served the making, stay for the next try.
    * DamagedIndex if the making took so long that others have removed files of it.
    *
    *  @param beganMillis when the making began
    */
  def publish(version: IndexVersion, leftovers: Vector[String], beganMillis: Long): Boolean = {
    // Where columns are forbidden an expiry may take what is younger too.
    val isLong = clock.millis() - beganMillis >= retention.orphanAgeMillis / 2
    if (isLong || !NeverColumns.of(version).isEmpty) requireFiles(version)
    val first = store.publish(version)
    if (first) {
      discard(leftovers)
      cleaning(VersionPublisher.expire(store, version, retention, clock.millis()))
    }
    first
  }

  /** Files that no version names yet are orphans to others once they are old enough. */
  private def requireFiles(version: IndexVersion): Unit =
    store.missing(version.files).headOption.foreach { f =>
      throw new DamagedIndex(
        s"${store.dir}/${f.name}: gone before its version was published, which took longer than " +
          s"${IndexOptions.OrphanMinutes} allows; set that higher and try again"
      )
    }

  /** Removes files that serve nobody any more. */
  def discard(leftovers: Vector[String]): Unit =
    store.storage.atOnce(store.dir)(leftovers.map(path => () => cleaning(store.removeAny(path)))): Unit

  /** Cleaning is never worth a failure. */
  private def cleaning(work: => Any): Unit =
    try { work; () }
    catch {
      case e: java.io.IOException => log.warn(s"${store.dir}: old index files stay, the next update tries again: $e")
    }
}

private[sync] object VersionPublisher {

  /** As [[IndexStore.expire]]; versions that may hold what the one in force must not are kept for their readers alone. */
  def expire(store: IndexStore, current: IndexVersion, retention: Retention, nowMillis: Long): Vector[String] = {
    val rule = NeverColumns.of(current)
    def isBarred(version: IndexVersion): Boolean = !NeverColumns.of(version).covers(rule)
    store.expire(current.number, retention, nowMillis, if (rule.isEmpty) None else Some(isBarred), Some(current))
  }
}
