package hudiidx.sync

import hudiidx.store.{Coverage, IndexVersion, InstantId}
import hudiidx.timeline.{Action, ArchivedInstant, Instant, InstantContent, InstantName, InstantState}

/** A completed instant that an index version has not taken in. */
final class UnseenInstant(val instant: Instant, read: () => InstantContent, val isArchived: Boolean = false) {
  def content: InstantContent = read()
}

object UnseenInstant {
  def archived(a: ArchivedInstant): UnseenInstant =
    new UnseenInstant(
      Instant(a.requestedTime, a.action, InstantState.Completed, a.completionTime, ""),
      () => a.content,
      isArchived = true
    )
}

/** How an index version stands to a table. */
sealed trait IndexStatus
object IndexStatus {

  /** The version and these instants (none: it is in step) make up the table, in the order in which they completed. */
  final case class Usable(unseen: Vector[UnseenInstant]) extends IndexStatus

  final case class Diverged(fallback: Fallback) extends IndexStatus
}

/** Finds what an index version lacks. Nothing is read but, where covered writes left the timeline, the rollbacks that the
  *  version has not seen, and the archived timeline.
  */
object SyncPlan {
  def of(version: IndexVersion, table: TableContext): IndexStatus =
    if (version.table == table.identity) new SyncPlan(version.coverage, table).status
    else
      IndexStatus.Diverged(
        Fallback(
          FallbackCode.ForeignIndex,
          s"it was made for table ${version.table.text}, this one is ${table.identity.text}"
        )
      )
}

private final class SyncPlan(coverage: Coverage, table: TableContext) {
  private val completed = table.completed
  private val onTimeline: Set[InstantId] = completed.map(i => InstantId(i.requestedTime, i.action)).toSet
  private val coveredWrites = coverage.covered.filter(i => TableContext.Writes(i.action))

  def status: IndexStatus = {
    val active = completed.filterNot(i => coverage.covers(InstantId(i.requestedTime, i.action))).map(activeInstant)
    if (!mayHaveMissedArchived) judged(active, vanished)
    else {
      val archived = table.onlyArchivedFrom(oldestInDoubt)
      val (known, unseen) = archived.partition(a => coverage.covers(InstantId(a.requestedTime, a.action)))
      // Neither active nor archived: then every covered write must have been rolled back.
      judged(
        unseen.map(UnseenInstant.archived) ++ active,
        if (known.nonEmpty || anchored) vanished else coveredWrites.filterNot(onTimeline)
      )
    }
  }

  /** Covered writes that should still be on the timeline. One that is pending there was not archived: this timeline is of before it was
    * complete, or it is being rolled back.
    */
  private def vanished: Vector[InstantId] =
    coveredWrites.filter(i => !onTimeline(i) && (isPending(i) || table.timeline.start.forall(_ <= i.requestedTime)))

  private lazy val pending: Set[(String, String)] =
    table.timeline.instants.filterNot(_.isCompleted).map(i => i.requestedTime -> comparable(i.action)).toSet

  private def isPending(i: InstantId): Boolean = pending(i.requestedTime -> comparable(i.action))

  private def comparable(action: String): String = InstantName.comparableAction(action)

  /** Usable if each of the lost writes was rolled back, restored away or archived. */
  private def judged(unseen: Vector[UnseenInstant], lost: Vector[InstantId]): IndexStatus = {
    val rolledBack = if (lost.isEmpty) Set.empty[String] else removedBy(unseen)
    val stillLost = lost.filterNot(i => rolledBack(i.requestedTime))
    val archived =
      if (stillLost.isEmpty) Set.empty[String]
      else table.archivedFrom(stillLost.head.requestedTime).map(_.requestedTime).toSet
    val unexplained = stillLost.map(_.requestedTime).filterNot(archived)
    if (unexplained.isEmpty)
      IndexStatus.Usable(
        unseen.sortBy(u => (u.instant.completionTime.getOrElse(u.instant.requestedTime), u.instant.requestedTime))
      )
    else
      IndexStatus.Diverged(
        Fallback(
          FallbackCode.TimelineGap,
          s"instants that it covers are gone from the timeline: ${unexplained.mkString(", ")}"
        )
      )
  }

  private def removedBy(unseen: Vector[UnseenInstant]): Set[String] = {
    val effects = new InstantEffects
    unseen
      .filter(u => u.instant.action == Action.Rollback || u.instant.action == Action.Restore)
      .foreach(u => effects.take(u.instant, u.content))
    effects.removedInstants
  }

  /** Archiving goes from the oldest on and stops at a pending instant. So nothing was archived unseen while all covered writes are still
    * active and every instant that was pending then is, too, or lies behind the start. A writer of Hudi before 1.1 takes its time
    * before its request is there: others of later times may have been covered by then, so that the newest covered write tells nothing.
    */
  private def mayHaveMissedArchived: Boolean = table.timeline.start match {
    case Some(start) =>
      def isPassed(i: InstantId) = i.requestedTime < start
      !anchored || coveredWrites.exists(i => isPassed(i) && !onTimeline(i)) ||
      coverage.pending.exists(p => isPassed(p) && TableContext.Relevant(p.action))
    // No write is left: all were rolled back, or this is another table, which nobody has written to yet.
    case None => coveredWrites.nonEmpty && !anchored
  }

  /** A covered write is still on the timeline, where archiving has not passed it: it passes those of savepoints, which stay. */
  private def anchored: Boolean =
    coveredWrites.exists(i => onTimeline(i) && table.timeline.start.exists(_ <= i.requestedTime))

  private def oldestInDoubt: String =
    (coverage.pending.map(_.requestedTime) ++ coveredWrites.headOption.map(_.requestedTime) :+ coverage.last).min

  private def activeInstant(i: Instant): UnseenInstant = new UnseenInstant(i, () => table.contents.of(i))
}
