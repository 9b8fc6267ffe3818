package hudiidx.spark

import hudiidx.UnsupportedTable
import hudiidx.spark.views.NamedTable
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog.CatalogTableType
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.command._

/** Refuses Spark's own statements that would remove or move files of a Hudi table which its timeline names: those of a managed table
  * by its partitions, and whole ones where hudiidx does not write it. Asked when all rules are done, so that statements of Hudi's
  * extension, which are commits, stay.
  */
final private[spark] class FilesOfPartitions(spark: SparkSession) extends (LogicalPlan => Unit) {
  override def apply(plan: LogicalPlan): Unit = plan match {
    case t: TruncateTableCommand                            => requireOther(t.tableName, "TRUNCATE TABLE")
    case d: AlterTableDropPartitionCommand if !d.retainData => requireOther(d.tableName, "DROP PARTITION")
    case r: AlterTableRenamePartitionCommand                => requireOther(r.tableName, "RENAME PARTITION")
    case _                                                  => ()
  }

  private def requireOther(name: TableIdentifier, statement: String): Unit = {
    val catalog = spark.sessionState.catalog
    if (catalog.tableExists(name)) {
      val table = catalog.getTableMetadata(name)
      if (NamedTable.isHudi(table) && table.tableType == CatalogTableType.MANAGED)
        throw new UnsupportedTable(
          s"${table.identifier.unquotedString}: $statement is Spark's own here, which takes files from their places that the table's timeline " +
            "names; use DELETE FROM or INSERT OVERWRITE with values of the partition's columns, or a session with Hudi's SQL extension"
        )
    }
  }
}
