package hudiidx.spark.write

import java.util.UUID

import hudiidx.spark.write.group.{GroupFiles, GroupSizes, InsertRules, WriteGroups}
import hudiidx.spark.write.options.{WriteOperation, WriteOptions}
import hudiidx.{Log, ShellCommand, StockIndexClass}
import hudiidx.spark.pinned.SharedTable
import hudiidx.sync.TableContext
import hudiidx.table._
import hudiidx.timeline.WriteStat
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.{DataFrame, SparkSession}

/** Rows that a write writes, with their locations.
  *
  * @param counts of the same rows, where they are known: see `RowPlaces.countsOf`
  * @param rewritten file groups that are written anew whatever else goes there
  */
final private[write] case class LocatedRows(
    rows: DataFrame,
    counts: Option[Vector[(String, String, Long)]] = None,
    rewritten: Set[FileGroup] = Set.empty
) {
  def map(change: DataFrame => DataFrame): LocatedRows = {
    val changed = change(rows)
    if (changed eq rows) this else copy(rows = changed, counts = None)
  }
}

/** The rows that a write writes, with their locations, and where they go. */
final private[write] case class PlacedRows(rows: DataFrame, groups: WriteGroups)

/** Decides where the rows of a write go.
  *
  * @param table  as of the write's begin
  * @param shared the same
  * @param isOverwrite the rows take the place of others: all go to new file groups
  */
