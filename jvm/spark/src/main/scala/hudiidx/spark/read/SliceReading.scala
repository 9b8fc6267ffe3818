package hudiidx.spark.read

import java.nio.ByteBuffer

import hudiidx.engine.Tables
import hudiidx.slice.{FoundRows, KeyedRows, MergedSlice, SliceKeySource, SliceMerger}
import hudiidx.parquet.KeyColumns
import hudiidx.log.{AvroFieldPlan, BlockPart}
import hudiidx.logindex.KeptTails
import hudiidx.merge.{MergeOptions, MergeRules}
import hudiidx.record.PackedKeys
import hudiidx.spark.rows.{AvroColumns, BlockRowsReader, ColumnAdapter, ColumnRules}
import hudiidx.spark.shims.Shims
import hudiidx.table.{BaseFile, FileSlice, TableConfig, TableMergeRules, TableNames, ViewTimeline}
import hudiidx.table.query.CommitTimes
import org.apache.avro.Schema
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.read.PartitionReader
import org.apache.spark.sql.execution.datasources.PartitionedFile
import org.apache.spark.sql.execution.vectorized.WritableColumnVector
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarBatch}
import org.apache.spark.util.SerializableConfiguration

/** What tasks must know to merge file slices with logs; sent to them.
  *
  * @param asOf      requested time of the query's instant; None: the latest
  * @param schema    the table's Avro schema, JSON
  * @param schemaFile where that stands
  * @param batchRows rows to a batch of log rows
  * @param damagedAsStock see `TableMergeRules.blocks`
  * @param mergesAs11 see `TableMergeRules.of`
  * @param increment which rows an incremental query is about; None: a snapshot
  * @param names where columns were renamed
  */
final case class SliceReading(
    config: TableConfig,
    timeline: ViewTimeline,
    asOf: Option[String],
    schema: String,
    schemaFile: String,
    columnRules: ColumnRules,
    batchRows: Int,
    damagedAsStock: Boolean,
    mergesAs11: Boolean,
    increment: Option[CommitTimes],
    names: Option[TableNames],
    conf: Broadcast[SerializableConfiguration]
) {

  @transient private lazy val rules: MergeRules = MergeRules.of(config, mergesAs11)
  @transient private lazy val budget: Long =
    SliceReading.budgetBytes(Runtime.getRuntime.maxMemory, SliceReading.tasksAtOnce)

  @transient private lazy val merger: SliceMerger = mergerOf(increment, asOf)

  /** Of slices whose log files are those of the range's end, by when their commits completed. */
  @transient private lazy val wholeMerger: SliceMerger = mergerOf(None, asOf = None)

  private def mergerOf(increment: Option[CommitTimes], asOf: Option[String]): SliceMerger = new SliceMerger(
    Tables.access(conf.value.value).storage,
    config,
    rules,
    TableMergeRules.blocks(config, timeline, asOf, damagedAsStock),
    MergeOptions(budget),
    logBytes = budget,
    increment
  )

  /** The slice's rows.
    *
    * @param fixed values of columns that have one in all its rows
    * @param base  opens the base file's rows as `columns` and `rebuilt`; told whether rows of it may be mixed with the log's,
    *              and then all of them
    */
  def read(file: PartitionedFile, columns: StructType, rebuilt: StructType, fixed: Map[String, Any])(
      base: Boolean => BaseBatches
  ): PartitionReader[ColumnarBatch] = {
    val slice = SliceReading.filesOf(file)
    val by = if (FileSliceSplit.sliceOf(file).mergesWhole.isDefined) wholeMerger else merger
    val merged = by.merge(slice.base, slice.logs, slice.written)
    rows(file, merged, columns, rebuilt, fixed, slice.base.isDefined)(base)
  }

  /** The same of a slice that is merged.
    *
    * @param hasBase rows of a base file are among them
    */
  def rows(
      file: PartitionedFile,
      merged: MergedSlice,
      columns: StructType,
      rebuilt: StructType,
      fixed: Map[String, Any],
      hasBase: Boolean
  )(base: Boolean => BaseBatches): PartitionReader[ColumnarBatch] = {
    val blocks = new BlockRowsReader(columns, Some(avroSchema), columnRules, names)
    val finish: (Array[WritableColumnVector], Int) => ColumnarBatch =
      complete(columns, rebuilt, file.partitionValues, fixed)
    val logRows = new LogBatches(merged, columns, blocks, batchRows, finish)
    val mixer = if (merged.rows.mixedRows.size == 0) None else Some(mixerOf(merged, columns, blocks))
    val mixed = new MixedRows(merged, columns, mixer, batchRows, finish)
    val opensBase = if (hasBase) Some(() => base(merged.rows.mixedRows.size > 0)) else None
    new MergedBatches(merged, opensBase, logRows, mixed)
  }

  /** The rows of some keys of a slice with logs: numbers of the base file's, and what of the log belongs to them. None where
    * the slice has to be merged as a whole.
    *
    * @param base rows of the base file with these keys; None without a base file
    */
  def found(file: PartitionedFile, keys: PackedKeys, base: Option[KeyedRows]): Option[FoundRows] =
    if (base.exists(SliceReading.hasDuplicates)) None
    else {
      val slice = SliceReading.filesOf(file)
      val kept = SliceReading.keptTails(file)
      val merged = merger.mergeKeys(keys, slice.base.map(_._1).zip(base).headOption, slice.logs, slice.written, kept)
      Some(FoundRows.of(base.fold(Array.emptyIntArray)(_.numbers), merged))
    }

  /** The last block of the slice's log has an index, in the log or kept beside it. */
  def isIndexed(file: PartitionedFile): Boolean =
    SliceReading.keptTails(file) != KeptTails.None || merger.isIndexed(SliceReading.filesOf(file).logs.last)

  /** What the slice's keys are read by, its log merged. */
  def keySource(file: PartitionedFile, columns: KeyColumns): SliceKeySource = {
    val slice = SliceReading.filesOf(file)
    val merged = merger.merge(slice.base, slice.logs, slice.written)
    SliceKeySource(Tables.access(conf.value.value).storage, slice.base.map(_._1), columns, Some((merged, rules.log)))
  }

  private def avroSchema: Schema = AvroFieldPlan.parse(schema, schemaFile)

  private def mixerOf(merged: MergedSlice, columns: StructType, blocks: BlockRowsReader): PartialRowMerger = {
    def defaults: Array[WritableColumnVector] = {
      val row = Shims.vectors(1, columns)
      val without = Schema.createRecord("none", null, null, false, new java.util.ArrayList[Schema.Field]())
      val fill = AvroColumns.compile(without, columns, Some(avroSchema), columnRules, schemaFile)
      fill.append(Array.emptyByteArray, 0, 0, row)
      row
    }
    new PartialRowMerger(merged, columns, blocks, rules, defaults, SliceReading.windowOf(merged, budget))
  }

  private def complete(columns: StructType, rebuilt: StructType, values: InternalRow, fixed: Map[String, Any])(
      read: Array[WritableColumnVector],
      rows: Int
  ): ColumnarBatch = {
    val own = Array.tabulate[ColumnVector](columns.length) { i =>
      fixed.get(columns(i).name).fold[ColumnVector](read(i))(Shims.constant(_, columns(i).dataType, rows))
    }
    val constants = Shims.constants(values, rebuilt, rows)
    // The base file's path is no row's of a log.
    val file = rebuilt.fieldNames.indexOf(ScanColumns.File)
    if (file >= 0) constants(file) = ColumnAdapter.nulls(rebuilt(file).dataType)
    new ColumnarBatch(own ++ constants, rows)
  }
}

