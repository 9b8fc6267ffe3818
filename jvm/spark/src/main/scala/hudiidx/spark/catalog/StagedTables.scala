package hudiidx.spark.catalog

import java.util

import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.connector.write.{LogicalWriteInfo, WriteBuilder}
import org.apache.spark.sql.types.{StructField, StructType}

/** `CREATE TABLE ... AS SELECT` as the catalog behind does it: in one step if it can, else the table is made first, and dropped
  * again if its rows cannot be written. A table that is there is replaced in one step, or not at all.
  */
trait StagedTables extends DelegatingCatalog with StagingTableCatalog {
  private type Properties = util.Map[String, String]

  override def stageCreate(
      id: Identifier,
      columns: Array[Column],
      by: Array[Transform],
      properties: Properties
  ): StagedTable =
    changed("created")(behind match {
      case c: StagingTableCatalog => c.stageCreate(id, columns, by, properties)
      case _                      => new MadeFirst(id, createTable(id, columns, by, properties))
    })

  override def stageReplace(
      id: Identifier,
      columns: Array[Column],
      by: Array[Transform],
      properties: Properties
  ): StagedTable =
    changed("replaced")(behind match {
      case c: StagingTableCatalog => c.stageReplace(id, columns, by, properties)
      case _                      => throw notInOneStep(id)
    })

  override def stageCreateOrReplace(
      id: Identifier,
      columns: Array[Column],
      by: Array[Transform],
      properties: Properties
  ): StagedTable =
    changed("replaced")(behind match {
      case c: StagingTableCatalog => c.stageCreateOrReplace(id, columns, by, properties)
      case _ if tableExists(id)   => throw notInOneStep(id)
      case _                      => new MadeFirst(id, createTable(id, columns, by, properties))
    })

  /** Dropped first, as Spark itself does, it would be gone if its rows cannot be written. */
  private def notInOneStep(id: Identifier): UnsupportedOperationException = new UnsupportedOperationException(
    s"REPLACE TABLE $id: catalog ${behind.name} cannot put a table in the place of another in one step, and a failure would leave " +
      "neither; use INSERT OVERWRITE, or DROP TABLE and CREATE TABLE"
  )

  override def stageCreate(
      id: Identifier,
      schema: StructType,
      by: Array[Transform],
      properties: Properties
  ): StagedTable =
    stageCreate(id, DelegatingCatalog.columnsOf(schema), by, properties)

  override def stageReplace(
      id: Identifier,
      schema: StructType,
      by: Array[Transform],
      properties: Properties
  ): StagedTable =
    stageReplace(id, DelegatingCatalog.columnsOf(schema), by, properties)

  override def stageCreateOrReplace(
      id: Identifier,
      schema: StructType,
      by: Array[Transform],
      properties: Properties
  ): StagedTable = stageCreateOrReplace(id, DelegatingCatalog.columnsOf(schema), by, properties)

  final private class MadeFirst(id: Identifier, made: Table) extends StagedTable with SupportsWrite {
    override def name(): String = made.name
    override def schema(): StructType = StructType(columns.map(c => StructField(c.name, c.dataType, c.nullable)))
    override def columns(): Array[Column] = made.columns
    override def partitioning(): Array[Transform] = made.partitioning
    override def properties(): Properties = made.properties
    override def capabilities(): util.Set[TableCapability] = made.capabilities

    override def newWriteBuilder(info: LogicalWriteInfo): WriteBuilder = made match {
      case writable: SupportsWrite => writable.newWriteBuilder(info)
      case _                       => throw new UnsupportedOperationException(s"${made.name} takes no rows")
    }

    override def commitStagedChanges(): Unit = ()

    override def abortStagedChanges(): Unit = dropTable(id): Unit
  }
}
