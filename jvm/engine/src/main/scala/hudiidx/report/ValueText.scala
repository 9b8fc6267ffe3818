package hudiidx.report

import java.math.{BigDecimal => Decimal, BigInteger}
import java.nio.charset.StandardCharsets.UTF_8
import java.time.{Instant, LocalDate, ZoneOffset}

import scala.util.Try

import hudiidx.DecimalText
import hudiidx.column.{Bounds, ColumnType}

/** Values of bounds as people write them. */
private[report] object ValueText {
  private val MostCharacters = 40

  /** The least lower and the greatest upper end; empty where there is none. */
  def ends(columnType: ColumnType, bounds: Array[Bounds]): (String, String) = {
    val known = bounds.filter(b => b != Bounds.Unknown && b != Bounds.NoValues)
    if (known.isEmpty) ("", "")
    else
      known.reduce((a, b) => a.union(b)) match {
        case Bounds.LongRange(min, max, _) => (of(columnType, min), of(columnType, max))
        case Bounds.TextRange(min, max, _) => (of(columnType, min), if (max == null) "" else of(columnType, max))
        case _                             => ("", "")
      }
  }

  private def of(columnType: ColumnType, value: Long): String = columnType match {
    case ColumnType.Bool                         => (value != 0).toString
    case ColumnType.Date                         => LocalDate.ofEpochDay(value).toString
    case ColumnType.Timestamp                    => moment(value).toString
    case ColumnType.LocalTimestamp               => moment(value).atOffset(ZoneOffset.UTC).toLocalDateTime.toString
    case ColumnType.Float32 | ColumnType.Float64 => ColumnType.toDouble(value).toString
    case ColumnType.Decimal(_, scale)            => Decimal.valueOf(value, scale).toPlainString
    case _                                       => value.toString
  }

  private def of(columnType: ColumnType, value: Array[Byte]): String = columnType match {
    case ColumnType.Decimal(_, scale) => unscaled(value).fold("")(new Decimal(_, scale).toPlainString)
    case ColumnType.Binary            => cut(value.take(MostCharacters).map(b => f"$b%02x").mkString)
    case _                            => cut(new String(value, UTF_8))
  }

  private def moment(micros: Long): Instant =
    Instant.ofEpochSecond(Math.floorDiv(micros, 1000000L), Math.floorMod(micros, 1000000L) * 1000)

  /** The inverse of [[ColumnType.ofDecimal]]. */
  private def unscaled(bytes: Array[Byte]): Option[BigInteger] =
    if (bytes.isEmpty) None
    else {
      val number = bytes.clone()
      number(0) = (number(0) ^ 0x80).toByte
      Try(DecimalText.unscaled(number, DecimalText.MostDigits, 0).unscaledValue).toOption
    }

  private def cut(text: String): String =
    if (text.length <= MostCharacters) text else text.take(MostCharacters - 1) + "…"
}
