package hudiidx.spark.api

import com.fasterxml.jackson.databind.node.{JsonNodeFactory, ObjectNode}
import hudiidx.engine.column.ColumnVerifyResult
import hudiidx.engine.record.{MappingDifference, RecordVerifyResult, StockComparison}
import hudiidx.sync.VerifyResult

/** What comparisons of index and table found, as JSON. */
private[api] object VerifyJson {

  /** `{ok, differences: [{kind, partition, file, detail, cause}], counts: {partitions, files}}`; with record keys `record: {ok,
    * counts, samples: [{kind, key, partition, file_id, detail, cause}], keys, mappings, file_groups, overlaid_file_groups, seconds}`
    * and, if the table has Hudi's own record index, `stock_record_index: {skipped, equal, only_in_hudi, only_in_index, samples}`; with
    * columns `columns: {ok, counts, samples: [{kind, partition, file, column, detail}], files, uncovered, equal, seconds}`; counts are
    * by kind. `ok` says all of it, but nothing of Hudi's own index.
    */
  def of(found: Verified): ObjectNode = {
    val json = of(found.files).put("ok", found.ok)
    found.record.foreach(put(json, _))
    found.columns.foreach(put(json.putObject("columns"), _))
    json
  }

  private def of(found: VerifyResult): ObjectNode = {
    val json = JsonNodeFactory.instance.objectNode()
    json.put("ok", found.ok)
    val all = json.putArray("differences")
    found.differences.foreach { d =>
      all
        .addObject()
        .put("kind", d.kind)
        .put("partition", d.partitionPath)
        .put("file", d.file)
        .put("detail", d.detail)
        .put("cause", d.cause)
    }
    counts(json, "counts", Map("partitions" -> found.partitions, "files" -> found.files))
    json
  }

  private def put(part: ObjectNode, found: ColumnVerifyResult): Unit = {
    part.put("ok", found.ok)
    counts(part, "counts", found.counts)
    val all = part.putArray("samples")
    found.samples.foreach { d =>
      all
        .addObject()
        .put("kind", d.kind)
        .put("partition", d.partitionPath)
        .put("file", d.file)
        .put("column", d.column)
        .put("detail", d.detail)
    }
    part
      .put("files", found.files)
      .put("uncovered", found.uncovered)
      .put("equal", found.equal)
      .put("seconds", found.seconds): Unit
  }

  private def put(json: ObjectNode, record: RecordVerifyResult): Unit = {
    val part = json.putObject("record")
    part.put("ok", record.ok)
    counts(part, "counts", record.counts)
    samples(part, record.samples)
    part
      .put("keys", record.keys)
      .put("mappings", record.mappings)
      .put("file_groups", record.fileGroups)
      .put("overlaid_file_groups", record.overlaidGroups)
      .put("seconds", record.seconds)
    record.stock.foreach(stock(json.putObject("stock_record_index"), _))
  }

  private def stock(json: ObjectNode, found: StockComparison): Unit = {
    json.put("skipped", found.skipped).put("equal", found.equal)
    counts(json, "only_in_hudi", found.onlyInHudi)
    counts(json, "only_in_index", found.onlyInIndex)
    samples(json, found.samples)
  }

  private def samples(json: ObjectNode, found: Vector[MappingDifference]): Unit = {
    val all = json.putArray("samples")
    found.foreach { d =>
      all
        .addObject()
        .put("kind", d.kind)
        .put("key", d.key)
        .put("partition", d.partitionPath)
        .put("file_id", d.fileId)
        .put("detail", d.detail)
        .put("cause", d.cause)
    }
  }

  /** An object of counts by name. */
  def counts(json: ObjectNode, name: String, counts: Map[String, Long]): Unit = {
    val node = json.putObject(name)
    counts.toVector.sortBy(_._1).foreach { case (key, count) => node.put(key, count) }
  }
}
