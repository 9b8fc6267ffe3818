package hudiidx.spark.write

import java.util.concurrent.ThreadLocalRandom

import hudiidx.spark.write.group.{BaseFileWriter, GroupFiles, GroupWrite, GroupWriter, WriteGroups}
import hudiidx.spark.write.options.{WriteOperation, WriteOptions}
import hudiidx.{InvalidOption, Sql, UnsupportedTable, WriteConflict}
import hudiidx.log.{AvroFieldPlan, AvroRowFields, MergeMode}
import hudiidx.spark._
import hudiidx.spark.options.{ReadOptions, TagStrategy}
import hudiidx.spark.pinned.{PinnedTable, SharedRecords, SharedTable}
import hudiidx.spark.read.{BaseFileReaderFactory, FileSliceSplit, ParquetReaders}
import hudiidx.spark.shims.Shims
import hudiidx.spark.rows.AvroSchemaConverter
import hudiidx.spark.tag.TagLocation
import hudiidx.sync.{IndexOptions, TableContext}
import hudiidx.table._
import hudiidx.write._
import hudiidx.write.format.{CompletedWrite, WrittenFile}
import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression}
import org.apache.spark.sql.functions.{coalesce, col, lit, struct, when}
import org.apache.spark.sql.types.{StringType, StructType}
import org.apache.spark.sql.{Column, DataFrame, SparkSession}
import scala.util.Try

/** The rows of one open write on their way to files.
  *
  * @param overwrite what they take the place of; None: nothing
  */
