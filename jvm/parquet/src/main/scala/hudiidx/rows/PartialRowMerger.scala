package hudiidx.rows

import java.nio.charset.StandardCharsets.UTF_8
import java.util.Arrays

import hudiidx.UnsupportedTable
import hudiidx.slice.{MergedSlice, PartialMergeRecords, RecordHolder}
import hudiidx.merge.{ColumnMerge, MergeRules}
import hudiidx.table.TableSchema

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
  private val yielding = columns.fields.map(FieldMergeRule.of(rules.mixing, _)).toArray
  private val ofNewest =
    columns.fields.map(f => rules.newestMeta && TableSchema.MetaColumns.contains(f.name)).toArray
  private var held: BatchBuilder = _
  private val holder = new RecordHolder[LogBlockRows] {
    override def begin(records: Int): Unit = held = new BatchBuilder(columns, records)
    override def add(walk: LogBlockRows): Unit = walk.addTo(held)
  }
  private val records = new PartialMergeRecords(slice, blocks, window, yielding.length, holder)

  /** Adds the row of a recipe.
    *
    * @param base where the base file's row stands, if the recipe has one
    */
  def addTo(rows: BatchBuilder, recipe: Int, base: RowBatch, row: Int): Unit = {
    val places = records.places(recipe)
    val newest = records.newest(recipe)
    var column = 0
    while (column < yielding.length) {
      var i = if (ofNewest(column)) newest else places.length - 1
      while (i > 0 && !ofNewest(column) && givesWay(places(i), column, base, row)) i -= 1
      if (places(i) < 0) rows.columns(column).addAll(base.columns(column), row, 1)
      else rows.columns(column).addAll(held.columns(column), places(i), 1)
      column += 1
    }
    rows.endRow()
  }

  private def givesWay(place: Int, column: Int, base: RowBatch, row: Int): Boolean =
    if (place < 0) yielding(column)(base.columns(column), row)
    else !records.has(place, column) || yielding(column)(held.columns(column), place)
}

/** Whether a column's value in a row that wins gives way. */
private trait FieldMergeRule {
  def apply(values: ColumnValues, at: Int): Boolean
}

private object FieldMergeRule {
  private val Never: FieldMergeRule = (_, _) => false
  private val IfNull: FieldMergeRule = _.isNull(_)

  /** UnsupportedTable for a default that only Hudi's own code compares. */
  def of(mixing: ColumnMerge, column: ValueType.Field): FieldMergeRule = (mixing, column.valueType) match {
    case (ColumnMerge.Never, _)                                             => Never
    case (ColumnMerge.Nulls, _)                                             => IfNull
    case (ColumnMerge.Unavailable(text), ValueType.Text | ValueType.Binary) => ifText(text.getBytes(UTF_8))
    case (ColumnMerge.Unavailable(_), _)                                    => Never
    case (_, _) if column.default == null                                   => IfNull
    case (ColumnMerge.EqualDefaults, _)                                     => equalDefault(column)
    case (ColumnMerge.Defaults, ValueType.Bool)                             => ifEqual(column.default)
    case (ColumnMerge.Defaults, ValueType.Int32 | ValueType.Int64) if isOneObject(column.default) =>
      ifEqual(column.default)
    case (ColumnMerge.Defaults, _) => Never
  }

  private def ifEqual(default: Any): FieldMergeRule = _.value(_) == default

  private def equalDefault(column: ValueType.Field): FieldMergeRule = column.valueType match {
    case ValueType.Bool | ValueType.Int32 | ValueType.Int64 => ifEqual(column.default)
    // As bits, as Java's boxes compare them: NaN is NaN, and 0.0 is not -0.0.
    case ValueType.Float32 | ValueType.Float64 =>
      (values, at) => !values.isNull(at) && values.value(at).asInstanceOf[AnyRef].equals(column.default)
    case other =>
      throw new UnsupportedTable(
        s"column ${column.name} of type ${ValueType.show(other)} has a default other than null, which the table's payload class " +
          "compares; read the base files alone with hoodie.datasource.query.type=read_optimized, or the table with Hudi"
      )
  }

  private def ifText(wanted: Array[Byte]): FieldMergeRule = {
    case (values: BytesValues, at) =>
      !values.isNull(at) &&
      Arrays.equals(values.values, values.from(at), values.from(at) + values.length(at), wanted, 0, wanted.length)
    case _ => false
  }

  /** Java keeps one object of each such number. */
  private def isOneObject(value: Any): Boolean = {
    val number = value.asInstanceOf[Number].longValue
    number >= Byte.MinValue && number <= Byte.MaxValue
  }
}
