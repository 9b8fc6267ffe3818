package hudiidx.spark.write

import java.util

import scala.collection.JavaConverters._

import hudiidx.Texts
import hudiidx.spark._
import hudiidx.spark.pinned.PinnedTable
import hudiidx.spark.plan.HudiIdxScanBuilder
import hudiidx.spark.read.ScanColumns
import hudiidx.spark.write.options.{WriteOperation, WriteOptions}
import hudiidx.table.TableSchema
import org.apache.spark.sql.{DataFrame, Row, SparkSession}
import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.connector.expressions.{Expressions, Transform}
import org.apache.spark.sql.connector.read.ScanBuilder
import org.apache.spark.sql.connector.write._
import org.apache.spark.sql.sources.{Filter, InsertableRelation}
import org.apache.spark.sql.types.{DataType, StringType, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** A table as statements of SQL change it: its columns are those that rows bring, and Hudi's own stand behind them, found by
  * name. Each statement is one deltacommit, or replacecommit.
  *
  * @param table   what the statement reads
  * @param options of the catalog
  */
final class TargetTable(spark: SparkSession, val table: PinnedTable, options: Map[String, String])
    extends Table
    with SupportsRead
    with SupportsWrite
    with SupportsRowLevelOperations
    with SupportsMetadataColumns
    with TruncatableTable
    with PinnedState {

  override def pinned: PinnedTable = table

  override def name(): String = Texts.shown(s"${HudiIdxSource.Name} ${table.path}")

  override def schema(): StructType =
    StructType(table.schema.struct.filterNot(f => TableSchema.isMeta(f.name)))

  override def partitioning(): Array[Transform] =
    table.config.partitionFields.filter(schema().fieldNames.contains).map(Expressions.identity).toArray

  override def capabilities(): util.Set[TableCapability] = TargetTable.Capabilities

  override def metadataColumns(): Array[MetadataColumn] =
    hudiColumns.map(n => new HudiColumn(n): MetadataColumn) ++ ScanColumns.Metadata

  private def hudiColumns: Array[String] =
    (TableSchema.MetaColumns ++ table.schema.struct.fieldNames.filter(_ == TableSchema.Operation)).toArray

  override def canRenameConflictingMetadataColumns: Boolean = false

  override def newScanBuilder(asked: CaseInsensitiveStringMap): ScanBuilder = new HudiIdxScanBuilder(spark, table)

  override def newWriteBuilder(info: LogicalWriteInfo): WriteBuilder = {
    RowLevelPlanner.register(spark)
    new InsertBuilder(this, writer(info.options.asCaseSensitiveMap.asScala.toMap, None), schema())
  }

  /** `TRUNCATE TABLE`, and `DELETE FROM` without a condition. */
  override def truncateTable(): Boolean = {
    val none = spark.createDataFrame(util.Collections.emptyList[Row], schema())
    writer(Map.empty, Some(WriteOperation.InsertOverwriteTable)).overwrite(none, Overwrite.WholeTable)
    true
  }

  override def newRowLevelOperationBuilder(info: RowLevelOperationInfo): RowLevelOperationBuilder = {
    RowLevelPlanner.register(spark)
    () => new RowLevelChange(this, info.command)
  }

  /** @param operation None: what a setting names for inserts, else upsert */
  def writer(given: Map[String, String], operation: Option[WriteOperation]): TableWriter =
    new TableWriter(spark, table.path, optionsOf(given, operation))

  def optionsOf(given: Map[String, String], operation: Option[WriteOperation]): WriteOptions =
    WriteOptions.ofStatement(spark.conf.getAll ++ options, operation, given)

  override def equals(other: Any): Boolean = other match {
    case o: TargetTable => o.table == table
    case _              => false
  }

  override def hashCode: Int = table.hashCode
}

private object TargetTable {
  private val Capabilities: util.Set[TableCapability] = util.EnumSet.of(
    TableCapability.BATCH_READ,
    TableCapability.V1_BATCH_WRITE,
    // Spark wants it for dynamic overwrites, which RowLevelPlanner plans.
    TableCapability.BATCH_WRITE,
    TableCapability.TRUNCATE,
    TableCapability.OVERWRITE_BY_FILTER,
    TableCapability.OVERWRITE_DYNAMIC
  )
}

/** A column of Hudi's: in `SELECT *` of a table that is read, hidden where rows are given. */
final private class HudiColumn(title: String) extends MetadataColumn {
  override def name(): String = title
  override def dataType(): DataType = StringType
  override def isNullable: Boolean = !RowLevelChange.RowId.contains(title)
  override def comment(): String = "of Hudi"
}

/** `INSERT INTO` and `INSERT OVERWRITE`. */
final private class InsertBuilder(target: TargetTable, writer: TableWriter, columns: StructType)
    extends WriteBuilder
    with SupportsTruncate
    with SupportsOverwrite
    with SupportsDynamicOverwrite {
  private var what: Option[Overwrite] = None

  override def build(): Write = new InsertWrite(rows => what.fold(writer.write(rows))(writer.overwrite(rows, _)))

  override def truncate(): WriteBuilder = replacing(Overwrite.WholeTable)

  override def overwrite(filters: Array[Filter]): WriteBuilder =
    replacing(Overwrite.where(filters.toSeq, target.table.path, target.table.config, columns))

  override def overwriteDynamicPartitions(): WriteBuilder = replacing(Overwrite.Dynamic)

  private def replacing(replaced: Overwrite): WriteBuilder = {
    what = Some(replaced)
    this
  }
}

/** The write of rows of one statement. */
final private[write] class InsertWrite(val write: DataFrame => Unit) extends V1Write {
  override def toInsertableRelation: InsertableRelation = (rows, _) => write(rows)
}

/** `DELETE`, `UPDATE` and `MERGE`: Spark finds the rows and says of each what becomes of it. */
final private[write] class RowLevelChange(target: TargetTable, val command: RowLevelOperation.Command)
    extends RowLevelOperation
    with SupportsDelta {

  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = target.newScanBuilder(options)

  override def newWriteBuilder(info: LogicalWriteInfo): DeltaWriteBuilder = new DeltaWriteBuilder {
    override def build(): DeltaWrite = new ChangeWrite(target, command, info.options.asCaseSensitiveMap.asScala.toMap)
  }

  override def rowId(): Array[org.apache.spark.sql.connector.expressions.NamedReference] =
    RowLevelChange.RowId.map(n => Expressions.column(n)).toArray

  override def requiredMetadataAttributes(): Array[org.apache.spark.sql.connector.expressions.NamedReference] =
    Array(Expressions.column(RowLevelChange.FileName))
}

private[write] object RowLevelChange {

  /** A record of the table. */
  val RowId: Vector[String] = Vector("_hoodie_record_key", "_hoodie_partition_path")

  /** Tells the file group. */
  val FileName = "_hoodie_file_name"
}

/** The write of one statement; [[RowLevelPlanner]] gives it the rows. */
final private[write] class ChangeWrite(
    target: TargetTable,
    val command: RowLevelOperation.Command,
    options: Map[String, String]
) extends DeltaWrite {

  override def description(): String = s"$command of ${target.name()}"

  def run(changes: RowChanges): Unit = {
    val operation =
      if (command == RowLevelOperation.Command.DELETE) WriteOperation.Delete else WriteOperation.Upsert
    target.writer(options, Some(operation)).change(changes, target.table.shared.context)
  }

  /** The columns of the rows that a statement writes. */
  def columns: StructType = target.schema()
}
