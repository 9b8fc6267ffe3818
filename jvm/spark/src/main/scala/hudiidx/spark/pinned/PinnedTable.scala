package hudiidx.spark.pinned

import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID

import hudiidx.column.NeverColumns
import hudiidx.merge.MergeRules
import hudiidx.record.RecordIndex
import hudiidx.spark.options.{IncrementalOptions, ReadOptions, ReadPushdowns}
import hudiidx.spark.prune.{ExpressionFacts, ExpressionResolver, IndexedExpressions}
import hudiidx.sync.IndexUse
import hudiidx.table._
import hudiidx.table.listing.{ExpectedPartition, SizeCheck}
import hudiidx.table.query.TimeTravel
import hudiidx.{DamagedTable, InvalidOption, UnsupportedTable}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType

/** A table at one moment, for reading its rows. Lives on the driver.
  *
  *  @param resolver of expressions over its columns
  *  @param hasLogs rows may stand in log files; false also for a query of the base files alone
  *  @param increment the rows are those of some commits; None: a snapshot
  *  @param names where columns were renamed, or dropped and added again: what they are called in files
  *  @param opening what opening took
  */
final class PinnedTable(
    resolver: StructType => ExpressionResolver,
    val shared: SharedTable,
    val schema: RowSchema,
    val options: ReadOptions,
    val hasLogs: Boolean,
    val increment: Option[PinnedIncrement],
    val names: Option[TableNames],
    val opening: PlanningCost
) {
  def path: String = shared.path

  // Tables of the same moment have the same rows: what Spark keeps of one serves for the other.
  private lazy val identity = (path, config.properties, shared.timeline.instants, schema.struct, options)

  override def equals(other: Any): Boolean = other match {
    case o: PinnedTable => (o eq this) || o.identity == identity
    case _              => false
  }

  override def hashCode: Int = identity.hashCode

  /** A short text that is another for every table, moment and way of reading. */
  def stateId: String = s"$path ${UUID.nameUUIDFromBytes(identity.toString.getBytes(UTF_8))}"

  /** TableChanged if what was pinned is no more, which a DataFrame that was made long ago may meet. */
  def requireUnchanged(): Unit = shared.requireUnchanged(): Unit

  def config: TableConfig = shared.config

  def pushdowns: ReadPushdowns = options.pushdowns

  /** What the index lacks is an error. */
  def isStrict: Boolean = options.index.strict

  /** Scans leave a record in the index folder. */
  def keepsHistory: Boolean = options.keepsHistory

  /** Columns of which nothing is to be kept: by the session, and by the index. */
  lazy val never: NeverColumns = (options.index.never ++
    indexUse.flatMap(_.version).fold(NeverColumns.None)(NeverColumns.of)).of(config)

  /** Where the index is, or would be. */
  def indexDir: String = options.index.indexDir(path)

  /** Version 6 is merged by 1.1's rules. */
  def mergesAs11: Boolean = options.mergesAs11 && config.format.mergesAsHudi015

  /** Why the record index is not to be asked, if there is one at all: it has the keys of merged rows. */
  lazy val whyNoRecordIndex: Option[String] =
    if (increment.isDefined) Some(PinnedTable.TakesItsCommits)
    else if (mergesAs11) Some("by the merge rules of 1.1 other keys may be live than those that are indexed")
    else if (config.isMergeOnRead && !hasLogs)
      Some("base files without their logs may hold keys that were deleted or moved since")
    else if (!shared.snapshot.use.version.exists(RecordIndex.isIn)) Some("the table has no record index")
    else None

  /** A record index is there to be asked. */
  def hasRecordIndex: Boolean = whyNoRecordIndex.isEmpty

  /** Where record keys are, as of the query's instant. */
  lazy val records: SharedRecords = SharedRecords.of(shared, options.index, options.asOf)

  /** What is known of the columns of files; Left tells why nothing is. */
  lazy val columns: Either[String, PinnedColumns] =
    if (!pushdowns.columnStats) Left(s"${ReadPushdowns.ColumnStats} is false")
    else if (indexUse.isEmpty) Left(PinnedTable.TakesItsCommits)
    else PinnedColumns.open(shared, options.index)

  private var understood: Option[IndexedExpressions] = None

  /** The expressions of columns that have an index, under the settings that the session has now. */
  def expressions: IndexedExpressions = synchronized {
    val conf = SQLConf.get.clone()
    val now = ExpressionFacts.session(conf)
    val found = understood.filter(_.session == now).getOrElse {
      val mixes = hasLogs && TableMergeRules.mixesRows(config)
      new IndexedExpressions(resolver(schema.struct), conf, columns.fold(_ => Vector.empty, _.expressions), mixes)
    }
    understood = Some(found)
    found
  }

  /** What the files are taken from. */
  private lazy val view: FileSystemView = increment.flatMap(_.view).getOrElse(shared.view)

  /** Instant time as of which files and log blocks count; None: the latest. */
  lazy val asOf: Option[String] = increment.filter(_.view.isDefined).fold(options.asOf)(_.found.last)

  def timeline: ViewTimeline = view.timeline

  lazy val partitions: Vector[String] = view.partitions

  /** The partition columns whose values paths decide, in all partitions. */
  lazy val columnsOfPath: Set[String] = {
    val unsure = new Array[Boolean](schema.partitionColumns.length)
    partitions.foreach { p =>
      val known = schema.values.of(p)
      known.indices.foreach(i => if (known(i).isEmpty) unsure(i) = true)
    }
    schema.partitionColumns.indices.filterNot(unsure(_)).map(i => schema.partitionColumns(i).name).toSet
  }

  /** The file slices that hold the rows of one partition. */
  def slices(partitionPath: String): Vector[FileSlice] = {
    // The view of a range has its files alone. One may be a log behind a compaction that was planned later than the commit was requested.
    val until = if (increment.exists(_.view.isDefined)) None else asOf
    val all =
      if (hasLogs) view.latestMergedFileSlices(partitionPath, until)
      else view.latestBaseFiles(partitionPath, until).map(FileSlice.of)
    // An index has the sizes of the files that it names.
    if (logsAsOf.nonEmpty) shared.listing.confirmLogs(partitionPath, all, logsAsOf)
    increment.fold(all)(i => wholes.fold(all)(_.of(partitionPath, all.filter(i.covers))))
  }

  private lazy val wholes: Option[WholeSlices] = increment.map(new WholeSlices(shared, _))

  /** Where all rows of the slice take part in merging, though those of some commits are wanted, the commit times that count beside
    * those.
    */
  def mergesWhole(slice: FileSlice): Option[Set[String]] = wholes.filter(_.contains(slice)).map(_.overtaken(slice))

  /** As above, of the file groups that have a file of one of these sizes, perhaps of others too.
    *
    *  @param sizes in bytes, ascending; None: all groups
    */
  def slices(partitionPath: String, sizes: Option[Array[Long]]): SlicesFound = sizes match {
    case Some(wanted) if asOf.isEmpty && increment.isEmpty =>
      view.latestOfSizes(partitionPath, wanted, baseFiles = !hasLogs)
    case _ => SlicesFound(slices(partitionPath), 0)
  }

  /** Empty where nothing is to be checked by it. */
  private lazy val logsAsOf: Map[String, ExpectedPartition] = options.asOf
    .filter(_ => hasLogs && shared.snapshot.use.version.isEmpty)
    .fold(Map.empty[String, ExpectedPartition])(SizeCheck.logsAsOf(shared.timeline, shared.contents, _))

  /** How the index served so far; None where commit metadata alone names the files. */
  def indexUse: Option[IndexUse] = if (increment.exists(_.view.isDefined)) None else Some(shared.snapshot.use)

  def instantText: String = increment match {
    case Some(i) => i.text
    case None    => s"as of ${asOf.orElse(shared.view.timeline.lastInstant).getOrElse("its creation")}"
  }
}

