package hudiidx.merge

import hudiidx.UnsupportedTable
import hudiidx.log.{LogRules, MergeMode}
import hudiidx.table.{TableConfig, TableLogRules}

/** Which columns of a record that wins give way to those of the one that it wins over. Format notes §7.6. Partial records
  * have no more than the columns that they list, whatever the table's rule.
  */
sealed abstract class Mixing extends Product with Serializable

object Mixing {

  /** None does. */
  case object Never extends Mixing

  /** Those that equal their default in the schema. Hudi compares references, so beside null only what Java keeps one object
    * of counts: booleans, and whole numbers from -128 to 127.
    */
  case object Defaults extends Mixing

  /** Strings and binaries that equal the text which stands for a value that the source did not send. */
  final case class Unavailable(text: String) extends Mixing
}

/** How the rows of a table's file slices come about. Format notes §7.
  *
  * @param log how versions of a key are ordered, and which of them are deletes
  */
final case class MergeRules(log: LogRules, mixing: Mixing = Mixing.Never)

object MergeRules {
  private val ReadOptimized = "hoodie.datasource.query.type=read_optimized"

  /** From this version on a property states the mixing, and the payload class no more. */
  private val StatedVersion = 9
  private val UnavailableValue = "hoodie.record.merge.property.hoodie.write.partial.update.unavailable.value"
  private val MixingPayloads =
    Set("PartialUpdateAvroPayload", "OverwriteNonDefaultsWithLatestAvroPayload", "PostgresDebeziumAvroPayload")

  /** UnsupportedTable for merging by a class that is not known: its code alone could tell the rows. */
  def of(config: TableConfig): MergeRules = {
    val log = TableLogRules.of(config)
    if (log.mode == MergeMode.Custom) refuse(config, s"rows are merged by ${mergerOf(config)}, which only Hudi can run")
    MergeRules(log, mixing(config))
  }

  private def refuse(config: TableConfig, what: String): Nothing = throw new UnsupportedTable(
    s"${config.file}: $what; read the base files alone with option $ReadOptimized, or the table with Hudi"
  )

  private def mixing(config: TableConfig): Mixing =
    config.text("hoodie.table.partial.update.mode") match {
      case Some("IGNORE_DEFAULTS")  => Mixing.Defaults
      case Some("FILL_UNAVAILABLE") => config.text(UnavailableValue).fold[Mixing](Mixing.Never)(Mixing.Unavailable(_))
      case Some(other)              => refuse(config, s"hoodie.table.partial.update.mode is '$other', which is unknown")
      case None                     => ofPayload(config)
    }

  private def ofPayload(config: TableConfig): Mixing = {
    val payload = config.text("hoodie.compaction.payload.class").getOrElse("")
    if (config.version < StatedVersion && MixingPayloads(payload.substring(payload.lastIndexOf('.') + 1)))
      refuse(
        config,
        s"rows are mixed of several versions by the payload class $payload, in this version of tables by its code"
      )
    Mixing.Never
  }

  private def mergerOf(config: TableConfig): String =
    config
      .text("hoodie.compaction.payload.class")
      .map("the payload class " + _)
      .orElse(config.text("hoodie.record.merge.strategy.id").map("the merger of strategy " + _))
      .getOrElse("a merger of its own")
}
