package hudiidx.sync

import hudiidx.column.{ColumnExpression, IndexSpec, NeverColumns}
import hudiidx.logindex.LogIndex
import hudiidx.record.{RecordIndex, RecordKind, RecordProperty}
import hudiidx.storage.{FileInfo, Storage}
import hudiidx.store.{Current, IndexFile, IndexStore, IndexVersion}
import scala.util.Try

/** State of an index for people and monitors.
  *
  *  @param state          READY, LAGGING, BUILDING, BROKEN or ABSENT
  *  @param reason         BROKEN: why, with the remedy. BUILDING: how far, as "40 %". Empty else
  *  @param instantsBehind completed instants that the index has not taken in
  *  @param lagSeconds     age of the oldest of these; 0 when READY
  */
final case class IndexInfo(
    state: String,
    reason: String,
    indexDir: String,
    version: Option[IndexVersion],
    instantsBehind: Int,
    lagSeconds: Long,
    partitions: Long,
    files: Long
) {

  /** The record index, if there is one. */
  def record: Option[RecordInfo] = version.filter(RecordIndex.isIn).map(RecordInfo.of)

  /** The indexes on columns. */
  def columns: Vector[ColumnIndexInfo] = version.toVector.flatMap(ColumnIndexInfo.of)

  /** Whether updates keep the tails of log blocks. */
  def hasLogs: Boolean = version.exists(LogIndex.isIn)

  /** The columns of which it holds nothing, as sessions named them. */
  def never: Vector[String] = version.fold(NeverColumns.None)(NeverColumns.of).paths.map(ColumnExpression.shown)

  def indexFiles: Vector[IndexFile] = version.map(_.files).getOrElse(Vector.empty)
  def sizeBytes: Long = indexFiles.map(_.sizeBytes).sum
}

/** An index on columns, as it was asked for.
  *
  *  @param kind      `range`, `bloom`, `values` or one of the class path
  *  @param columns   their paths, SQL of expressions, or `*`; of kind `range` each is an index of its own
  *  @param typed     the same as commands take them
  *  @param options   of the kind
  *  @param isPending files that were there before it was asked for are not covered yet
  */
final case class ColumnIndexInfo(
    kind: String,
    columns: Vector[String],
    typed: Vector[String],
    options: Map[String, String],
    isPending: Boolean
)

object ColumnIndexInfo {
  def of(version: IndexVersion): Vector[ColumnIndexInfo] = {
    def specs(property: String) = version.properties.get(property).toVector.flatMap(IndexSpec.stored)
    val pending = specs(IndexSpec.PendingProperty)
    specs(IndexSpec.Property).map { s =>
      val isPending = pending.exists(p => p.kind == s.kind && p.columns.forall(s.columns.contains))
      val (shown, typed) = s.columns.map(c => ColumnExpression.shown(c) -> ColumnExpression.typed(c)).distinct.unzip
      ColumnIndexInfo(s.kind, shown, typed, s.options, isPending)
    }
  }
}

/** A record index by its own account.
  *
  *  @param mode       `global` or `partitioned`
  *  @param windowDays days of commit time that are indexed; None: all
  *  @param fileGroups hash groups
  *  @param mappings   pairs of a key and a file group
  */
final case class RecordInfo(
    mode: String,
    windowDays: Option[Int],
    fileGroups: Long,
    mappings: Long,
    sizeBytes: Long,
    baseFiles: Int,
    deltaFiles: Int
)

object RecordInfo {

  /** Of a version that has a record index. */
  def of(version: IndexVersion): RecordInfo = {
    val files = version.files.filter(f => RecordKind.All(f.kind))
    RecordInfo(
      version.properties(RecordProperty.Mode),
      version.number(RecordProperty.WindowDays).map(_.toInt),
      version.long(RecordProperty.Groups),
      version.long(RecordProperty.Mappings),
      files.map(_.sizeBytes).sum,
      files.count(_.kind == RecordKind.Base),
      files.count(_.kind == RecordKind.Delta)
    )
  }
}

object IndexInfo {
  val Ready = "READY"
  val Lagging = "LAGGING"
  val Building = "BUILDING"
  val Broken = "BROKEN"
  val Absent = "ABSENT"

  /** Looks at the current version and the timeline; opens no manifest file. */
  def of(access: TableAccess, tablePath: String, options: IndexOptions): IndexInfo = {
    val path = tablePath.stripSuffix("/")
    val store = new IndexStore(access.storage, options.indexDir(path))
    val ((table, current), listed) = Storage.both(access.storage, path)(
      Storage.both(access.storage, path)(TableContext.load(access, path), store.current()),
      Try(store.list())
    )
    val info = settled(store, path, table, current, listed)
    val running = BuildProgress.running(listed.getOrElse(Vector.empty), info.version, System.currentTimeMillis())
    running.fold(info)(percent => info.copy(state = Building, reason = s"$percent %"))
  }

  /** The state apart from a create that may be running. */
  private def settled(
      store: IndexStore,
      path: String,
      table: TableContext,
      current: Current,
      listed: Try[Vector[FileInfo]]
  ): IndexInfo =
    current match {
      case Current.Absent =>
        val unseen = table.completed.map(i => new UnseenInstant(i, () => table.contents.of(i)))
        IndexInfo(Absent, "", store.dir, None, unseen.size, lagSeconds(unseen, table), 0, 0)
      case Current.Unreadable(reasons, _, _) =>
        broken(store, path, Fallback(FallbackCode.DamagedIndex, reasons.mkString("; ")), None)
      case Current.Found(version, _) =>
        SyncPlan.of(version, table) match {
          case IndexStatus.Diverged(fallback) => broken(store, path, fallback, Some(version))
          case IndexStatus.Usable(unseen)     => sound(store, version, unseen, table, listed.get)
        }
    }

  private def sound(
      store: IndexStore,
      v: IndexVersion,
      unseen: Vector[UnseenInstant],
      table: TableContext,
      listed: Vector[FileInfo]
  ): IndexInfo = {
    val missing = store.missing(v.files, listed)
    val state = if (missing.nonEmpty) Broken else if (unseen.isEmpty) Ready else Lagging
    val reason =
      if (missing.isEmpty) ""
      else
        s"files are gone or cut short: ${missing.map(_.name).mkString(", ")}; run ${IndexStore.command("create", table.tablePath, store.dir).quoted}"
    IndexInfo(
      state,
      reason,
      store.dir,
      Some(v),
      unseen.size,
      lagSeconds(unseen, table),
      IndexCounts.partitions(v),
      IndexCounts.files(v)
    )
  }

  private def lagSeconds(unseen: Vector[UnseenInstant], table: TableContext): Long =
    SyncLag.millis(unseen, table, System.currentTimeMillis()).getOrElse(0L) / 1000

  private def broken(store: IndexStore, path: String, fallback: Fallback, version: Option[IndexVersion]): IndexInfo =
    IndexInfo(
      Broken,
      s"${fallback.code}: ${fallback.why}; ${fallback.remedy(path, store.dir)}",
      store.dir,
      version,
      0,
      0,
      0,
      0
    )
}
