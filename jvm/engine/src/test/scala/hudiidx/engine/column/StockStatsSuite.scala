package hudiidx.engine.column

import java.math.{BigDecimal, BigInteger}
import java.nio.charset.StandardCharsets.UTF_8
import java.util.Base64

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import hudiidx.Fixtures
import hudiidx.column._
import org.scalatest.funsuite.AnyFunSuite

/** Facts about columns beside those in stock Hudi's metadata table, of the same files. Where they differ docs/format.md says
  * why: stock gives bounds of 0 for floats with a value that is no number and for columns of nulls alone.
  */
class StockStatsSuite extends AnyFunSuite {

  private val withStats =
    Fixtures.good.filter(n => Fixtures.json(n).path("metadata_table").path("column_stats").path("rows").size > 0)

  test("the fixtures have stock's statistics of every version, of logs too") {
    assert(withStats.size > 30 && Seq("v6-mor-types", "v8-mor-part", "v9-mor-types").forall(withStats.contains))
  }

  for (name <- withStats)
    test(s"$name: rows, nulls and bounds are those of stock Hudi's column statistics") {
      val table = new TableFiles(Fixtures.table(name))
      val stock = Fixtures.json(name).path("metadata_table").path("column_stats")
      val names = stock.path("files").asScala.map(_.asText).toVector
      val facts = table.files.map(f => f.fileName -> table.facts(f).facts).toMap
      var compared = 0
      stock.path("rows").asScala.filterNot(_.path(7).asBoolean).foreach { row =>
        val file = names(row.get(0).asInt)
        val column = row.get(1).asText
        val found = facts.get(file).flatMap(_.find(_.column.path == column))
        // An expression index of stock keeps statistics of its texts under the column's name.
        val isText = row.get(2).path(0).asText == "6"
        if (found.isEmpty && facts.contains(file)) {
          val isLog = file.startsWith(".")
          val unknown = table.columns.columnType(column).isEmpty || (isLog && table.columns.mayMislabel(column)) ||
            table.columns.isPartitionColumn(column)
          assert(unknown, s"$file $column is not known, and docs/format.md does not say why")
        }
        found.filterNot(f => isText && f.column.columnType != ColumnType.Text).foreach { fact =>
          new StockRow(row, table.table.config.version).compare(s"$file $column", fact)
          compared += 1
        }
      }
      assert(compared > 0)
    }
}

/** One file's statistics of a column as stock has them. */
private final class StockRow(row: JsonNode, tableVersion: Int) extends org.scalatest.Assertions {

  def compare(what: String, fact: ColumnFact): Unit = {
    val (nulls, values) = (row.get(4).asLong, row.get(5).asLong)
    val stats = fact.stats
    assert(stats.rows === values, what)
    assert(stats.nulls === nulls || stats.nulls === -1, what)
    val columnType = fact.column.columnType
    (bound(row.get(2), columnType), bound(row.get(3), columnType)) match {
      case (Some(min), Some(max)) =>
        stats.bounds match {
          case Bounds.LongRange(low, high, exact) if exact => assert((low, high) === ((min, max)), what)
          case Bounds.LongRange(low, high, _)              =>
            assert(low <= min.asInstanceOf[Long] && high >= max.asInstanceOf[Long], what)
          case Bounds.TextRange(low, high, _) =>
            val expected = TextBounds.of(min.asInstanceOf[Array[Byte]], max.asInstanceOf[Array[Byte]], exact = false)
            assert(low.toSeq === expected.min.toSeq && high.toSeq === expected.max.toSeq, what)
          case Bounds.NoValues => assert(nulls === values, what)
          case Bounds.Unknown  =>
            val isFloat = columnType == ColumnType.Float32 || columnType == ColumnType.Float64
            assert(isFloat && min == 0L && max == 0L, what)
        }
      case _ => assert(nulls === values || stats.bounds === Bounds.NoValues || values === 0, what)
    }
  }

  /** `[union member, value]` as our bounds hold it; None for null. */
  private def bound(node: JsonNode, columnType: ColumnType): Option[Any] =
    if (node == null || node.isNull) None
    else {
      // Where stock could not list its metadata table its answers to single questions are kept, as texts.
      val value = if (node.isTextual) new ObjectMapper().readTree(node.asText).path("value") else node.get(1)
      columnType match {
        case ColumnType.Bool       => Some(if (value.asBoolean) 1L else 0L)
        case ColumnType.Float32    => Some(ColumnType.ofDouble(double(value).toFloat.toDouble))
        case ColumnType.Float64    => Some(ColumnType.ofDouble(double(value)))
        case ColumnType.Text       => Some(value.asText.getBytes(UTF_8))
        case ColumnType.Binary     => Some(Base64.getDecoder.decode(value.asText))
        case d: ColumnType.Decimal => Some(decimal(value, d))
        case _                     => Some(value.asLong)
      }
    }

  private def double(value: JsonNode): Double = value.asText match {
    case "NaN"                => Double.NaN
    case "Infinity" | "inf"   => Double.PositiveInfinity
    case "-Infinity" | "-inf" => Double.NegativeInfinity
    case _                    => value.asDouble
  }

  /** Before version 9 decimals have the wrapper's scale, later their own. */
  private def decimal(value: JsonNode, columnType: ColumnType.Decimal): Any = {
    val unscaled = new BigInteger(Base64.getDecoder.decode(value.asText))
    val own = if (tableVersion < 9) new BigDecimal(unscaled, 15).setScale(columnType.scale).unscaledValue else unscaled
    if (columnType.order == ValueOrder.Longs) own.longValueExact else ColumnType.ofDecimal(own)
  }
}
