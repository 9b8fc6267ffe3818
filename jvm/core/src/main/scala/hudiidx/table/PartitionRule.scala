package hudiidx.table

/** How a query reads, as far as the values of partition columns hang on it.
  *
  * @param incremental   rows that some commits wrote
  * @param baseFilesOnly of a merge-on-read table
  * @param fromPaths     asked for all values as paths have them
  */
final case class PartitionReading(
    incremental: Boolean = false,
    baseFilesOnly: Boolean = false,
    fromPaths: Boolean = false
)

/** Whether a partition column has the value of its path or that of the data files, which differ where a record stayed in its
  * partition while its column changed. The one place that says so: rows, filters, bounds, aggregates and other engines go by it.
  * docs/decisions.md says what stock does.
  */
final case class PartitionRule(config: TableConfig, reading: PartitionReading) {
  private val plain = PartitionTexts.plainColumns(config)
  private val formatted = PartitionTexts.formattedColumns(config)

  /** Orders records, so that stock reads it from files; not where Hudi 1.0 reads base files alone, and never 0.15. */
  private val ordering: Set[String] = {
    val ofBase = config.format.mergesAsHudi10 && config.isMergeOnRead && reading.baseFilesOnly
    if (!config.format.orderingColumnsStored || ofBase) Set.empty else TableMergeRules.orderingFields(config).toSet
  }

  /** Files are not asked for the column: its value is the path's text in its type, or null. */
  def isPathAlone(column: String): Boolean =
    config.isPartitionField(column) && (config.dropPartitionColumns || reading.fromPaths)

  /** It is shown as the text that paths have, since the key generator gave them a format that is not the column's. */
  def isPathText(column: String): Boolean = isPathAlone(column) && formatted(column)

  /** The path's value counts, whatever files hold, where its text can be read without doubt. 0.15, which reads version 6, takes
    * none from paths in incremental reads.
    */
  def isOfPath(column: String): Boolean = isPathAlone(column) || {
    val takesStored = reading.incremental && !config.format.incrementsFromPaths
    !takesStored && plain(column) && !ordering(column)
  }

  /** A text of a path has one reading in the type. Days may be written as numbers, and times in several ways. The old name of
    * the folder of nulls may be a value too.
    */
  def isCertain(text: String, kind: PartitionRule.Kind): Boolean = kind match {
    case PartitionRule.Text     => text.nonEmpty && text != PartitionRule.OldNoValue
    case PartitionRule.Bool     => text == "true" || text == "false"
    case PartitionRule.Whole    => text.matches("-?\\d{1,19}")
    case PartitionRule.Floating => text.matches("-?\\d+\\.\\d+(E-?\\d+)?|NaN|-?Infinity")
    case PartitionRule.Exact    => text.matches("-?\\d+(\\.\\d+)?")
    case PartitionRule.Date     => text.matches("\\d{4}-\\d{2}-\\d{2}")
    case PartitionRule.Other    => false
  }
}

object PartitionRule {
  private val OldNoValue = "default"

  /** What is in a column, as far as its text in paths goes. */
  sealed trait Kind extends Product with Serializable
  case object Text extends Kind
  case object Bool extends Kind
  case object Whole extends Kind
  case object Floating extends Kind

  /** Decimals. */
  case object Exact extends Kind
  case object Date extends Kind
  case object Other extends Kind
}
