package hudiidx.engine.column

import scala.util.Try

import hudiidx.{DamagedIndex, Log}
import hudiidx.column._
import hudiidx.column.segment.{ColumnKind, SegmentOrder}
import hudiidx.manifest.PartitionKey
import hudiidx.store.{IndexFile, IndexVersion}
import hudiidx.sync._
import hudiidx.table.FileEntry

/** What is to become of the indexes on columns where a part is added or dropped. */
sealed trait ColumnChange

object ColumnChange {

  /** All are made as the options say. */
  case object Whole extends ColumnChange

  /** These too; those over the same columns are made anew.
    *
    *  @param later they are only noted: a later update makes them
    */
  final case class Add(specs: Vector[IndexSpec], later: Boolean = false) extends ColumnChange

  /** These no more; kind [[ColumnSettings.AnyKind]]: whatever their kind.
    *
    *  @param all columns of the table, that stay where one of them is taken out of [[IndexSpec.All]]
    *  @param expressions find those that are meant; None: by their text alone
    */
  final case class Drop(
      specs: Vector[IndexSpec],
      all: Vector[String],
      expressions: Option[TableExpressions] = None
  ) extends ColumnChange
}

/** The indexes on columns as a part of the index: statistics from footers and log blocks, and records of other kinds, made by
  * tasks; an update adds those of new files. Every file that the manifest lists is covered, if only to say that nothing is
  * known of it. Design §3.4.
  */
