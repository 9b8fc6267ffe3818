package hudiidx.table.query

import hudiidx.table.{FileGroup, FileName, FileOrder, FileSlice, FileSystemView, GroupSlices, TableConfig}
import hudiidx.timeline._
import hudiidx.{DamagedTable, InvalidOption, UnsupportedTable}
import scala.collection.JavaConverters._

/** The rows of a file slice as of an instant, whose blocks and those of later ones the second one may leave out. */
final case class SliceMoment(slice: FileSlice, asOf: String)

/** How it is told what one commit changed in one file group. Format notes §6.8.
  *
  * @see [[ChangeQuery]]
  */
sealed trait Change extends Product with Serializable {
  def instant: String
}

object Change {

  /** By the rows that there were before and after; None where there were none. */
  final case class Compared(instant: String, before: Option[SliceMoment], after: Option[SliceMoment]) extends Change

  /** The writer kept what it changed.
    *
    * @param files  names of `.cdc` files in the folder of the partition, by version, with the bytes that it left in them
    * @param before rows by which what they lack is filled in; None where they lack nothing
    */
  final case class Recorded(
      instant: String,
      files: Vector[(String, Long)],
      before: Option[SliceMoment],
      after: Option[SliceMoment]
  ) extends Change
}

/** What was changed in one file group, by instant. */
final case class GroupChanges(group: FileGroup, changes: Vector[Change])

/** What the writers of a table keep of changes: `hoodie.table.cdc.supplemental.logging.mode`. */
sealed abstract class ChangeLogging(val name: String, val keepsBefore: Boolean, val keepsAfter: Boolean)
    extends Product
    with Serializable

object ChangeLogging {
  case object KeyAlone extends ChangeLogging("op_key_only", keepsBefore = false, keepsAfter = false)
  case object Before extends ChangeLogging("data_before", keepsBefore = true, keepsAfter = false)
  case object BeforeAndAfter extends ChangeLogging("data_before_after", keepsBefore = true, keepsAfter = true)

  private val All = Vector(KeyAlone, Before, BeforeAndAfter)
  private val Property = "hoodie.table.cdc.supplemental.logging.mode"

  /** UnsupportedTable for another name. */
  def of(config: TableConfig): ChangeLogging = config.text(Property).map(_.trim) match {
    case None       => BeforeAndAfter
    case Some(name) =>
      All
        .find(_.name.equalsIgnoreCase(name))
        .getOrElse(
          throw new UnsupportedTable(s"${config.file}: $Property is '$name'; read the table's changes with Hudi")
        )
  }
}

/** Finds what the commits of a range changed, as stock Hudi does: the writers of copy-on-write tables keep the changes of each
  * file group in `.cdc` files, but for groups of which all rows are new; the changes in logs of merge-on-read tables, of replaced
  * groups and of base files without `.cdc` files follow from the rows before and after.
  *
  * Commits of the range are those whose requested time is in it, whatever the table's version, as in stock Hudi.
  *
  * @param view the table's committed files, those of earlier slices too
  */
