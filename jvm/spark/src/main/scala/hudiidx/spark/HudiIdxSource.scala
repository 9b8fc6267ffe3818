package hudiidx.spark

import java.util

import scala.collection.JavaConverters._

import hudiidx.InvalidOption
import hudiidx.spark.options.ReadOptions
import hudiidx.spark.pinned.{PinnedTable, SharedTable}
import hudiidx.spark.plan.KeyJoinRule
import hudiidx.spark.stream.ChangeData
import hudiidx.spark.views.{BatchTable, ViewTable}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.catalog.{Table, TableProvider}
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.connector.read.ScanBuilder
import org.apache.spark.sql.sources.DataSourceRegister
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** What the data source `hudiidx` reads: `spark.read.format("hudiidx").load(path)`. */
abstract class HudiIdxSource extends TableProvider with DataSourceRegister {
  // Spark asks one instance for the schema and then for the table: both must be of the same moment.
  private var opened: Option[(CaseInsensitiveStringMap, BatchTable)] = None

  override def shortName(): String = HudiIdxSource.Name

  /** True for writes: Spark then does not ask for the schema of a table that is not there yet. */
  override def supportsExternalMetadata(): Boolean = true

  override def inferSchema(options: CaseInsensitiveStringMap): StructType = {
    val table = HudiIdxSource.open(SparkSession.active, options.asCaseSensitiveMap.asScala.toMap)
    opened = Some((options, table))
    table.struct
  }

  override def getTable(
      schema: StructType,
      partitioning: Array[Transform],
      properties: util.Map[String, String]
  ): Table =
    opened match {
      case Some((options, table)) if options.asCaseSensitiveMap == properties => table
      case Some(_) => HudiIdxSource.open(SparkSession.active, properties.asScala.toMap)
      case None    => new UnopenedTable(schema)
    }
}

/** What Spark gets for a write, and for a read with a schema of the user's. It cannot be written to: Spark then asks the
  * source itself.
  */
final private class UnopenedTable(columns: StructType) extends BatchTable(HudiIdxSource.Name, columns, streams = true) {
  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder =
    throw new InvalidOption("schema: a Hudi table has its own; read without one, and select or cast")
}

object HudiIdxSource {
  val Name: String = ReadOptions.SourceName

  /** @param ofCatalog options that come with a single scan must not ask for other rows than the table was opened for */
  private[spark] def open(spark: SparkSession, options: Map[String, String], ofCatalog: Boolean = false): BatchTable = {
    val read = ReadOptions.of(options, spark.conf.getAll)
    val path = options
      .collectFirst { case (k, v) if k.equalsIgnoreCase("path") => v }
      .getOrElse(
        throw new InvalidOption("path: a table's base path is needed, as in spark.read.format(\"hudiidx\").load(path)")
      )
    KeyJoinRule.register(spark)
    if (read.view != ReadOptions.RowsView) ViewTable.open(spark, path, read)
    else
      read.changes match {
        case Some(asked) => ChangeData.open(spark, path, read, asked)
        case None        =>
          new HudiIdxTable(spark, PinnedTable.at(spark, SharedTable.open(spark, path, read.index), read), ofCatalog)
      }
  }

  /** The session's settings that are ours. */
  private[spark] def sessionOptions(spark: SparkSession): Map[String, String] =
    spark.conf.getAll.filter { case (k, _) => k.startsWith(ReadOptions.Prefix) }
}
