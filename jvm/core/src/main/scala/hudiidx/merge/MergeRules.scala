package hudiidx.merge

import hudiidx.UnsupportedTable
import hudiidx.log.{LogRules, MergeMode}
import hudiidx.table.{TableConfig, TableLogRules}

/** How the rows of a table's file slices come about. Format notes §7.
  *
  * @param log how versions of a key are ordered, and which of them are deletes
  */
final case class MergeRules(log: LogRules)

object MergeRules {

  /** UnsupportedTable for merging by a class that is not known: its code alone could tell the rows. */
  def of(config: TableConfig): MergeRules = {
    val log = TableLogRules.of(config)
    if (log.mode == MergeMode.Custom)
      throw new UnsupportedTable(
        s"${config.file}: rows are merged by ${mergerOf(config)}, which only Hudi can run; read the base files alone with " +
          s"option $ReadOptimized, or the table with Hudi"
      )
    mixing(config).foreach { name =>
      throw new UnsupportedTable(
        s"${config.file}: rows are mixed of several versions ($name), which is not served; read the base files alone with " +
          s"option $ReadOptimized, or the table with Hudi"
      )
    }
    MergeRules(log)
  }

  private val ReadOptimized = "hoodie.datasource.query.type=read_optimized"

  /** Payload classes whose rows may take columns from several versions. */
  private val MixingPayloads =
    Vector("PartialUpdateAvroPayload", "OverwriteNonDefaultsWithLatestAvroPayload", "PostgresDebeziumAvroPayload")

  private def mixing(config: TableConfig): Option[String] =
    config
      .text("hoodie.table.partial.update.mode")
      .map("hoodie.table.partial.update.mode=" + _)
      .orElse(config.text("hoodie.compaction.payload.class").filter(c => MixingPayloads.exists(c.endsWith)))

  private def mergerOf(config: TableConfig): String =
    config
      .text("hoodie.compaction.payload.class")
      .map("the payload class " + _)
      .orElse(config.text("hoodie.record.merge.strategy.id").map("the merger of strategy " + _))
      .getOrElse("a merger of its own")
}