object PinnedTable {

  /** Why no index serves an incremental read. */
  private[spark] val TakesItsCommits = "an incremental read takes the files of its commits"

  /** UnsupportedTable if the rows cannot be told, InvalidOption for an instant that cannot be read. */
  def open(spark: SparkSession, path: String, options: ReadOptions): PinnedTable = {
    options.requireBegin()
    at(spark, SharedTable.open(spark, path, options.index), options)
  }

  /** A table that is open, of which a stream may be read. */
  private[spark] def at(spark: SparkSession, opened: => SharedTable, options: ReadOptions): PinnedTable =
    of(opened, options, spark.sessionState.conf.sessionLocalTimeZone, new ExpressionResolver(spark, _))

  /** For planning without a session; where expressions of columns have an index there is nobody to understand them. */
  def alone(opened: => SharedTable, options: ReadOptions): PinnedTable = {
    options.requireBegin()
    def nobody = throw new IllegalStateException("expressions are understood by a session alone")
    of(opened, options, SQLConf.get.sessionLocalTimeZone, _ => nobody)
  }

  private def of(
      opened: => SharedTable,
      options: ReadOptions,
      zone: String,
      resolver: StructType => ExpressionResolver
  ): PinnedTable = {
    if (options.changes.isDefined)
      throw new InvalidOption(
        s"${IncrementalOptions.Format}: changes are not rows of the table; set it to latest_state, or leave it out, for this call"
      )
    val (make, cost) = PlanningCost.of(pinned(opened, options, zone))
    make(resolver, cost)
  }

