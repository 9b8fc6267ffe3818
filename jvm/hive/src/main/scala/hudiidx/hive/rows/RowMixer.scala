package hudiidx.hive.rows

import java.nio.charset.StandardCharsets.UTF_8
import java.util.{Arrays, BitSet}

import hudiidx.UnsupportedTable
import hudiidx.hadoop.{KeptRecords, MergedSlice}
import hudiidx.merge.{MergeRules, Mixing, Recipes}
import hudiidx.table.TableSchema

/** Makes the rows of a slice that take their columns from several versions.
  *
  * @param window log records held at a time; a pass over the log for each window of them
  */
private[hive] final class RowMixer(
    slice: MergedSlice,
    columns: ValueType.Struct,
    blocks: LogRows,
    rules: MergeRules,
    window: Int
) {
  private val recipes = slice.rows.recipes
  private val yielding = columns.fields.map(GivesWay.of(rules.mixing, _)).toArray
  private val ofNewest =
    columns.fields.map(f => rules.newestMeta && TableSchema.MetaColumns.contains(f.name)).toArray
  private var records = Array.emptyIntArray // numbers of the records held, ascending
  private var held = Array.empty[Array[Any]]
  private var has = Array.empty[Array[Boolean]] // for each record, which columns its block has
  private var until = 0 // first recipe whose records are not held

  /** @param base the base file's row; null if the recipe has none */
  def row(recipe: Int, base: Array[Any]): Array[Any] = {
    if (recipe >= until) load(recipe)
    val parts = Array.tabulate(recipes.partCount(recipe))(i => place(recipes.part(recipe, i)))
    val newest = parts.indices.maxBy(recipes.part(recipe, _))
    Array.tabulate[Any](yielding.length) { column =>
      var i = if (ofNewest(column)) newest else parts.length - 1
      while (i > 0 && !ofNewest(column) && givesWay(parts(i), column, base)) i -= 1
      if (parts(i) < 0) base(column) else held(parts(i))(column)
    }
  }

  /** Where a record is held; negative for the base row. */
  private def place(part: Int): Int = if (part == Recipes.Base) -1 else Arrays.binarySearch(records, part)

  private def givesWay(place: Int, column: Int, base: Array[Any]): Boolean =
    if (place < 0) yielding(column)(base(column))
    else !has(place)(column) || yielding(column)(held(place)(column))

  /** Reads the records of as many recipes as the window takes, from this one on. */
  private def load(from: Int): Unit = {
    val wanted = new BitSet
    var count = 0
    until = from
    while (until < recipes.size && (until == from || count < window)) {
      (0 until recipes.partCount(until)).map(recipes.part(until, _)).filter(_ != Recipes.Base).foreach(wanted.set)
      count += recipes.partCount(until)
      until += 1
    }
    read(wanted)
  }

  private def read(wanted: BitSet): Unit = {
    records = wanted.stream.toArray
    held = new Array[Array[Any]](records.length)
    has = new Array[Array[Boolean]](records.length)
    val rows = new KeptRecords(slice, wanted, blocks)
    try {
      var i = 0
      while (rows.next()) {
        held(i) = rows.rows.row
        has(i) = rows.present(yielding.length)
        i += 1
      }
    } finally rows.close()
  }
}

/** Whether a column's value in a row that wins gives way. */
private object GivesWay {
  private val Never: Any => Boolean = _ => false
  private val IfNull: Any => Boolean = _ == null

  /** UnsupportedTable for a default that only Hudi's own code compares. */
  def of(mixing: Mixing, column: ValueType.Field): Any => Boolean = (mixing, column.valueType) match {
    case (Mixing.Never, _)                                             => Never
    case (Mixing.Nulls, _)                                             => IfNull
    case (Mixing.Unavailable(text), ValueType.Text | ValueType.Binary) => ifText(text.getBytes(UTF_8))
    case (Mixing.Unavailable(_), _)                                    => Never
    case (_, _) if column.default == null                              => IfNull
    case (Mixing.EqualDefaults, _)                                     => equalDefault(column)
    case (Mixing.Defaults, ValueType.Bool)                             => _ == column.default
    case (Mixing.Defaults, ValueType.Int32 | ValueType.Int64) if isOneObject(column.default) => _ == column.default
    case (Mixing.Defaults, _)                                                                => Never
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
