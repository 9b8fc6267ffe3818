package hudiidx.spark.catalog

import java.util.ServiceLoader

import scala.collection.JavaConverters._

import hudiidx.spark.views.NamedTable
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.catalog.{StagedTable, Table}
import org.apache.spark.sql.types.StructType

/** What changes tables by their names in SQL: part of a package that stands on the readers, and so found by name. */
trait AlterTable {

  /** The table as a target of `INSERT`, `DELETE`, `UPDATE` and `MERGE`.
    *
    * @param options of reading and writing it
    */
  def target(spark: SparkSession, table: NamedTable, options: Map[String, String]): Table

  /** Makes a table that is not there. InvalidOption if there is one, or for what the writer does not serve. */
  def create(spark: SparkSession, made: TableDefinition): Unit

  /** The same with the rows of a query: what it leaves behind if they cannot be written is taken away. */
  def createAs(spark: SparkSession, made: TableDefinition): StagedTable

  /** Rows, or none, in the place of those of a table that is there. */
  def replace(spark: SparkSession, made: TableDefinition): StagedTable

  /** No rows in their place. */
  def truncate(spark: SparkSession, path: String): Unit
}

/** `CREATE TABLE`.
  *
  * @param path       the base path
  * @param columns    without Hudi's own
  * @param partitions columns
  * @param properties of the statement, and options of the catalog
  */
final case class TableDefinition(
    path: String,
    columns: StructType,
    partitions: Vector[String],
    properties: Map[String, String]
)

object AlterTable {
  lazy val found: AlterTable =
    ServiceLoader.load(classOf[AlterTable], classOf[AlterTable].getClassLoader).asScala.head
}
