package hudiidx.spark.prune

import hudiidx.column.{ColumnType, ValueOrder, ValueSet, ValueSets}
import hudiidx.column.ValueSet.Longs
import org.apache.spark.sql.types._

/** Values that a query wants of a table's column, as values of the type that a file has the column in: readers widen what
  * older files hold. Where it is not certain how, bounds tell nothing.
  */
private[prune] object TypeBridge {

  /** @param values of `table`'s order; None: any value of the file may be wanted */
  def ofFile(values: ValueSet, table: DataType, file: ColumnType): Option[ValueSet] = (table, file, values) match {
    case (t, f, _) if ValueCode.columnType(t).contains(f)            => Some(values)
    case (LongType, ColumnType.Int32, _)                             => Some(values)
    case (FloatType, ColumnType.Int32 | ColumnType.Int64, s: Longs)  => Some(rounded(s, n => n.toFloat.toDouble))
    case (DoubleType, ColumnType.Int32 | ColumnType.Int64, s: Longs) => Some(rounded(s, n => n.toDouble))
    case (DoubleType, ColumnType.Float32, s: Longs)                  => Some(ofFloats(s))
    case (t: DecimalType, ColumnType.Int32 | ColumnType.Int64, _)    => Some(ofScaled(values, t, 0, ValueOrder.Longs))
    case (t: DecimalType, f: ColumnType.Decimal, _) if f.scale <= t.scale => Some(ofScaled(values, t, f.scale, f.order))
    case _                                                                => None
  }

  /** A float is read as the double of its bits or, in newer releases, of its shortest text. Both keep the order. */
  private def ofFloats(wanted: Longs): ValueSet = {
    val (least, greatest) = ValueCode.domain(FloatType)
    def byText(code: Long): Double =
      java.lang.Double.parseDouble(java.lang.Float.toString(ValueCode.toDouble(code).toFloat))
    // What the search finds ends at floats, so that a bound of the file is not missed between two of them.
    val texts = search(wanted, least, greatest, c => ColumnType.ofDouble(byText(c)))
    val nan = ValueSets.intersect(wanted, ValueSets.range(ColumnType.NaN, ColumnType.NaN))
    ValueSets.union(ValueSets.union(wanted, texts), nan)
  }

  private def rounded(wanted: Longs, widen: Long => Double): ValueSet =
    search(wanted, Long.MinValue, Long.MaxValue, n => ColumnType.ofDouble(widen(n)))

  /** The codes that `of`, which keeps the order, takes into the set. */
  private def search(wanted: Longs, min: Long, max: Long, of: Long => Long): Longs =
    ValueSets.longs(wanted.lows.indices.flatMap { i =>
      val end = OrderedFunction.first(min, max)(of(_) > wanted.highs(i))
      for {
        first <- OrderedFunction.first(min, max)(of(_) >= wanted.lows(i))
        if !end.contains(min)
      } yield (first, end.fold(max)(_ - 1))
    })

  /** Of a decimal's values those with a smaller scale, as `order` has them. */
  private def ofScaled(wanted: ValueSet, table: DecimalType, scale: Int, order: ValueOrder): ValueSet = {
    val factor = BigInt(10).pow(table.scale - scale)
    DecimalSets.of(
      DecimalSets.intervals(wanted).map { case (low, high) =>
        (DecimalSets.ceiling(low, factor), DecimalSets.floor(high, factor))
      },
      order
    )
  }
}
