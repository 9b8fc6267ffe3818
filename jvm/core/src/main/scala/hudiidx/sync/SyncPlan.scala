package hudiidx.sync

import hudiidx.store.{Coverage, IndexVersion, InstantId}
import hudiidx.timeline.{ArchivedInstant, Instant, InstantContent, InstantState}

/** A completed instant that an index version has not taken in. */
final class UnseenInstant(val instant: Instant, read: () => InstantContent) {
  def content: InstantContent = read()
}

/** How an index version stands to a table. */
sealed trait Standing
object Standing {

  /** The version is sound; these instants (none: it is in step) complete it, in the order in which they completed.
    *
    *  @param vanished covered writes that are neither on the timeline nor archived: sound only if `unseen` rolled them back
    */
  final case class Sound(unseen: Vector[UnseenInstant], vanished: Set[String]) extends Standing

  final case class Unsound(fallback: Fallback) extends Standing
}

/** Finds what an index version lacks. Nothing is read but, where instants were archived unseen, the archived timeline. */
object SyncPlan {

  def of(version: IndexVersion, table: TableContext): Standing =
    if (version.table != table.identity)
      unsound(FallbackCode.ForeignIndex, s"it was made for table ${version.table}, this one is ${table.identity}")
    else new SyncPlan(version.coverage, table).standing

  private[sync] def unsound(code: String, why: String): Standing = Standing.Unsound(Fallback(code, why))
}

private final class SyncPlan(coverage: Coverage, table: TableContext) {
  private val completed = table.completed
  private val onTimeline: Set[InstantId] = completed.map(i => InstantId(i.requestedTime, i.action)).toSet
  private val writeStart: Option[String] =
    table.timeline.completedWrites.map(_.requestedTime).headOption
  private val coveredWrites = coverage.covered.filter(i => TableContext.Writes(i.action))

  def standing: Standing = {
    val active = completed.filterNot(i => coverage.covers(InstantId(i.requestedTime, i.action)))
    val vanished = coveredWrites.filter(i => !onTimeline(i) && writeStart.exists(_ <= i.requestedTime))
    if (!mayHaveMissedArchived) sound(active.map(activeInstant), vanished)
    else {
      val archived = table.history.instantsFrom(oldestInDoubt).filter(a => TableContext.Relevant(a.action)).toVector
      val (known, unseen) = archived.partition(a => coverage.covers(InstantId(a.requestedTime, a.action)))
      // Neither active nor archived: then every covered write must have been rolled back.
      val lost = if (known.nonEmpty || anchored) vanished else coveredWrites
      sound(unseen.map(archivedInstant) ++ active.map(activeInstant), lost)
    }
  }

  private def sound(unseen: Vector[UnseenInstant], vanished: Vector[InstantId]): Standing = {
    val ordered =
      unseen.sortBy(u => (u.instant.completionTime.getOrElse(u.instant.requestedTime), u.instant.requestedTime))
    Standing.Sound(ordered, vanished.map(_.requestedTime).toSet)
  }

  /** Archiving goes from the oldest on and stops at a pending instant. So nothing was archived unseen while a covered write
    *  is still active and every instant that was pending then is, too, or lies behind the start.
    */
  private def mayHaveMissedArchived: Boolean = writeStart.exists { start =>
    !anchored || coverage.pending.exists(p => p.requestedTime < start && TableContext.Relevant(p.action))
  }

  /** A covered write is still on the timeline. */
  private def anchored: Boolean = coveredWrites.exists(onTimeline)

  private def oldestInDoubt: String = (coverage.pending.map(_.requestedTime) :+ coverage.last).min

  private def archivedInstant(a: ArchivedInstant): UnseenInstant =
    new UnseenInstant(Instant(a.requestedTime, a.action, InstantState.Completed, a.completionTime, ""), () => a.content)

  private def activeInstant(i: Instant): UnseenInstant = new UnseenInstant(i, () => table.contents.of(i))

}
