package hudiidx.sync.build

import hudiidx.column.NeverColumns
import hudiidx.manifest.ManifestChanges
import hudiidx.storage.{FileInfo, Storage}
import hudiidx.store._
import hudiidx.sync.{
  BuildProgress,
  IndexOptions,
  IndexPart,
  IndexState,
  InstantEffects,
  ManifestKind,
  ManifestProperty,
  ManifestUpdate,
  OpenIndex,
  PartFiles,
  TableAccess,
  TableContext,
  UnseenInstant,
  WrittenFiles
}
import hudiidx.table.TableConfig
import hudiidx.{DamagedIndex, Log, WriteConflict}
import java.time.Clock
import scala.util.Try

/** A version in force, and the table's timeline that it takes in. */
private[sync] final case class Synced(result: SyncResult, table: TableContext) {
  def version: IndexVersion = result.version
}

/** A version in the making, as of a table's timeline.
  *
  *  @param parts     those that it has, and what was made of them
  *  @param leftovers files that served the making, beside those that the parts name
  */
private[sync] final case class Draft(
    table: TableContext,
    manifest: WrittenFiles,
    parts: Vector[(IndexPart, PartFiles)],
    leftovers: Vector[String] = Vector.empty
) {
  def allLeftovers: Vector[String] = (leftovers ++ parts.flatMap(_._2.leftovers)).distinct
}

/** Makes drafts of index versions and publishes them. A draft that comes second is no work for nothing: what it has is as of a
  * known moment, so it is brought up from there as any version is.
  */
