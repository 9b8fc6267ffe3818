package hudiidx.spark.write

import java.util.Locale

import scala.collection.JavaConverters._

import hudiidx.InvalidOption
import hudiidx.engine.Tables
import hudiidx.spark._
import hudiidx.spark.catalog.{AlterTable, TableDefinition}
import hudiidx.spark.options.ReadOptions
import hudiidx.spark.pinned.PinnedTable
import hudiidx.spark.plan.KeyJoinRule
import hudiidx.spark.views.NamedTable
import hudiidx.spark.write.options.{WriteOperation, WriteOptions}
import hudiidx.write.{FailedWrite, WritableTable}
import org.apache.spark.sql.{DataFrame, Row, SparkSession}
import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.connector.write.{LogicalWriteInfo, SupportsTruncate, Write, WriteBuilder}
import org.apache.spark.sql.types.StructType

/** Tables of a catalog as statements change and make them. */
final class SqlChanges extends AlterTable {

  override def target(spark: SparkSession, table: NamedTable, options: Map[String, String]): Table = {
    val target = open(spark, table, options)
    WritableTable.check(target.table.path, target.table.config, target.table.config.logInserts)
    target
  }

  private def open(spark: SparkSession, table: NamedTable, options: Map[String, String]): TargetTable = {
    val ofReads = (options ++ table.options).filterNot { case (k, _) => SqlChanges.ofWritesAlone(k) }
    val read = ReadOptions.of(ofReads, spark.conf.getAll)
    if (read.view != ReadOptions.RowsView || read.queryType != ReadOptions.Snapshot || read.asOf.isDefined)
      throw new InvalidOption(
        s"${table.path}: statements change the latest rows of a table, not a view, base files alone, or what it was; give the table's " +
          s"plain name, and no ${ReadOptions.QueryType} or ${ReadOptions.AsOfInstant}"
      )
    KeyJoinRule.register(spark)
    new TargetTable(spark, PinnedTable.open(spark, table.path, read), options)
  }

  override def create(spark: SparkSession, made: TableDefinition): Unit = {
    val path = Tables.qualified(made.path, spark.sessionState.newHadoopConf())
    FailedWrite.typed(path, "the making of the table", "there is none")(create(spark, made, path))
  }

  private def create(spark: SparkSession, made: TableDefinition, path: String): Unit = {
    requireHudi(made)
    val name = Map(WriteOptions.TableName -> path.substring(path.lastIndexOf('/') + 1))
    val options =
      WriteOptions.ofStatement(spark.conf.getAll ++ name, Some(WriteOperation.Upsert), SqlChanges.given(made))
    val table = WriteOptions.newTable(options, path)
    (table.keyFields ++ table.partitionFields ++ table.orderingField)
      .find(f => made.columns.forall(_.name != f.takeWhile(_ != '.')))
      .foreach(f =>
        throw new InvalidOption(s"$f: a key, partition or ordering field that is not a column of the table")
      )
    val schema = WriteSchema.ofNew(made.columns, table.name).avro.toString
    val none = spark.createDataFrame(new java.util.ArrayList[Row], made.columns)
    RowKeys.requireKinds(none, table, options, path)
    val storage = Tables.access(spark.sessionState.newHadoopConf()).storage
    if (storage.list(path).nonEmpty)
      throw new InvalidOption(s"path: $path holds files already; give another path")
    if (!table.copy(createSchema = Some(schema)).create(storage, path))
      throw new InvalidOption(s"path: there is a table at $path already")
  }

  override def createAs(spark: SparkSession, made: TableDefinition): StagedTable = {
    create(spark, made)
    new FilledTable(made, filled(spark, made))
  }

  override def replace(spark: SparkSession, made: TableDefinition): StagedTable = {
    requireHudi(made)
    val target = filled(spark, made)
    val given = SqlChanges.given(made)
    if (!target.optionsOf(given, Some(WriteOperation.InsertOverwriteTable)).remakes)
      WritableTable.check(target.table.path, target.table.config, target.table.config.logInserts)
    new ReplacedTable(spark, made, target, given)
  }

