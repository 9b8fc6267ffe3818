package hudiidx.hive

import hudiidx.engine.Tables
import hudiidx.merge.MergeRules
import hudiidx.storage.Storage
import hudiidx.sync.TableSnapshot
import hudiidx.table._
import hudiidx.table.listing.{ExpectedPartition, SizeCheck, TableListing}
import hudiidx.table.query.{QuerySettings, TimeTravel}
import hudiidx.{DamagedTable, InvalidOption, UnsupportedTable}
import org.apache.hadoop.conf.Configuration

/** The pieces of a table that a job reads, from the table's index where there is one. For one moment.
  *
  * @param wanted the rows that are of use
  */
private[hive] final class TablePlanner(
    conf: Configuration,
    tablePath: String,
    settings: ReadSettings,
    wanted: RowPredicate
) extends AutoCloseable {
  private val snapshot = TableSnapshot.open(Tables.access(conf), tablePath, settings.index)
  private def config: TableConfig = snapshot.config
  private val hasLogs = config.isMergeOnRead && !settings.readOptimized

  /** The slices of the folders, each as one piece. */
  def pieces(folders: Seq[TableLocation]): Vector[SlicePiece] = {
    check()
    val plan = this.plan()
    val columns = new TableColumns(plan)
    val groups = this.groups(columns)
    val bounds = ColumnBounds.of(snapshot, settings, columns, wanted)
    try pieces(folders, plan, groups, bounds)
    finally bounds.foreach(_.close())
  }

  private def pieces(
      folders: Seq[TableLocation],
      plan: ReadPlan,
      groups: Option[Set[FileGroup]],
      bounds: Option[ColumnBounds]
  ): Vector[SlicePiece] = {
    val (light, full) = (plan.copy(timeline = None).encoded, plan.encoded)
    def isWanted(partition: String): Boolean = folders.exists(_.holds(partition)) &&
      settings.partitions.forall(_(partition)) && groups.forall(_.exists(_.partitionPath == partition)) &&
      bounds.forall(_.mightMatch(partition))
    for {
      partition <- snapshot.view.partitions.filter(isWanted)
      slice <- slices(partition)
      if groups.forall(_(FileGroup(partition, slice.fileId))) && bounds.forall(_.mightMatch(slice))
      piece <- pieceOf(slice, light, full)
    } yield piece
  }

  private def check(): Unit = {
    ReadableRows.check(config)
    if (hasLogs) MergeRules.of(config, settings.mergesAs11): Unit
    settings.asOf.foreach(TimeTravel.check(config, snapshot.timeline, snapshot.table.contents, _))
    if (settings.keys.isDefined && !config.populateMetaFields)
      throw new InvalidOption(
        s"${config.file}: ${ReadSettings.Keys} is for tables that store record keys, and this one has virtual ones " +
          "(hoodie.populate.meta.fields=false); leave the option out and compare the key fields"
      )
  }

  private def plan(): ReadPlan = {
    val schema = snapshot.table
      .schema(settings.asOf)
      .getOrElse(throw TableSchema.unknown(config))
    if (schema.hasHistory && !settings.columnsByName) requireNamesOfFiles()
    val timeline = snapshot.viewTimeline.withoutHistory
    val damaged = settings.index.damagedAsStock
    ReadPlan(
      config,
      Some(timeline),
      settings.asOf,
      schema,
      damaged,
      settings.mergesAs11,
      settings.keys,
      !hasLogs
    )
  }

  private def requireNamesOfFiles(): Unit = {
    val byNames = s"set ${QuerySettings.SchemaOnRead} to false to read files by the names of their columns"
    val history = SchemaHistory.read(snapshot.table.storage, snapshot.tablePath, snapshot.viewTimeline.isCommitted)
    if (history.file.isEmpty)
      throw new DamagedTable(
        s"$tablePath: its last commit has columns by id, and their history in .hoodie/.schema is gone; restore that folder, or $byNames"
      )
    ReadableRows.requireNamesOfFiles(tablePath, history.renamed, s", or $byNames")
  }

  private def groups(columns: TableColumns): Option[Set[FileGroup]] = {
    val asked = Vector(settings.keys, wanted.keys(config, columns.struct)).flatten
    if (asked.isEmpty) None else KeyedGroups.of(snapshot, settings, asked.reduce(_ intersect _))
  }

  private def slices(partition: String): Vector[FileSlice] =
    if (!hasLogs) snapshot.view.latestBaseFiles(partition, settings.asOf).map(FileSlice.of)
    else {
      val found = snapshot.view.latestMergedFileSlices(partition, settings.asOf)
      if (logsAsOf.nonEmpty) listing.confirmLogs(partition, found, logsAsOf)
      found
    }

  /** Log files as of an instant are checked where no index vouches for them. */
  private lazy val logsAsOf: Map[String, ExpectedPartition] = settings.asOf
    .filter(_ => snapshot.use.version.isEmpty)
    .fold(Map.empty[String, ExpectedPartition])(SizeCheck.logsAsOf(snapshot.timeline, snapshot.table.contents, _))

  private lazy val listing: TableListing =
    TableSnapshot.listingOf(snapshot.table, snapshot.viewTimeline, damagedAsStock = settings.index.damagedAsStock)

  private def pieceOf(slice: FileSlice, light: Array[Byte], full: Array[Byte]): Option[SlicePiece] = {
    val folder = Storage.join(snapshot.tablePath, slice.partitionPath)
    val logs = slice.dataLogFiles.map(l => Storage.join(folder, l.fileName) -> l.sizeBytes)
    val base = slice.baseFile.map(b => requireParquet(Storage.join(folder, b.fileName)) -> b.instantTime)
    val bytes = slice.baseFile.fold(0L)(_.sizeBytes) + logs.map(_._2).sum
    val plan = if (logs.isEmpty) light else full
    if (base.isEmpty && logs.isEmpty) None
    else Some(SlicePiece(slice.partitionPath, base, 0L, Long.MaxValue, logs, bytes, plan))
  }

  private def requireParquet(path: String): String = {
    if (!path.endsWith(FileKind.Parquet.extension))
      throw new UnsupportedTable(s"$path: only base files in Parquet can be read; read the table with Hudi")
    path
  }

  override def close(): Unit = snapshot.close()
}

private[hive] object TablePlanner {

  /** As Hadoop's own input formats: the last piece may be a tenth larger. */
  private val Slop = 1.1

  /** A base file without logs in pieces of so many bytes; any other slice is one. */
  def split(piece: SlicePiece, pieceBytes: Long): Vector[SlicePiece] =
    if (piece.logs.nonEmpty) Vector(piece)
    else
      ranges(piece.bytes, pieceBytes).map { case (from, until) =>
        // Whatever size was recorded: no row group is left out.
        val end = if (until == piece.bytes) Long.MaxValue else until
        piece.copy(start = from, end = end, bytes = until - from)
      }

  /** Ranges of so many bytes that together make a file of `size`; one for an empty file. */
  private def ranges(size: Long, pieceBytes: Long): Vector[(Long, Long)] = {
    val found = Vector.newBuilder[(Long, Long)]
    var from = 0L
    while ((size - from).toDouble / pieceBytes > Slop) {
      found += ((from, from + pieceBytes))
      from += pieceBytes
    }
    found += ((from, size))
    found.result()
  }
}
