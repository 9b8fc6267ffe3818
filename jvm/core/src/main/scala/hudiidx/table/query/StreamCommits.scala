package hudiidx.table.query

import hudiidx.table.TableConfig
import hudiidx.timeline._
import hudiidx.{InvalidOption, TableChanged}

/** Where a stream begins. */
sealed trait StreamStart extends Product with Serializable

object StreamStart {

  /** With all commits. */
  case object Earliest extends StreamStart

  /** With none of those that are there. */
  case object Latest extends StreamStart

  /** After an instant, which is compared as that of an incremental query. */
  final case class After(instant: String) extends StreamStart
}

/** How a stream goes through the commits of a table.
  *
  * @param changes     it gives changes, not rows
  * @param fallback    rows of archived commits, and of those whose files were cleaned, are taken from the table's latest files. None: for
  *                    those alone that were there when the stream began
  * @param failAtHoles a write that has not completed is an error where later ones have, if they must wait for it
  */
final case class StreamRequest(changes: Boolean, fallback: Option[Boolean] = None, failAtHoles: Boolean = false)

/** The commits of a micro-batch, by requested time. */
final case class MicroBatch(commits: Set[String], fallback: Boolean)

/** Finds what a stream has still to give, and in which order: rows in the order in which commits completed; those of version 6, which
  * has no completion times, and all changes in the order in which they were requested, none before a write that has not completed.
  * docs/decisions.md, "Streams: an offset names commits, not a time".
  *
  * @param nowMillis epoch milliseconds of the reader's clock
  */
