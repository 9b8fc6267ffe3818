package hudiidx.sync.build

import hudiidx.DamagedIndex
import hudiidx.column.NeverColumns
import hudiidx.store.IndexVersion
import hudiidx.sync.{IndexPart, IndexStatus, PartFiles, SyncPlan}
import scala.annotation.tailrec

/** Adds a part to an index, however long it takes and however often others publish meanwhile: the part is made once, as of a
  * version, then brought up by its own update to the one that is in force, and published on top of that.
  *
  *  @param sync    brings the index up to the timeline
  *  @param inForce the version in force, and the number of the next
  */
private[sync] final class PartAddition(
    part: IndexPart,
    drafts: Drafts,
    sync: Int => Synced,
    inForce: () => (IndexVersion, Long)
) {
  private val began = drafts.clock.millis()

  def run(): SyncResult = {
    val at = sync(0)
    val piece = drafts.showingProgress { progress =>
      drafts.opened(at, progress.of(0, 1))(part.piece(_, at.version))
    }
    placed(piece, at, at.result)
  }

  @tailrec
  private def placed(piece: PartFiles, at: Synced, soFar: SyncResult): SyncResult = {
    val joined = drafts.opened(at)(part.joined(_, at.version, piece))
    published(joined.copy(leftovers = (piece.leftovers ++ joined.leftovers).distinct), at.version) match {
      case Some(next) => soFar.copy(version = next, published = true)
      case None       =>
        drafts.requireTries(soFar.rebases + 1)
        val now = sync(soFar.rebases + 1)
        val result =
          soFar.copy(rebases = now.result.rebases, instants = (soFar.instants ++ now.result.instants).distinct)
        placed(caughtUp(piece, at, now), now, result)
    }
  }

  /** On top of `at`, or of a version that others made of it if that has the same instants, and of the part the same files. */
  private def published(made: PartFiles, at: IndexVersion): Option[IndexVersion] = {
    val (version, number) = inForce()
    val isSame = version.table == at.table && version.coverage == at.coverage &&
      NeverColumns.of(version) == NeverColumns.of(at) &&
      PartFiles.of(part, version) == PartFiles.of(part, at)
    if (isSame) drafts.publish(version, part, made, number, began) else None
  }

  private def caughtUp(piece: PartFiles, at: Synced, now: Synced): PartFiles = {
    def anew: PartFiles = drafts.opened(now)(part.piece(_, now.version))
    val made = at.version.copy(files = piece.files, properties = piece.properties)
    if (NeverColumns.of(at.version) != NeverColumns.of(now.version)) anew
    else
      SyncPlan.of(made, now.table) match {
        case IndexStatus.Usable(unseen) if unseen.isEmpty || !part.isIn(made) => piece
        case IndexStatus.Usable(unseen)                                       =>
          try {
            val next = drafts.opened(now)(part.update(_, made, unseen))
            next.copy(leftovers = (piece.leftovers ++ next.leftovers).distinct)
          } catch { case _: DamagedIndex => anew }
        case IndexStatus.Diverged(_) => anew
      }
  }
}
