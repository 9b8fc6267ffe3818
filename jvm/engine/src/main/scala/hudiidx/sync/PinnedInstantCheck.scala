package hudiidx.sync

import hudiidx.TableChanged
import hudiidx.table.TableConfig
import hudiidx.timeline.{ActiveTimeline, Instant}
import java.io.FileNotFoundException
import java.nio.file.NoSuchFileException

/** A table as it was read at a moment that has passed: whether it can still be read as of it. What completed since does not
  * matter, for that is skipped. What was there then must be there still, or be archived: a table that was made anew under the
  * path has none of it, and one that was restored or upgraded not all, or not where it was.
  */
object PinnedInstantCheck {

  /** Reads the table's properties, lists its timeline, and looks into the archive where instants left that. TableChanged if it
    * is another table now or the moment was rolled back, NotAHudiTable if there is none.
    */
  def requireUnchanged(pinned: TableContext): Unit = {
    val now = TableContext.load(pinned.access, pinned.tablePath)
    changed(pinned, now).foreach(why => throw tableChanged(pinned, why))
  }

  /** `body` reads the timeline's files as of a moment: TableChanged where one of them is no more, and no archive has it. */
  def asOf[A](pinned: TableContext)(body: => A): A =
    try body
    catch {
      case e @ (_: NoSuchFileException | _: FileNotFoundException) =>
        requireUnchanged(pinned)
        throw tableChanged(pinned, s"${e.getMessage} went away", e)
    }

  private def tableChanged(pinned: TableContext, why: String, cause: Throwable = null): TableChanged =
    new TableChanged(
      s"${pinned.tablePath}: $why since this read was planned; read the table again, with a new DataFrame",
      cause
    )

  /** What of a moment is no more by now. */
  def changed(pinned: TableContext, now: TableContext): Option[String] =
    whyNot(pinned.config, now.config).orElse(lost(pinned.timeline, now))

  private def whyNot(pinned: TableConfig, now: TableConfig): Option[String] =
    if (pinned.tableName != now.tableName || pinned.tableType != now.tableType)
      Some(s"it was made anew as ${now.tableName} (${now.tableType.name})")
    else if (pinned.version != now.version) Some(s"its version went from ${pinned.version} to ${now.version}")
    else None

  private def lost(pinned: ActiveTimeline, now: TableContext): Option[String] = {
    val there = now.timeline.completedWrites.map(_.requestedTime).toSet
    val gone = pinned.completedWrites.filterNot(i => there(i.requestedTime))
    val archived = if (gone.isEmpty) Set.empty[String] else archivedFrom(gone.head, now)
    val lost = gone.map(_.requestedTime).filterNot(archived)
    lost.headOption.map(t => s"instant $t left its timeline: it was rolled back, or the table was made anew")
  }

  private def archivedFrom(first: Instant, now: TableContext): Set[String] =
    now.history.instantsFrom(first.requestedTime).map(_.requestedTime).toSet
}