  override def truncate(spark: SparkSession, path: String): Unit =
    filled(spark, TableDefinition(path, new StructType, Vector.empty, Map.empty)).truncateTable(): Unit

  private def filled(spark: SparkSession, made: TableDefinition): TargetTable =
    open(spark, NamedTable(made.path, Map.empty), SqlChanges.ofWrites(made.properties))

  private def requireHudi(made: TableDefinition): Unit =
    made.properties.get("provider").filterNot(p => SqlChanges.Providers(p.toLowerCase(Locale.ROOT))).foreach { p =>
      throw new InvalidOption(s"USING $p: tables by path are Hudi tables; say USING ${HudiIdxSource.Name}")
    }
}

private object SqlChanges {
  private val Providers = Set("hudiidx", "hudi")

  /** Of Hudi's SQL. */
  private val Names = Map(
    "primarykey" -> WriteOptions.KeyFields,
    "precombinefield" -> WriteOptions.OrderingField,
    "orderingfields" -> WriteOptions.OrderingField,
    "type" -> WriteOptions.TableType
  )

  /** What a statement says of the table, by the names of options. */
  private def given(made: TableDefinition): Map[String, String] = {
    val by = if (made.partitions.isEmpty) None else Some(WriteOptions.PartitionFields -> made.partitions.mkString(","))
    made.properties.map { case (k, v) => hudiName(k) -> v } - "provider" ++ by
  }

  private def hudiName(property: String): String = Names.getOrElse(property.toLowerCase(Locale.ROOT), property)

  private def ofWritesAlone(name: String): Boolean =
    WriteOptions.Own.exists(name.equalsIgnoreCase)

  private def ofWrites(properties: Map[String, String]): Map[String, String] =
    properties.filter { case (k, _) => WriteOptions.isOfSession(k) }
}

/** What a statement makes of a path, as Spark fills it. */
abstract private class PathTable(made: TableDefinition, target: TargetTable) extends StagedTable with SupportsWrite {
  final override def name(): String = target.name()
  final override def schema(): StructType = made.columns
  final override def partitioning(): Array[Transform] = target.partitioning()
  final override def capabilities(): java.util.Set[TableCapability] = target.capabilities()
}

/** `CREATE TABLE ... AS SELECT`: the table is there before its rows are, and goes away if they do not come and nobody else wrote to it. */
final private class FilledTable(made: TableDefinition, target: TargetTable) extends PathTable(made, target) {
  override def newWriteBuilder(info: LogicalWriteInfo): WriteBuilder = target.newWriteBuilder(info)

  override def commitStagedChanges(): Unit = ()

  override def abortStagedChanges(): Unit = target.writer(Map.empty, Some(WriteOperation.Upsert)).takeBack()
}

/** `REPLACE TABLE`: what was there stays until the rows are there, or, without `AS SELECT`, until there are none. */
final private class ReplacedTable(
    spark: SparkSession,
    made: TableDefinition,
    target: TargetTable,
    given: Map[String, String]
) extends PathTable(made, target) {
  private var isDone = false

  private def overwrite(own: Map[String, String])(rows: DataFrame): Unit = {
    target.writer(given ++ own, Some(WriteOperation.InsertOverwriteTable)).overwrite(rows, Overwrite.WholeTable)
    isDone = true
  }

  override def newWriteBuilder(info: LogicalWriteInfo): WriteBuilder = new WriteBuilder with SupportsTruncate {
    override def truncate(): WriteBuilder = this
    override def build(): Write = new InsertWrite(overwrite(info.options.asCaseSensitiveMap.asScala.toMap))
  }

  override def commitStagedChanges(): Unit =
    if (!isDone) overwrite(Map.empty)(spark.createDataFrame(java.util.Collections.emptyList[Row], made.columns))

  override def abortStagedChanges(): Unit = ()
}