final class ColumnPart(
    engine: TaskEngine,
    options: ColumnOptions,
    change: ColumnChange = ColumnChange.Whole,
    expressions: Option[ExpressionEngine] = None
) extends IndexPart {

  override def owns(file: IndexFile): Boolean = ColumnKind.All(file.kind)

  override def owns(property: String): Boolean = property.startsWith(ColumnProperty.Prefix)

  override def isIn(version: IndexVersion): Boolean = ColumnSettings.isIn(version)

  override def build(state: IndexState, before: Option[IndexVersion]): PartFiles = {
    val table = TableColumns.of(state.table)
    val judge = new SpecExpressions(expressions, table)
    val refused = before.map(v => judge.refused(ColumnSettings.of(v))).getOrElse(Set.empty)
    state.never.requireAllowed(ColumnSettings.of(options, None).specs)
    val asked = judge.renewed(ColumnSettings.of(options, before).withoutPaths(refused)).copy(pending = Vector.empty)
    val kept = ColumnPart.allowed(state, asked.specs)
    val settings = asked.copy(state.never.allowed(judge.resolved(kept, before)))
    ColumnSettings.check(settings.specs, table)
    whole(state, table, settings)
  }

  /** What is wrong with the schema is told where it is used. */
  override def fetch(table: TableContext): Unit = Try(table.schema()): Unit

  /** Bounds of all columns may be there of one that was forbidden since. */
  override def holds(version: IndexVersion, never: NeverColumns): Boolean = {
    val settings = ColumnSettings.of(version)
    val specs = settings.specs ++ settings.pending
    specs.exists(_.isAll) || never.allowed(specs) != specs
  }

  /** The indexes that are added, alone; nothing of those that are only noted. */
  override def piece(state: IndexState, before: IndexVersion): PartFiles = change match {
    case ColumnChange.Add(asked, later) =>
      val table = TableColumns.of(state.table)
      val specs = new SpecExpressions(expressions, table).resolved(asked, Some(before))
      state.never.requireAllowed(specs)
      ColumnSettings.check(specs, table)
      if (later) PartFiles.None
      else {
        val files = new ColumnFiles(engine, state, ColumnPart.withMore(usable(table, before), specs).choice)
        val made = files.made(work(state, table, specs), () => ColumnPart.allFiles(state))
        PartFiles(made.files, ColumnPart.properties(ColumnSettings(specs), hasRanges(specs)), made.leftovers)
      }
    case _ => build(state, Some(before))
  }

  override def joined(state: IndexState, version: IndexVersion, piece: PartFiles): PartFiles = change match {
    case ColumnChange.Add(asked, true) =>
      noted(version, new SpecExpressions(expressions, TableColumns.of(state.table)).resolved(asked, Some(version)))
    case ColumnChange.Add(_, false) => added(state, version, piece)
    case _                          => piece
  }

  /** Of a version, without what may not be evaluated. */
  private def usable(table: TableColumns, version: IndexVersion): ColumnSettings = {
    val stored = ColumnSettings.of(version)
    Seq(IndexSpec.Property, IndexSpec.PendingProperty)
      .flatMap(version.properties.get)
      .flatMap(IndexSpec.refused)
      .distinct
      .foreach { case (item, why) =>
        ColumnPart.log.warn(
          s"the index ${item.take(ColumnPart.MostShown)} is dropped: $why; add it again if you want it"
        )
      }
    val judge = new SpecExpressions(expressions, table)
    val allowed = stored.withoutPaths(judge.refused(stored))
    val now = judge.renewed(allowed)
    now.pending.filterNot(allowed.pending.toSet).foreach { s =>
      ColumnPart.log.warn(
        s"the index ${ColumnSettings.shown(s).take(ColumnPart.MostShown)} is made anew: an earlier build did not keep all that its values depend on"
      )
    }
    now
  }

  private def whole(state: IndexState, table: TableColumns, settings: ColumnSettings): PartFiles =
    if (settings.specs.isEmpty) PartFiles.None
    else {
      val files = new ColumnFiles(engine, state, settings.choice)
      val made = files.made(work(state, table, settings.specs), () => ColumnPart.allFiles(state))
      PartFiles(made.files, ColumnPart.properties(settings, hasRanges(settings.specs)), made.leftovers)
    }

  private def work(state: IndexState, table: TableColumns, specs: Vector[IndexSpec]): ColumnWork =
    ColumnWork(
      state.table.tablePath,
      table,
      specs,
      new SpecExpressions(expressions, table).evaluated(specs),
      state.never
    )

  /** The others' files stay as they are, unless they are damaged. */
  private def added(state: IndexState, version: IndexVersion, piece: PartFiles): PartFiles = {
    val made = ColumnSettings.of(piece.properties)
    val more = ColumnPart.withMore(usable(TableColumns.of(state.table), version), made.specs)
    val settings = more.copy(pending = (more.pending ++ made.pending).distinct)
    try {
      state.requireFiles(version.files.filter(owns))
      val files = new ColumnFiles(engine, state, settings.choice)
      PartFiles(
        ColumnPart.joined(files, version.files.filter(owns), piece.files),
        ColumnPart.properties(settings, hasRanges(made.specs) || isComplete(version)),
        Vector.empty
      )
    } catch {
      case e: DamagedIndex =>
        ColumnPart.log.warn(s"${state.store.dir}: the indexes on columns are made anew: ${e.getMessage}")
        whole(state, TableColumns.of(state.table), settings.copy(pending = Vector.empty))
    }
  }

  /** Indexes that others added are noted, so that the next update makes them of the files that this creation found. */
  override def withOthers(made: PartFiles, before: Option[IndexVersion], others: IndexVersion): PartFiles = {
    val ours = ColumnSettings.of(made.properties)
    val known = ours.specs ++ before.toVector.flatMap(ColumnSettings.of(_).specs)
    val ranges = known.filter(_.kind == IndexKind.Range).flatMap(_.columns).toSet
    val more = ColumnSettings.of(others).specs.flatMap {
      case s if s.kind == IndexKind.Range =>
        Some(s.copy(columns = s.columns.filterNot(ranges))).filter(_.columns.nonEmpty)
      case s => if (known.contains(s)) None else Some(s)
    }
    val settings = ColumnSettings(IndexSpec.merged(ours.specs, more), (ours.pending ++ more).distinct)
    if (more.isEmpty) made
    else made.copy(properties = ColumnPart.properties(settings, made.properties.contains(ColumnProperty.Complete)))
  }

  private def hasRanges(specs: Vector[IndexSpec]): Boolean = specs.exists(_.kind == IndexKind.Range)

  private def isComplete(version: IndexVersion): Boolean = version.properties.contains(ColumnProperty.Complete)

  private def noted(before: IndexVersion, specs: Vector[IndexSpec]): PartFiles = {
    val old = ColumnSettings.of(before)
    val settings = ColumnSettings(IndexSpec.merged(old.specs, specs), (old.pending ++ specs).distinct)
    PartFiles(before.files.filter(owns), ColumnPart.properties(settings, isComplete(before)), Vector.empty)
  }

  /** DamagedIndex if a file of the part is gone or cut, or one that is merged cannot be read. */
  override def update(state: IndexState, before: IndexVersion, unseen: Vector[UnseenInstant]): PartFiles = {
    state.requireFiles(before.files.filter(owns))
    val table = TableColumns.of(state.table)
    val settings = usable(table, before)
    val files = new ColumnFiles(engine, state, settings.choice)
    val made = files.made(work(state, table, settings.specs), () => ColumnPart.newFiles(state, unseen), carries = true)
    val joined = ColumnPart.joined(files, before.files.filter(owns), made.files, made.carried)
    val added = if (settings.specs.exists(_.isAll)) ColumnPart.fresh(state.table, table, unseen) else Vector.empty
    val fresh = added.filterNot(state.never.forbids)
    val pending = settings.pending ++ (if (fresh.isEmpty) Vector.empty else Vector(IndexSpec(IndexKind.Range, fresh)))
    PartFiles(
      joined,
      ColumnPart.properties(settings.copy(pending = pending.distinct), isComplete(before)),
      made.leftovers
    )
  }

  override def drop(before: IndexVersion): PartFiles = change match {
    case ColumnChange.Drop(asked, all, known) =>
      val old = ColumnSettings.of(before)
      val settings = old.without(SpecExpressions.alike(known, asked, old.specs ++ old.pending), all)
      val kept = before.files.filter(f => owns(f) && settings.specs.exists(s => ColumnPart.kindOf(s) == f.kind))
      if (settings.specs.isEmpty) PartFiles.None
      else
        PartFiles(
          kept,
          ColumnPart.properties(settings, isComplete(before) && kept.exists(_.kind == ColumnKind.Stats)),
          Vector.empty
        )
    case _ => PartFiles.None
  }
}

