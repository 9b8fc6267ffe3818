package hudiidx.spark.api

import com.fasterxml.jackson.databind.node.{ArrayNode, JsonNodeFactory, ObjectNode}
import hudiidx.spark.pinned.ColumnStage
import hudiidx.spark.plan.{FileStages, KeyStage, PartitionStage, ScanReport}

/** Reports of scans as `HudiIdxApi.explain` gives them. */
private[api] object ScanJson {

  def of(scans: Vector[ScanReport]): ArrayNode = {
    val json = JsonNodeFactory.instance.arrayNode()
    scans.foreach(s => put(s, json.addObject()))
    json
  }

  private def put(scan: ScanReport, json: ObjectNode): Unit = {
    json.put("path", scan.path).put("reads", scan.reads).put("answered", scan.answered)
    val filters = json.putArray("file_filters")
    scan.fileFilters.foreach(f => filters.add(f))
    putFacts(scan, json)
    val reasons = json.putArray("why_not")
    scan.whyNot.foreach { case (index, reason) => reasons.addObject().put("index", index).put("reason", reason) }
  }

  private def putFacts(scan: ScanReport, json: ObjectNode): Unit = {
    val (facts, stages) = (scan.facts, scan.stages)
    json.put("index_version", facts.indexVersion.map(Long.box).orNull)
    json.put("instants_overlaid", facts.overlaidInstants)
    facts.fallback match {
      case Some((code, why)) => json.putObject("fallback").put("code", code).put("why", why)
      case None              => json.putNull("fallback")
    }
    putPartitions(facts.partitions, json.putObject("partitions"))
    putKeys(facts.keys, json.putObject("record_keys"))
    putColumns(facts.columns, stages, json.putObject("columns"))
    json
      .putObject("files_left")
      .put("partitions", stages.partitions)
      .put("record_keys", stages.keys)
      .put("bounds", stages.bounds)
      .put("blooms", stages.records)
    json
      .put("files_in_index", facts.filesTotal.map(Long.box).orNull)
      .put("files_total", stages.total)
      .put("files_kept", facts.filesKept)
      .put("bytes_kept", facts.bytesKept)
      .put("planning_millis", facts.cost.millis)
      .put("store_calls", facts.cost.calls.all)
      .put("store_calls_in_a_row", facts.cost.calls.inARow)
      .put("store_throttled", facts.cost.calls.throttled): Unit
  }

  private def putPartitions(stage: PartitionStage, json: ObjectNode): Unit =
    json.put("total", stage.total).put("kept", stage.kept).put("why_not", stage.whyNot.orNull): Unit

  private def putKeys(stage: KeyStage, json: ObjectNode): Unit =
    json
      .put("keys", stage.groups.map(g => Int.box(g.keys)).orNull)
      .put("file_groups", stage.groups.map(g => Int.box(g.located.size)).orNull)
      .put("unknown_groups", stage.groups.map(g => Int.box(g.unknown.size)).orNull)
      .put("why_not", stage.whyNot.orNull): Unit

  /** Files of partitions that were left out as a whole count too. */
  private def putColumns(stage: ColumnStage, stages: FileStages, json: ObjectNode): Unit = {
    json.put("partitions_skipped", stage.partitionsSkipped).put("files_skipped", stages.keys - stages.records)
    val parts = json.putArray("parts")
    stage.leaves.foreach { l =>
      val part = parts.addObject().put("column", l.path)
      val kinds = part.putArray("kinds")
      l.kinds.foreach(k => kinds.add(k))
      part.put("files", l.files).put("partitions", l.partitions).put("why_not", l.why.orNull)
    }
    json.put("why_not", stage.whyNot.orNull): Unit
  }
}
