package hudiidx.engine.column

import java.util.Locale

import hudiidx.{AvroSchemas, DamagedTable}
import hudiidx.column.{ColumnPath, ColumnType}
import hudiidx.sync.TableContext
import hudiidx.table.{HudiType, LatestSchema, TableConfig, TableMergeRules, TableSchema}
import hudiidx.timeline.ActiveTimeline
import org.apache.avro.Schema

/** What a table's properties and schema say of its columns; sent to tasks.
  *
  *  @param latest the table's schema; None where no commit has one
  */
private[column] final case class TableColumns(config: TableConfig, latest: Option[LatestSchema]) {
  @transient private lazy val schema: Option[Schema] = latest.map { said =>
    try AvroSchemas.parse(said.avroJson)
    catch {
      case e: RuntimeException =>
        throw new DamagedTable(s"${said.file}: the table's schema is not an Avro schema: ${e.getMessage}", e)
    }
  }

  def avroJson: Option[String] = latest.map(_.avroJson)

  @transient private lazy val leaves: Map[String, Schema] =
    schema.toVector.flatMap(AvroTypes.leaves).map { case (parts, leaf) => ColumnPath.of(parts) -> leaf }.toMap

  /** Those that are no structs and in no list or map, in order; with their types, None where they have no order. */
  @transient lazy val all: Vector[(String, Option[ColumnType])] =
    schema.toVector.flatMap(AvroTypes.leaves).map { case (parts, leaf) =>
      ColumnPath.of(parts) -> AvroTypes.columnType(leaf)
    }

  def columnType(path: String): Option[ColumnType] = leaves.get(path).flatMap(AvroTypes.columnType)

  @transient private lazy val ofHudi: Vector[(Vector[String], String)] =
    schema.toVector.flatMap(HudiType.columns).map { case (parts, name) =>
      parts.map(_.toLowerCase(Locale.ROOT)) -> name
    }

  /** The type of Hudi's own, beside Avro's, that a column is of, or the column that it lies in. Of such values nothing is kept
    * but how many are null: no filter speaks of the bytes that files have.
    */
  def hudiType(path: String): Option[String] = hudiType(ColumnPath.parts(path))

  def hudiType(parts: Vector[String]): Option[String] =
    if (ofHudi.isEmpty) None
    else {
      val asked = parts.map(_.toLowerCase(Locale.ROOT))
      ofHudi.collectFirst { case (own, name) if asked.startsWith(own) || own.startsWith(asked) => name }
    }

  /** Paths may tell what the files do not: readers take nulls, and values that files lack, from there. */
  def isPartitionColumn(path: String): Boolean = config.isPartitionField(path)

  /** In logs readers take the unit of a timestamp from the table where a writer may have mislabelled it (format notes §6.3). */
  def mayMislabel(path: String): Boolean = leaves.get(path).exists(AvroTypes.isMillis)

  /** Rows of logs may keep columns of older rows. */
  def mixesRows: Boolean = TableMergeRules.mixesRows(config)

  /** True if readers are certain to give null for a column of which a file has only so many leading parts. */
  def readsNull(path: String, present: Int): Boolean = !isPartitionColumn(path) && schema.exists { table =>
    val parts = ColumnPath.parts(path)
    var record = TableSchema.value(table)
    var i = 0
    var isThere = true
    while (isThere && i < present) {
      isThere = record.getType == Schema.Type.RECORD && record.getField(parts(i)) != null
      if (isThere) record = TableSchema.value(record.getField(parts(i)).schema)
      i += 1
    }
    isThere && record.getType == Schema.Type.RECORD && {
      val field = record.getField(parts(present))
      field != null && leaves.contains(path) && AvroSchemas.defaultOf(field, latest.fold(config.file)(_.file)).isEmpty
    }
  }

  /** The same for files that have all of the path but its last part. */
  def readsNull(path: String): Boolean = readsNull(path, ColumnPath.parts(path).size - 1)
}

private[column] object TableColumns {

  /** Hudi's own columns, which its schema may leave out. */
  val meta: Vector[String] = TableSchema.MetaColumns

  def of(table: TableContext): TableColumns =
    TableColumns(table.config, table.schema())

  /** As it was without some instants, by their requested times; no schema where older ones tell none. */
  def without(table: TableContext, requestedTimes: Set[String]): TableColumns = {
    val kept = table.timeline.instants.filterNot(i => requestedTimes(i.requestedTime))
    val timeline = new ActiveTimeline(table.timeline.dir, table.config.timelineLayout, kept)
    TableColumns(table.config, table.schemaOf(timeline))
  }
}