private[sync] final class Drafts(
    val path: String,
    val store: IndexStore,
    access: TableAccess,
    options: IndexOptions,
    parts: Vector[IndexPart],
    val clock: Clock
) {
  private val log = Log.of(classOf[Indexer])

  /** The table as it is now. */
  def table(): TableContext = TableContext.load(access, path).keepingCommits

  /** The index's versions, and the table, both read at the same time where the store is far; then the table may be older.
    *
    *  @return true behind them: the table's timeline was read after the versions
    */
  def look(): (BaseVersion, Try[TableContext], Boolean) = {
    val storage = access.storage
    if (TableConfig.lastKnown(storage, path).isEmpty) {
      // Where the timeline is only the properties tell, for which the versions of a far store do not wait.
      val (base, config) = Storage.both(storage, path)(store.base(), Try(TableConfig.read(storage, path)))
      (base, config.flatMap(c => Try(TableContext.load(access, path, c).keepingCommits)), true)
    } else {
      val (base, now) = Storage.both(storage, path)(store.base(), Try(table()))
      (base, now, false)
    }
  }

  /** What holds for a version that is made on top of another. */
  def never(before: Option[IndexVersion]): NeverColumns = ruleOf(before) ++ options.never

  private def ruleOf(version: Option[IndexVersion]): NeverColumns = version.fold(NeverColumns.None)(NeverColumns.of)

  /** Before a rule counts that `before` did not have: what lies beside the versions and may hold values goes. */
  def forget(before: Option[IndexVersion], rule: NeverColumns): Unit =
    if (!ruleOf(before).covers(rule)) {
      store.removeWork()
      new ScanFiles(access.storage, store.dir, path).clear()
    }

  private val publisher = new VersionPublisher(store, options.retention, clock)

  /** A version brought up by these instants, and their changes. */
  def of(
      base: IndexVersion,
      now: TableContext,
      changes: ManifestChanges,
      unseen: Vector[UnseenInstant],
      listed: Option[Vector[FileInfo]] = None
  ): Draft = {
    val table = if (mayPass(base, now, unseen)) now.withPassed else now
    val open = OpenIndex.open(store, base, access.cache)
    try {
      val written = new ManifestUpdate(store, open, options).write(changes, table)
      val manifest = written.copy(
        files = written.files.filter(f => ManifestKind.All(f.kind)),
        properties = written.properties.filter { case (name, _) => name.startsWith(ManifestProperty.Prefix) } ++
          never(Some(base)).properties
      )
      Draft(
        table,
        manifest,
        made(manifest, table, parts.filter(_.isIn(base)), None, listed)(updated(_, _, base, unseen))
      )
    } finally open.close()
  }

  /** May there be instants behind the oldest on the timeline that the version covers, or takes in now, and that are archived? */
  private def mayPass(base: IndexVersion, now: TableContext, unseen: Vector[UnseenInstant]): Boolean = {
    val there = now.timeline.instants.map(_.requestedTime).toSet
    def isPassed(time: String) = now.timeline.completedWrites.headOption.exists(_.requestedTime < time) && !there(time)
    unseen.exists(_.isArchived) || base.coverage.covered.exists(i => isPassed(i.requestedTime))
  }

  def changesOf(unseen: Vector[UnseenInstant], coverage: Coverage, table: TableContext): ManifestChanges =
    InstantEffects.since(coverage, unseen, table)

  /** DamagedIndex where archiving alone made the version one that cannot be followed; nothing is opened where it archived no replacement. */
  def requireCredible(version: IndexVersion, table: TableContext): Unit = {
    val changes = changesOf(Vector.empty, version.coverage, table)
    if (changes.isToBeHeldFirst) {
      val open = OpenIndex.open(store, version, access.cache)
      try changes.requireCredible(open.source(new ManifestChanges))
      finally open.close()
    }
  }

  /** As `changesOf`, and what is in the index folder. Where the store is far what the version's update opens comes with them; None
    * where nothing was asked beside.
    */
  def changesAndFolder(
      unseen: Vector[UnseenInstant],
      base: IndexVersion,
      table: TableContext
  ): (ManifestChanges, Option[Vector[FileInfo]]) = {
    def changes = changesOf(unseen, base.coverage, table)
    val storage = access.storage
    if (!storage.isFar(path)) (changes, None)
    else {
      val opened = if (base.files.size <= Drafts.FewFiles) base.files else base.files.filter(OpenIndex.needs)
      def listed = if (parts.exists(_.isIn(base))) Try(store.list()).toOption else None
      Storage.both(storage, path)(changes, Storage.both(storage, store.dir)(store.fetchEnds(opened), listed)._2)
    }
  }

  /** What parts become of the table as a manifest has it that is written and not yet published. The manifest was the first
    * step of the progress, each part is one more.
    */
  def made(
      manifest: WrittenFiles,
      table: TableContext,
      of: Vector[IndexPart],
      progress: Option[BuildProgress],
      listed: Option[Vector[FileInfo]] = None
  )(
      make: (IndexPart, IndexState) => PartFiles
  ): Vector[(IndexPart, PartFiles)] =
    if (of.isEmpty) Vector.empty
    else {
      val version = publisher.versionOf(table, manifest.files, manifest.properties, 0L)
      IndexState.opened(store, table, version, _ => (), listed) { state =>
        def all = of.zipWithIndex.map { case (part, i) =>
          val show = progress.map(_.of(1 + i, 1 + of.size))
          part -> make(part, show.fold(state)(s => state.copy(show = s)))
        }
        if (access.storage.isFar(path)) Storage.both(access.storage, path)(all, of.drop(1).foreach(_.fetch(table)))._1
        else all
      }
    }

  /** A part that is damaged is made anew; the manifest stays. */
  def updated(part: IndexPart, state: IndexState, before: IndexVersion, unseen: Vector[UnseenInstant]): PartFiles =
    try part.update(state, before, unseen)
    catch {
      case e: DamagedIndex =>
        log.warn("{}: making a part of the index in {} anew: {}", path, store.dir, e.getMessage)
        part.build(state, Some(before))
    }

  /** The table as a version has it that is in step with it. */
  def opened[A](at: Synced, show: Double => Unit = _ => ())(use: IndexState => A): A =
    IndexState.opened(store, at.table, at.version, show)(use)

  def version(draft: Draft, number: Long): IndexVersion = publisher.versionOf(
    draft.table,
    draft.manifest.files ++ draft.parts.flatMap(_._2.files),
    draft.manifest.properties ++ draft.parts.flatMap(_._2.properties),
    number
  )

  /** None if another writer was first; see [[VersionPublisher.publish]]. */
  def publish(draft: Draft, number: Long, began: Long): Option[IndexVersion] =
    Some(version(draft, number)).filter(publisher.publish(_, draft.allLeftovers, began))

  /** Publishes a version that has the rule beside what it has. None if another writer was first. */
  def publishRule(version: IndexVersion, rule: NeverColumns, number: Long, began: Long): Option[IndexVersion] = {
    val next = version.copy(
      number = number,
      properties = version.properties ++ rule.properties,
      createdAtMillis = clock.millis(),
      writer = Indexer.Writer
    )
    if (publisher.publish(next, Vector.empty, began)) Some(next) else None
  }

  /** Publishes a version with these files and properties of a part in place of those that it has. None if another writer was
    * first.
    */
  def publish(
      version: IndexVersion,
      part: IndexPart,
      made: PartFiles,
      number: Long,
      began: Long
  ): Option[IndexVersion] = {
    val next = version.copy(
      number = number,
      files = version.files.filterNot(part.owns) ++ made.files,
      properties = version.properties.filterNot(p => part.owns(p._1)) ++ made.properties,
      createdAtMillis = clock.millis(),
      writer = Indexer.Writer
    )
    if (publisher.publish(next, made.leftovers, began)) Some(next) else None
  }

  def showingProgress[A](work: BuildProgress => A): A = {
    val progress = new BuildProgress(store, clock.millis())
    try {
      progress.begin()
      work(progress)
    } finally progress.end()
  }

  /** A writer that does not know a part of the index would publish it stale. */
  def requireParts(version: IndexVersion): Unit =
    version.files.find(f => !ManifestKind.All(f.kind) && !parts.exists(_.owns(f))).foreach { f =>
      throw new IllegalStateException(
        s"${store.dir}: index version ${version.number} has a ${f.kind}, which this writer cannot keep in step"
      )
    }

  /** WriteConflict after too many concurrent updates. */
  def requireTries(rebases: Int): Unit = if (rebases > Drafts.MaxRebases)
    throw new WriteConflict(
      s"${store.dir}: gave up after $rebases concurrent updates; run ${IndexStore.command("update", path, store.dir).quoted} later"
    )
}

private[sync] object Drafts {
  val MaxRebases = 20

  /** Of so many the ends are read before an update says which of them it needs. */
  private val FewFiles = 32
}
