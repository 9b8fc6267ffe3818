package hudiidx.answer

import hudiidx.report._

/** What there is to know of a table and its index, from which a page is made. docs/report.md has its form. Sizes are bytes, times
  * epoch milliseconds.
  */
final case class ReportAnswer(
    atMillis: Long,
    table: ReportedTable,
    index: IndexAnswer,
    fallback: String,
    files: ReportedFiles,
    timeline: ReportedTimeline,
    columns: ReportedColumns,
    scans: ReportedScans,
    advice: Vector[Advice]
)

object ReportAnswer {

  /** @param atMillis when the report was made */
  def of(r: TableReport, atMillis: Long): ReportAnswer = ReportAnswer(
    atMillis,
    ReportedTable(
      r.path,
      r.config.tableName,
      r.config.tableType.name,
      r.config.version,
      r.config.recordKeyFields.mkString(", "),
      r.config.partitionFields.mkString(", "),
      r.columns.size
    ),
    IndexAnswer.of(r.info),
    r.fallback.getOrElse(""),
    ReportedFiles.of(r.files),
    ReportedTimeline.of(r.timeline),
    ReportedColumns.of(r.bounds),
    ReportedScans.of(r.scans),
    r.advice
  )

  private[answer] def rounded(x: Double): Double = math.rint(x * 10000) / 10000
}

final case class ReportedTable(
    path: String,
    name: String,
    `type`: String,
    version: Int,
    recordKey: String,
    partitionedBy: String,
    columnCount: Int
)

final case class ReportedFiles(
    partitions: Long,
    files: Long,
    bytes: Long,
    slices: Long,
    slicesWithLogs: Long,
    slicesWithoutBase: Long,
    baseFiles: Long,
    baseBytes: Long,
    logFiles: Long,
    logBytes: Long,
    filesPerPartition: Vector[Bin],
    baseSizes: Vector[Bin],
    logSizes: Vector[Bin],
    logsPerSlice: Vector[Bin],
    largestPartitions: Vector[ReportedPartition],
    mostLogged: Vector[LoggedSlice]
)

final case class ReportedPartition(partitionPath: String, slices: Long, files: Long, bytes: Long)

object ReportedFiles {
  def of(f: FileTally): ReportedFiles = ReportedFiles(
    f.partitions,
    f.files,
    f.bytes,
    f.slices,
    f.slicesWithLogs,
    f.slicesWithoutBase,
    f.baseFiles,
    f.baseBytes,
    f.logFiles,
    f.logBytes,
    f.filesPerPartition.bins,
    f.baseSizes.bins,
    f.logSizes.bins,
    f.logsPerSlice.bins,
    f.largestPartitions.all.map(p => ReportedPartition(p.path, p.slices, p.files, p.bytes)),
    f.mostLogged.all
  )
}

final case class ReportedTimeline(
    completed: Vector[ActionCount],
    pendingCount: Int,
    pending: Vector[PendingFacts],
    writes: Vector[ReportedWrite],
    olderWrites: Int
)

final case class ActionCount(action: String, count: Long)

final case class ReportedWrite(
    instantTime: String,
    action: String,
    operation: String,
    millis: Option[Long],
    seconds: Option[Double],
    files: Long,
    bytes: Long,
    inserts: Long,
    updates: Long,
    deletes: Long
)

object ReportedTimeline {
  def of(t: TimelineFacts): ReportedTimeline = ReportedTimeline(
    t.completed.map { case (action, n) => ActionCount(action, n.toLong) },
    t.pendingCount,
    t.pending,
    t.writes.map { w =>
      ReportedWrite(
        w.instantTime,
        w.action,
        w.operation.getOrElse(""),
        w.millis,
        w.seconds.map(ReportAnswer.rounded),
        w.files,
        w.bytes,
        w.inserts,
        w.updates,
        w.deletes
      )
    },
    t.olderWrites
  )
}

final case class ReportedColumns(stride: Int, leftOut: Int, problem: String, bounds: Vector[ReportedBounds])

final case class ReportedBounds(
    column: String,
    `type`: String,
    least: String,
    greatest: String,
    slices: Int,
    unknown: Int,
    empty: Int,
    deepest: Int,
    skippedOfOne: Double,
    skippedOfTenth: Double,
    grid: Vector[String]
)

object ReportedColumns {
  def of(c: ColumnsFacts): ReportedColumns = ReportedColumns(
    c.stride,
    c.leftOut,
    c.problem.getOrElse(""),
    c.columns.map { b =>
      ReportedBounds(
        b.column,
        b.typeText,
        b.least,
        b.greatest,
        b.overlap.slices,
        b.overlap.unknown,
        b.overlap.empty,
        b.overlap.deepest,
        ReportAnswer.rounded(b.overlap.skippedOfOne),
        ReportAnswer.rounded(b.overlap.skippedOfTenth),
        b.overlap.grid
      )
    }
  )
}

final case class ReportedScans(scans: Int, fallbacks: Int, shapes: Vector[ReportedShape])

final case class ReportedShape(
    filters: String,
    scans: Int,
    lastMillis: Long,
    filesKept: Double,
    partitionsKept: Double,
    partitionsTotal: Double,
    filesSkippedByColumns: Double,
    recordKeys: Double,
    planningMillis: Double
)

object ReportedScans {
  def of(s: ScanFacts): ReportedScans = ReportedScans(
    s.scans,
    s.fallbacks,
    s.shapes.map { q =>
      ReportedShape(
        q.filters,
        q.scans,
        q.lastMillis,
        ReportAnswer.rounded(q.filesKept),
        ReportAnswer.rounded(q.partitionsKept),
        ReportAnswer.rounded(q.partitionsTotal),
        ReportAnswer.rounded(q.byColumns),
        ReportAnswer.rounded(q.keys),
        ReportAnswer.rounded(q.planningMillis)
      )
    }
  )
}
