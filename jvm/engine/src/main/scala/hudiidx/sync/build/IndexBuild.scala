package hudiidx.sync.build

import hudiidx.column.NeverColumns
import hudiidx.manifest._
import hudiidx.store.{Current, IndexVersion}
import hudiidx.sync.{
  BuildProgress,
  IndexOptions,
  IndexPart,
  IndexStatus,
  MasterFiles,
  MetadataScan,
  PartitionScanner,
  SyncPlan,
  TableContext,
  TableSnapshot,
  WrittenFiles
}
import hudiidx.table.listing.TableListing
import hudiidx.table.ViewTimeline
import hudiidx.{DamagedIndex, DamagedTable, Log}
import scala.annotation.tailrec

/** Makes an index from the table's files. It is made once, however often others publish meanwhile: then it is brought up from
  * the moment as of which it was made, with what they added to the index, and published on top.
  */
private[sync] final class IndexBuild(
    drafts: Drafts,
    options: IndexOptions,
    scanner: PartitionScanner,
    parts: Vector[IndexPart]
) {
  private val log = Log.of(classOf[Indexer])
  private val path = drafts.path
  private val store = drafts.store

  def run(rebases: Int): Synced = {
    drafts.requireTries(rebases)
    val table = drafts.table().withPassed
    IndexRights.settle(store, table)
    drafts.showingProgress(made(table, _, rebases))
  }

  /** Writes master manifest, partition index, parts and version. */
  private def made(table: TableContext, progress: BuildProgress, rebases: Int): Synced = {
    val began = drafts.clock.millis()
    val view = ViewTimeline.load(table.config, table.timeline, table.contents, table.history.completionTime(_))
    val listing = TableSnapshot.listingOf(table, view, scanner.folders, isFollowed = true)
    val base = store.base()
    val current = base.current
    val before = current match {
      // Its settings hold.
      case Current.Found(version, _) if version.table == table.identity =>
        Some(if (base.unread.isEmpty) version else version.copy(files = Vector.empty))
      case Current.Unreadable(_, _, Some(earlier)) if earlier.table == table.identity =>
        Some(earlier.copy(files = Vector.empty))
      case _ => None
    }
    versionOf(current).filter(_.table != table.identity).foreach { other =>
      log.warn(
        "{}: {} held an index of {}, which goes; if that table is still there, give one of the two a folder of its own by hudiidx.index.path",
        path,
        store.dir,
        other.table.text
      )
    }
    val rule = ruleOf(current)
    rule.requireNoPartition(table.config)
    NeverNames.warn(rule, table)
    drafts.forget(versionOf(current), rule)
    val master = fromMetadata(table, listing, progress).getOrElse(
      writeMaster(table, listing.partitions, progress, scanner.scan(listing, _))
    )
    val written = master.copy(properties = master.properties ++ rule.properties)
    before.foreach(drafts.requireParts)
    val others = drafts.made(written, table, parts, Some(progress))((part, state) => part.build(state, before))
    val draft =
      Draft(table, written, others.filterNot { case (_, made) => made.files.isEmpty && made.properties.isEmpty })
    published(draft, draft, before, base.next, began, rebases) match {
      case Right(synced) => synced
      case Left(tries)   => made(drafts.table().withPassed, progress, tries)
    }
  }

  /** Left if the table went on so that the draft is none of it any more.
    *
    *  @param own   what was made here
    *  @param draft with what others published meanwhile
    */
  @tailrec
  private def published(
      own: Draft,
      draft: Draft,
      before: Option[IndexVersion],
      number: Long,
      began: Long,
      rebases: Int
  ): Either[Int, Synced] =
    drafts.publish(draft, number, began) match {
      case Some(version) =>
        val instants = draft.table.completed.map(_.requestedTime)
        val result = SyncResult(version, instants, merged = false, rebuilt = true, published = true, rebases)
        Right(Synced(result, draft.table))
      case None =>
        drafts.requireTries(rebases + 1)
        val base = store.base()
        val others = base.requireRead()
        // What was made may hold what others have forbidden since.
        if (!NeverColumns.of(own.manifest.properties).covers(ruleOf(others))) Left(rebases + 1)
        else
          caughtUp(own, drafts.table()) match {
            case Some(now) => published(now, withOthers(now, before, others), before, base.next, began, rebases + 1)
            case None      => Left(rebases + 1)
          }
    }

  /** Whatever table the version was made from: who forbade a column did so for the folder. */
  private def ruleOf(current: Current): NeverColumns = drafts.never(versionOf(current))

  private def versionOf(current: Current): Option[IndexVersion] = current match {
    case Current.Found(version, _)         => Some(version)
    case Current.Unreadable(_, _, earlier) => earlier
    case Current.Absent                    => None
  }

  private def caughtUp(draft: Draft, now: TableContext): Option[Draft] = {
    val made = drafts.version(draft, 0L)
    SyncPlan.of(made, now) match {
      case IndexStatus.Usable(unseen) if unseen.isEmpty => Some(draft)
      case IndexStatus.Usable(unseen)                   =>
        try {
          val next = drafts.of(made, now, drafts.changesOf(unseen, made.coverage, now), unseen)
          Some(next.copy(leftovers = draft.allLeftovers))
        } catch { case _: DamagedIndex => None }
      case IndexStatus.Diverged(_) => None
    }
  }

  /** With the parts that others gave the index since `before`. */
  private def withOthers(draft: Draft, before: Option[IndexVersion], others: Current): Draft = others match {
    case Current.Found(version, _) if version.table == draft.table.identity =>
      drafts.requireParts(version)
      val joined = draft.parts.map { case (part, made) => part -> part.withOthers(made, before, version) }
      val added = parts.filter(p => p.isIn(version) && !draft.parts.exists(_._1 == p) && !before.exists(p.isIn))
      val kept = SyncPlan.of(version, draft.table) match {
        case IndexStatus.Usable(unseen) =>
          drafts.made(draft.manifest, draft.table, added, None)(drafts.updated(_, _, version, unseen))
        case IndexStatus.Diverged(_) => Vector.empty
      }
      draft.copy(parts = joined ++ kept)
    case _ => draft
  }

  /** None where the files must come from a listing; so also where Hudi's metadata table is damaged, unless it was asked for. */
  private def fromMetadata(
      table: TableContext,
      listing: TableListing,
      progress: BuildProgress
  ): Option[WrittenFiles] =
    try
      MetadataScan.open(table, listing, options.source).map { metadata =>
        try writeMaster(table, metadata.partitions, progress, metadata.scan)
        finally metadata.close()
      }
    catch {
      case e: DamagedTable if options.source == "auto" =>
        log.warn(s"$path: files are listed, since Hudi's metadata table cannot be read: ${e.getMessage}")
        None
    }

  private def writeMaster(
      table: TableContext,
      partitions: Vector[String],
      progress: BuildProgress,
      scan: Int => Iterator[EncodedPartition]
  ): WrittenFiles = {
    val shape = ManifestShape.choose(partitions.size.toLong * ManifestShape.UsualFiles, partitions.size.toLong)
    val show = progress.of(0, 1 + parts.size)
    MasterFiles.write(store, table, shape)(progress.following(scan(shape.entriesPerPage), partitions.size, show))
  }
}
