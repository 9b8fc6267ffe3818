package hudiidx.spark.api

import com.fasterxml.jackson.databind.node.{JsonNodeFactory, ObjectNode}
import hudiidx.sync.IndexCounts

/** What was done to an index, as `HudiIdxApi.create` gives it. */
private[api] object SyncJson {

  def of(timed: TimedSync): ObjectNode = {
    val done = timed.result
    val version = done.version
    val json = JsonNodeFactory.instance.objectNode()
    json.put("index_version", version.number)
    json.put("files", IndexCounts.files(version)).put("partitions", IndexCounts.partitions(version))
    val instants = json.putArray("instants")
    done.instants.foreach(i => instants.add(i))
    json
      .put("rebuilt", done.rebuilt)
      .put("merged", done.merged)
      .put("published", done.published)
      .put("rebases", done.rebases)
    val byKind = version.files.groupBy(_.kind).map { case (kind, files) => kind -> files.map(_.sizeBytes).sum }
    VerifyJson.counts(json, "bytes_by_kind", byKind)
    json.put("lag_millis", done.lagMillis.map(Long.box).orNull).put("elapsed_millis", timed.elapsedMillis)
  }
}
