package hudiidx.spark.pinned

import hudiidx.parquet.TimestampLabels
import hudiidx.spark.rows.AvroSchemaConverter
import hudiidx.table.{LatestSchema, PartitionReading, PartitionRule, TableConfig, TableSchema}
import org.apache.avro.Schema
import org.apache.spark.sql.types._

/** The columns of a table as stock Hudi's reader shows them.
  *
  *  @param struct all columns in order, the meta columns first
  *  @param partitionColumns in the order of the partition path
  *  @param fromPath true for columns that are not read from data files: these do not hold them, or are not asked
  *  @param unsureTimes columns for which files may bear another unit's label than the table's, and then are repaired
  *  @param avroJson the Avro schema that the columns were made of
  *  @param file where that stands
  *  @param hasHistory the table keeps a history of its columns
  */
final case class RowSchema(
    struct: StructType,
    partitionColumns: Vector[StructField],
    values: PartitionValues,
    fromPath: String => Boolean,
    unsureTimes: Set[String],
    avroJson: String,
    file: String,
    hasHistory: Boolean
) {
  @transient lazy val avro: Schema = new Schema.Parser().setValidateDefaults(false).parse(avroJson)
}

object RowSchema {

  /** @param schema the table's, with its meta columns
    * @param merged rows may stand in logs
    */
  def of(
      config: TableConfig,
      schema: LatestSchema,
      zone: String,
      merged: Boolean = false,
      reading: PartitionReading = PartitionReading()
  ): RowSchema = {
    val avro = TableSchema.parse(schema.avroJson, schema.file)
    val (meta, data) = AvroSchemaConverter.structType(avro, schema.file).partition(f => TableSchema.isMeta(f.name))
    val rule = PartitionRule(config, reading)
    val shown = StructType(data.map(f => if (rule.isPathText(f.name)) f.copy(dataType = StringType) else f))
    val names = shown.fieldNames.toSet
    val ofPaths = config.partitionFields.distinct.filter(n => rule.isPathAlone(n) && !names(n))
    val complete = StructType(shown.fields ++ ofPaths.map(StructField(_, StringType)))
    val ordered =
      if (merged || !config.format.partitionColumnsLast) complete else partitionsLast(complete, config)
    val byName = ordered.fields.map(f => f.name -> f).toMap
    val partitions = config.partitionFields.map(n => byName.getOrElse(n, StructField(n, StringType)))
    val values = new PartitionValues(rule, partitions, zone)
    RowSchema(
      // Stock marks its own columns as metadata in Spark's sense; Spark then finds no real ones (`_file`).
      StructType(meta.map(_.copy(nullable = true)) ++ ordered),
      partitions,
      values,
      rule.isPathAlone,
      TimestampLabels.unsure(avro),
      schema.avroJson,
      schema.file,
      schema.hasHistory
    )
  }

  private def partitionsLast(data: StructType, config: TableConfig): StructType = {
    val byName = data.map(f => f.name -> f).toMap
    StructType(
      data.filterNot(f => config.isPartitionField(f.name)) ++ config.partitionFields.distinct.flatMap(byName.get)
    )
  }
}
