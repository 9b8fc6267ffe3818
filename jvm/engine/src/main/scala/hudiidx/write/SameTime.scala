package hudiidx.write

import hudiidx.DamagedTable
import hudiidx.sync.TableContext
import hudiidx.timeline.{Action, InstantName}

/** What is pending at the time of a write that is complete. No writer makes such a thing, for each takes a time of its own; whoever can
  * put files beside a timeline can, and what is rolled back by its time would be files that count.
  */
private[write] object SameTime {

  /** Before anything is rolled back, or run again. DamagedTable if another write of this time is complete, archived ones included. */
  def requireNone(table: TableContext, instant: String, pending: String): Unit = {
    def isOther(time: String, action: String) = time == instant && Action.Writes(action) &&
      InstantName.comparableAction(action) != InstantName.comparableAction(pending)
    def active = table.timeline.completed.exists(i => isOther(i.requestedTime, i.action))
    // Archived ones are older than all that the timeline has left.
    def archived = table.timeline.start.exists(_ > instant) &&
      table.history
        .instantsFrom(instant)
        .takeWhile(_.requestedTime <= instant)
        .exists(a => isOther(a.requestedTime, a.action))
    if (active || archived)
      throw new DamagedTable(
        s"${table.timeline.dir}/$instant.$pending: pending at the time of another write, which is complete, and nothing of that may be rolled back; " +
          "move the files of the pending one out of this folder, then write again"
      )
  }
}