final private[write] class RowWrite(
    spark: SparkSession,
    val path: String,
    options: WriteOptions,
    open: OpenWrite,
    overwrite: Option[Overwrite]
) {
  private val anew = overwrite.collect { case a: Overwrite.Anew => a }
  private val made: Option[NewTable] = anew.flatMap(_.made)

  /** Of the table as it will be. */
  private val config = made.fold(open.table.config)(m => TableConfig.of(path, m.properties))
  private val deletesAll = options.operation == WriteOperation.Delete
  private val isByKey = !Set[WriteOperation](WriteOperation.Insert, WriteOperation.BulkInsert)(options.operation)
  private val looksUp = isByKey && overwrite.isEmpty
  private val shared = SharedTable.of(spark, open.table, IndexOptions.of(options.index))
  private val places = new RowPlaces(spark, path, options, open.table, shared, overwrite.isDefined)

  /** Writes all files and completes the write; a write that fails before leaves nothing.
    *
    * @param reads what the rows are made from; WriteConflict if this table is among it and changed since
    */
  def run(rows: DataFrame, batch: Option[StreamBatch], reads: Vector[TableContext]): Unit = commit(batch) { kept =>
    reads.filter(open.isOf).foreach(RowChanges.requireCurrent(_, open.table))
    val given = RowWrite.withoutMeta(rows)
    val schema = schemaOf(given)
    val keyed = withKeys(given, schema)
    val tagged = kept(withLocations(if (RowWrite.otherKeys(keyed).isEmpty) keyed else kept(keyed)))
    val moved = if (moves) placed(tagged, schema, kept, options.movesPartition) else tagged
    val deletes = (moved ne tagged) || deletesAll || PartitionMoves.markOf(schema.struct) >= 0
    val located = LocatedRows(moved)
    (if (deletes) places.withWholeDeletes(located, schema, kept, perRow = false) else located, schema)
  }

  /** The same of what a statement of SQL does. */
  def run(changes: RowChanges, read: TableContext): Unit = commit(None) { kept =>
    RowChanges.requireCurrent(read, open.table)
    val schema = schemaOf(changes.columns)
    val changed = new ChangedRows(this, changes.copy(rows = kept(changes.rows)), schema)
    val tagged = kept(changed.located)
    changed.requireOnePlace(tagged)
    val located = places.withWholeDeletes(LocatedRows(tagged, changed.counts), schema, kept, perRow = true)
    (if (moves) located.map(placed(_, schema, kept, known = true)) else located, schema)
  }

  private def commit(batch: Option[StreamBatch])(rows: KeptRows => (LocatedRows, WriteSchema)): Unit = {
    val kept = new KeptRows(spark)
    try {
      val (done, tagged) = open.abortOnFailure {
        askAtOnce()
        val (located, schema) = rows(kept)
        (write(located, schema, kept), located.rows)
      }
      val inserts = done.files.map(_.inserts).sum
      val complete = done.copy(extra = options.commitExtra ++ numbers(batch))
      def recheck(now: TableContext): Unit = {
        if (looksUp && inserts > 0) requireNew(tagged)
        batch.filter(_.isIn(now)).foreach(b => throw taken(b))
      }
      made.fold(open.complete(complete, recheck))(open.remake(complete, _))
    } finally kept.close()
  }

  /** What the write asks of the table before its first row. What is wrong with schema or index is told by who needs it. */
  private def askAtOnce(): Unit = {
    val refused = () => if (made.isEmpty) BucketIndex.refuse(open.table)
    val schema = () => Try(open.table.schema()): Unit
    val index = () => Try(shared.findIndex(keys = looksUp)): Unit
    open.table.storage.atOnce(path)(Vector(refused, schema, index)): Unit
  }

  /** Whether records can move to another partition. */
  def moves: Boolean = options.isGlobal && isByKey && !deletesAll && config.partitionFields.nonEmpty

  /** @param known records that are there move too; else they stay */
  private def placed(tagged: DataFrame, schema: WriteSchema, kept: KeptRows, known: Boolean): DataFrame = {
    val moves = partitionMoves(schema)
    val moved = if (known) moves(tagged) else moves.inOnePlace(tagged)
    if (moved eq tagged) tagged else kept(moved)
  }

  private def partitionMoves(schema: WriteSchema): PartitionMoves = {
    val ordering = TableMergeRules.orderingFields(config).headOption
    val isEventTime = TableMergeRules.of(config).mode == MergeMode.EventTime
    def existing = {
      val read = options.index ++ Map("path" -> path, ReadOptions.QueryType -> ReadOptions.Snapshot)
      val rows = Shims.frame(spark, Shims.relation(HudiIdxSource.open(spark, read)))
      rows.select((Vector(RowWrite.Key, RowWrite.Partition) ++ ordering).map(col): _*)
    }
    val asks = isEventTime && ordering.isDefined && overwrite.isEmpty
    new PartitionMoves(schema.struct, ordering, if (asks) Some(() => existing) else None)
  }

  /** Of the file groups that are there. */
  def fileIds(partition: String): Set[String] = shared.view.latestFileSlices(partition).map(_.fileId).toSet

  private def write(located: LocatedRows, schema: WriteSchema, kept: KeptRows): CompletedWrite = {
    val placed = places.of(located, schema, kept)
    NestedPartitions.requireNone(placed.groups.all.filter(_.slice.isEmpty).map(_.partitionPath))
    val replaced = overwrite.map(Overwrite.groups(_, shared, placed.groups.all.map(_.partitionPath).toSet))
    open.start()
    val files = if (placed.groups.all.isEmpty) Vector.empty else writeFiles(placed, schema)
    val name = overwrite.fold(options.operation.committedName)(_.committedName)
    val told = options.logInserts.filter(_ != config.logInserts).map(v => TableConfig.LogInserts -> v.toString)
    CompletedWrite(name, schema.avro.toString, files, replaced = replaced, properties = told.toMap)
  }

  private def numbers(batch: Option[StreamBatch]): Map[String, String] =
    if (made.isDefined) StreamBatch.carried(open.table, batch) else batch.fold(Map.empty[String, String])(_.metadata)

  /** WriteConflict if others inserted records meanwhile that this write inserts too: file groups do not show it. */
  private def requireNew(tagged: DataFrame): Unit = {
    // A record that moves is inserted in one place and deleted in another, where it still is.
    val deleted = tagged.where(col(RowWrite.Columns).isNull).select(RowWrite.Key)
    val inserts = tagged
      .where(RowWrite.FileId.isNull)
      .select(RowWrite.Key, RowWrite.Partition)
      .join(deleted, Seq(RowWrite.Key), "left_anti")
    val now = SharedTable.open(spark, path, IndexOptions.of(options.index))
    located(inserts, now, samePartition).where(RowWrite.FileId.isNotNull).select(RowWrite.Key).take(1).foreach { r =>
      throw new WriteConflict(
        s"$path: another writer inserted record '${r.getString(0)}' during the write ${open.instant}, which inserts it too; write again"
      )
    }
  }

  private def taken(batch: StreamBatch): WriteConflict = new WriteConflict(
    s"$path: another run of the stream ${batch.writer} wrote its batch ${batch.number.id} during the write ${open.instant}; let one run at a time"
  )

  private def schemaOf(rows: DataFrame): WriteSchema = {
    open.table.schema() match {
      case Some(s) if s.hasHistory =>
        throw new UnsupportedTable(
          s"$path: the table keeps a history of its columns (hoodie.schema.on.read.enable), which this writer does not keep; " +
            StockWriter.Remedy
        )
      case Some(s) if s.hasOperation && anew.isEmpty =>
        throw WritableTable.hasOperation(path)
      case Some(s) if anew.isEmpty =>
        val data = AvroFieldPlan.parse(TableSchema.withMetaColumns(s.avroJson, populated = false, s.file), s.file)
        if (deletesAll) WriteSchema.ofTable(data, path)
        else WriteSchema.merged(data, rows.schema, path, overwrite.fold("")(_.remedy))
      case _ => WriteSchema.ofNew(rows.schema, config.tableName)
    }
  }

  /** Columns: the key, the partition path, the table's columns as one, others, and keys that the row may have in the table
    * instead.
    */
  def withKeys(rows: DataFrame, schema: WriteSchema, also: Vector[String] = Vector.empty): DataFrame = {
    val keyFields = RowKeys.fields(rows, config.recordKeyFields, path)
    val keys = RowKeys
      .forms(config, options, config.recordKeyFields.zip(keyFields))
      .map(form => Shims.column(RecordKeyOf(keyFields, form)))
    val partitionFields = RowKeys.fields(rows, config.partitionFields, path)
    val partition = Shims.column(PartitionPathOf(partitionFields, PartitionPathForm.of(config)))
    val columns =
      if (deletesAll) lit(null).cast(schema.struct)
      else
        struct(
          schema.struct
            .map(f => rows.col(Sql.quoted(f.name)).cast(AvroSchemaConverter.nullable(f.dataType)).as(f.name)): _*
        )
    val own = Vector(keys.head.as(RowWrite.Key), partition.as(RowWrite.Partition), columns.as(RowWrite.Columns))
    rows.select(own ++ also.map(col) ++ keys.tail.zipWithIndex.map { case (k, i) => k.as(RowWrite.OtherKey + i) }: _*)
  }

  /** With file id and partition path of each row's record; both null for one that is not there. A record that the table has
    * under another of its keys keeps that key.
    *
    * @param rows the same each time they are read, if they have other keys
    */
  def withLocations(rows: DataFrame): DataFrame = {
    val others = RowWrite.otherKeys(rows)
    val tagged =
      if (!looksUp || open.table.timeline.completedWrites.isEmpty)
        TagLocation.Columns.foldLeft(rows)((frame, c) => frame.withColumn(c, lit(null).cast(StringType)))
      else others.foldLeft(located(rows, shared, samePartition))(alsoLocated)
    tagged.drop(others: _*)
  }

  private def alsoLocated(tagged: DataFrame, other: String): DataFrame = {
    val missing = tagged.where(RowWrite.FileId.isNull).drop(TagLocation.Columns: _*)
    val asked = missing.withColumn(RowWrite.NewKey, col(RowWrite.Key)).withColumn(RowWrite.Key, col(other))
    val found = located(asked, shared, samePartition)
      .withColumn(RowWrite.Key, when(RowWrite.FileId.isNotNull, col(RowWrite.Key)).otherwise(col(RowWrite.NewKey)))
    tagged.where(RowWrite.FileId.isNotNull).union(found.select(tagged.columns.map(col): _*))
  }

  /** @param partition column of the partition paths where keys are looked for */
  def locatedIn(rows: DataFrame, partition: String): DataFrame = located(rows, shared, Some(partition))

  private def samePartition: Option[String] = if (options.isGlobal) None else Some(RowWrite.Partition)

  private def located(rows: DataFrame, table: SharedTable, partition: Option[String]): DataFrame = {
    val records = SharedRecords.of(table, IndexOptions.of(options.index), None)
    requireWhole(records.moment.windowDays)
    TagLocation.tag(rows, records, Vector(RowWrite.Key), isText = true, partition, TagStrategy.Auto)
  }

  private def requireWhole(windowDays: Option[Int]): Unit =
    windowDays.filterNot(d => options.text(IndexOptions.RecordWindowDays).contains(d.toString)).foreach { d =>
      throw new InvalidOption(
        s"$path: the record index has a window of $d days: older records are not found, so that an upsert inserts them again; " +
          s"make one of all records, or, if only the last $d days are to be free of duplicates, set " +
          s"${IndexOptions.RecordWindowDays}=$d for the write"
      )
    }

  private def writeFiles(placed: PlacedRows, schema: WriteSchema): Vector[WrittenFile] = {
    val groups = placed.groups
    val ordering = TableMergeRules.orderingFields(config).headOption.filterNot(_ => deletesAll)
    val routed = placed.rows.select(
      groupOf(groups).as("group"),
      col(RowWrite.Key),
      RowWrite.isKnown.as("known"),
      col(RowWrite.Columns),
      RowWrite.takesEach.as("each")
    )
    val cores = math.max(spark.sparkContext.defaultParallelism, spark.sessionState.conf.numShufflePartitions)
    // Of a record that is deleted and written by one statement the last counts, which is what is written.
    val order = Seq(col("group"), col(RowWrite.Key), col(RowWrite.Columns).isNotNull) ++
      ordering.toSeq.flatMap(f => ColumnOrder.of(col(RowWrite.Columns).getField(f), schema.struct, f))
    val sorted =
      routed.repartition(math.min(groups.all.size, cores), col("group")).sortWithinPartitions(order: _*)
    val sent = spark.sparkContext.broadcast(groupWrite(groups, schema, ordering))
    // Before version 8 the names of two writers' files in one file group differ by it alone.
    val writer = ThreadLocalRandom.current().nextInt(1, Int.MaxValue)
    sorted.queryExecution.toRdd
      .mapPartitions { rows =>
        val task = TaskContext.get()
        val token = s"${task.partitionId()}-$writer-${task.taskAttemptId()}"
        new GroupWriter(sent.value, token).run(rows)
      }
      .collect()
      .toVector
  }

  private def groupWrite(groups: WriteGroups, schema: WriteSchema, ordering: Option[String]): GroupWrite = {
    val whole = WriteSchema.withMeta(schema.avro, TableSchema.MetaColumns).toString
    val rewrites = groups.all.exists(_.files == GroupFiles.Rewrite)
    GroupWrite(
      shared,
      open.instant,
      open.writer,
      groups,
      schema.avro.toString,
      whole,
      schema.struct,
      ordering.map(bound(schema.struct, _)),
      ordering.exists(field =>
        AvroRowFields.isMillis(TableSchema.value(schema.avro.getField(field).schema).getLogicalType)
      ),
      PartitionMoves.markOf(schema.struct),
      keepsEach = !isByKey && overwrite.isEmpty,
      options.blockBytes,
      options.base,
      if (rewrites) Some(readers(schema, whole)) else None
    )
  }

  /** Of the rows that are there, as those of this write. */
  private def readers(schema: WriteSchema, whole: String): BaseFileReaderFactory = {
    val table = PinnedTable.at(spark, shared, ReadOptions.of(options.index, Map.empty))
    val parquet = ParquetReaders.of(spark, BaseFileWriter.columns(schema.struct), new StructType, Array.empty)
    FileSliceSplit.readers(spark, table, parquet, Some(whole))
  }

  private def bound(columns: StructType, field: String): Expression = {
    val at = columns.fieldNames.indexOf(field)
    if (at < 0)
      throw new InvalidOption(s"$field: the ordering field of the table at $path, which is not a column of the rows")
    BoundReference(at, columns(at).dataType, nullable = true)
  }

  private def groupOf(groups: WriteGroups): Column = {
    val inputs = Seq(RowWrite.Target, RowWrite.FileId, col(RowWrite.Key))
    Shims.column(FileGroupOf(inputs.map(Shims.expression), groups))
  }
}

private[write] object RowWrite {

  /** Hudi's own columns are the writer's to fill. */
  def withoutMeta(rows: DataFrame): DataFrame = rows.drop(TableSchema.MetaColumns :+ TableSchema.Operation: _*)

  val Key = "_hoodie_record_key"
  val Partition = "_hoodie_partition_path"
  val Columns = "columns"

  /** Begins the names of columns with further keys of a row. */
  val OtherKey = "__other_key_"
  val NewKey = "__new_key"

  def otherKeys(rows: DataFrame): Vector[String] = rows.columns.toVector.filter(_.startsWith(OtherKey))

  /** Of a row's location. */
  val FileId: Column = col(TagLocation.Columns(1))

  /** Is its record there? One that is not may have the location of an old row of it. */
  def isKnown: Column =
    FileId.isNotNull && !coalesce(col(TagLocation.Columns(2)) === ReinsertedRecords.Mark, lit(false))

  /** Does it delete all rows of its key? */
  def takesEach: Column = coalesce(col(TagLocation.Columns(2)) === RepeatedKeys.Mark, lit(false))

  /** The partition that a row goes to: a known record stays where it is. */
  val Target: Column = coalesce(col(TagLocation.Columns.head), col(Partition))
}
