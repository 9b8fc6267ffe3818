package hudiidx.timeline

/** A completed instant that was moved off the active timeline.
  *
  *  @param completionTime as far as the archive knows it
  *  @param content        what its completed file held
  */
final case class ArchivedInstant(
    requestedTime: String,
    completionTime: Option[String],
    action: String,
    content: InstantContent
)

/** The archived timeline of a table. Only completed instants are told. DamagedTable if a file cannot be decoded. */
trait TimelineHistory {

  /** Completion time of an archived instant; None if it is not archived or the archive does not say. */
  def completionTime(instantTime: String): Option[String]

  /** Instants requested at or after the time, ordered by requested time, then action; each once. Contents are read as
    *  they are asked for, so that memory does not grow with the history.
    */
  def instantsFrom(instantTime: String): Iterator[ArchivedInstant]
}

object TimelineHistory {

  /** The same, whose commits are looked at. */
  def checked(history: TimelineHistory, check: WrittenCheck): TimelineHistory = new TimelineHistory {
    override def completionTime(instantTime: String): Option[String] = history.completionTime(instantTime)

    override def instantsFrom(instantTime: String): Iterator[ArchivedInstant] =
      history.instantsFrom(instantTime).map(i => i.copy(content = i.content.checkedBy(check)))
  }

  /** Of a table that has archived nothing. */
  val Empty: TimelineHistory = new TimelineHistory {
    override def completionTime(instantTime: String): Option[String] = None
    override def instantsFrom(instantTime: String): Iterator[ArchivedInstant] = Iterator.empty
  }
}
