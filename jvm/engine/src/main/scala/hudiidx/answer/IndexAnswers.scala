package hudiidx.answer

import hudiidx.store.IndexVersion
import hudiidx.symlink.SymlinkSettings
import hudiidx.sync.{ColumnIndexInfo, FallbackCounters, IndexCounts, IndexInfo, RecordInfo}
import hudiidx.sync.build.SyncResult

/** State of an index. Sizes are bytes.
  *
  * @param symlinkManifest folder of manifests that are kept, or empty
  * @param fallbacks       how often this process used no index, by reason
  */
final case class IndexAnswer(
    state: String,
    reason: String,
    instantsBehind: Int,
    lagSeconds: Long,
    lastSyncedInstant: String,
    indexVersion: Long,
    indexPath: String,
    partitions: Long,
    files: Long,
    size: Long,
    bytesByKind: Map[String, Long],
    record: Option[RecordAnswer],
    columns: Vector[ColumnIndexAnswer],
    logs: Boolean,
    never: Vector[String],
    symlinkManifest: String,
    fallbacks: Map[String, Long]
)

object IndexAnswer {
  def of(info: IndexInfo): IndexAnswer = IndexAnswer(
    info.state,
    info.reason,
    info.instantsBehind,
    info.lagSeconds,
    info.version.fold("")(_.coverage.last),
    info.version.fold(0L)(_.number),
    info.indexDir,
    info.partitions,
    info.files,
    info.sizeBytes,
    info.version.fold(Map.empty[String, Long])(bytesByKind),
    info.record.map(RecordAnswer.of),
    info.columns.map(ColumnIndexAnswer.of),
    info.hasLogs,
    info.never,
    info.version.flatMap(SymlinkSettings.of).fold("")(_.in(info.indexDir).path),
    FallbackCounters.snapshot(info.indexDir)
  )

  private[answer] def bytesByKind(version: IndexVersion): Map[String, Long] =
    version.files.groupBy(_.kind).map { case (kind, files) => kind -> files.map(_.sizeBytes).sum }
}

final case class RecordAnswer(
    mode: String,
    windowDays: Option[Int],
    fileGroups: Long,
    mappings: Long,
    size: Long,
    baseFiles: Int,
    deltaFiles: Int
)

object RecordAnswer {
  def of(r: RecordInfo): RecordAnswer =
    RecordAnswer(r.mode, r.windowDays, r.fileGroups, r.mappings, r.sizeBytes, r.baseFiles, r.deltaFiles)
}

final case class ColumnIndexAnswer(
    kind: String,
    columns: Vector[String],
    options: Map[String, String],
    pending: Boolean
)

object ColumnIndexAnswer {
  def of(c: ColumnIndexInfo): ColumnIndexAnswer = ColumnIndexAnswer(c.kind, c.columns, c.options, c.isPending)
}

/** What was done to an index.
  *
  * @param lagMillis as [[hudiidx.sync.build.SyncResult]] has it
  */
final case class SyncAnswer(
    indexVersion: Long,
    files: Long,
    partitions: Long,
    instants: Vector[String],
    rebuilt: Boolean,
    merged: Boolean,
    published: Boolean,
    rebases: Int,
    bytesByKind: Map[String, Long],
    lagMillis: Option[Long],
    elapsedMillis: Long
)

object SyncAnswer {
  def of(done: SyncResult, elapsedMillis: Long): SyncAnswer = {
    val version = done.version
    SyncAnswer(
      version.number,
      IndexCounts.files(version),
      IndexCounts.partitions(version),
      done.instants,
      done.rebuilt,
      done.merged,
      done.published,
      done.rebases,
      IndexAnswer.bytesByKind(version),
      done.lagMillis,
      elapsedMillis
    )
  }
}

/** Files of the index that were removed. */
final case class ExpiredAnswer(removed: Vector[String])
