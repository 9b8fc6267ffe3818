package hudiidx.table

import hudiidx.UnsupportedTable
import hudiidx.log.{BlockRules, DeleteMarker, LogRules, MergeMode, RecordKeyForm}

/** What a table's properties say about reading its log. Format notes §7.2, §7.3, §7.6. */
object TableLogRules {

  /** From this version on properties state the merge mode and all that known payload classes used to do. */
  private val StatedVersion = 9
  private val EventTimeStrategy = "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5"
  private val CommitTimeStrategy = "ce9acb64-bde0-424c-9b91-f6ebba25356d"
  private val PostgresPayload = "PostgresDebeziumAvroPayload"

  /** Payload classes by what they do to records: a delete is told by the record, the rest by order. */
  private val EventTimePayloads =
    Set("DefaultHoodieRecordPayload", "EventTimeAvroPayload", "PartialUpdateAvroPayload", PostgresPayload)
  private val CommitTimePayloads =
    Set("OverwriteWithLatestAvroPayload", "OverwriteNonDefaultsWithLatestAvroPayload", "AWSDmsAvroPayload")

  /** UnsupportedTable for a merge mode of another name, and for virtual keys without key fields. */
  def of(config: TableConfig): LogRules = {
    val ordering = orderingFields(config)
    val mode = mergeMode(config, ordering.nonEmpty) match {
      case MergeMode.EventTime if ordering.isEmpty => MergeMode.CommitTime
      case other                                   => other
    }
    LogRules(config.version, mode, ordering, deleteMarker(config), virtualKeys(config))
  }

  /** Which blocks a reader of the view counts, as of an instant or of the view's last one.
    *
    * @param damagedAsStock what cannot be read is passed over with a warning, as stock Hudi does without one; else it is
    *                       DamagedTable
    */
  def blocks(
      config: TableConfig,
      timeline: ViewTimeline,
      asOf: Option[String],
      damagedAsStock: Boolean = false
  ): BlockRules =
    BlockRules(
      config.version,
      asOf.orElse(timeline.lastInstant),
      timeline.isCommitted,
      damage = new LogCheck(config, damagedAsStock)
    )

  /** None unless the table has virtual keys. */
  private def virtualKeys(config: TableConfig): Option[RecordKeyForm] =
    if (config.populateMetaFields) None
    else
      config.recordKeyForm.orElse(
        throw new UnsupportedTable(
          s"${config.file}: the table has virtual keys (hoodie.populate.meta.fields=false) and names no " +
            "hoodie.table.recordkey.fields; set the property"
        )
      )

  /** Columns of the ordering value; empty if the table has none. */
  def orderingFields(config: TableConfig): Vector[String] =
    if (config.version < StatedVersion && payload(config).contains(PostgresPayload)) Vector("_event_lsn")
    else
      config
        .text("hoodie.table.ordering.fields")
        .orElse(config.text("hoodie.table.precombine.field"))
        .toVector
        .flatMap(_.split(','))
        .map(_.trim)
        .filter(_.nonEmpty)

  private def mergeMode(config: TableConfig, ordered: Boolean): MergeMode = {
    val stated = if (config.version < 8) None else config.text("hoodie.record.merge.mode")
    stated match {
      case Some("COMMIT_TIME_ORDERING") => MergeMode.CommitTime
      case Some("EVENT_TIME_ORDERING")  => MergeMode.EventTime
      case Some("CUSTOM")               => payload(config).fold[MergeMode](MergeMode.Custom)(ofPayload)
      case Some(other)                  =>
        throw new UnsupportedTable(
          s"${config.file}: hoodie.record.merge.mode is '$other', known are COMMIT_TIME_ORDERING, EVENT_TIME_ORDERING and " +
            "CUSTOM; use a newer hudiidx"
        )
      case None => payload(config).fold(withoutPayload(config, ordered))(ofPayload)
    }
  }

  /** Hudi 0.15 then takes OverwriteWithLatestAvroPayload; its strategy id is the same whatever the payload. */
  private def withoutPayload(config: TableConfig, ordered: Boolean): MergeMode =
    if (config.version < 8) MergeMode.CommitTime
    else
      config.text("hoodie.record.merge.strategy.id") match {
        case Some(EventTimeStrategy)  => MergeMode.EventTime
        case Some(CommitTimeStrategy) => MergeMode.CommitTime
        case Some(_)                  => MergeMode.Custom
        case None                     => if (ordered) MergeMode.EventTime else MergeMode.CommitTime
      }

  private def ofPayload(name: String): MergeMode =
    if (EventTimePayloads(name)) MergeMode.EventTime
    else if (CommitTimePayloads(name)) MergeMode.CommitTime
    else MergeMode.Custom

  /** Name without package of a payload class of Hudi's own; any other class in full. */
  private def payload(config: TableConfig): Option[String] =
    config.text("hoodie.compaction.payload.class").map { name =>
      val current = name.replaceFirst("^com\\.uber\\.hoodie\\.", "org.apache.hudi.")
      if (current.startsWith("org.apache.hudi.common.model.")) current.substring(current.lastIndexOf('.') + 1)
      else current
    }

  private def deleteMarker(config: TableConfig): Option[DeleteMarker] = {
    def property(name: String) = config.text("hoodie.record.merge.property." + name).orElse(config.text(name))
    val stated = for {
      field <- property("hoodie.payload.delete.field")
      marker <- property("hoodie.payload.delete.marker")
    } yield DeleteMarker(field, marker)
    stated.orElse(if (config.version < StatedVersion) payload(config).flatMap(markerOf) else None)
  }

  private def markerOf(payload: String): Option[DeleteMarker] = payload match {
    case "AWSDmsAvroPayload" => Some(DeleteMarker("Op", "D"))
    case PostgresPayload     => Some(DeleteMarker("_change_operation_type", "d"))
    case _                   => None
  }
}
