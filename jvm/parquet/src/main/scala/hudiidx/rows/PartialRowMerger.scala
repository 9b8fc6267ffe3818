package hudiidx.rows

import java.util.Arrays

import hudiidx.merge.{ColumnMerge, FieldMergeRule, MergeRules}
import hudiidx.slice.{ColumnSources, MergedSlice, PartialMergeRecords, RecordHolder}

/** Makes the rows of a slice that take their columns from several versions.
  *
  * @param window log records held at a time; a pass over the log for each window of them
  */
private[hudiidx] final class PartialRowMerger(
    slice: MergedSlice,
    columns: ValueType.Struct,
    blocks: LogRows,
    rules: MergeRules,
    window: Int
) {
  private val replaceable = columns.fields.map(f => Replaceable.of(rules.mixing, f)).toArray
  private var held: BatchBuilder = _
  private val holder = new RecordHolder[LogBlockRows] {
    override def begin(records: Int): Unit = held = new BatchBuilder(columns, records)
    override def add(walk: LogBlockRows): Unit = walk.addTo(held)
  }
  private var base: RowBatch = _
  private var baseRow = 0
  private val records = new PartialMergeRecords(slice, blocks, window, replaceable.length, holder)
  private val sources = new ColumnSources(records, columns.fields.map(_.name), rules) {
    override protected def yieldsBase(column: Int): Boolean = replaceable(column)(base.columns(column), baseRow)
    override protected def yieldsHeld(column: Int, place: Int): Boolean =
      replaceable(column)(held.columns(column), place)
  }

  /** Adds a mixed row.
    *
    * @param from where the base file's row stands, if it has a part in it
    */
  def addTo(rows: BatchBuilder, mixedRow: Int, from: RowBatch, row: Int): Unit = {
    base = from
    baseRow = row
    sources.startRow(mixedRow)
    var column = 0
    while (column < replaceable.length) {
      val place = sources.of(column)
      if (place < 0) rows.columns(column).addAll(base.columns(column), baseRow, 1)
      else rows.columns(column).addAll(held.columns(column), place, 1)
      column += 1
    }
    rows.endRow()
  }
}

/** Whether an older version's value takes the place of a column's value. */
private trait Replaceable {
  def apply(values: ColumnValues, at: Int): Boolean
}

private object Replaceable {

  /** UnsupportedTable for a default that only Hudi's own code compares. */
  def of(mixing: ColumnMerge, column: ValueType.Field): Replaceable = {
    def shown = ValueType.show(column.valueType)
    FieldMergeRule.of(mixing, column.name, kindOf(column.valueType), shown, column.default) match {
      case FieldMergeRule.Never        => (_, _) => false
      case FieldMergeRule.IfNull       => _.isNull(_)
      case e: FieldMergeRule.IfEqual   => (values, at) => e.isEqual(values.value(at))
      case text: FieldMergeRule.IfText => ifText(text.bytes)
    }
  }

  private def kindOf(valueType: ValueType): FieldMergeRule.Kind = valueType match {
    case ValueType.Text | ValueType.Binary     => FieldMergeRule.Text
    case ValueType.Bool                        => FieldMergeRule.Bool
    case ValueType.Int32 | ValueType.Int64     => FieldMergeRule.Whole
    case ValueType.Float32 | ValueType.Float64 => FieldMergeRule.Floating
    case _                                     => FieldMergeRule.Other
  }

  private def ifText(wanted: Array[Byte]): Replaceable = {
    case (values: BytesValues, at) =>
      !values.isNull(at) &&
      Arrays.equals(values.values, values.from(at), values.from(at) + values.length(at), wanted, 0, wanted.length)
    case _ => false
  }
}
