package hudiidx.engine.column

import java.math.BigInteger

import hudiidx.column._
import org.apache.parquet.column.statistics._
import org.apache.parquet.schema.LogicalTypeAnnotation._
import org.apache.parquet.schema.PrimitiveType
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._

/** Parquet's types as column types, and its bounds as theirs. docs/format.md, "Column types". */
private[column] object ParquetTypes {

  /** None for a type without an order that is certain. */
  def columnType(primitive: PrimitiveType): Option[ColumnType] =
    (primitive.getPrimitiveTypeName, primitive.getLogicalTypeAnnotation) match {
      case (BOOLEAN, null)                                                           => Some(ColumnType.Bool)
      case (INT32, null)                                                             => Some(ColumnType.Int32)
      case (INT32, i: IntLogicalTypeAnnotation) if i.isSigned                        => Some(ColumnType.Int32)
      case (INT32, _: DateLogicalTypeAnnotation)                                     => Some(ColumnType.Date)
      case (INT64, null)                                                             => Some(ColumnType.Int64)
      case (INT64, i: IntLogicalTypeAnnotation) if i.isSigned                        => Some(ColumnType.Int64)
      case (INT64, t: TimestampLogicalTypeAnnotation) if t.getUnit != TimeUnit.NANOS =>
        Some(if (t.isAdjustedToUTC) ColumnType.Timestamp else ColumnType.LocalTimestamp)
      case (FLOAT, null)                            => Some(ColumnType.Float32)
      case (DOUBLE, null)                           => Some(ColumnType.Float64)
      case (BINARY, _: StringLogicalTypeAnnotation) => Some(ColumnType.Text)
      case (BINARY, _: EnumLogicalTypeAnnotation)   => Some(ColumnType.Text)
      case (BINARY, _: JsonLogicalTypeAnnotation)   => Some(ColumnType.Text)
      case (BINARY | FIXED_LEN_BYTE_ARRAY, null)    => Some(ColumnType.Binary)
      case (_, d: DecimalLogicalTypeAnnotation)     => ColumnType.decimal(d.getPrecision, d.getScale)
      case _                                        => None
    }

  /** Of statistics that have them. */
  def bounds(stats: Statistics[_], primitive: PrimitiveType, to: ColumnType, nanIsMarked: Boolean): Bounds =
    stats match {
      case b: BooleanStatistics => longs(if (b.getMin) 1 else 0, if (b.getMax) 1 else 0)
      case i: IntStatistics     => Calendars.widened(to, longs(i.getMin.toLong, i.getMax.toLong))
      case l: LongStatistics    => Calendars.widened(to, scaled(l.getMin, l.getMax, primitive))
      case f: FloatStatistics   => doubles(f.getMin.toDouble, f.getMax.toDouble, nanIsMarked)
      case d: DoubleStatistics  => doubles(d.getMin, d.getMax, nanIsMarked)
      case b: BinaryStatistics  => bytes(b.genericGetMin.getBytes, b.genericGetMax.getBytes, to)
      case _                    => Bounds.Unknown
    }

  private def longs(min: Long, max: Long): Bounds =
    if (min > max) Bounds.Unknown else Bounds.LongRange(min, max, exact = true)

  /** Milliseconds become microseconds. */
  private def scaled(min: Long, max: Long, primitive: PrimitiveType): Bounds =
    if (!isMillis(primitive)) longs(min, max)
    else if (min < Long.MinValue / MicrosPerMilli || max > Long.MaxValue / MicrosPerMilli) Bounds.Unknown
    else longs(min * MicrosPerMilli, max * MicrosPerMilli)

  def isMillis(primitive: PrimitiveType): Boolean = primitive.getLogicalTypeAnnotation match {
    case t: TimestampLogicalTypeAnnotation => t.getUnit == TimeUnit.MILLIS
    case _                                 => false
  }

  val MicrosPerMilli = 1000L

  private def doubles(min: Double, max: Double, nanIsMarked: Boolean): Bounds = {
    val low = ColumnType.ofDouble(min)
    val high = if (nanIsMarked) ColumnType.ofDouble(max) else ColumnType.NaN
    if (min.isNaN || low > high) Bounds.Unknown else Bounds.LongRange(low, high, exact = nanIsMarked)
  }

  /** Writers may have cut bounds of strings, silently. */
  private def bytes(min: Array[Byte], max: Array[Byte], to: ColumnType): Bounds = to match {
    case d: ColumnType.Decimal                               => decimals(min, max, d)
    case _ if java.util.Arrays.compareUnsigned(min, max) > 0 => Bounds.Unknown
    case _                                                   => TextBounds.of(min, max, exact = false)
  }

  private def decimals(min: Array[Byte], max: Array[Byte], to: ColumnType.Decimal): Bounds =
    if (min.isEmpty || max.isEmpty) Bounds.Unknown
    else {
      val (low, high) = (new BigInteger(min), new BigInteger(max))
      if (low.compareTo(high) > 0 || !Decimals.fits(low, to) || !Decimals.fits(high, to)) Bounds.Unknown
      else if (to.order == ValueOrder.Longs) longs(low.longValueExact, high.longValueExact)
      else Bounds.TextRange(ColumnType.ofDecimal(low), ColumnType.ofDecimal(high), exact = true)
    }
}

/** Days and times of long ago may stand in a file in the calendar that Spark used before 3.0, and readers may turn them into
  * others. They stay before the days from which on the two calendars and all zones agree, so bounds that lie before those
  * are moved out: the lower one to no bound, the upper one to that day.
  */
private[column] object Calendars {
  // Two days more than 1582-10-15 and 1900-01-01: a zone's offset moves times across the border.
  private val FirstDay = -141427L + 2
  private val FirstMicros = (-25567L + 2) * 86400000000L

  def widened(to: ColumnType, bounds: Bounds): Bounds = to match {
    case ColumnType.Date                                  => widened(bounds, FirstDay)
    case ColumnType.Timestamp | ColumnType.LocalTimestamp => widened(bounds, FirstMicros)
    case _                                                => bounds
  }

  /** False for days and times that readers may turn into others. */
  def isCertain(of: ColumnType, value: Long): Boolean = of match {
    case ColumnType.Date                                  => value >= FirstDay
    case ColumnType.Timestamp | ColumnType.LocalTimestamp => value >= FirstMicros
    case _                                                => true
  }

  private def widened(bounds: Bounds, first: Long): Bounds = bounds match {
    case Bounds.LongRange(min, max, _) if min < first =>
      Bounds.LongRange(Long.MinValue, math.max(max, first), exact = false)
    case other => other
  }
}
