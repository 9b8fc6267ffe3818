package hudiidx.write.format

import hudiidx.storage.Storage
import hudiidx.sync.TableContext
import hudiidx.table.TableConfig
import hudiidx.timeline.{InstantName, InstantTime}

/** The files of a timeline that say that instants are complete. */
private[write] object CompletedFiles {

  /** The completed files of an instant, by path; one at most, unless two writers took it for theirs. */
  def of(
      storage: Storage,
      dir: String,
      config: TableConfig,
      instant: String,
      action: String
  ): Vector[String] =
    if (config.timelineLayout == 1) Vector(s"$dir/$instant.$action").filter(storage.isThere)
    else
      storage
        .list(dir)
        .map(_.name)
        .filter(n => n.startsWith(s"${instant}_") && n.endsWith(s".$action"))
        .map(n => s"$dir/$n")

  /** @param completion time, where the timeline's layout names it */
  def path(
      dir: String,
      config: TableConfig,
      instant: String,
      action: String,
      completion: => String
  ): String =
    if (config.timelineLayout == 1) s"$dir/$instant.$action" else s"$dir/${instant}_$completion.$action"

  /** Behind all that the timeline has. */
  def next(table: TableContext): String = next(table, table.config)

  /** The same, for what begins: none of those `taken`, which a writer that failed may have left beside the timeline, nor of those whose
    * files others left on it: beside an instant of their time these would stay.
    */
  def next(table: TableContext, taken: Set[String]): String = {
    val zone = table.config.timelineZone
    val left = table.timeline.unfinished.flatMap(f => InstantName.left(f.name, table.timeline.layout))
    val all = taken ++ left.map(_.requestedTime)
    Iterator.iterate(next(table))(InstantTime.next(_, 0L, zone)).dropWhile(all).next()
  }

  /** As instants of a table with these properties are written. */
  def next(table: TableContext, as: TableConfig): String = {
    val all = table.timeline.instants.flatMap(i => i.completionTime.toVector :+ i.requestedTime)
    val last = if (all.isEmpty) "" else all.max
    InstantTime.next(last, System.currentTimeMillis(), as.timelineZone)
  }
}
