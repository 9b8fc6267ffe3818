package hudiidx.spark

import hudiidx.DamagedTable
import hudiidx.merge.MergeRules
import hudiidx.table.{FileSlice, TableConfig, TableSchema, TimeTravel}
import org.apache.spark.sql.SparkSession

/** A table at one moment, for reading its rows. Lives on the driver.
  *
  *  @param asOf instant time of the query; None: the latest
  *  @param hasLogs rows may stand in log files; false also for a query of the base files alone
  *  @param openMillis what opening took
  */
final class PinnedTable(
    val shared: SharedTable,
    val schema: RowSchema,
    val asOf: Option[String],
    val hasLogs: Boolean,
    val openMillis: Long
) {
  def path: String = shared.path

  def config: TableConfig = shared.config

  def partitions: Vector[String] = shared.view.partitions

  /** The file slices that hold the rows of one partition. */
  def slices(partitionPath: String): Vector[FileSlice] =
    if (hasLogs) shared.view.latestMergedFileSlices(partitionPath, asOf)
    else
      shared.view.latestBaseFiles(partitionPath, asOf).map { base =>
        FileSlice(partitionPath, base.fileId, base.instantTime, Some(base), Vector.empty)
      }

  def instantText: String = asOf.orElse(shared.view.timeline.lastInstant).getOrElse("its creation")
}

object PinnedTable {

  /** UnsupportedTable if the rows cannot be told, InvalidOption for an instant that cannot be read. */
  def open(spark: SparkSession, path: String, options: ReadOptions): PinnedTable = {
    val from = System.nanoTime()
    val shared = SharedTable.open(spark, path, options.index)
    val config = shared.config
    RowSchema.refuseUnreadable(config)
    val hasLogs = config.isMergeOnRead && options.queryType != ReadOptions.ReadOptimized
    if (hasLogs) MergeRules.of(config): Unit
    options.asOf.foreach(TimeTravel.check(config, shared.timeline, shared.contents, _))
    val schema = TableSchema
      .latestAvroJson(shared.timeline, shared.contents, config, options.asOf)
      .getOrElse(
        throw new DamagedTable(
          s"${config.file}: neither a commit nor a property tells the table's columns; write to the table first"
        )
      )
    val rows = RowSchema.of(config, schema, spark.sessionState.conf.sessionLocalTimeZone, hasLogs)
    new PinnedTable(shared, rows, options.asOf, hasLogs, (System.nanoTime() - from) / 1000000)
  }
}
