package hudiidx.table

import hudiidx.{TableFormat, UnsupportedTable}
import hudiidx.log.{BlockRules, DeleteMarker, EventSequence, LogRules, MergeMode, RecordKeyForm, RecordOrder}

/** What a table's properties say about reading its log. Format notes §7.2, §7.3, §7.6. */
object TableMergeRules {

  /** Ids of merge strategies that mean a merge mode, as properties and options give them. */
  val EventTimeStrategy = "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5"
  val CommitTimeStrategy = "ce9acb64-bde0-424c-9b91-f6ebba25356d"
  val PostgresPayload = "PostgresDebeziumAvroPayload"
  private val MySqlPayload = "MySqlDebeziumAvroPayload"
  private val PartialUpdatePayload = "PartialUpdateAvroPayload"
  private val FirstValuePayload = "FirstValueAvroPayload"

  /** Payload classes by what they do to records: a delete is told by the record, the rest by order. */
  private val EventTimePayloads = Set(
    "DefaultHoodieRecordPayload",
    "EventTimeAvroPayload",
    PartialUpdatePayload,
    FirstValuePayload,
    PostgresPayload,
    MySqlPayload
  )

  /** Payload classes that before version 9 compare by a column of their own. */
  private val OwnOrdering = Map(PostgresPayload -> "_event_lsn", MySqlPayload -> EventSequence.Column)
  private val CodedCommitTimePayloads = Set("OverwriteNonDefaultsWithLatestAvroPayload", "AWSDmsAvroPayload")
  private val CommitTimePayloads = CodedCommitTimePayloads + "OverwriteWithLatestAvroPayload"

  private val MixingPayloads =
    Set(PartialUpdatePayload, "OverwriteNonDefaultsWithLatestAvroPayload", PostgresPayload)

  /** A row of a log may take columns of older rows, though its block is not partial. */
  def mixesRows(config: TableConfig): Boolean =
    config.text("hoodie.table.partial.update.mode").isDefined ||
      (!config.format.statedMerging && payload(config).exists(MixingPayloads))

  /** UnsupportedTable for a merge mode of another name, and for virtual keys without key fields.
    *
    * @param as11 a table of version 6 is merged as Hudi 1.1 does it, not as 0.15 (format notes §7.2, §7.5)
    */
  def of(config: TableConfig, as11: Boolean = false): LogRules = {
    val ordering = orderingFields(config)
    val later = as11 && config.format.mergesAsHudi015
    val stated = if (later) mergeModeOf11(config, ordering.nonEmpty) else mergeMode(config, ordering.nonEmpty)
    val mode = stated match {
      case MergeMode.EventTime | MergeMode.OrderedDeletes if ordering.isEmpty => MergeMode.CommitTime
      case other                                                              => other
    }
    val format = if (later) TableFormat.V9 else config.format
    LogRules(format, mode, ordering, deleteMarker(config), virtualKeys(config), orderOf(config))
  }

  /** 1.1 has the code of all but the plain payload classes run. */
  private def mergeModeOf11(config: TableConfig, ordered: Boolean): MergeMode = payload(config) match {
    case Some("DefaultHoodieRecordPayload" | "EventTimeAvroPayload") => MergeMode.EventTime
    case Some("OverwriteWithLatestAvroPayload")                      => MergeMode.CommitTime
    case Some(_)                                                     => MergeMode.Custom
    case None => if (ordered) MergeMode.EventTime else MergeMode.CommitTime
  }

  /** Which blocks a reader of the view counts, as of an instant or of the view's last one.
    *
    * @param damagedAsStock what cannot be read is skipped with a warning, as stock Hudi does without one; else it is
    *                       DamagedTable
    */
  def blocks(
      config: TableConfig,
      timeline: ViewTimeline,
      asOf: Option[String],
      damagedAsStock: Boolean = false
  ): BlockRules =
    BlockRules(
      config.format,
      asOf.orElse(timeline.lastInstant),
      timeline.isCommitted,
      timeline.isUndone,
      damage = new LogCheck(config, damagedAsStock)
    )

  /** None unless the table has virtual keys. */
  private def virtualKeys(config: TableConfig): Option[RecordKeyForm] =
    if (config.populateMetaFields) None
    else
      config.recordKeyForm.orElse(
        throw new UnsupportedTable(
          s"${config.file}: the table has virtual keys (hoodie.populate.meta.fields=false), which have to be made anew, and " +
            KeyTexts.of(config).left.getOrElse("its keys are not known")
        )
      )

