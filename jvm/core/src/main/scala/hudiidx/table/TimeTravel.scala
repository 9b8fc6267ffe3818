package hudiidx.table

import hudiidx.InvalidOption
import hudiidx.timeline.{Action, ActiveTimeline, InstantContents}

/** Which instants may be asked for: those that stock Hudi allows. */
object TimeTravel {

  /** InvalidOption for an instant whose files the cleaner may have removed, or at which a write is not yet completed. */
  def check(config: TableConfig, timeline: ActiveTimeline, contents: InstantContents, asOf: String): Unit = {
    val lastClean = timeline.completed.reverseIterator.find(_.action == Action.Clean)
    val kept = lastClean.flatMap(c => contents.clean(c).earliestCommitToRetain)
    kept.filter(_ > asOf).foreach { earliest =>
      throw new InvalidOption(
        s"${config.file}: as.of.instant $asOf lies before $earliest, the earliest instant whose files the cleaner kept; " +
          "choose a later instant"
      )
    }
    firstPending(timeline, contents).filter(_ <= asOf).foreach { pending =>
      throw new InvalidOption(
        s"${config.file}: as.of.instant $asOf is not before $pending, a write that has not completed; " +
          "choose an earlier instant"
      )
    }
  }

  /** Pending table services other than clustering change no rows; a pending clustering keeps its input visible. */
  private[table] def firstPending(timeline: ActiveTimeline, contents: InstantContents): Option[String] =
    timeline.instants
      .find { i =>
        !i.isCompleted && (i.action match {
          case Action.Commit | Action.DeltaCommit => true
          case Action.ReplaceCommit               => contents.clusteringPlan(i).isEmpty
          case _                                  => false
        })
      }
      .map(_.requestedTime)
}