/** Paths of the files of a slice; with the base file's its instant.
  *
  * @param written sizes that the logs had when they were listed or written
  */
final private case class SliceFiles(base: Option[(String, String)], logs: Vector[String], written: Map[String, Long])

object SliceReading {
  private val UsualRecordBytes = 4096L
  private val LeastBudgetBytes = 16L << 20
  private val MostBudgetBytes = 256L << 20

  /** Bytes to be read of the slice. */
  def bytesOf(slice: FileSlice): Long =
    slice.baseFile.fold(0L)((b: BaseFile) => b.sizeBytes) + slice.dataLogFiles.iterator.map(_.sizeBytes).sum

  /** Files to be read of the slice. */
  def filesIn(slice: FileSlice): Int = slice.baseFile.size + slice.dataLogFiles.size

  private def keptTails(file: PartitionedFile): KeptTails = logsOf(file).tails.getOrElse(KeptTails.None)

  def hasLogs(file: PartitionedFile): Boolean = FileSliceSplit.sliceOf(file).logs.isDefined

  def hasBase(file: PartitionedFile): Boolean = FileSliceSplit.sliceOf(file).logs.forall(_.baseInstant.isDefined)

  /** IllegalStateException for a base file alone. */
  private def logsOf(file: PartitionedFile): SliceLogs = FileSliceSplit
    .sliceOf(file)
    .logs
    .getOrElse(throw new IllegalStateException(s"${file.filePath}: a base file without logs is to be merged with logs"))

  /** Records that are known by their place in the base file meet one of such rows, those that are known by their key the first. */
  private def hasDuplicates(rows: KeyedRows): Boolean = {
    val seen = new java.util.HashSet[ByteBuffer]
    !rows.keys.forall(k => seen.add(ByteBuffer.wrap(k)))
  }

  private def filesOf(file: PartitionedFile): SliceFiles = {
    val logs = logsOf(file)
    val base = logs.baseInstant.map(file.filePath.toPath.toString -> _)
    SliceFiles(base, logs.files.map(_._1), logs.files.toMap)
  }

  /** Log records that may be held as columns: twice their bytes are counted for each. */
  private def windowOf(merged: MergedSlice, budgetBytes: Long): Int = {
    val bytes = merged.parts.iterator.map(bytesOf).sum
    val records = math.max(1L, merged.rows.mixedRows.size.toLong)
    math.min(Int.MaxValue.toLong, math.max(1L, budgetBytes / math.max(1L, 2 * bytes / records))).toInt
  }

  /** Records found one by one may lie anywhere in their block, so they count as the largest that are usual. */
  private def bytesOf(part: BlockPart): Long =
    part.records.fold(part.counted.block.contentLength)(_.length * UsualRecordBytes)

  /** An eighth of the heap, shared by the tasks that may run at once, for each of the things that merging holds. */
  private def budgetBytes(heapBytes: Long, tasks: Int): Long =
    math.min(MostBudgetBytes, math.max(LeastBudgetBytes, heapBytes / 8 / tasks))

  private def tasksAtOnce: Int = Runtime.getRuntime.availableProcessors
}