  private def orderOf(config: TableConfig): RecordOrder =
    payload(config).filter(_ => !config.format.statedMerging) match {
      case Some(MySqlPayload)                                         => RecordOrder.Sequence
      case Some(FirstValuePayload)                                    => RecordOrder.FirstOfEqual
      case Some(PartialUpdatePayload) if config.format.mergesAsHudi10 => RecordOrder.LastUnlessNumber
      case _                                                          => RecordOrder.LastOfEqual
    }

  /** Columns of the ordering value; empty if the table has none. */
  def orderingFields(config: TableConfig): Vector[String] =
    ownOrdering(config).fold(statedOrderingFields(config))(Vector(_))

  /** The column by which the payload class's own code compares. */
  private[hudiidx] def ownOrdering(config: TableConfig): Option[String] =
    if (!config.format.statedMerging) payload(config).flatMap(OwnOrdering.get) else None

  /** Those that the properties name, whatever a payload class goes by. */
  private[hudiidx] def statedOrderingFields(config: TableConfig): Vector[String] =
    config
      .text("hoodie.table.ordering.fields")
      .orElse(config.text("hoodie.table.precombine.field"))
      .toVector
      .flatMap(_.split(','))
      .map(_.trim)
      .filter(_.nonEmpty)

  private def mergeMode(config: TableConfig, ordered: Boolean): MergeMode = {
    val stated = if (!config.format.typedProperties) None else config.text("hoodie.record.merge.mode")
    stated match {
      case Some("COMMIT_TIME_ORDERING") => MergeMode.CommitTime
      case Some("EVENT_TIME_ORDERING")  => MergeMode.EventTime
      case Some("CUSTOM")               => payload(config).fold[MergeMode](MergeMode.Custom)(ofPayload(config, _))
      case Some(other)                  =>
        throw new UnsupportedTable(
          s"${config.file}: unsupported hoodie.record.merge.mode '$other'; supported: COMMIT_TIME_ORDERING, " +
            "EVENT_TIME_ORDERING, CUSTOM; use a newer hudiidx"
        )
      case None => payload(config).fold(withoutPayload(config, ordered))(ofPayload(config, _))
    }
  }

  /** Hudi 0.15 then takes OverwriteWithLatestAvroPayload; its strategy id is the same whatever the payload. */
  private def withoutPayload(config: TableConfig, ordered: Boolean): MergeMode =
    if (config.format.mergesAsHudi015) MergeMode.CommitTime
    else
      config.text("hoodie.record.merge.strategy.id") match {
        case Some(EventTimeStrategy)  => MergeMode.EventTime
        case Some(CommitTimeStrategy) => MergeMode.CommitTime
        case Some(_)                  => MergeMode.Custom
        case None                     => if (ordered) MergeMode.EventTime else MergeMode.CommitTime
      }

  private def ofPayload(config: TableConfig, name: String): MergeMode =
    if (name == FirstValuePayload && config.format.statedMerging) MergeMode.Custom
    else if (EventTimePayloads(name)) MergeMode.EventTime
    else if (config.format.mergesAsHudi10 && CodedCommitTimePayloads(name)) MergeMode.OrderedDeletes
    else if (CommitTimePayloads(name)) MergeMode.CommitTime
    else MergeMode.Custom

  /** Name without package of a payload class of Hudi's own; any other class in full. */
  private[hudiidx] def payload(config: TableConfig): Option[String] =
    config.text("hoodie.compaction.payload.class").map { name =>
      val current = name.replaceFirst("^com\\.uber\\.hoodie\\.", "org.apache.hudi.")
      if (OwnPackages.exists(current.startsWith)) current.substring(current.lastIndexOf('.') + 1)
      else current
    }

  /** The second has old names of classes of the first. */
  private val OwnPackages = Vector("org.apache.hudi.common.model.", "org.apache.hudi.payload.")

  private def deleteMarker(config: TableConfig): Option[DeleteMarker] = {
    def property(name: String) = config.text("hoodie.record.merge.property." + name).orElse(config.text(name))
    val stated = for {
      field <- property("hoodie.payload.delete.field")
      marker <- property("hoodie.payload.delete.marker")
    } yield DeleteMarker(field, marker)
    stated.orElse(if (!config.format.statedMerging) payload(config).flatMap(markerOf) else None)
  }

  private def markerOf(payload: String): Option[DeleteMarker] = payload match {
    case "AWSDmsAvroPayload"            => Some(DeleteMarker("Op", "D"))
    case PostgresPayload | MySqlPayload => Some(DeleteMarker("_change_operation_type", "d"))
    case _                              => None
  }
}