final class ChangeQuery(
    config: TableConfig,
    timeline: ActiveTimeline,
    contents: InstantContents,
    history: TimelineHistory,
    view: FileSystemView
) {
  private val logging = ChangeLogging.of(config)
  private val files = new EarlierFiles(view)
  private val times = new java.util.TreeSet[String](timeline.instants.map(_.requestedTime).asJava)

  /** UnsupportedTable if the table keeps no changes, InvalidOption if commits of the range are archived or their files were removed.
    *
    * @param begin requested time that is before those of the range
    * @param end   the last of them; None: up to now
    */
  def between(begin: String, end: Option[String]): Vector[GroupChanges] = {
    requireChanges()
    changes(begin, time => time > begin && end.forall(time <= _))
  }

  /** The same of some commits alone, by requested time. */
  def of(commits: Set[String]): Vector[GroupChanges] = {
    requireChanges()
    if (commits.isEmpty) Vector.empty else changes(commits.min, commits)
  }

  /** @param begin no commit of the range was requested before it */
  private def changes(begin: String, inRange: String => Boolean): Vector[GroupChanges] = {
    requireActive(begin, inRange)
    val found = for {
      instant <- timeline.completedWrites if inRange(instant.requestedTime) && mayChange(instant)
      commit = contents.commit(instant) if !commit.operationType.exists(ChangeQuery.Rearranging)
      change <- written(instant.requestedTime, commit) ++ replaced(instant, commit)
    } yield change
    val inOrder = found.map(_._1).distinct
    val byGroup = found.groupBy(_._1)
    inOrder.map(group => GroupChanges(group, byGroup(group).map(_._2)))
  }

  private def requireChanges(): Unit = {
    if (!config.text(ChangeQuery.Enabled).exists(_.trim.equalsIgnoreCase("true")))
      throw new UnsupportedTable(
        s"${config.file}: the table keeps no change data (${ChangeQuery.Enabled} is not true); read it without " +
          "hoodie.datasource.query.incremental.format=cdc"
      )
    if (!config.populateMetaFields)
      throw new UnsupportedTable(
        s"${config.file}: rows hold no record keys (hoodie.populate.meta.fields=false), by which changes are told; read them with Hudi"
      )
  }

  /** Of archived commits stock Hudi 0.15 leaves the changes out silently. */
  private def requireActive(begin: String, inRange: String => Boolean): Unit = {
    if (timeline.start.forall(_ > begin))
      history
        .instantsFrom(begin)
        .find(i => Action.Writes(i.action) && inRange(i.requestedTime) && !times.contains(i.requestedTime))
        .foreach { i =>
          throw new InvalidOption(
            s"${config.file}: the commit ${i.requestedTime} is archived, and what it changed is not known any more; set " +
              s"hoodie.datasource.read.begin.instanttime to ${times.asScala.headOption.getOrElse("a later instant")} or later${ChangeQuery.OfStream}"
          )
        }
  }

  /** A compaction completes as a commit, which merge-on-read tables have no other of. */
  private def mayChange(instant: Instant): Boolean = !(config.isMergeOnRead && instant.action == Action.Commit)

  private def written(instant: String, commit: CommitMetadata): Vector[(FileGroup, Change)] = {
    val changes = for {
      stat <- commit.writeStats
      change <- if (stat.cdcFiles.nonEmpty) Some(recorded(instant, stat)) else byFile(instant, stat)
    } yield change
    // A log file that rolled over has a stat of its own for each file.
    changes.distinct
  }

  private def byFile(instant: String, stat: WriteStat): Option[(FileGroup, Change)] = for {
    name <- stat.requireFileName(instant, config.file)
    entry <- FileName.parse(stat.partitionPath, name, stat.fileSizeBytes)
    group = FileGroup(stat.partitionPath, entry.fileId)
  } yield group -> (if (entry.isBase) rewritten(instant, group, stat, name) else logged(instant, group, name))

  /** The file that it wrote need not be named where its `.cdc` files have all. */
  private def recorded(instant: String, stat: WriteStat): (FileGroup, Change) = {
    val named = stat.fileName.flatMap(FileName.parse(stat.partitionPath, _, stat.fileSizeBytes))
    val group = FileGroup(stat.partitionPath, named.fold(stat.fileId)(_.fileId))
    val kept =
      stat.cdcFiles.keys.toVector.map(cdc => files.entry(group, cdc).getOrElse(throw gone(instant, group, cdc)))
    val before =
      if (logging.keepsBefore) None
      else stat.prevCommit.map(earlier => files.slice(group, earlier).getOrElse(throw gone(instant, group, earlier)))
    val after =
      if (logging.keepsAfter) None
      else stat.requireFileName(instant, config.file).flatMap(base(instant, group, stat, _))
    group -> Change.Recorded(
      instant,
      FileOrder.sorted(kept.toArray).toVector.map(f => f.fileName -> stat.cdcFiles(f.fileName)),
      before.map(SliceMoment(_, previous(instant))),
      after
    )
  }

  private def rewritten(instant: String, group: FileGroup, stat: WriteStat, name: String): Change = {
    val allNew = stat.numUpdateWrites == 0 && stat.numDeletes == 0 && stat.numWrites == stat.numInserts
    val before =
      if (allNew) None
      else stat.prevCommit.map(earlier => files.slice(group, earlier).getOrElse(throw gone(instant, group, earlier)))
    Change.Compared(instant, before.map(SliceMoment(_, previous(instant))), base(instant, group, stat, name))
  }

  /** The base file that a stat names. One without rows may not be there. */
  private def base(instant: String, group: FileGroup, stat: WriteStat, name: String): Option[SliceMoment] =
    files.entry(group, name).filter(_.isBase) match {
      case Some(file)                  => Some(SliceMoment(FileSlice.of(GroupSlices.baseFile(file)), instant))
      case None if stat.numWrites == 0 => None
      case None                        => throw gone(instant, group, name)
    }

  private def logged(instant: String, group: FileGroup, name: String): Change = {
    val slice = files.withLog(group, name).getOrElse(throw gone(instant, group, name))
    Change.Compared(instant, Some(SliceMoment(slice, previous(instant))), Some(SliceMoment(slice, instant)))
  }

  private def replaced(by: Instant, commit: CommitMetadata): Vector[(FileGroup, Change)] = for {
    (partition, ids) <- by.replaces(commit).toVector
    id <- ids.distinct
  } yield {
    val (group, instant) = (FileGroup(partition, id), by.requestedTime)
    val slice = files.last(group, instant).getOrElse(throw gone(instant, group, "its last slice"))
    group -> Change.Compared(instant, Some(SliceMoment(slice, previous(instant))), None)
  }

  /** The last instant before another one: of the timeline, or else the text of digits that is one less. */
  private def previous(instant: String): String = Option(times.lower(instant)).getOrElse {
    val at = instant.lastIndexWhere(_ > '0')
    if (at < 0)
      throw new DamagedTable(
        s"${timeline.dir}: instant $instant, before which there can be no other; roll it back with Hudi"
      )
    instant.take(at) + (instant(at) - 1).toChar + "9" * (instant.length - at - 1)
  }

  private def gone(instant: String, group: FileGroup, what: String): InvalidOption = new InvalidOption(
    s"${config.file}: what the commit $instant changed in file group ${group.fileId} of partition '${group.partitionPath}' cannot be " +
      s"told, as files were cleaned ($what); set hoodie.datasource.read.begin.instanttime to a later instant${ChangeQuery.OfStream}"
  )
}

private object ChangeQuery {
  val Enabled = "hoodie.table.cdc.enabled"

  /** What else there is to do, in errors. */
  val OfStream = ", of a stream hoodie.datasource.streaming.startOffset with a new checkpoint"

  /** Operations of commits that change no rows. */
  val Rearranging: Set[String] =
    Set("CLUSTER", "COMPACT", "LOG_COMPACT", "INDEX", "ALTER_SCHEMA", "BUCKET_RESCALE", "PARTITION_TTL_MANAGEMENT")
}
