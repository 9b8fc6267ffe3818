package hudiidx.table

import hudiidx.timeline.{ActiveTimeline, InstantContents, WriteStat}
import java.util.Arrays

/** Where the completed writes of a timeline wrote to log files, by the stats of their commits.
  *
  *  @param instants files of those commits
  */
private[table] final class LogWrites private (val instants: Vector[String], byPath: Map[String, LogReach]) {

  /** @param file full path of a log file; stats have paths below the table's folder */
  def to(file: String): LogReach = {
    val below = file.indices.iterator.filter(file.charAt(_) == '/').map(i => file.substring(i + 1))
    below.map(byPath.get).collectFirst { case Some(found) => found }.getOrElse(LogReach.None)
  }
}

private[table] object LogWrites {
  private val Log = ".log."

  def of(timeline: ActiveTimeline, contents: InstantContents): LogWrites = {
    val commits = timeline.completedWrites
    val stats = for {
      commit <- commits
      stat <- contents.commit(commit).writeStats
      path <- stat.path if path.contains(Log)
    } yield path -> stat
    val byPath = stats.groupBy(_._1).map { case (path, all) => path -> new LogReach(all.map(_._2)) }
    new LogWrites(commits.map(_.fileName), byPath)
  }
}

/** Where completed writes wrote to one log file. */
private[table] final class LogReach(stats: Vector[WriteStat]) {
  private val sizes =
    stats.groupBy(_.logOffset).map { case (start, all) => start -> all.map(_.fileSizeBytes).max }.toVector.sorted
  private val starts = sizes.map(_._1).toArray

  /** The greatest size that the file had behind one of the writes that start there or before. */
  private val ends = sizes.map(_._2).scanLeft(0L)(math.max(_, _)).tail.toArray

  def isEmpty: Boolean = starts.isEmpty

  /** If a write wrote what is at an offset: the greatest size that the file had behind one that did. By a search: a file may have as many
    * places in doubt as writes.
    */
  def endOver(offset: Long): Option[Long] = {
    val found = Arrays.binarySearch(starts, offset)
    val last = if (found < 0) -found - 2 else found
    if (last >= 0 && ends(last) > offset) Some(ends(last)) else scala.None
  }
}

private[table] object LogReach {
  val None: LogReach = new LogReach(Vector.empty)
}
