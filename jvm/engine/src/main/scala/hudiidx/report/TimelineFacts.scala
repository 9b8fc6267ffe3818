package hudiidx.report

import java.nio.file.NoSuchFileException

import hudiidx.sync.TableContext
import hudiidx.timeline.{Action, CommitMetadata, Instant, InstantTime}

/** A completed write.
  *
  *  @param action    what it is called on the timeline, `compaction` where it is one
  *  @param millis    when it was requested, in epoch milliseconds; None where its time cannot be read
  *  @param seconds   from its request to its completion, where both are known
  *  @param files     that it wrote
  *  @param bytes     of these
  */
final case class WriteFacts(
    instantTime: String,
    action: String,
    operation: Option[String],
    millis: Option[Long],
    seconds: Option[Double],
    files: Int,
    bytes: Long,
    inserts: Long,
    updates: Long,
    deletes: Long
)

/** An instant that has not completed. */
final case class PendingFacts(instantTime: String, action: String, state: String, millis: Option[Long])

/** The active timeline.
  *
  *  @param completed how many instants completed, by action
  *  @param pending   the oldest that have not, at most [[TimelineFacts.MostPending]]
  *  @param writes    the newest, oldest first
  *  @param olderWrites of the active timeline that are not among these
  */
final case class TimelineFacts(
    completed: Vector[(String, Int)],
    pendingCount: Int,
    pending: Vector[PendingFacts],
    writes: Vector[WriteFacts],
    olderWrites: Int
)

object TimelineFacts {
  val MostPending = 20
  val MostWrites = 60

  /** Write stats that are read, about: a commit may have one for each of very many files. */
  private val MostStats = 1000000

  /** DamagedTable if a commit cannot be decoded. */
  def of(table: TableContext): TimelineFacts = {
    val timeline = table.timeline
    val pending = timeline.instants.filterNot(_.isCompleted)
    val writes = newest(table)
    TimelineFacts(
      timeline.completed.groupBy(_.action).map { case (action, all) => action -> all.size }.toVector.sorted,
      pending.size,
      pending.take(MostPending).map(i => PendingFacts(i.requestedTime, i.action, i.state.name, millis(table, i))),
      writes,
      timeline.completedWrites.size - writes.size
    )
  }

  private def newest(table: TableContext): Vector[WriteFacts] = {
    var stats = 0
    table.timeline.completedWrites.reverseIterator
      .take(MostWrites)
      .takeWhile(_ => stats < MostStats)
      .flatMap { instant =>
        val commit =
          try Some(table.contents.commit(instant))
          catch { case _: NoSuchFileException => None } // archived since
        stats += commit.fold(0)(_.writeStats.size)
        commit.map(write(table, instant, _))
      }
      .toVector
      .reverse
  }

  private def write(table: TableContext, instant: Instant, commit: CommitMetadata): WriteFacts = {
    val stats = commit.writeStats
    val until = table.timeline.completedMillis(instant, table.config.timelineZone)
    val from = InstantTime.toMillis(instant.requestedTime, table.config.timelineZone, near = until)
    val isCompaction = table.config.isMergeOnRead && instant.action == Action.Commit
    WriteFacts(
      instant.requestedTime,
      if (isCompaction) Action.Compaction else instant.action,
      commit.operationType,
      from,
      for (f <- from; u <- until if u >= f) yield (u - f) / 1000.0,
      stats.size,
      stats.map(_.fileSizeBytes).sum,
      stats.map(_.numInserts).sum,
      stats.map(_.numUpdateWrites).sum,
      stats.map(_.numDeletes).sum
    )
  }

  private def millis(table: TableContext, instant: Instant): Option[Long] =
    InstantTime.toMillis(instant.requestedTime, table.config.timelineZone)
}
