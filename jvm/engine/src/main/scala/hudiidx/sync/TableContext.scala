package hudiidx.sync

import scala.collection.concurrent.TrieMap
import scala.util.Try

import hudiidx.{Log, LogOnce, TableChanged}
import hudiidx.hfile.BlockCache
import hudiidx.storage.{FileInfo, Storage}
import hudiidx.store.{InstantId, TableIdentity}
import hudiidx.table.{
  BaseFileColumns,
  ColumnsOfFiles,
  DataFiles,
  LatestSchema,
  TableConfig,
  TableFolder,
  TableProperties,
  TableSchema
}
import hudiidx.timeline._

/** What opening a table needs from its surroundings. One for a process: it carries the shared block cache.
  *
  *  @param histories opens the archived timeline of a table; where its format needs Parquet, module parquet brings the reader
  *  @param bases     likewise
  */
final class TableAccess(
    val storage: Storage,
    val histories: HistoryOpener,
    val bases: BaseFileColumns,
    val cache: BlockCache
) {

  /** As writers of this table have it. */
  def ofWriter(tablePath: String): TableAccess = over(TableFolder.of(storage, tablePath))

  /** The same through another storage. */
  def over(other: Storage): TableAccess = new TableAccess(other, histories, bases, cache)
}

/** Opens archived timelines. */
trait HistoryOpener {
  def open(storage: Storage, tablePath: String, config: TableConfig): TimelineHistory
}

/** A table's own files as of one moment: properties and active timeline, read once.
  *
  * @param passed what else an index covers that is made of the table now, see `withPassed`
  */
final class TableContext(
    val access: TableAccess,
    val tablePath: String,
    val config: TableConfig,
    val timeline: ActiveTimeline,
    val contents: InstantContents,
    val history: TimelineHistory,
    passed: Vector[InstantId] = Vector.empty
) {
  def storage: Storage = access.storage

  /** As writers of the table have it. */
  def ofWriter: TableContext =
    new TableContext(access.ofWriter(tablePath), tablePath, config, timeline, contents, history, passed)

  /** For builds and updates, whose parts look into the same commits: each is read and decoded once. */
  def keepingCommits: TableContext =
    new TableContext(access, tablePath, config, timeline, contents.keeping(TableContext.KeptBytes), history, passed)

  /** With what was archived after the commit of a savepoint, which stays: reads the archive. What is archived from now on is on this
    * timeline.
    */
  def withPassed: TableContext = timeline.completedWrites.headOption.map(_.requestedTime) match {
    case Some(first) if timeline.start.exists(_ != first) =>
      val pendingTimes = pending.map(_.requestedTime).toSet
      val found = onlyArchivedFrom(first).collect {
        case a if a.requestedTime < newestInstant && !pendingTimes(a.requestedTime) =>
          InstantId(a.requestedTime, a.action)
      }
      new TableContext(access, tablePath, config, timeline, contents, history, found)
    case _ => this
  }

  def identity: TableIdentity = TableIdentity(config.tableName, config.tableType.name)

  // A commit and the columns of a data file are read for each; nothing of one moment changes.
  private val schemas = TrieMap.empty[Option[String], Option[LatestSchema]]

  /** The schema of the table's rows as of an instant; see [[TableSchema.latest]]. Read once. */
  def schema(asOf: Option[String] = None): Option[LatestSchema] =
    schemas.getOrElseUpdate(asOf, schemaOf(timeline, asOf))

  /** The same, as if the table had this timeline. */
  def schemaOf(timeline: ActiveTimeline, asOf: Option[String] = None): Option[LatestSchema] =
    TableSchema.latest(timeline, contents, config, asOf, new ColumnsOfFiles(storage, tablePath, access.bases))

  /** Completed instants that change which files there are, oldest request first. */
  def completed: Vector[Instant] = timeline.completed.filter(i => TableContext.Relevant(i.action))

  /** The same of the archived timeline, from this requested time on. */
  def archivedFrom(instantTime: String): Vector[ArchivedInstant] =
    history.instantsFrom(instantTime).filter(a => TableContext.Relevant(a.action)).toVector

  /** Those of them that are not on the active timeline: an archiving that was killed leaves instants on both. */
  def onlyArchivedFrom(instantTime: String): Vector[ArchivedInstant] = {
    val active = completed.map(i => InstantId(i.requestedTime, i.action)).toSet
    archivedFrom(instantTime).filterNot(a => active(InstantId(a.requestedTime, a.action)))
  }

  /** What an index covers that is made of the table now, oldest request first. */
  def takenIn: Vector[InstantId] =
    (completed.map(i => InstantId(i.requestedTime, i.action)) ++ passed).sortBy(_.requestedTime)

  /** Requested time of the newest completed one; zeros for a table without any. */
  def newestInstant: String = completed.lastOption.map(_.requestedTime).getOrElse(MasterFiles.NoInstant)

  def pending: Vector[InstantId] =
    timeline.instants
      .filter(!_.isCompleted)
      .map(i => InstantId(i.requestedTime, InstantName.comparableAction(i.action)))
}

