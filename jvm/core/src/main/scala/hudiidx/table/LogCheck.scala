package hudiidx.table

import hudiidx.{DamagedTable, Log}
import hudiidx.log.{LogBlock, LogBlockKind, LogDamage, LogJudge}
import hudiidx.storage.Storage
import hudiidx.timeline.{ActiveTimeline, InstantContents, TimelineReader, WriteStat}
import java.util.Arrays

/** Tells damage of log files from what failed writes have left in them, by the write stats of completed instants: a stat
  * says from where to where its write reached (format notes §3.2). The timeline is read when there is a doubt, not before.
  *
  * From version 8 on a log file belongs to one instant, so all of it was written if that completed. On version 6 stores that
  * append may hold torn blocks of failed writes between those of others.
  *
  * @param asStock damage is one warning and counts as never written
  */
final class LogCheck(config: TableConfig, asStock: Boolean) extends LogDamage {
  private val tablePath = config.file.substring(0, config.file.lastIndexOf("/" + TableConfig.HoodieFolder + "/"))
  private val ownInstants = config.format.logsOfOneWrite && !config.mayHaveLogsOfSlices

  override def judgeOf(storage: Storage, file: String): LogJudge = new Judge(storage, file)

  /** Of the last timeline that a doubt was held against: thousands of files may be in doubt, each with thousands of remains. */
  @transient private var known: LogWrites = _

  private def writesOf(storage: Storage): LogWrites = synchronized {
    val dir = config.timelineDir(tablePath)
    val timeline = TimelineReader.read(storage, dir, config.timelineLayout, config.timelineZone, config.timelineFolder)
    val names = timeline.completedWrites.map(_.fileName)
    // Null in a task.
    val found = Option(known)
      .filter(_.instants == names)
      .getOrElse(LogWrites.of(timeline, new InstantContents(storage, dir)))
    known = found
    found
  }

  private final class Judge(storage: Storage, file: String) extends LogJudge {
    private var told = 0

    private lazy val writes: LogReach = writesOf(storage).to(file)

    override def corrupt(block: LogBlock, intactEnd: Long): Boolean = {
      val end = writes.endOver(block.offset)
      // What a completed write ended with is whole; the bytes after it are nobody's.
      if (!asStock && end.contains(intactEnd)) true
      else {
        // Where no stat tells, since the instants were archived, it may have been written.
        if (end.nonEmpty || writes.isEmpty)
          report(block.offset, "bytes of a completed write are not a log block: cut off or overwritten")
        false
      }
    }

    override def shorter(sizeBytes: Long, writtenBytes: Long): Unit =
      report(sizeBytes, s"the file ends, but $writtenBytes bytes were written")

    override def read(block: LogBlock): Unit = block.kind match {
      case LogBlockKind.Command if !block.isRollback =>
        report(block.offset, "a command block without a known command")
      case LogBlockKind.CdcData if !file.endsWith(FileKind.CdcLog.extension) =>
        report(block.offset, "a change-data block in a file of data blocks")
      case LogBlockKind.Command | LogBlockKind.CdcData => ()
      case _ => if (ownInstants) LogCheck.instantOf(file).foreach(compareInstants(block, _))
    }

    private def compareInstants(block: LogBlock, named: String): Unit =
      if (!block.instantTime.contains(named))
        report(block.offset, s"a block of instant ${block.instantTime.getOrElse("none")} in a file of instant $named")

    override def uncommitted(block: LogBlock): Unit =
      if (writes.endOver(block.offset).nonEmpty)
        report(
          block.offset,
          s"a block of instant ${block.instantTime.getOrElse("none")}, which did not complete, where a completed write wrote"
        )

    private def report(offset: Long, what: String): Unit = {
      val found = s"$file: at offset $offset $what"
      if (asStock) {
        // A file may have thousands of such places.
        if (told < LogCheck.MostTold) LogCheck.log.warn("{}; it is skipped, rows may be missing or old", found)
        if (told == LogCheck.MostTold)
          LogCheck.log.warn("{}; it is skipped, and so is what else of the file is damaged", found)
        told += 1
      } else
        throw new DamagedTable(
          s"$found; restore the file from a copy, roll the instant back with Hudi, or read what is left with " +
            s"${LogCheck.OptionName}=${LogCheck.AsStock}"
        )
    }
  }
}

object LogCheck {

  /** The option that chooses between an error and stock Hudi's behaviour. */
  val OptionName = "hudiidx.read.damaged"
  val AsError = "error"
  val AsStock = "as_stock"

  private val log = Log.of(classOf[LogCheck])
  private val MostTold = 10

  /** The instant in a log file's name. */
  private def instantOf(file: String): Option[String] = {
    val name = file.substring(file.lastIndexOf('/') + 1)
    FileName.parse("", name, 0L).filter(!_.isBase).map(_.instantTime)
  }
}

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
  def of(timeline: ActiveTimeline, contents: InstantContents): LogWrites = {
    val commits = timeline.completedWrites
    val stats = for {
      commit <- commits
      stat <- contents.commit(commit).writeStats
      path <- stat.path if stat.fileName.exists(FileName.isLog)
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
