package hudiidx.hive

import java.nio.charset.StandardCharsets.UTF_8
import java.time.LocalDate

import scala.util.Try

import hudiidx.UnsupportedTable
import hudiidx.hive.rows.{AvroValues, ValueType}
import hudiidx.log.AvroFieldPlan
import hudiidx.table.{PartitionPathForm, PartitionTexts}
import org.apache.avro.Schema

/** The columns of a table, as its schema and its partition paths have them. */
private[hive] final class TableColumns(plan: ReadPlan) {
  private val config = plan.config
  val schema: Schema = AvroFieldPlan.parse(plan.schema, config.file)

  /** Columns that the data files do not hold. */
  private val fromPath: Vector[String] =
    if (config.dropPartitionColumns) config.partitionFields else Vector.empty

  /** All columns with their defaults, the meta columns first. */
  val struct: ValueType.Struct = new AvroValues(config.file, defaults = true).of(schema).valueType match {
    case ValueType.Struct(fields) =>
      val lost = fromPath.filterNot(n => fields.exists(_.name == n)).map(ValueType.Field(_, ValueType.Text))
      ValueType.Struct(fields ++ lost)
    case other =>
      throw new UnsupportedTable(
        s"${config.file}: the table's schema is ${ValueType.show(other)}, not a record; it cannot be read"
      )
  }

  private val texts = new PartitionTexts(config, config.partitionFields)

  /** The column's values are those that files hold, but in partitions where it is null. */
  def isInFiles(name: String): Boolean = !fromPath.contains(name)

  /** Columns that are null in all rows of the partition, whatever files hold. */
  def nulls(partitionPath: String): Vector[String] = texts.nulls(partitionPath)

  /** Columns that have one value in all rows of a partition, whatever files hold. */
  def constants(partitionPath: String): Map[String, Any] = {
    val rebuilt = config.partitionFields.zipWithIndex.filter(c => fromPath.contains(c._1)).map { case (name, i) =>
      val text = texts.of(partitionPath).map(_(i)).filter(_ != PartitionPathForm.NoValue)
      name -> text.fold[Any](null)(cast(_, struct.fields(struct.indexOf(name)), partitionPath))
    }
    nulls(partitionPath).map(_ -> null).toMap ++ rebuilt
  }

  /** Null for a text that is none of the type's, as Spark's cast has it. */
  private def cast(text: String, column: ValueType.Field, partitionPath: String): Any = {
    def orNull(value: => Any): Any = Try(value).getOrElse(null)
    column.valueType match {
      case ValueType.Text       => text.getBytes(UTF_8)
      case ValueType.Int32      => orNull(Int.box(text.trim.toInt))
      case ValueType.Int64      => orNull(Long.box(text.trim.toLong))
      case ValueType.Float32    => orNull(Float.box(text.trim.toFloat))
      case ValueType.Float64    => orNull(Double.box(text.trim.toDouble))
      case ValueType.Bool       => orNull(Boolean.box(text.trim.toBoolean))
      case ValueType.Date       => orNull(Int.box(LocalDate.parse(text.trim).toEpochDay.toInt))
      case d: ValueType.Decimal => orNull(new java.math.BigDecimal(text.trim).setScale(d.scale))
      case other                =>
        throw new UnsupportedTable(
          s"${config.file}: column ${column.name} of type ${ValueType.show(other)} stands in partition paths alone ('$partitionPath'), " +
            "where its values have no certain form; read the table with Hudi"
        )
    }
  }
}
