package hudiidx.table

import hudiidx.{PlainType, TextCast}

/** How a query reads, as far as the values of partition columns depend on it.
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

  /** What a path decides of a column: a value as `TextCast` has it, null for null. None: rows have what files hold.
    *
    * @param text of the column in the path; None where the path is not of the table's form
    * @param as   the column's type, if it has no parts
    * @param read the value of a text in other types
    */
  def valueOf(column: String, text: Option[String], as: Option[PlainType])(read: String => Any): Option[Any] = {
    def value(t: String) = as.flatMap(TextCast.of(t, _)).getOrElse(read(t))
    text match {
      case _ if !isOfPath(column)                              => None
      case None                                                => if (isPathAlone(column)) Some(null) else None
      case Some(PartitionPathForm.NoValue)                     => Some(null)
      case Some(t) if isPathAlone(column)                      => Some(value(t))
      case Some(t) if as.exists(PartitionRule.isCertain(t, _)) => Option(value(t))
      case _                                                   => None
    }
  }
}

object PartitionRule {
  private val OldNoValue = "default"

  /** A text of a path has one reading in the type. Days may be written as numbers, and times in several ways. The old name of
    * the folder of nulls may be a value too.
    */
  private def isCertain(text: String, as: PlainType): Boolean = as match {
    case PlainType.Text                         => text.nonEmpty && text != OldNoValue
    case PlainType.Bool                         => text == "true" || text == "false"
    case PlainType.Int32 | PlainType.Int64      => text.matches("-?\\d{1,19}")
    case PlainType.Float32 | PlainType.Float64  => text.matches("-?\\d+\\.\\d+(E-?\\d+)?|NaN|-?Infinity")
    case _: PlainType.Decimal                   => text.matches("-?\\d+(\\.\\d+)?")
    case PlainType.Date                         => text.matches("\\d{4}-\\d{2}-\\d{2}")
    case PlainType.Timestamp | PlainType.Binary => false
  }
}