private[column] object ColumnPart {
  private val log = Log.of(classOf[ColumnPart])
  private val MostShown = 500

  /** What an index has once these are made. */
  def withMore(old: ColumnSettings, specs: Vector[IndexSpec]): ColumnSettings = {
    val made = specs.toSet
    val ranges = specs.filter(_.kind == IndexKind.Range).flatMap(_.columns).toSet
    ColumnSettings(IndexSpec.merged(old.specs, specs), old.pending.flatMap(left(_, made, ranges)))
  }

  /** What of an index that is noted is not among those made. */
  private def left(noted: IndexSpec, made: Set[IndexSpec], ranges: Set[String]): Option[IndexSpec] =
    if (made(noted)) None
    else if (noted.kind != IndexKind.Range) Some(noted)
    else Some(noted.copy(columns = noted.columns.filterNot(ranges))).filter(_.columns.nonEmpty)

  /** @param isComplete segments cover every file of the manifest */
  def properties(settings: ColumnSettings, isComplete: Boolean): Map[String, String] =
    settings.properties ++ (if (isComplete) Map(ColumnProperty.Complete -> "true") else Map.empty)

  private def kindOf(spec: IndexSpec): String =
    if (spec.kind == IndexKind.Range) ColumnKind.Stats else ColumnKind.Records

  /** All that the manifest lists, as segments have them. */
  def allFiles(state: IndexState): Iterator[FileEntry] =
    PartitionKey.sorted(state.view.partitions).iterator.flatMap(p => sorted(state.view.source.files(p)))

  private def sorted(files: Array[FileEntry]): Vector[FileEntry] = {
    val copy = files.clone()
    java.util.Arrays.sort(copy, SegmentOrder)
    copy.toVector
  }

  /** Those that instants added, or wrote more to, as far as they are there. */
  def newFiles(state: IndexState, unseen: Vector[UnseenInstant]): Iterator[FileEntry] = {
    val effects = new InstantEffects
    unseen.foreach(u => effects.take(u.instant, u.content))
    effects.resolveSizes(state.table.storage, state.table.tablePath)
    val out = Vector.newBuilder[FileEntry]
    effects.changes.inKeyOrder.forEachRemaining { change =>
      val names = change.addedEntries.map(_.fileName).toSet
      if (names.nonEmpty)
        out ++= sorted(state.view.source.files(change.partitionPath).filter(f => names(f.fileName)))
    }
    out.result().iterator
  }

  /** Columns that came with these instants: files from before have none, which readers take for null. Nothing was noted of that
    * when those files were read, since nobody knew of the columns.
    */
  private def fresh(context: TableContext, table: TableColumns, unseen: Vector[UnseenInstant]): Vector[String] = {
    val before = TableColumns.without(context, unseen.map(_.instant.requestedTime).toSet)
    if (before.avroJson.isEmpty || before.avroJson == table.avroJson) Vector.empty
    else {
      val old = before.all.map(_._1).toSet
      table.all.collect {
        case (path, Some(_)) if !old(path) && !FileColumns.isMeta(path) && table.readsNull(path) => path
      }
    }
  }

  /** Without those of forbidden columns, which is told: an index had them. */
  private def allowed(state: IndexState, specs: Vector[IndexSpec]): Vector[IndexSpec] = {
    val kept = state.never.allowed(specs)
    if (kept != specs)
      log.warn(
        s"${state.store.dir}: ${specs.filterNot(kept.toSet).map(ColumnSettings.shown).mkString("; ")} would hold values of " +
          s"${state.never.text}: what is of these columns is dropped (${NeverColumns.OptionName})"
      )
    kept
  }

  /** Files of before with new ones behind, merged where that is due.
    *
    *  @param carried as for [[ColumnFiles.settled]]
    */
  def joined(
      files: ColumnFiles,
      before: Vector[IndexFile],
      made: Vector[IndexFile],
      carried: Map[String, Array[Byte]] = Map.empty
  ): Vector[IndexFile] =
    Vector(ColumnKind.Stats, ColumnKind.Records).flatMap { kind =>
      val all = before.filter(_.kind == kind) ++ made.filter(_.kind == kind)
      if (made.exists(_.kind == kind)) files.settled(all, kind, carried) else all
    }
}
