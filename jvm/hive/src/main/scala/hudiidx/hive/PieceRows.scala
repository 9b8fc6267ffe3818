package hudiidx.hive

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.NoSuchFileException
import java.util.BitSet

import hudiidx.{Causes, DamagedTable}
import hudiidx.engine.Tables
import hudiidx.slice.{MergedSlice, SliceMerger}
import hudiidx.parquet.StorageInputFile
import hudiidx.rows._
import hudiidx.merge.{MergeOptions, MergeRules}
import hudiidx.storage.Storage
import hudiidx.table.TableMergeRules
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.io.{ArrayWritable, Writable}

/** One column of a row.
  *
  * @param place   in the row
  * @param convert brings the column's values to the type that the reader of the row has it in
  * @param write   makes what the reader takes of one of these
  */
private[hive] final case class Slot(
    place: Int,
    column: ValueType.Field,
    convert: ColumnValues => ColumnValues,
    write: ColumnWriter
)

/** What a row consists of; places without a slot are null. */
private[hive] final case class RowLayout(width: Int, slots: Vector[Slot])

/** The rows of a piece.
  *
  * @param constants for each slot its one value, or null where it has `sources`
  * @param sources   for each slot its column in a batch
  * @param keeps     which rows there are
  */
private[hive] final class PieceRows private (
    batches: Batches,
    layout: RowLayout,
    constants: Array[ColumnValues],
    sources: Array[Int],
    keeps: (RowBatch, Int) => Boolean
) extends AutoCloseable {
  private val slots = layout.slots.toArray
  private val columns = constants.clone // of the batch at hand
  private var batch: RowBatch = _
  private var at = -1

  /** Null behind the last row. Each row is an object of its own. */
  def next(): Array[Writable] = {
    do advance() while (batch != null && !keeps(batch, at))
    if (batch == null) null
    else {
      val made = new Array[Writable](layout.width)
      var i = 0
      while (i < slots.length) {
        made(slots(i).place) = slots(i).write.orNull(columns(i), if (constants(i) == null) at else 0)
        i += 1
      }
      made
    }
  }

  private def advance(): Unit = {
    at += 1
    if (batch == null || at == batch.rows) {
      batch = batches.next()
      at = 0
      if (batch != null) slots.indices.foreach { i =>
        if (constants(i) == null) columns(i) = slots(i).convert(batch.columns(sources(i)))
      }
    }
  }

  def progress: Float = batches.progress

  override def close(): Unit = batches.close()
}

private[hive] object PieceRows {
  private val KeyColumn = "_hoodie_record_key"
  private val LeastBudgetBytes = 16L << 20
  private val MostBudgetBytes = 256L << 20

  /** An empty row of Hive's form. */
  def emptyRow: ArrayWritable = new ArrayWritable(classOf[Writable], new Array[Writable](0))

  /** DamagedTable, UnsupportedTable where rows cannot be told.
    *
    * @param layout of the table's columns
    * @param limits of the batches that are held
    */
  def open(
      conf: Configuration,
      piece: SlicePiece,
      layout: ValueType.Struct => RowLayout,
      limits: BatchLimits = BatchLimits.Usual
  ): PieceRows = {
    val plan = ReadPlan.decode(piece.plan)
    val columns = new TableColumns(plan)
    val shape = layout(columns.struct)
    val constants = columns.constants(piece.partitionPath)
    val ofKey = plan.keys.map(_ => columns.struct.fields.find(_.name == KeyColumn).get)
    val read = (shape.slots.map(_.column).filterNot(f => constants.contains(f.name)) ++ ofKey).distinct
    val fixed = shape.slots.map(s => constants.get(s.column.name).fold[ColumnValues](null)(constant(s, _))).toArray
    val sources = shape.slots.map(s => read.indexOf(s.column)).toArray
    val keeps: (RowBatch, Int) => Boolean = plan.keys.fold((_: RowBatch, _: Int) => true) { keys =>
      val place = read.indexOf(ofKey.get)
      (batch, at) => !batch.columns(place).isNull(at) && keys(text(batch.columns(place), at))
    }
    new PieceRows(batches(conf, piece, plan, columns, ValueType.Struct(read), limits), shape, fixed, sources, keeps)
  }

  private def constant(slot: Slot, value: Any): ColumnValues = {
    val values = ColumnValues.of(slot.column.valueType, 1)
    values.add(value)
    slot.convert(values)
  }

  private def text(values: ColumnValues, at: Int): String =
    new String(values.asInstanceOf[BytesValues](at), UTF_8)

  private def batches(
      conf: Configuration,
      piece: SlicePiece,
      plan: ReadPlan,
      columns: TableColumns,
      read: ValueType.Struct,
      limits: BatchLimits
  ): Batches = {
    val storage = Tables.access(conf).storage
    if (piece.logs.isEmpty) {
      val isWhole = piece.start == 0 && piece.end == Long.MaxValue
      base(storage, piece, read, plan, columns, limits, if (isWhole) None else Some((piece.start, piece.end)))
    } else {
      val rules = MergeRules.of(plan.config, plan.mergesAs11)
      val blocks = new LogRows(read, columns.schema, plan.config.format.floatsByText || plan.schema.hasHistory)
      val budget = budgetBytes
      val counting = TableMergeRules.blocks(plan.config, plan.timeline.get, plan.asOf, plan.damagedAsStock)
      val merger = new SliceMerger(storage, plan.config, rules, counting, MergeOptions(budget), logBytes = budget)
      val merged = merger.merge(piece.base, piece.logs.map(_._1), piece.logs.toMap)
      val opens =
        piece.base.map(_ => (dropped: BitSet) => base(storage, piece, read, plan, columns, limits, None, dropped))
      def mixer = new PartialRowMerger(merged, read, blocks, rules, windowOf(merged, budget))
      new MergedSliceBatches(merged, read, blocks, opens, mixer, limits)
    }
  }

  private def base(
      storage: Storage,
      piece: SlicePiece,
      read: ValueType.Struct,
      plan: ReadPlan,
      columns: TableColumns,
      limits: BatchLimits,
      range: Option[(Long, Long)],
      dropped: BitSet = new BitSet
  ): ParquetBatches = {
    try
      new ParquetBatches(
        new StorageInputFile(storage, piece.path),
        piece.path,
        read,
        floatsByText = true,
        range,
        Some(columns.labels),
        limits,
        dropped
      )
    catch {
      case e: DamagedTable if isMissing(e) =>
        throw new DamagedTable(
          s"${piece.path}: the base file is gone, though the table's timeline names it; if a clean has just removed it run the query " +
            "again, else restore it or roll the table back",
          e
        )
    }
  }

  private def isMissing(e: Throwable): Boolean =
    Causes.of(e).exists(_.isInstanceOf[NoSuchFileException])

  /** Log records that may be held: twice their bytes are counted for each. */
  private def windowOf(merged: MergedSlice, budgetBytes: Long): Int = {
    val bytes = merged.parts.iterator.map(_.counted.block.contentLength).sum
    val records = math.max(1L, merged.rows.mixedRows.size.toLong)
    math.min(Int.MaxValue.toLong, math.max(1L, budgetBytes / math.max(1L, 2 * bytes / records))).toInt
  }

  /** An eighth of the heap for each of the things that merging holds: a task has its process for itself, or shares it among as
    * many as there are cores.
    */
  private def budgetBytes: Long = {
    val runtime = Runtime.getRuntime
    math.min(MostBudgetBytes, math.max(LeastBudgetBytes, runtime.maxMemory / 8 / runtime.availableProcessors))
  }
}
