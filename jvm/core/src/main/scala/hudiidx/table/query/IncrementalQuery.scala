package hudiidx.table.query

import java.time.format.{DateTimeFormatter, DateTimeParseException}
import java.time.{temporal, LocalDateTime}

import hudiidx.table.{FileEntry, FileGroup, FileName, FileSource, TableConfig}
import hudiidx.timeline._
import hudiidx.{InvalidOption, UnsupportedTable}

/** Which rows an incremental query returns, by their `_hoodie_commit_time`; a row without one never counts. */
sealed trait CommitTimes extends Product with Serializable {
  def contains(commitTime: String): Boolean

  /** May one of them lie between two times, both counted in? */
  def meets(least: String, most: String): Boolean
}

object CommitTimes {

  /** `from` to `to`, both compared as strings; `to` counts. */
  final case class Range(from: String, fromCounts: Boolean, to: String) extends CommitTimes {
    override def contains(commitTime: String): Boolean =
      commitTime <= to && (if (fromCounts) commitTime >= from else commitTime > from)

    override def meets(least: String, most: String): Boolean =
      least <= to && (if (fromCounts) most >= from else most > from)
  }

  final case class OneOf(times: Set[String]) extends CommitTimes {
    override def contains(commitTime: String): Boolean = times(commitTime)

    override def meets(least: String, most: String): Boolean = times.exists(t => least <= t && t <= most)
  }
}

/** What was asked for.
  *
  *  @param begin instant time, compared as a string: a requested time on version 6, a completion time later
  *  @param end the same, counted in; None: up to now
  *  @param fallback read the whole table where commits of the range are archived or their files are gone; None: as the
  *                  stock release of the table's version does by itself
  *  @param blockHoles version 6: stop at a write that has not completed instead of refusing
  *  @param skipCompaction version 8 and later: leave compactions out
  *  @param commits requested times of the commits that are asked for, whatever the range; None: those of the range
  */
final case class IncrementalRequest(
    begin: String,
    end: Option[String],
    fallback: Option[Boolean] = None,
    blockHoles: Boolean = false,
    skipCompaction: Boolean = false,
    commits: Option[Set[String]] = None
)

/** The commits of an incremental query.
  *
  *  @param instants requested times, ascending
  *  @param source the files that the commits wrote
  *  @param archived commits of the range, or its bounds, are no longer on the active timeline
  *  @param fallback what is archived or gone is read from the table's latest files
  */
final case class Increment(
    instants: Vector[String],
    times: CommitTimes,
    source: WrittenFiles,
    archived: Boolean,
    fallback: Boolean
) {

  /** Requested time of the last commit: the view of the files is as of it. */
  def last: Option[String] = instants.lastOption
}

/** Files of some commits as their metadata names them. */
final class WrittenFiles(byPartition: Map[String, Array[FileEntry]]) extends FileSource {
  override val partitions: Vector[String] = byPartition.keys.toVector.sorted

  override def files(partitionPath: String): Array[FileEntry] = byPartition.getOrElse(partitionPath, Array.empty)

  /** The same with what `sizeOf` says of base files that have hardly the size that their commit tells. */
  def measured(sizeOf: FileEntry => Long): WrittenFiles = new WrittenFiles(byPartition.map { case (partition, all) =>
    partition -> all.map(f => if (f.isBase && !FileEntry.isUsual(f.sizeBytes)) f.copy(sizeBytes = sizeOf(f)) else f)
  })
}

object WrittenFiles {
  val None: WrittenFiles = new WrittenFiles(Map.empty)
}

/** Finds the commits of an incremental query as the stock release of the table's version does: 0.15.0 for version 6, 1.0.2 for
  * 8, 1.1.1 for 9. Its cost follows the commits of the range. Format notes §5.
  *
  *  @param history asked only where the range may reach into it
  */
