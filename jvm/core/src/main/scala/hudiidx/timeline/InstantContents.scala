package hudiidx.timeline

import hudiidx.NotAHudiTable
import hudiidx.storage.{FileInfo, KeptFiles, Storage}
import java.io.{FileNotFoundException, IOException}
import java.nio.file.NoSuchFileException
import scala.collection.mutable

/** Reads and decodes the files of a table's active timeline.
  *  All methods: DamagedTable if the file cannot be decoded; NotAHudiTable if it cannot be read; NoSuchFileException if it went away since the timeline was
  *  read (rolled back, a plan that was archived): read the timeline again. What was completed and is archived since is read there.
  *
  *  @param archived  opens the archived timeline as it is now
  *  @param check     looks at each file that a commit wrote
  *  @param keptBytes so much of completed instants is kept once it is read, the first that are asked for; a commit of these is decoded
  *                   once
  *  @param listed    the file of a completed instant by its name, where a listing showed it
  */
final class InstantContents(
    storage: Storage,
    timelineDir: String,
    archived: () => TimelineHistory = () => TimelineHistory.Empty,
    check: WrittenCheck = WrittenCheck.None,
    keptBytes: Long = 0L,
    listed: String => Option[FileInfo] = _ => None
) {
  private val kept = mutable.HashMap.empty[String, InstantContent]
  private var leftBytes = keptBytes

  /** The same, for work that looks into the same instants again and again. */
  def keeping(bytes: Long): InstantContents = new InstantContents(storage, timelineDir, archived, check, bytes, listed)

  /** Of a completed commit, deltacommit or replacecommit. An inflight instant's profile gives stats without paths. */
  def commit(instant: Instant): CommitMetadata = of(instant).commit

  /** As `commit`, without write stats. */
  def commitWithoutStats(instant: Instant): CommitMetadata = of(instant).commitWithoutStats

  /** As `commit`, with write stats of a few files alone, of those that got rows. */
  def commitWithSample(instant: Instant): CommitMetadata = of(instant).commitWithSample

  def clean(instant: Instant): CleanMetadata = of(instant).clean

  def rollback(instant: Instant): RollbackMetadata = of(instant).rollback

  def restore(instant: Instant): RestoreMetadata = of(instant).restore

  /** Names of the saved files by partition path. */
  def savepoint(instant: Instant): Map[String, Set[String]] = of(instant).savepoint

  /** Of a pending compaction or log compaction, requested or inflight: the plan stays in the requested file. */
  def compactionPlan(pending: Instant): Vector[PlannedFileGroup] = content(requestedFile(pending)).compactionPlan

  /** Of a pending clustering or replacecommit; None if it is not a clustering, or a replacecommit that was rolled back since it was
    * listed.
    */
  def clusteringPlan(pending: Instant): Option[Vector[PlannedFileGroup]] =
    try content(requestedFile(pending)).clusteringPlan
    catch {
      case (_: NoSuchFileException | _: FileNotFoundException) if pending.action == Action.ReplaceCommit => None
    }

  private def requestedFile(pending: Instant): String = s"${pending.requestedTime}.${pending.action}.requested"

  /** The content of an instant, to be decoded as its action wrote it. */
  def of(instant: Instant): InstantContent =
    try content(instant.fileName, instant.isCompleted)
    catch {
      case e @ (_: NoSuchFileException | _: FileNotFoundException) if instant.isCompleted =>
        archived()
          .instantsFrom(instant.requestedTime)
          .takeWhile(_.requestedTime == instant.requestedTime)
          .find(_.action == instant.action)
          .fold[InstantContent](throw e)(_.content)
    }

  private def content(fileName: String, isCompleted: Boolean = false): InstantContent =
    keptOf(fileName).getOrElse {
      val path = Storage.join(timelineDir, fileName)
      val known = if (isCompleted) listed(fileName) else None
      val bytes = NotAHudiTable.reading(path)(known.fold(storage.readAll(path))(KeptFiles.readAll(storage, _)))
      val read = InstantContent.of(path, bytes).checkedBy(check)
      if (isCompleted) keep(fileName, read, bytes.length) else read
    }

  /** Reads these all at once, where the store is far and lets it: who asks for them next finds them. What cannot be read is told then. */
  def fetch(instants: Vector[Instant]): Unit =
    if (storage.isFar(timelineDir)) {
      val files = instants.filter(i => i.isCompleted && keptOf(i.fileName).isEmpty).flatMap(i => listed(i.fileName))
      storage.atOnce(timelineDir)(KeptFiles.fitting(files).map(file => () => fetch(file))): Unit
    }

  private def fetch(file: FileInfo): Unit =
    try KeptFiles.readAll(storage, file): Unit
    catch { case _: IOException => () }

  private def keptOf(fileName: String): Option[InstantContent] = synchronized(kept.get(fileName))

  private def keep(fileName: String, read: InstantContent, bytes: Int): InstantContent = synchronized {
    if (bytes > leftBytes) read
    else {
      leftBytes -= bytes
      kept.getOrElseUpdate(fileName, read.keeping)
    }
  }
}