object TableContext {

  /** Of commits: more than usual ones have, and little beside what tasks need. */
  private val KeptBytes = 32L << 20

  /** Actions that change which files there are. */
  val Relevant: Set[String] =
    Action.Writes ++ Set(Action.Clean, Action.Rollback, Action.Restore)

  val Writes: Set[String] = Action.Writes

  /** Reads properties and timeline. NotAHudiTable, UnsupportedTable, DamagedTable as [[TableConfig.read]], TableChanged while an
    * upgrade moves the timeline.
    */
  def load(access: TableAccess, tablePath: String): TableContext = {
    val (config, listed) = configAndTimeline(access.storage, tablePath)
    load(access, tablePath, config, listed)
  }

  /** The same, by properties that were read a moment ago.
    *
    *  @param listed what is in the timeline's folder, where that was listed meanwhile
    */
  def load(
      access: TableAccess,
      tablePath: String,
      config: TableConfig,
      listed: Option[Vector[FileInfo]] = None
  ): TableContext = {
    def files = listed.getOrElse(TimelineReader.list(access.storage, config.timelineDir(tablePath)))
    try of(access, tablePath, config, files)
    catch {
      case e: TableChanged =>
        // An upgrade may have ended between the two.
        val now = TableConfig.read(access.storage, tablePath)
        if (now.timelineLayout == config.timelineLayout) throw e
        else of(access, tablePath, now, TimelineReader.list(access.storage, now.timelineDir(tablePath)))
    }
  }

  /** The properties, and what is in the timeline's folder where that was listed meanwhile. A listing counts only where the properties
    * are still those that named its folder before it was made: an upgrade moves the instants first.
    */
  private def configAndTimeline(storage: Storage, tablePath: String): (TableConfig, Option[Vector[FileInfo]]) =
    TableConfig.lastKnown(storage, tablePath) match {
      case None         => (TableConfig.read(storage, tablePath), None)
      case Some(before) =>
        val (config, files) = Storage.both(storage, tablePath)(
          TableConfig.read(storage, tablePath),
          Try(TimelineReader.list(storage, before.timelineDir(tablePath)))
        )
        (config, files.toOption.filter(_ => config.properties eq before.properties))
    }

  /** As of a timeline that was read. */
  def of(access: TableAccess, tablePath: String, config: TableConfig, timeline: ActiveTimeline): TableContext = {
    val files = DataFiles.of(config)
    def history = TimelineHistory.checked(access.histories.open(access.storage, tablePath, config), files)
    val contents = new InstantContents(access.storage, timeline.dir, () => history, files, listed = timeline.file)
    new TableContext(access, tablePath, config, timeline, contents, history)
  }

  private val told = new LogOnce(Log.of(classOf[TableContext]))

  /** As of a listing of the timeline's folder. TableChanged as `load`. */
  def of(access: TableAccess, tablePath: String, config: TableConfig, files: Vector[FileInfo]): TableContext = {
    told.warn(tablePath, TableProperties.warning(config))
    val dir = config.timelineDir(tablePath)
    val (layout, zone) = (config.timelineLayout, config.timelineZone)
    val timeline = TimelineReader.read(access.storage, dir, layout, zone, config.timelineFolder, files)
    of(access, tablePath, config, timeline)
  }
}
