package hudiidx.hive

import java.nio.charset.StandardCharsets.UTF_8
import java.time.LocalDate

import scala.util.Try

import hudiidx.UnsupportedTable
import hudiidx.parquet.TimestampLabels
import hudiidx.rows.{AvroValues, ValueType}
import hudiidx.log.AvroFieldPlan
import hudiidx.table.{PartitionPathForm, PartitionReading, PartitionRule, PartitionTexts}
import org.apache.avro.Schema

/** The columns of a table, as its schema and its partition paths have them. */
private[hive] final class TableColumns(plan: ReadPlan) {
  private val config = plan.config
  val schema: Schema = AvroFieldPlan.parse(plan.schema.avroJson, plan.schema.file)

  private val rule = PartitionRule(config, PartitionReading(baseFilesOnly = plan.baseFilesOnly))

  /** Columns that the data files do not hold. */
  private val fromPath: Vector[String] = config.partitionFields.filter(rule.isPathAlone)

  /** All columns with their defaults, the meta columns first. */
  val struct: ValueType.Struct = new AvroValues(plan.schema.file, defaults = true).of(schema).valueType match {
    case ValueType.Struct(fields) =>
      val lost = fromPath.filterNot(n => fields.exists(_.name == n)).map(ValueType.Field(_, ValueType.Text))
      ValueType.Struct(fields ++ lost)
    case other =>
      throw new UnsupportedTable(
        s"${plan.schema.file}: the table's schema is ${ValueType.show(other)}, not a record; it cannot be read"
      )
  }

  private val texts = new PartitionTexts(config, config.partitionFields)

  /** The table's schema, by which units of timestamps in files are repaired. */
  val labels: Schema = schema
  private val unsureTimes: Set[String] = TimestampLabels.unsure(schema)

  /** The column's values are those that files hold, and that bounds are of. */
  def isInFiles(name: String): Boolean =
    (!config.isPartitionField(name) || !rule.isOfPath(name)) && !unsureTimes(name)

  /** Columns that have one value in all rows of a partition, whatever files hold. */
  def constants(partitionPath: String): Map[String, Any] = {
    val parts = texts.of(partitionPath)
    val known = for {
      (name, i) <- config.partitionFields.zipWithIndex
      at = struct.indexOf(name)
      if at >= 0
      value <- constant(struct.fields(at), parts.map(_(i)), partitionPath)
    } yield name -> value
    known.toMap
  }

  /** None: rows have what files hold. */
  private def constant(column: ValueType.Field, text: Option[String], partitionPath: String): Option[Any] =
    if (rule.isPathAlone(column.name))
      Some(text.filter(_ != PartitionPathForm.NoValue).fold[Any](null)(cast(_, column, partitionPath)))
    else
      text.filter(_ => rule.isOfPath(column.name)).flatMap { t =>
        if (t == PartitionPathForm.NoValue) Some(null)
        else if (rule.isCertain(t, kindOf(column.valueType))) Option(cast(t, column, partitionPath))
        else None
      }

  private def kindOf(valueType: ValueType): PartitionRule.Kind = valueType match {
    case ValueType.Text                        => PartitionRule.Text
    case ValueType.Bool                        => PartitionRule.Bool
    case ValueType.Int32 | ValueType.Int64     => PartitionRule.Whole
    case ValueType.Float32 | ValueType.Float64 => PartitionRule.Floating
    case _: ValueType.Decimal                  => PartitionRule.Exact
    case ValueType.Date                        => PartitionRule.Date
    case _                                     => PartitionRule.Other
  }

  private def cast(text: String, column: ValueType.Field, partitionPath: String): Any =
    TableColumns
      .valueOf(text, column.valueType)
      .getOrElse(
        throw new UnsupportedTable(
          s"${config.file}: column ${column.name} of type ${ValueType.show(column.valueType)} stands in partition paths alone " +
            s"('$partitionPath'), where its values have no certain form; read the table with Hudi"
        )
      )
}

private[hive] object TableColumns {

  /** What a text in a partition's name is: null for one that is none of the type's, as Spark's cast has it. None for types whose
    * values have no certain form there.
    */
  def valueOf(text: String, of: ValueType): Option[Any] = {
    def orNull(value: => Any): Option[Any] = Some(Try(value).getOrElse(null))
    of match {
      case ValueType.Text       => Some(text.getBytes(UTF_8))
      case ValueType.Int32      => orNull(Int.box(text.trim.toInt))
      case ValueType.Int64      => orNull(Long.box(text.trim.toLong))
      case ValueType.Float32    => orNull(Float.box(text.trim.toFloat))
      case ValueType.Float64    => orNull(Double.box(text.trim.toDouble))
      case ValueType.Bool       => orNull(Boolean.box(text.trim.toBoolean))
      case ValueType.Date       => orNull(Int.box(LocalDate.parse(text.trim).toEpochDay.toInt))
      case d: ValueType.Decimal => orNull(decimal(text.trim).setScale(d.scale))
      case _                    => None
    }
  }

  /** Not 1E2000000000: written out it would fill the memory. */
  private def decimal(text: String): java.math.BigDecimal = {
    require(text.length <= MostPlaces)
    val number = new java.math.BigDecimal(text)
    require(math.abs(number.scale.toLong) <= MostPlaces)
    number
  }

  private val MostPlaces = 100
}