final private[write] class RowPlaces(
    spark: SparkSession,
    path: String,
    options: WriteOptions,
    table: TableContext,
    shared: SharedTable,
    isOverwrite: Boolean
) {
  private val logInserts = options.logInserts.getOrElse(table.config.logInserts)

  def of(located: LocatedRows, schema: WriteSchema, kept: KeptRows): PlacedRows = {
    val counts = located.counts.getOrElse(countsOf(located.rows))
    val found = withReinserts(located.rows, counts, schema, kept)
    val groups =
      plan(if (found.reinserted.isEmpty) counts else countsOf(found.rows), found.reinserted ++ located.rewritten)
    PlacedRows(known(found.rows), groups)
  }

  /** Where base files have several rows of a key: deletes take all of them, for which their file groups are written anew.
    *
    * @param perRow  each stands for one row of the table, not for all of its key: UnsupportedTable if some rows of a key are to stay, or to
    *                change
    */
  def withWholeDeletes(located: LocatedRows, schema: WriteSchema, kept: KeptRows, perRow: Boolean): LocatedRows = {
    if (isOverwrite) located
    else {
      val counts = located.counts.getOrElse(countsOf(located.rows))
      val isDelete = col(RowWrite.Columns).isNull || PartitionMoves.isDelete(schema.struct)
      val locatedRows = located.rows.where(RowWrite.FileId.isNotNull)
      val asked = RepeatedKeys.asked(if (perRow) locatedRows else locatedRows.where(isDelete), isDelete)
      val keys = new RepeatedKeys(spark, shared, basesOf(counts))
      val found = keys.groups(asked)
      if (perRow) RepeatedKeys.requireWholeDeletes(found, path)
      val rewritten = found.map(_.group).toSet
      RepeatedKeys.requireNotPlanned(rewritten, shared.viewTimeline.plans.compaction, path)
      val marked =
        if (rewritten.isEmpty) located.rows
        else kept(RepeatedKeys.marked(located.rows, isDelete, kept(keys.frame(asked))))
      LocatedRows(marked, Some(counts), rewritten)
    }
  }

  /** Of the file groups that rows come for, those under pending compactions too. */
  private def basesOf(counts: Vector[(String, String, Long)]): Vector[BaseFile] =
    counts.filter(_._2 != null).groupBy(_._1).toVector.flatMap { case (partition, rows) =>
      val ids = rows.map(_._2).toSet
      shared.view.latestMergedFileSlices(partition).filter(s => ids(s.fileId)).flatMap(_.baseFile)
    }

  /** Rows by the partition that they go to and the file id of their location; null: new records. */
  private def countsOf(tagged: DataFrame): Vector[(String, String, Long)] = {
    val perGroup = known(tagged).groupBy(RowWrite.Target, RowWrite.FileId).count().collect().toVector
    perGroup.map(r => (r.getString(0), r.getString(1), r.getLong(2)))
  }

  /** Where new records go to base files: those among them that were deleted before and whose old rows stand in base files still
    * go to the file group that has one.
    */
  private def withReinserts(
      tagged: DataFrame,
      counts: Vector[(String, String, Long)],
      schema: WriteSchema,
      kept: KeptRows
  ): ReinsertedRecords = {
    val partitions = counts.collect { case (p, null, _) => p }
    if (logInserts || isOverwrite || partitions.isEmpty) ReinsertedRecords(tagged, Set.empty)
    else {
      val withLogs = partitions.flatMap(p => shared.view.latestMergedFileSlices(p)).filter(_.logFiles.nonEmpty)
      val facts = new LogFacts(table, withLogs)
      warnOfLogRecords(withLogs.count(facts.hasOwnRecords))
      val slices = withLogs.filter(s => s.baseFile.isDefined && facts.mayDelete(s))
      if (slices.isEmpty) ReinsertedRecords(tagged, Set.empty)
      else {
        val deleted = new DeletedRecords(spark, shared, slices)
        val found = ReinsertedRecords.of(tagged, deleted, PartitionMoves.isDelete(schema.struct), kept)
        DeletedRecords.requireNotPlanned(found.reinserted, shared.viewTimeline.plans, path)
        found
      }
    }
  }

  private def warnOfLogRecords(groups: Int): Unit = if (groups > 0) {
    val command = ShellCommand("compact-table", Vector(path)).quoted
    RowPlaces.log.warn(
      s"$path: $groups file groups have records in logs alone, where stock Hudi's default indexes do not look: a stock writer would " +
        s"insert them again. Run $command before one writes, or let stock writers use hoodie.index.class=" +
        s"${StockIndexClass.Name} and set ${TableConfig.LogInserts}=true"
    )
  }

  /** @param rewritten groups of locations that are written anew */
  private def plan(counts: Vector[(String, String, Long)], rewritten: Set[FileGroup]): WriteGroups = {
    val plans = shared.viewTimeline.plans
    counts.find { case (p, f, _) => f != null && plans.clustering.contains(FileGroup(p, f)) }.foreach {
      case (p, f, _) => throw Overwrite.beingClustered(path, p, f, plans.clustering(FileGroup(p, f)))
    }
    def isFree(s: FileSlice) = !plans.clustering.contains(FileGroup(s.partitionPath, s.fileId))
    // Stock Hudi fills base files without logs, smallest first: with logs they would have to be merged.
    val rules =
      if (options.operation == WriteOperation.BulkInsert || isOverwrite)
        InsertRules(GroupFiles.NewBase, GroupFiles.Rewrite, _ => false, 0)
      else if (logInserts) InsertRules(GroupFiles.Log, GroupFiles.Log, isFree, Int.MaxValue)
      else
        InsertRules(
          GroupFiles.NewBase,
          GroupFiles.Rewrite,
          s => s.baseFile.isDefined && s.logFiles.isEmpty && isFree(s),
          options.smallGroups
        )
    WriteGroups.plan(
      counts,
      p => shared.view.latestFileSlices(p),
      plannedSlices,
      rewritten,
      rules,
      sizes(rules.newGroups),
      () => s"${UUID.randomUUID()}-0"
    )
  }

  /** Of a partition, as readers merge them: the slices of file groups under pending compactions. */
  private def plannedSlices(partition: String): Vector[FileSlice] = {
    val ids = shared.viewTimeline.plans.compaction.keysIterator.filter(_.partitionPath == partition).map(_.fileId).toSet
    if (ids.isEmpty) Vector.empty else shared.view.latestMergedFileSlices(partition).filter(s => ids(s.fileId))
  }

  private def sizes(newGroups: GroupFiles): GroupSizes = {
    val inLogs = newGroups == GroupFiles.Log
    val newest = table.timeline.completedWrites.reverseIterator.take(RowPlaces.LookBack)
    val measured =
      RowPlaces.recordBytes(newest.map(table.contents.commit(_).writeStats), inLogs, options.smallFileBytes)
    val recordBytes = math.max(1L, measured.getOrElse(1024L)) * (if (inLogs) RowPlaces.LogShare else 1.0)
    GroupSizes(options.smallFileBytes, options.maxFileBytes, recordBytes, RowPlaces.LogShare)
  }

  /** Deletes of keys that are nowhere are skipped. */
  private def known(tagged: DataFrame): DataFrame =
    tagged.where(RowWrite.FileId.isNotNull || col(RowWrite.Columns).isNotNull)
}

private[write] object RowPlaces {

  /** Bytes of a record by the first of these commits that tells: small base files are large for their records. Sizes that hardly any
    * file has do not count: by them a write would make a file for each of its rows.
    */
  def recordBytes(commits: Iterator[Vector[WriteStat]], inLogs: Boolean, smallFileBytes: Long): Option[Long] = {
    def tells(stat: WriteStat) =
      FileEntry.isUsual(stat.fileSizeBytes) && stat.fileName.exists(FileName.isLog) == inLogs
    commits
      .map(_.filter(tells))
      .map(stats => (stats.map(_.fileSizeBytes).sum, stats.map(_.numWrites).sum))
      .collectFirst { case (bytes, records) if records > 0 && (inLogs || bytes > smallFileBytes) => bytes / records }
  }

  private val log = Log.of(classOf[RowPlaces])

  /** Bytes in a base file of one byte of log, as Hudi assumes. */
  val LogShare = 0.35

  /** Commits that are looked at for the size of a record. */
  val LookBack = 10
}
