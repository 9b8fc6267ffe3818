package hudiidx.hive

import java.nio.charset.StandardCharsets.UTF_8

import hudiidx.UnsupportedTable
import hudiidx.parquet.TimestampLabels
import hudiidx.rows.{AvroValues, ValueType}
import hudiidx.log.AvroFieldPlan
import hudiidx.table.{PartitionReading, PartitionRule, PartitionTexts}
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
    rule.valueOf(column.name, text, ValueType.plainOf(column.valueType))(_ => refuse(column, partitionPath)).map {
      case text: String => text.getBytes(UTF_8)
      case other        => other
    }

  private def refuse(column: ValueType.Field, partitionPath: String): Nothing = throw new UnsupportedTable(
    s"${config.file}: column ${column.name} of type ${ValueType.show(column.valueType)} stands in partition paths alone " +
      s"('$partitionPath'), where its values have no certain form; read the table with Hudi"
  )
}