final class StreamCommits(
    config: TableConfig,
    timeline: ActiveTimeline,
    contents: InstantContents,
    archive: TimelineHistory,
    request: StreamRequest,
    nowMillis: Long
) {
  import StreamCommits._

  private val byRequest = request.changes || !config.format.completionTimes
  private val now = InstantTime.format(nowMillis, config.timelineZone)
  private val remade = config.text(TableConfig.RemadeSince)
  private val writes = timeline.completedWrites
  private val known: Vector[String] =
    (writes.map(_.requestedTime) ++ timeline.instants
      .filter(i => !i.isCompleted && Action.PendingWrites(i.action))
      .map(_.requestedTime)).distinct

  /** Before the first batch. */
  def start(at: StreamStart): StreamOffset = {
    val last = writes.map(_.requestedTime).sorted.lastOption.getOrElse("")
    def none(begin: String, backlog: String) =
      StreamOffset(config.tableName, remade, request.changes, begin, backlog)
    at match {
      case StreamStart.Earliest     => none("", last)
      case StreamStart.Latest       => past(none("", ""), writes)
      case StreamStart.After(begin) =>
        val offset = past(none(begin, last), writes.filter(timeOf(_) <= begin))
        // Archived commits that were requested before others of the range were passed, and completed in it.
        offset.copy(open = offset.open ++ history(begin, offset.begin).filter(_ < offset.newest))
    }
  }

  private def past(offset: StreamOffset, passed: Vector[Instant]): StreamOffset =
    if (passed.isEmpty) offset else offset.after(passed.map(_.requestedTime), known, now)

  /** Behind the commits that come next; the same offset if there are none. Errors as `between`.
    *
    * @param most so many commits are enough; all that are archived count as one
    */
  def next(offset: StreamOffset, most: Option[Int]): StreamOffset = {
    requireSame(offset)
    val old = archived(offset)
    val ready = this.ready(offset)
    val (backlog, later) = ready.partition(_ <= offset.backlog)
    val first = if (old.nonEmpty || backlog.nonEmpty) backlog else later
    val batch = old ++ most.fold(first)(n => first.take(if (old.isEmpty) n else n - 1))
    if (batch.isEmpty) offset else offset.after(batch, known, now)
  }

  /** The write that others wait for; None if none do. */
  def hole(offset: StreamOffset): Option[String] =
    firstPending.filter(hole => byRequest && waiting(offset).exists(_.requestedTime > hole))

  /** What is between two offsets. TableChanged if it is no longer known, InvalidOption for offsets of another stream. */
  def between(from: StreamOffset, to: StreamOffset): MicroBatch = {
    requireSame(from)
    requireSame(to)
    val old = archived(from).filter(to.has)
    val commits = old ++ waiting(from).map(_.requestedTime).filter(to.has)
    MicroBatch(commits.toSet, fallsBack(from, commits))
  }

  private def fallsBack(offset: StreamOffset, commits: Vector[String]): Boolean =
    !request.changes && request.fallback.getOrElse(commits.forall(_ <= offset.backlog))

  private def timeOf(instant: Instant): String = timeOf(instant.requestedTime, instant.completionTime)

  private def timeOf(requested: String, completion: Option[String]): String =
    if (byRequest) requested else completion.getOrElse(requested)

  private def waiting(offset: StreamOffset): Vector[Instant] =
    writes.filter(i => !offset.has(i.requestedTime) && timeOf(i) > offset.begin)

  private lazy val firstPending: Option[String] = TimeTravel.firstPending(timeline, contents)

  private def ready(offset: StreamOffset): Vector[String] = {
    val held = hole(offset)
    if (request.failAtHoles)
      held.foreach { hole =>
        throw new InvalidOption(
          s"${config.file}: the write $hole has not completed, later ones have, and hoodie.read.timeline.holes.resolution.policy is FAIL; " +
            "leave it out to wait for the write"
        )
      }
    val all = waiting(offset).filter(i => held.forall(i.requestedTime < _))
    all.sortBy(i => (timeOf(i), i.requestedTime)).map(_.requestedTime)
  }

  /** Archived commits that were not given, by requested time. Nothing is read where there can be none. */
  private def archived(offset: StreamOffset): Vector[String] = {
    val reached = offset.newestUntil(now)
    val behind = if (timeline.start.forall(_ > reached)) history(reached, offset.begin) else Vector.empty
    val isKnown = known.toSet
    val opened = offset.open.filter(t => !isKnown(t) && timeline.start.forall(_ > t) && isArchived(t))
    val found = (behind ++ opened).filterNot(t => offset.has(t) || isKnown(t)).distinct.sorted
    if (found.nonEmpty && !fallsBack(offset, found)) throw lostError(offset, found.head)
    found
  }

  /** Archived commits of the range that were requested from an instant on, or had not completed then. */
  private def history(from: String, begin: String): Vector[String] = {
    val first = Ordering[String].max(from, if (byRequest) begin else IncrementalQuery.hoursBefore(begin, LongestWrite))
    if (timeline.start.exists(_ <= first)) Vector.empty
    else
      archive
        .instantsFrom(first)
        .filter(i => Action.Writes(i.action) && timeOf(i.requestedTime, i.completionTime) > begin)
        .map(_.requestedTime)
        .toVector
  }

  private def isArchived(instant: String): Boolean = archive
    .instantsFrom(instant)
    .takeWhile(_.requestedTime == instant)
    .exists(i => Action.Writes(i.action))

  private def lostError(offset: StreamOffset, instant: String): RuntimeException = {
    val what = s"${config.file}: the commit $instant was archived before the stream has read it"
    val first = timeline.start.getOrElse("a later instant")
    if (!request.changes)
      new TableChanged(
        s"$what; set $Fallback=true to take the rows of such commits from the table's latest files, or $anew"
      )
    else if (instant <= offset.backlog)
      new InvalidOption(
        s"$what, and what it changed is not known any more; set $Start to $first or later, or to latest"
      )
    else new TableChanged(s"$what, and what it changed is not known any more; $anew")
  }

  /** The offset is of this table, which still has what was given. */
  private def requireSame(offset: StreamOffset): Unit = {
    if (offset.changes != request.changes) {
      val format = if (offset.changes) "cdc" else "latest_state"
      throw new InvalidOption(
        s"checkpointLocation: it is that of a stream with hoodie.datasource.query.incremental.format=$format; give another one"
      )
    }
    if (offset.table != config.tableName)
      throw new TableChanged(
        s"${config.file}: the table is ${config.tableName}, and the stream's checkpoint is of ${offset.table}; $anew"
      )
    if (offset.remade != remade)
      throw new TableChanged(s"${config.file}: the table was made anew since the stream has read it; $anew")
    gone(offset).foreach { instant =>
      throw new TableChanged(
        s"${config.file}: the commit $instant, which the stream has given, is no longer on the table's timeline: it was rolled back, the " +
          s"table was restored, or another table is there now; $anew"
      )
    }
  }

  /** A commit that was given and is neither there nor archived. One that is there tells that the earlier ones are archived. */
  private def gone(offset: StreamOffset): Option[String] = {
    val here = writes.map(_.requestedTime).toSet
    val missing = offset.given.toVector.filterNot(here)
    missing.find(t => timeline.start.exists(_ <= t)).orElse {
      if (missing.length == offset.given.size) missing.lastOption.filterNot(isArchived) else None
    }
  }
}

object StreamCommits {
  val Start = "hoodie.datasource.streaming.startOffset"
  private val Fallback = "hoodie.datasource.read.incr.fallback.fulltablescan.enable"

  /** Hours. */
  private val LongestWrite = 24L

  /** What is left to do where a stream cannot go on. */
  private[hudiidx] val anew =
    s"start the query with a new checkpoint: with $Start=earliest it reads all rows of the table again, with latest it goes on from now"
}