  /** All but what it cost. */
  private def pinned(
      shared: SharedTable,
      options: ReadOptions,
      zone: String
  ): (StructType => ExpressionResolver, PlanningCost) => PinnedTable = {
    val config = shared.config
    ReadableRows.check(config)
    val hasLogs = config.isMergeOnRead && options.queryType != ReadOptions.ReadOptimized
    val rules = if (hasLogs) Some(MergeRules.of(config, options.mergesAs11)) else None
    options.asOf.foreach(TimeTravel.check(config, shared.timeline, shared.contents, _))
    val increment = options.increment.map(PinnedIncrement.of(shared, _))
    val endSchema = options.increment.filter(_.endSchema).flatMap(_ => increment.flatMap(_.found.last))
    val schema = shared.context
      .schema(options.asOf.orElse(endSchema))
      .getOrElse(throw TableSchema.unknown(config))
    val names =
      if (schema.hasHistory && !options.columnsByName) namesOf(shared, options.asOf.orElse(endSchema), rules) else None
    // Stock's incremental reads leave the partition columns in place, whatever the version.
    val inPlace = hasLogs || increment.isDefined
    val reading = PartitionReading(increment.isDefined, !hasLogs, options.partitionsFromPaths)
    val rows = RowSchema.of(config, schema, zone, inPlace, reading)
    new PinnedTable(_, shared, rows, options, hasLogs, increment, names, _)
  }

  /** None where files are read by the names of their columns. UnsupportedTable if columns were renamed by which rows are merged or
    * found.
    */
  private def namesOf(table: SharedTable, asOf: Option[String], rules: Option[MergeRules]): Option[TableNames] = {
    val history = SchemaHistory.read(table.context.storage, table.path, table.view.timeline.isCommitted)
    if (history.file.isEmpty)
      throw new DamagedTable(
        s"${table.path}: its last commit has columns by id, and their history in .hoodie/.schema is gone; restore that folder, or set " +
          s"${ReadOptions.SchemaOnRead} to false to read files by the names of their columns, as Hudi does by default"
      )
    val renamed = history.renamed
    val config = table.config
    val ordering = rules.toVector.flatMap(r => r.log.orderingFields ++ r.log.deleteMarker.map(_.field))
    val needed = config.recordKeyFields ++ config.partitionFields ++ ordering
    renamed.find(r => needed.exists(_.equalsIgnoreCase(r))).foreach { column =>
      throw new UnsupportedTable(
        s"${table.path}: the column $column was renamed, or dropped and added again, and keys, partitions or the order of records " +
          s"go by it; set ${ReadOptions.SchemaOnRead} to false to read files by the names of their columns, as Hudi does by default"
      )
    }
    if (renamed.isEmpty) None
    else asOf.orElse(table.timeline.completedWrites.lastOption.map(_.requestedTime)).map(TableNames(history, _))
  }
}