final class IncrementalQuery(
    config: TableConfig,
    timeline: ActiveTimeline,
    contents: InstantContents,
    history: TimelineHistory
) {
  private type Commit = (Instant, () => CommitMetadata)

  private val writes: Vector[Instant] = {
    val actions = if (config.isMergeOnRead) IncrementalQuery.MorActions else IncrementalQuery.CowActions
    timeline.completed.filter(i => actions(i.action))
  }

  /** UnsupportedTable where rows carry no commit times; InvalidOption after a write that has not completed (version 6). */
  def increment(request: IncrementalRequest): Increment = {
    if (!config.populateMetaFields)
      throw new UnsupportedTable(
        s"${config.file}: the table keeps no commit times (hoodie.populate.meta.fields=false), so incremental queries are " +
          "not possible; read a snapshot"
      )
    request.commits match {
      case Some(commits)                          => named(commits, request)
      case None if !config.format.completionTimes => byRequest(request)
      case None                                   => byCompletion(request)
    }
  }

  /** The rows of some commits, as a query of the range that has no others gives them. */
  private def named(asked: Set[String], request: IncrementalRequest): Increment = {
    val archived = !asked.forall(timeline.isCompletedWrite)
    val commits = if (archived) asked else asked -- rewritesAlone(writes.filter(i => asked(i.requestedTime)))
    def isRead(i: Instant) =
      if (commits(i.requestedTime)) !(request.skipCompaction && isCompaction(i)) else isBetween(i, commits)
    // What is archived is read from the table's latest files.
    val read = if (archived) Vector.empty else writes.filter(isRead).map(i => commitOf(i))
    Increment(
      commits.toVector.sorted,
      CommitTimes.OneOf(commits),
      filesOf(read, replacedBy(read)),
      archived,
      request.fallback.getOrElse(false)
    )
  }

  private def isCompaction(instant: Instant): Boolean = config.isMergeOnRead && instant.action == Action.Commit

  /** On version 6 names of logs tell their slices, of which the last one is read: with the base file that a compaction between
    * commits made it has the rows of both.
    */
  private def isBetween(instant: Instant, commits: Set[String]): Boolean =
    !config.format.logsOfOneWrite && isCompaction(instant) &&
      commits.exists(_ < instant.requestedTime) && commits.exists(_ > instant.requestedTime)

  /** Log compactions that stand before all other writes into logs of the range: their rows are those of earlier commits, though they
    * bear the log compaction's time. Behind others they may hold rows of the range too.
    */
  private def rewritesAlone(range: Vector[Instant]): Set[String] = {
    def isRewrite(i: Instant) =
      contents.commitWithoutStats(i).operationType.contains(IncrementalQuery.LogCompaction)
    val ofLogs = range.filter(_.action == Action.DeltaCommit).sortBy(_.requestedTime)
    ofLogs.takeWhile(isRewrite).map(_.requestedTime).toSet
  }

  // Version 6: 0.15.0's IncrementalRelation and MergeOnReadIncrementalRelation.
  private def byRequest(request: IncrementalRequest): Increment = {
    val (begin, end) = (request.begin, request.end.orElse(writes.lastOption.map(_.requestedTime)).getOrElse(""))
    val known = withoutHoles(request)
    val beginArchived = isArchived(begin)
    val endArchived = isArchived(end)
    val inRange = known.filter(i => i.requestedTime > begin && i.requestedTime <= end)
    // As stock: of a range that lies before the timeline every commit counts, and rows tell.
    val commits =
      if (config.isMergeOnRead && beginArchived && endArchived) known
      else {
        val rewrites = if (beginArchived) Set.empty[String] else rewritesAlone(inRange)
        inRange.filterNot(i => rewrites(i.requestedTime))
      }
    val fallback = request.fallback.getOrElse(false)
    val fromBegin = beginArchived && (config.isMergeOnRead || fallback)
    val times =
      if (fromBegin || commits.isEmpty) CommitTimes.Range(begin, fromCounts = false, end)
      else CommitTimes.Range(commits.head.requestedTime, fromCounts = true, commits.last.requestedTime)
    val read = commits.map(i => commitOf(i))
    Increment(
      commits.map(_.requestedTime),
      times,
      filesOf(read, replacedBy(read)),
      beginArchived || endArchived,
      fallback
    )
  }

  private def isArchived(instant: String): Boolean = timeline.start.exists(_ > instant)

  /** The completed writes before the first one that is pending, clustering apart. */
  private def withoutHoles(request: IncrementalRequest): Vector[Instant] =
    TimeTravel.firstPending(timeline, contents) match {
      case Some(hole) if writes.exists(_.requestedTime > hole) =>
        if (request.blockHoles) writes.filter(_.requestedTime < hole)
        else
          throw new InvalidOption(
            s"${config.file}: the write $hole has not completed, later ones have; an incremental query would skip it. " +
              "Set hoodie.read.timeline.holes.resolution.policy to BLOCK to read the commits before it"
          )
      case _ => writes
    }

  // Version 8 and later: 1.x's IncrementalQueryAnalyzer and MergeOnReadIncrementalRelationV2.
  private def byCompletion(request: IncrementalRequest): Increment = {
    def inRange(completion: Option[String]): Boolean = completion.exists { c =>
      (if (config.format.beginCounts) c >= request.begin else c > request.begin) && request.end.forall(c <= _)
    }
    def wanted(action: String): Boolean =
      !(request.skipCompaction && config.isMergeOnRead && action == Action.Commit)
    val before = archivedCommits(request.begin, i => wanted(i.action) && inRange(i.completionTime))
    val active = writes.filter(i => wanted(i.action) && inRange(i.completionTime))
    val rewrites = if (before.nonEmpty) Set.empty[String] else rewritesAlone(active)
    val here = active.filterNot(i => rewrites(i.requestedTime))
    val fallback = request.fallback.getOrElse(true)
    val instants = (before.map(_._1.requestedTime) ++ here.map(_.requestedTime)).sorted
    // What is archived is read from the table's latest files; its own may have been cleaned.
    val read = if (fallback && before.nonEmpty) Vector.empty else before ++ here.map(i => commitOf(i))
    Increment(
      instants,
      CommitTimes.OneOf(instants.toSet),
      filesOf(read, replacedSince(read.headOption.map(_._1.requestedTime), request.end)),
      before.nonEmpty,
      fallback
    )
  }

  private def archivedCommits(begin: String, inRange: ArchivedInstant => Boolean): Vector[Commit] = {
    val from = IncrementalQuery.dayBefore(begin)
    if (!timeline.start.forall(_ > from)) Vector.empty
    else {
      val actions = IncrementalQuery.MorActions
      val known = timeline.completed.map(_.requestedTime).toSet
      history
        .instantsFrom(from)
        .filter(i => actions(i.action) && !known(i.requestedTime) && inRange(i))
        .map { i =>
          val content = i.content
          val instant = Instant(i.requestedTime, i.action, InstantState.Completed, i.completionTime, "")
          (instant, () => content.commit)
        }
        .toVector
    }
  }

  private def commitOf(instant: Instant): Commit = (instant, () => contents.commit(instant))

  private type Replaced = Map[FileGroup, String]

  private def replacedBy(commits: Vector[Commit]): Replaced =
    commits.filter(_._1.action == Action.ReplaceCommit).flatMap { case (i, read) => replaced(i, read()) }.toMap

  /** Replacements that may concern files written from `first` on: who completed earlier left nothing to be written to. One that completed
    * behind the end took nothing from the range.
    */
  private def replacedSince(first: Option[String], end: Option[String]): Replaced =
    first.fold(Map.empty[FileGroup, String]) { from =>
      timeline.completedWrites
        .filter(i => i.action == Action.ReplaceCommit && i.completionTime.forall(c => c >= from && end.forall(c <= _)))
        .flatMap(i => replaced(i, contents.commitWithoutStats(i)))
        .toMap
    }

  private def replaced(instant: Instant, metadata: CommitMetadata): Iterable[(FileGroup, String)] =
    for ((partition, ids) <- instant.replaces(metadata); id <- ids)
      yield FileGroup(partition, id) -> instant.requestedTime

  private def filesOf(commits: Vector[Commit], replaced: Replaced): WrittenFiles = {
    val entries = for {
      (instant, read) <- commits
      stat <- read().writeStats
      name <- stat.requireFileName(instant.requestedTime, config.file)
      entry <- FileName.parse(stat.partitionPath, name, stat.fileSizeBytes)
    } yield entry.copy(
      completionTime =
        if (!entry.isBase && entry.instantTime == instant.requestedTime) instant.completionTime else None,
      replacedAt = replaced.get(FileGroup(stat.partitionPath, entry.fileId))
    )
    // A log file that several commits appended to is one file, as the last of them left it.
    val files = entries.map(e => (e.partitionPath, e.fileName) -> e).toMap.values
    new WrittenFiles(files.groupBy(_.partitionPath).map { case (partition, all) => partition -> all.toArray })
  }
}

object IncrementalQuery {
  private val CowActions = Set(Action.Commit, Action.ReplaceCommit)
  private val MorActions = CowActions + Action.DeltaCommit
  private val LogCompaction = "LOG_COMPACT"

  private val Seconds = DateTimeFormatter.ofPattern("yyyyMMddHHmmss")

  /** No write takes longer, stock says. The empty string for what is not an instant, such as `000`. */
  private[hudiidx] def dayBefore(instant: String): String = hoursBefore(instant, 24)

  /** The empty string for what is not an instant. */
  private[hudiidx] def hoursBefore(instant: String, hours: Long): String =
    try {
      val at = LocalDateTime.parse(instant.take(14), Seconds)
      at.minus(hours, temporal.ChronoUnit.HOURS).format(Seconds) + instant.drop(14)
    } catch { case _: DateTimeParseException => "" }
}
