package hudiidx.spark

import scala.collection.JavaConverters._

import hudiidx.InvalidOption
import hudiidx.spark.catalog.AlterTable
import hudiidx.spark.options.{ReadOptions, StreamOptions}
import hudiidx.spark.pinned.PinnedTable
import hudiidx.spark.plan.HudiIdxScanBuilder
import hudiidx.spark.read.ScanColumns
import hudiidx.spark.views.BatchTable
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.catalog.{MetadataColumn, SupportsMetadataColumns, TruncatableTable}
import org.apache.spark.sql.connector.read.ScanBuilder
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** The rows of a table as of one moment; every scan of it reads the same files. */
final class HudiIdxTable(spark: SparkSession, table: PinnedTable, ofCatalog: Boolean)
    extends BatchTable(s"${HudiIdxSource.Name} ${table.path}", table.schema.struct, streams = true)
    with SupportsMetadataColumns
    with TruncatableTable
    with PinnedState {

  override def pinned: PinnedTable = table

  override def equals(other: Any): Boolean = other match {
    case o: HudiIdxTable => o.pinned == table
    case _               => false
  }

  override def hashCode: Int = table.hashCode

  override def metadataColumns(): Array[MetadataColumn] = ScanColumns.Metadata

  override def canRenameConflictingMetadataColumns: Boolean = false

  /** `TRUNCATE TABLE`, for which Spark takes what is read. */
  override def truncateTable(): Boolean = {
    AlterTable.found.truncate(spark, table.path)
    true
  }

  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = {
    if (ofCatalog) refuseLate(options)
    table.requireUnchanged()
    new HudiIdxScanBuilder(spark, table, options.asCaseSensitiveMap.asScala.toMap)
  }

  /** Options of `spark.read.option(...).table(...)` come when the table is open already. */
  private def refuseLate(options: CaseInsensitiveStringMap): Unit = {
    val late = options.keySet.asScala.filter(name => ReadOptions.isRowOption(name) && !StreamOptions.isOne(name))
    if (late.nonEmpty)
      throw new InvalidOption(
        s"${late.toVector.sorted.mkString(", ")}: not taken with a table of a catalog; use VERSION AS OF, or " +
          s"spark.read.format('${HudiIdxSource.Name}').option(...).load(path)"
      )
  }
}
