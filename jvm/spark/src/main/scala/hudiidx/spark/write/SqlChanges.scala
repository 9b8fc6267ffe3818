package hudiidx.spark.write

import java.util.Locale

import hudiidx.InvalidOption
import hudiidx.hadoop.Tables
import hudiidx.spark._
import hudiidx.write.WritableTable
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.connector.write.{LogicalWriteInfo, WriteBuilder}
import org.apache.spark.sql.types.StructType

/** Tables of a catalog as statements change and make them. */
final class SqlChanges extends TableChanges {

  override def target(spark: SparkSession, table: NamedTable, options: Map[String, String]): Table = {
    val ofReads = (options ++ table.options).filterNot { case (k, _) => SqlChanges.ofWritesAlone(k) }
    val read = ReadOptions.of(ofReads, spark.conf.getAll)
    if (read.view != ReadOptions.RowsView || read.queryType != ReadOptions.Snapshot || read.asOf.isDefined)
      throw new InvalidOption(
        s"${table.path}: statements change the latest rows of a table, not a view, base files alone, or what it was; give the table's " +
          s"plain name, and no ${ReadOptions.QueryType} or ${ReadOptions.AsOfInstant}"
      )
    KeyJoinRule.register(spark)
    val pinned = PinnedTable.open(spark, table.path, read)
    WritableTable.check(pinned.path, pinned.config)
    new TargetTable(spark, pinned, options)
  }

  override def create(spark: SparkSession, made: TableDefinition): Unit = {
    val path = Tables.qualified(made.path, spark.sessionState.newHadoopConf())
    val given = made.properties.map { case (k, v) => SqlChanges.hudiName(k) -> v } - "provider"
    made.properties.get("provider").filterNot(p => SqlChanges.Providers(p.toLowerCase(Locale.ROOT))).foreach { p =>
      throw new InvalidOption(s"USING $p: tables by path are Hudi tables; say USING ${HudiIdxSource.Name}")
    }
    val name = Map(WriteOptions.TableName -> path.substring(path.lastIndexOf('/') + 1))
    val by = if (made.partitions.isEmpty) None else Some(WriteOptions.PartitionFields -> made.partitions.mkString(","))
    val options = WriteOptions.ofStatement(spark.conf.getAll ++ name ++ given ++ by, Some(WriteOperation.Upsert))
    val table = WriteOptions.newTable(options, path)
    (table.keyFields ++ table.partitionFields ++ table.orderingField)
      .find(f => made.columns.forall(_.name != f.takeWhile(_ != '.')))
      .foreach(f => throw new InvalidOption(s"$f: a key, partition or ordering field that is no column of the table"))
    val schema = WriteSchema.ofNew(made.columns, table.name).avro.toString
    val storage = Tables.access(spark.sessionState.newHadoopConf()).storage
    if (storage.list(path).nonEmpty)
      throw new InvalidOption(s"path: $path holds files already; give another path")
    if (!table.copy(createSchema = Some(schema)).create(storage, path))
      throw new InvalidOption(s"path: there is a table at $path already")
  }

  override def createAs(spark: SparkSession, made: TableDefinition): StagedTable = {
    create(spark, made)
    new FilledTable(spark, made, target(spark, NamedTable(made.path, Map.empty), SqlChanges.ofWrites(made.properties)))
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

  private def hudiName(property: String): String = Names.getOrElse(property.toLowerCase(Locale.ROOT), property)

  private def ofWritesAlone(name: String): Boolean =
    name.equalsIgnoreCase(WriteOptions.Global) || name.equalsIgnoreCase(WriteOptions.Create)

  private def ofWrites(properties: Map[String, String]): Map[String, String] =
    properties.filter { case (k, _) => WriteOptions.isOfSession(k) }
}

/** `CREATE TABLE ... AS SELECT`: the table is there before its rows are, and goes away if they do not come. */
final private class FilledTable(spark: SparkSession, made: TableDefinition, target: Table)
    extends StagedTable
    with SupportsWrite {
  override def name(): String = target.name()
  override def schema(): StructType = made.columns
  override def partitioning(): Array[Transform] = target.partitioning()
  override def capabilities(): java.util.Set[TableCapability] = target.capabilities()

  override def newWriteBuilder(info: LogicalWriteInfo): WriteBuilder = target match {
    case writable: SupportsWrite => writable.newWriteBuilder(info)
    case _                       => throw new UnsupportedOperationException(s"${target.name()} takes no rows")
  }

  override def commitStagedChanges(): Unit = ()

  override def abortStagedChanges(): Unit =
    Tables.access(spark.sessionState.newHadoopConf()).storage.delete(made.path): Unit
}
