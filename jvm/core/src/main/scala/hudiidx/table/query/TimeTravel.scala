package hudiidx.table.query

import java.time.Instant

import hudiidx.InvalidOption
import hudiidx.table.TableConfig
import hudiidx.timeline.{Action, ActiveTimeline, InstantContents, InstantTime}

/** Which instants may be asked for: those that stock Hudi allows. */
object TimeTravel {

  /** InvalidOption for an instant whose files the cleaner may have removed, at which a write is not yet completed, or at which another
    * table was there.
    */
  def check(config: TableConfig, timeline: ActiveTimeline, contents: InstantContents, asOf: String): Unit = {
    config.text(TableConfig.RemadeSince).filter(_ > asOf).foreach { since =>
      throw new InvalidOption(
        s"${config.file}: as.of.instant $asOf lies before $since, at which the table was made anew; choose a later instant"
      )
    }
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

  /** The last instant time that is not after a moment. InvalidOption if writes were made in an hour that comes twice in the table's
    * zone, and the moment is in it: which of them are after it their instants do not say.
    *
    * @param micros since 1970
    */
  def instantTime(config: TableConfig, timeline: => ActiveTimeline, micros: Long): String = {
    val millis = Math.floorDiv(micros, 1000L)
    InstantTime.twiceAround(millis, config.timelineZone).foreach { case (first, last) =>
      timeline.completedWrites.map(_.requestedTime).find(t => t >= first && t <= last).foreach { write =>
        throw new InvalidOption(
          s"${config.file}: the moment ${Instant.ofEpochMilli(millis)} is in an hour that comes twice in ${config.timelineZone}, the zone of the table's " +
            s"instants, and so is the write $write; name the instant that is meant: VERSION AS OF '$write'"
        )
      }
    }
    InstantTime.format(millis, config.timelineZone)
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
