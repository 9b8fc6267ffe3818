package hudiidx.merge

import hudiidx.UnsupportedTable
import hudiidx.log.{LogRules, MergeMode}
import hudiidx.table.{TableConfig, TableMergeRules}

/** Which columns of a record that wins give way to those of the one that it wins over. Format notes §7.6. Partial records
  * have no more than the columns that they list, whatever the table's rule.
  */
sealed abstract class ColumnMerge extends Product with Serializable

object ColumnMerge {

  /** None does. */
  case object Never extends ColumnMerge

  /** Those that equal their default in the schema. Hudi compares references, so beside null only what Java keeps one object
    * of counts: booleans, and whole numbers from -128 to 127.
    */
  case object Defaults extends ColumnMerge

  /** Those that equal their default in the schema. */
  case object EqualDefaults extends ColumnMerge

  /** Those that are null. */
  case object Nulls extends ColumnMerge

  /** Strings and binaries that equal the text which stands for a value that the source did not send. */
  final case class Unavailable(text: String) extends ColumnMerge
}

/** How the rows of a table's file slices come about. Format notes §7.
  *
  * @param log              how versions of a key are ordered, and which of them are deletes
  * @param withBaseAlone    records of the log replace each other whole; what is left is mixed with the base file's row
  * @param winnersAsTheyAre a version that wins over a later one takes nothing from that
  * @param newestMeta       the meta columns are those of the last version in log order, whichever wins
  */
final case class MergeRules(
    log: LogRules,
    mixing: ColumnMerge = ColumnMerge.Never,
    withBaseAlone: Boolean = false,
    winnersAsTheyAre: Boolean = false,
    newestMeta: Boolean = false
)

object MergeRules {
  private[merge] val ReadOptimized = "hoodie.datasource.query.type=read_optimized"

  private val UnavailableValue = "hoodie.record.merge.property.hoodie.write.partial.update.unavailable.value"
  private val PostgresUnavailable = "__debezium_unavailable_value"

  /** UnsupportedTable for merging by a class that is not known: its code alone could tell the rows.
    *
    * @param as11 see `TableMergeRules.of`
    */
  def of(config: TableConfig, as11: Boolean = false): MergeRules = {
    val log = TableMergeRules.of(config, as11)
    if (log.mode == MergeMode.Custom) refuse(config, s"rows are merged by ${mergerOf(config)}, which only Hudi can run")
    config.text("hoodie.table.partial.update.mode") match {
      case Some("IGNORE_DEFAULTS")  => MergeRules(log, ColumnMerge.Defaults)
      case Some("FILL_UNAVAILABLE") =>
        MergeRules(log, config.text(UnavailableValue).fold[ColumnMerge](ColumnMerge.Never)(ColumnMerge.Unavailable(_)))
      case Some(other) =>
        refuse(config, s"hoodie.table.partial.update.mode is '$other', which is unknown")
      case None if !config.format.statedMerging => ofPayload(config, log)
      case None                                 => MergeRules(log)
    }
  }

  private def refuse(config: TableConfig, what: String): Nothing = throw new UnsupportedTable(
    s"${config.file}: $what; read the base files alone with option $ReadOptimized, or the table with Hudi"
  )

  /** What payload classes did by their code before version 9: Hudi 0.15 has log records replace each other by `preCombine`, and
    * mixes with the base file's row; 1.0 mixes any two.
    */
  private def ofPayload(config: TableConfig, log: LogRules): MergeRules = {
    val withBaseAlone = log.asHudi015
    TableMergeRules
      .ownOrdering(config)
      .filter(own => TableMergeRules.statedOrderingFields(config) != Vector(own))
      .foreach { own =>
        refuse(
          config,
          s"rows are merged by ${mergerOf(config)} in two orders, that of $own and that of the ordering field"
        )
      }
    TableMergeRules.payload(config) match {
      case Some("PartialUpdateAvroPayload")                  => MergeRules(log, ColumnMerge.Nulls, newestMeta = true)
      case Some("OverwriteNonDefaultsWithLatestAvroPayload") =>
        MergeRules(log, ColumnMerge.EqualDefaults, withBaseAlone)
      case Some(TableMergeRules.PostgresPayload) =>
        MergeRules(log, ColumnMerge.Unavailable(PostgresUnavailable), withBaseAlone, winnersAsTheyAre = true)
      case _ => MergeRules(log)
    }
  }

  private def mergerOf(config: TableConfig): String =
    config
      .text("hoodie.compaction.payload.class")
      .map("the payload class " + _)
      .orElse(config.text("hoodie.record.merge.strategy.id").map("the merger of strategy " + _))
      .getOrElse("a merger of its own")
}
