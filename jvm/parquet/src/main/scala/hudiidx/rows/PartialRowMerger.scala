package hudiidx.rows

import java.nio.charset.StandardCharsets.UTF_8
import java.util.Arrays

import scala.collection.mutable

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
  private val held = mutable.ArrayBuffer.empty[Array[Any]]
  private val holder = new RecordHolder[LogBlockRows] {
    override def begin(records: Int): Unit = held.clear()
    override def add(walk: LogBlockRows): Unit = held += walk.row
  }
  private val records = new PartialMergeRecords(slice, blocks, window, yielding.length, holder)

  /** @param base the base file's row; null if the recipe has none */
  def row(recipe: Int, base: Array[Any]): Array[Any] = {
    val places = records.places(recipe)
    val newest = records.newest(recipe)
    Array.tabulate[Any](yielding.length) { column =>
      var i = if (ofNewest(column)) newest else places.length - 1
      while (i > 0 && !ofNewest(column) && givesWay(places(i), column, base)) i -= 1
      if (places(i) < 0) base(column) else held(places(i))(column)
    }
  }

  private def givesWay(place: Int, column: Int, base: Array[Any]): Boolean =
    if (place < 0) yielding(column)(base(column))
    else !records.has(place, column) || yielding(column)(held(place)(column))
}

/** Whether a column's value in a row that wins gives way. */
private object FieldMergeRule {
  private val Never: Any => Boolean = _ => false
  private val IfNull: Any => Boolean = _ == null

  /** UnsupportedTable for a default that only Hudi's own code compares. */
  def of(mixing: ColumnMerge, column: ValueType.Field): Any => Boolean = (mixing, column.valueType) match {
    case (ColumnMerge.Never, _)                                             => Never
    case (ColumnMerge.Nulls, _)                                             => IfNull
    case (ColumnMerge.Unavailable(text), ValueType.Text | ValueType.Binary) => ifText(text.getBytes(UTF_8))
    case (ColumnMerge.Unavailable(_), _)                                    => Never
    case (_, _) if column.default == null                                   => IfNull
    case (ColumnMerge.EqualDefaults, _)                                     => equalDefault(column)
    case (ColumnMerge.Defaults, ValueType.Bool)                             => _ == column.default
    case (ColumnMerge.Defaults, ValueType.Int32 | ValueType.Int64) if isOneObject(column.default) => _ == column.default
    case (ColumnMerge.Defaults, _)                                                                => Never
  }

  private def equalDefault(column: ValueType.Field): Any => Boolean = column.valueType match {
    case ValueType.Bool | ValueType.Int32 | ValueType.Int64 => _ == column.default
    // As bits, as Java's boxes compare them: NaN is NaN, and 0.0 is not -0.0.
    case ValueType.Float32 | ValueType.Float64 =>
      value => value != null && value.asInstanceOf[AnyRef].equals(column.default)
    case other =>
      throw new UnsupportedTable(
        s"column ${column.name} of type ${ValueType.show(other)} has a default other than null, which the table's payload class " +
          "compares; read the base files alone with hoodie.datasource.query.type=read_optimized, or the table with Hudi"
      )
  }

  private def ifText(wanted: Array[Byte]): Any => Boolean = {
    case bytes: Array[Byte] => Arrays.equals(bytes, wanted)
    case _                  => false
  }

  /** Java keeps one object of each such number. */
  private def isOneObject(value: Any): Boolean = {
    val number = value.asInstanceOf[Number].longValue
    number >= Byte.MinValue && number <= Byte.MaxValue
  }
}
