package hudiidx.hive

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.NoSuchFileException

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
  * @param place in the row
  * @param write makes the value that a reader of the row takes; null stays null
  */
private[hive] final case class Slot(place: Int, column: ValueType.Field, write: Any => Writable)

/** What a row consists of; places without a slot are null. */
private[hive] final case class RowLayout(width: Int, slots: Vector[Slot])

/** The rows of a piece. */
private[hive] final class PieceRows private (
    rows: Rows,
    layout: RowLayout,
    values: Array[Array[Any] => Any],
    keeps: Array[Any] => Boolean
) extends AutoCloseable {
  private val slots = layout.slots.toArray

  /** Null behind the last row. Each row is an object of its own. */
  def next(): Array[Writable] = {
    var row = rows.next()
    while (row != null && !keeps(row)) row = rows.next()
    if (row == null) null
    else {
      val made = new Array[Writable](layout.width)
      var i = 0
      while (i < slots.length) {
        val value = values(i)(row)
        if (value != null) made(slots(i).place) = slots(i).write(value)
        i += 1
      }
      made
    }
  }

  def progress: Float = rows.progress

  override def close(): Unit = rows.close()
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
    */
  def open(conf: Configuration, piece: SlicePiece, layout: ValueType.Struct => RowLayout): PieceRows = {
    val plan = ReadPlan.decode(piece.plan)
    val columns = new TableColumns(plan)
    val shape = layout(columns.struct)
    val constants = columns.constants(piece.partitionPath)
    val ofKey = plan.keys.map(_ => columns.struct.fields.find(_.name == KeyColumn).get)
    val read = (shape.slots.map(_.column).filterNot(f => constants.contains(f.name)) ++ ofKey).distinct
    val values = shape.slots.map { s =>
      constants.get(s.column.name) match {
        case Some(constant) => (_: Array[Any]) => constant
        case None           =>
          val at = read.indexOf(s.column)
          (row: Array[Any]) => row(at)
      }
    }.toArray
    val keeps: Array[Any] => Boolean = plan.keys.fold((_: Array[Any]) => true) { keys =>
      val at = read.indexOf(ofKey.get)
      row => row(at) != null && keys(new String(row(at).asInstanceOf[Array[Byte]], UTF_8))
    }
    new PieceRows(rows(conf, piece, plan, columns, ValueType.Struct(read)), shape, values, keeps)
  }

  private def rows(
      conf: Configuration,
      piece: SlicePiece,
      plan: ReadPlan,
      columns: TableColumns,
      read: ValueType.Struct
  ): Rows = {
    val storage = Tables.access(conf).storage
    if (piece.logs.isEmpty) {
      val isWhole = piece.start == 0 && piece.end == Long.MaxValue
      new BaseRows(base(storage, piece, read, plan, columns, if (isWhole) None else Some((piece.start, piece.end))))
    } else {
      val rules = MergeRules.of(plan.config, plan.mergesAs11)
      val blocks = new LogRows(read, columns.schema, plan.config.format.floatsByText)
      val budget = budgetBytes
      val counting = TableMergeRules.blocks(plan.config, plan.timeline.get, plan.asOf, plan.damagedAsStock)
      val merger = new SliceMerger(storage, plan.config, rules, counting, MergeOptions(budget), logBytes = budget)
      val merged = merger.merge(piece.base, piece.logs.map(_._1), piece.logs.toMap)
      val opens = piece.base.map(_ => () => base(storage, piece, read, plan, columns, None))
      new MergedRows(merged, blocks, opens, new PartialRowMerger(merged, read, blocks, rules, windowOf(merged, budget)))
    }
  }

  private def base(
      storage: Storage,
      piece: SlicePiece,
      read: ValueType.Struct,
      plan: ReadPlan,
      columns: TableColumns,
      range: Option[(Long, Long)]
  ): ParquetRows = {
    try
      new ParquetRows(
        new StorageInputFile(storage, piece.path),
        piece.path,
        read,
        plan.config.baseFloatsByText,
        range,
        Some(columns.labels)
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
    val records = math.max(1L, merged.rows.recipes.size.toLong)
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
