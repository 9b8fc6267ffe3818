package hudiidx.command

import com.fasterxml.jackson.core.JsonGenerator
import hudiidx.engine.record.LookupAnswer
import hudiidx.record.{PackedKeys, RecordLocation}
import hudiidx.symlink.{SymlinkResult, SymlinkSettings}
import hudiidx.sync._
import hudiidx.table._

/** Listing results as JSON, with the names that Python and the command use. */
object ViewJson {
  def file(f: FileEntry, json: JsonGenerator): Unit = {
    json.writeStartObject()
    json.writeStringField("partition_path", f.partitionPath)
    json.writeStringField("file_id", f.fileId)
    json.writeStringField("file_name", f.fileName)
    json.writeStringField("kind", f.kind.name)
    json.writeStringField("instant_time", f.instantTime)
    json.writeNumberField("size", f.sizeBytes)
    json.writeEndObject()
  }

  def group(g: FileGroup, json: JsonGenerator): Unit = {
    json.writeStartObject()
    json.writeStringField("partition_path", g.partitionPath)
    json.writeStringField("file_id", g.fileId)
    json.writeEndObject()
  }

  def base(b: BaseFile, json: JsonGenerator): Unit = {
    json.writeStartObject()
    json.writeStringField("partition_path", b.partitionPath)
    json.writeStringField("file_id", b.fileId)
    json.writeStringField("instant_time", b.instantTime)
    json.writeStringField("file_name", b.fileName)
    json.writeNumberField("size", b.sizeBytes)
    json.writeEndObject()
  }

  def slice(s: FileSlice, json: JsonGenerator): Unit = {
    json.writeStartObject()
    json.writeStringField("partition_path", s.partitionPath)
    json.writeStringField("file_id", s.fileId)
    json.writeStringField("base_instant_time", s.baseInstantTime)
    json.writeFieldName("base_file")
    s.baseFile match {
      case Some(b) => base(b, json)
      case None    => json.writeNull()
    }
    json.writeArrayFieldStart("log_files")
    s.logFiles.foreach { l =>
      json.writeStartObject()
      json.writeStringField("file_name", l.fileName)
      json.writeNumberField("size", l.sizeBytes)
      json.writeNumberField("version", l.version)
      json.writeEndObject()
    }
    json.writeEndArray()
    json.writeEndObject()
  }

  /** How the answer came about: `index` is the version in use, 0 behind a fallback. */
  def use(u: IndexUse, json: JsonGenerator): Unit = {
    json.writeNumberField("index_version", u.version.map(_.number).getOrElse(0L))
    json.writeNumberField("instants_overlaid", u.unseenInstants.size)
    json.writeStringField("fallback", u.fallback.map(_.code).getOrElse(""))
  }
}

/** `info` as JSON. */
object InfoJson {
  def write(info: IndexInfo, json: JsonGenerator): Unit = {
    json.writeStartObject()
    json.writeStringField("state", info.state)
    json.writeStringField("reason", info.reason)
    json.writeNumberField("instants_behind", info.instantsBehind)
    json.writeNumberField("lag_seconds", info.lagSeconds)
    json.writeStringField("last_synced_instant", info.version.map(_.coverage.last).getOrElse(""))
    json.writeNumberField("index_version", info.version.map(_.number).getOrElse(0L))
    json.writeStringField("index_path", info.indexDir)
    json.writeNumberField("partitions", info.partitions)
    json.writeNumberField("files", info.files)
    json.writeNumberField("size", info.sizeBytes)
    json.writeObjectFieldStart("bytes_by_kind")
    info.indexFiles.groupBy(_.kind).toVector.sortBy(_._1).foreach { case (kind, files) =>
      json.writeNumberField(kind, files.map(_.sizeBytes).sum)
    }
    json.writeEndObject()
    json.writeFieldName("record")
    info.record.fold(json.writeNull())(record(_, json))
    json.writeArrayFieldStart("columns")
    info.columns.foreach(column(_, json))
    json.writeEndArray()
    json.writeBooleanField("logs", info.hasLogs)
    json.writeArrayFieldStart("never")
    info.never.foreach(name => json.writeString(name))
    json.writeEndArray()
    json.writeStringField(
      "symlink_manifest",
      info.version.flatMap(SymlinkSettings.of).fold("")(_.in(info.indexDir).path)
    )
    json.writeObjectFieldStart("fallbacks")
    FallbackCounters.snapshot(info.indexDir).toVector.sorted.foreach { case (code, n) =>
      json.writeNumberField(code, n)
    }
    json.writeEndObject()
    json.writeEndObject()
  }

  private def column(c: ColumnIndexInfo, json: JsonGenerator): Unit = {
    json.writeStartObject()
    json.writeStringField("kind", c.kind)
    json.writeArrayFieldStart("columns")
    c.columns.foreach(name => json.writeString(name))
    json.writeEndArray()
    json.writeObjectFieldStart("options")
    c.options.toVector.sorted.foreach { case (name, value) => json.writeStringField(name, value) }
    json.writeEndObject()
    json.writeBooleanField("pending", c.isPending)
    json.writeEndObject()
  }

