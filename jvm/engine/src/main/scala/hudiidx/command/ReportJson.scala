package hudiidx.command

import com.fasterxml.jackson.core.JsonGenerator
import hudiidx.report._

/** `report` as JSON, from which a page is made. docs/report.md has its form. Sizes are bytes, times epoch milliseconds. */
object ReportJson {

  /** @param atMillis when the report was made */
  def write(report: TableReport, atMillis: Long, json: JsonGenerator): Unit = {
    json.writeStartObject()
    json.writeNumberField("at_millis", atMillis)
    json.writeFieldName("table")
    table(report, json)
    json.writeFieldName("index")
    InfoJson.write(report.info, json)
    json.writeStringField("fallback", report.fallback.getOrElse(""))
    json.writeFieldName("files")
    files(report.files, json)
    json.writeFieldName("timeline")
    timeline(report.timeline, json)
    json.writeFieldName("columns")
    columns(report.bounds, json)
    json.writeFieldName("scans")
    scans(report.scans, json)
    array("advice", report.advice, json)(advice(_, json))
    json.writeEndObject()
  }

  private def table(r: TableReport, json: JsonGenerator): Unit = fields(json)(
    "path" -> r.path,
    "name" -> r.config.tableName,
    "type" -> r.config.tableType.name,
    "version" -> r.config.version,
    "record_key" -> r.config.recordKeyFields.mkString(", "),
    "partitioned_by" -> r.config.partitionFields.mkString(", "),
    "column_count" -> r.columns.size
  )

  private def files(f: FileTally, json: JsonGenerator): Unit = {
    json.writeStartObject()
    Vector(
      "partitions" -> f.partitions,
      "files" -> f.files,
      "bytes" -> f.bytes,
      "slices" -> f.slices,
      "slices_with_logs" -> f.slicesWithLogs,
      "slices_without_base" -> f.slicesWithoutBase,
      "base_files" -> f.baseFiles,
      "base_bytes" -> f.baseBytes,
      "log_files" -> f.logFiles,
      "log_bytes" -> f.logBytes
    ).foreach { case (name, n) => json.writeNumberField(name, n) }
    histogram("files_per_partition", f.filesPerPartition, json)
    histogram("base_sizes", f.baseSizes, json)
    histogram("log_sizes", f.logSizes, json)
    histogram("logs_per_slice", f.logsPerSlice, json)
    array("largest_partitions", f.largestPartitions.all, json) { p =>
      fields(json)("partition_path" -> p.path, "slices" -> p.slices, "files" -> p.files, "bytes" -> p.bytes)
    }
    array("most_logged", f.mostLogged.all, json) { s =>
      fields(json)(
        "partition_path" -> s.partitionPath,
        "file_id" -> s.fileId,
        "log_files" -> s.logFiles,
        "log_bytes" -> s.logBytes,
        "base_bytes" -> s.baseBytes
      )
    }
    json.writeEndObject()
  }

  private def histogram(name: String, of: Histogram, json: JsonGenerator): Unit =
    array(name, of.bins, json)(b => fields(json)("from" -> b.from, "last" -> b.last, "count" -> b.count))

  private def timeline(t: TimelineFacts, json: JsonGenerator): Unit = {
    json.writeStartObject()
    array("completed", t.completed, json) { case (action, n) => fields(json)("action" -> action, "count" -> n) }
    json.writeNumberField("pending_count", t.pendingCount)
    array("pending", t.pending, json) { p =>
      fields(json)(
        "instant_time" -> p.instantTime,
        "action" -> p.action,
        "state" -> p.state,
        "millis" -> p.millis
      )
    }
    array("writes", t.writes, json) { w =>
      fields(json)(
        "instant_time" -> w.instantTime,
        "action" -> w.action,
        "operation" -> w.operation.getOrElse(""),
        "millis" -> w.millis,
        "seconds" -> w.seconds,
        "files" -> w.files,
        "bytes" -> w.bytes,
        "inserts" -> w.inserts,
        "updates" -> w.updates,
        "deletes" -> w.deletes
      )
    }
    json.writeNumberField("older_writes", t.olderWrites)
    json.writeEndObject()
  }

  private def columns(c: ColumnsFacts, json: JsonGenerator): Unit = {
    json.writeStartObject()
    json.writeNumberField("stride", c.stride)
    json.writeNumberField("left_out", c.leftOut)
    json.writeStringField("problem", c.problem.getOrElse(""))
    array("bounds", c.columns, json) { b =>
      json.writeStartObject()
      json.writeStringField("column", b.column)
      json.writeStringField("type", b.typeText)
      json.writeStringField("least", b.least)
      json.writeStringField("greatest", b.greatest)
      json.writeNumberField("slices", b.overlap.slices)
      json.writeNumberField("unknown", b.overlap.unknown)
      json.writeNumberField("empty", b.overlap.empty)
      json.writeNumberField("deepest", b.overlap.deepest)
      json.writeNumberField("skipped_of_one", rounded(b.overlap.skippedOfOne))
      json.writeNumberField("skipped_of_tenth", rounded(b.overlap.skippedOfTenth))
      array("grid", b.overlap.grid, json)(row => json.writeString(row))
      json.writeEndObject()
    }
    json.writeEndObject()
  }

  private def scans(s: ScanFacts, json: JsonGenerator): Unit = {
    json.writeStartObject()
    json.writeNumberField("scans", s.scans)
    json.writeNumberField("fallbacks", s.fallbacks)
    array("shapes", s.shapes, json) { q =>
      fields(json)(
        "filters" -> q.filters,
        "scans" -> q.scans,
        "last_millis" -> q.lastMillis,
        "files_kept" -> q.filesKept,
        "partitions_kept" -> q.partitionsKept,
        "partitions_total" -> q.partitionsTotal,
        "files_skipped_by_columns" -> q.byColumns,
        "record_keys" -> q.keys,
        "planning_millis" -> q.planningMillis
      )
    }
    json.writeEndObject()
  }

  private def advice(a: Advice, json: JsonGenerator): Unit = fields(json)(
    "kind" -> a.kind,
    "title" -> a.title,
    "why" -> a.why,
    "command" -> a.command,
    "runs_in" -> a.runsIn
  )

  private def array[A](name: String, all: Vector[A], json: JsonGenerator)(write: A => Unit): Unit = {
    json.writeArrayFieldStart(name)
    all.foreach(write)
    json.writeEndArray()
  }

  /** An object of texts and numbers; None is null. */
  private def fields(json: JsonGenerator)(all: (String, Any)*): Unit = {
    json.writeStartObject()
    all.foreach { case (name, value) =>
      value match {
        case text: String    => json.writeStringField(name, text)
        case n: Int          => json.writeNumberField(name, n)
        case n: Long         => json.writeNumberField(name, n)
        case x: Double       => json.writeNumberField(name, rounded(x))
        case Some(n: Long)   => json.writeNumberField(name, n)
        case Some(x: Double) => json.writeNumberField(name, rounded(x))
        case _               => json.writeNullField(name)
      }
    }
    json.writeEndObject()
  }

  private def rounded(x: Double): Double = math.rint(x * 10000) / 10000
}
