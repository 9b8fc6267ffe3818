package hudiidx.table.listing

import hudiidx.table.{DataFiles, ViewTimeline}
import hudiidx.timeline.{Action, ActiveTimeline, Instant, InstantContents, RollbackMetadata}
import java.util.{HashMap => JMap, HashSet => JSet}

/** All that the listing of one partition needs besides the storage; small, and serialisable for tasks elsewhere.
  *
  *  @param timeline   without history
  *  @param replacedAt requested time of the earliest completed replacecommit, by partition path and file id
  *  @param namedLogs  version 6, merge-on-read: the log files, as paths below the table, that completed
  *                    instants or rollbacks name. Others may belong to a write under way, whose name they do not bear.
  *                    None where names alone decide
  *  @param files      which names may be data
  */
final case class ListingRules(
    tablePath: String,
    timeline: ViewTimeline,
    replacedAt: JMap[String, JMap[String, String]],
    namedLogs: Option[JSet[String]],
    files: DataFiles
) {

  /** When the group was replaced; None if it was not. */
  def replacementOf(partitionPath: String, fileId: String): Option[String] = {
    val inPartition = replacedAt.get(partitionPath)
    if (inPartition == null) None else Option(inPartition.get(fileId))
  }
}

object ListingRules {

  /** Reads the completed replacecommits, and of a merge-on-read table of version 6 the other commits and rollbacks too: a
    * write may begin after the timeline was read, and its log files do not bear its name.
    */
  def of(
      tablePath: String,
      timeline: ActiveTimeline,
      contents: InstantContents,
      view: ViewTimeline,
      files: DataFiles
  ): ListingRules = {
    val inDoubt = view.slicesByName && view.mergeOnRead
    ListingRules(
      tablePath,
      view.withoutHistory,
      replacements(timeline.completedWrites, contents),
      if (inDoubt) Some(namedLogs(timeline, contents)) else None,
      files
    )
  }

  /** By partition path and file id. Of several the earliest counts: what was replaced once is not there until a later
    * overwrite that knew nothing of it. Stock Hudi takes the latest, and has both rows in between.
    */
  private[hudiidx] def replacements(
      writes: Vector[Instant],
      contents: InstantContents
  ): JMap[String, JMap[String, String]] = {
    val found = new JMap[String, JMap[String, String]]()
    writes.filter(_.action == Action.ReplaceCommit).foreach { instant =>
      instant.replaces(contents.commitWithoutStats(instant)).foreach { case (partition, ids) =>
        val inPartition = found.computeIfAbsent(partition, _ => new JMap[String, String]())
        ids.foreach(inPartition.merge(_, instant.requestedTime, (a, b) => if (a < b) a else b))
      }
    }
    found
  }

  private def namedLogs(timeline: ActiveTimeline, contents: InstantContents): JSet[String] = {
    val named = new JSet[String]()
    timeline.completedWrites.foreach(contents.commit(_).writeStats.foreach(_.path.foreach(named.add)))
    rollbacks(timeline, contents).foreach(_.partitions.foreach { case (partition, files) =>
      (files.logFiles.keysIterator ++ files.failedLogFiles.keysIterator).foreach { name =>
        named.add(pathBelowTable(partition, name))
      }
    })
    named
  }

  private def rollbacks(timeline: ActiveTimeline, contents: InstantContents): Vector[RollbackMetadata] =
    timeline.completed.flatMap { instant =>
      instant.action match {
        case Action.Rollback => Vector(contents.rollback(instant))
        case Action.Restore  => contents.restore(instant).rollbacks
        case _               => Vector.empty
      }
    }

  private[table] def pathBelowTable(partitionPath: String, name: String): String =
    if (partitionPath.isEmpty) name else s"$partitionPath/$name"
}