  private def record(r: RecordInfo, json: JsonGenerator): Unit = {
    json.writeStartObject()
    json.writeStringField("mode", r.mode)
    json.writeFieldName("window_days")
    r.windowDays.fold(json.writeNull())(d => json.writeNumber(d))
    json.writeNumberField("file_groups", r.fileGroups)
    json.writeNumberField("mappings", r.mappings)
    json.writeNumberField("size", r.sizeBytes)
    json.writeNumberField("base_files", r.baseFiles)
    json.writeNumberField("delta_files", r.deltaFiles)
    json.writeEndObject()
  }
}

/** What an export of symlink manifests did, as JSON. */
object SymlinkJson {
  def write(done: SymlinkResult, json: JsonGenerator): Unit = {
    json.writeStartObject()
    json.writeStringField("path", done.path)
    json.writeNumberField("partitions", done.partitions)
    json.writeNumberField("files", done.files)
    json.writeNumberField("written", done.written)
    json.writeNumberField("removed", done.removed)
    json.writeNumberField("index_version", done.indexVersion)
    json.writeEndObject()
  }
}

/** Answers of `lookup` as JSON. */
object LookupJson {

  /** `{locations: [{key, partition_path, file_id, instant_time}], missing: [key], window_days, index_version, fallback, work}`:
    * each key that was asked stands in one of the two lists, in the order asked; then how the answer came about.
    */
  def write(keys: PackedKeys, answer: LookupAnswer, json: JsonGenerator): Unit = {
    val found = answer.locations
    json.writeStartObject()
    json.writeArrayFieldStart("locations")
    found.records(keys).foreach(location(_, json))
    json.writeEndArray()
    json.writeArrayFieldStart("missing")
    (0 until keys.count).filter(found.count(_) == 0).map(keys.key).distinct.foreach(k => json.writeString(k))
    json.writeEndArray()
    json.writeFieldName("window_days")
    answer.windowDays.fold(json.writeNull())(d => json.writeNumber(d))
    json.writeNumberField("index_version", answer.use.indexVersion.getOrElse(0L))
    json.writeStringField("fallback", answer.use.fallback.map(_.code).getOrElse(""))
    work(answer, json)
    json.writeEndObject()
  }

  private def work(answer: LookupAnswer, json: JsonGenerator): Unit = {
    val index = answer.use.work
    json.writeObjectFieldStart("work")
    Vector(
      "keys" -> answer.locations.keys.toLong,
      "hits" -> answer.hits.toLong,
      "misses" -> answer.misses.toLong,
      "groups_opened" -> index.groupsOpened,
      "files_opened" -> index.filesOpened,
      "pages_decoded" -> index.pagesDecoded,
      "bytes_read" -> index.bytesRead,
      "filtered" -> index.notLive,
      "slices_read" -> answer.use.slicesRead.toLong,
      "slices_kept" -> answer.use.slicesKept.toLong,
      "store_calls" -> answer.use.calls.all.toLong,
      "store_calls_in_a_row" -> answer.use.calls.inARow.toLong,
      "store_throttled" -> answer.use.calls.throttled
    ).foreach { case (name, n) => json.writeNumberField(name, n) }
    json.writeEndObject()
  }

  private def location(l: RecordLocation, json: JsonGenerator): Unit = {
    json.writeStartObject()
    json.writeStringField("key", l.key)
    json.writeStringField("partition_path", l.partitionPath)
    json.writeStringField("file_id", l.fileId)
    json.writeStringField("instant_time", l.instantTime)
    json.writeEndObject()
  }
}

/** `partitions`, `files` and `slices` as JSON, streamed: one partition's files at a time. */
final class ListingJson(snapshot: TableSnapshot, call: CommandLine, json: JsonGenerator) {
  private var left = call.limit.getOrElse(Int.MaxValue)

  def write(what: String): Unit = {
    json.writeStartObject()
    json.writeArrayFieldStart(what)
    what match {
      case "partitions" => snapshot.view.partitions.foreach(p => if (take()) json.writeString(p))
      case "files"      =>
        each { p =>
          FileOrder.sorted(snapshot.source.files(p)).foreach { f =>
            if (call.asOf.forall(f.instantTime <= _) && take()) ViewJson.file(f, json)
          }
        }
      case _ =>
        each(p => snapshot.view.latestFileSlices(p, call.asOf).foreach(s => if (take()) ViewJson.slice(s, json)))
    }
    json.writeEndArray()
    ViewJson.use(snapshot.use, json)
    json.writeEndObject()
  }

  private def each(use: String => Unit): Unit = call.partition match {
    case Some(p) => use(p)
    case None    =>
      val it = snapshot.view.partitions.iterator
      while (left > 0 && it.hasNext) use(it.next())
  }

  private def take(): Boolean = {
    left -= 1
    left >= 0
  }
}
