package hudiidx.table

import hudiidx.timeline.Action

/** The view rules of the format notes (§4.3, §4.4, §4.5, §5) written down literally, slow and plain: the measure for
  *  `FileSystemView`. One partition.
  *
  *  @param completed  completed writes with completion times, on version 6 those of their files
  *  @param pending    requested times of pending writes other than compactions
  *  @param compaction pending compaction by file id
  */
final case class ViewModel(
    version: Int,
    completed: Map[String, String],
    pending: Set[String],
    compaction: Map[String, String],
    files: Vector[FileEntry]
) {
  import ViewModel.Raw

  private val visibleTimeline: Vector[String] = (completed.keySet ++ compaction.values).toVector.sorted
  private def beforeStart(t: String) = visibleTimeline.headOption.exists(t < _) && !pending(t)
  private def committed(t: String) = completed.contains(t) || (beforeStart(t) && !compaction.values.exists(_ == t))
  private def visible(t: String) = visibleTimeline.contains(t) || beforeStart(t)
  private def completion(t: String): String = completed.getOrElse(t, t)

  private def listed(f: FileEntry): Boolean =
    committed(f.instantTime) || (!f.isBase && compaction.get(f.fileId).contains(f.instantTime))

  private val logOrder: Ordering[FileEntry] =
    Ordering.by(f => (f.instantTime, f.logVersion, f.writeToken, f.kind.extension))

  private def slices(id: String): Vector[Raw] = {
    val mine = files.filter(f => f.fileId == id && listed(f))
    val bases = mine.filter(_.isBase)
    val logs = mine.filterNot(_.isBase).sorted(logOrder)
    val own = logs.map(_.instantTime).filter { i =>
      version < 8 && completed.contains(i) && ViewModel.action(i) != Action.DeltaCommit
    }
    val start = (bases.map(_.instantTime) ++ own ++ (if (mine.isEmpty) None else compaction.get(id))).toSet
    val placed = logs.foldLeft((start, Vector.empty[(String, FileEntry)])) { case ((instants, done), log) =>
      val at =
        if (instants(log.instantTime) || version < 8 && !instants.exists(_ < log.instantTime)) log.instantTime
        else instants.toVector.sorted.filter(_ <= completion(log.instantTime)).lastOption.getOrElse(log.instantTime)
      (instants + at, done :+ (at -> log))
    }
    placed._1.toVector.sorted
      .map { instant =>
        Raw(instant, bases.find(_.instantTime == instant), placed._2.filter(_._1 == instant).map(_._2))
      }
      .filter(s => visible(s.instant))
  }

  private val ids: Vector[String] = files.map(_.fileId).distinct.sorted

  private def replacedAt(id: String): Option[String] =
    files.filter(_.fileId == id).flatMap(_.replacedAt).filter(committed).sorted.headOption

  private def isReplaced(id: String, max: Option[String]) = replacedAt(id).exists(r => max.forall(r <= _))

  private def live(max: Option[String]): Vector[(String, Vector[Raw])] =
    ids.filterNot(isReplaced(_, max)).map(id => id -> slices(id).filter(s => max.forall(s.instant <= _)))

  private def slice(s: Raw, id: String): FileSlice = FileSlice(
    "p",
    id,
    s.instant,
    s.base.map(baseFile),
    s.logs.map(l => LogFile(l.fileName, l.sizeBytes, l.logVersion))
  )

  private def baseFile(f: FileEntry) = BaseFile("p", f.fileId, f.instantTime, f.fileName, f.sizeBytes)

  def allBaseFiles(max: Option[String]): Vector[BaseFile] =
    live(max).flatMap { case (_, all) => all.flatMap(_.base).map(baseFile) }
  def latestBaseFiles(max: Option[String]): Vector[BaseFile] =
    live(max).flatMap { case (_, all) => all.flatMap(_.base).lastOption.map(baseFile) }
  def allFileGroups(max: Option[String]): Vector[FileGroup] =
    live(max).collect { case (id, all) if all.nonEmpty => FileGroup("p", id) }
  def allReplacedFileGroups(max: Option[String]): Vector[FileGroup] =
    ids.filter(isReplaced(_, max)).map(FileGroup("p", _))
  def allFileSlices(max: Option[String]): Vector[FileSlice] = live(max).flatMap { case (id, all) =>
    all.map(slice(_, id))
  }
  def latestFileSlices(max: Option[String]): Vector[FileSlice] = live(max).flatMap { case (id, all) =>
    all.filter(s => max.isEmpty || s.base.nonEmpty || s.logs.nonEmpty).lastOption.map(slice(_, id))
  }
  def latestUncompactedFileSlices(max: Option[String]): Vector[FileSlice] = live(max).flatMap { case (id, all) =>
    all.filter(s => compaction.get(id).forall(s.instant < _)).lastOption.map(slice(_, id))
  }
  def latestMergedFileSlices(max: Option[String]): Vector[FileSlice] = live(max).flatMap { case (id, all) =>
    all.lastOption.map { last =>
      if (compaction.get(id).contains(last.instant) && all.size > 1) {
        val previous = all(all.size - 2)
        slice(Raw(previous.instant, previous.base, (previous.logs ++ last.logs).sorted(logOrder)), id)
      } else slice(last, id)
    }
  }
}

object ViewModel {

  /** What an instant did: some of each. */
  def action(instant: String): String = instant.last.toInt % 4 match {
    case 1 => Action.Commit
    case 3 => Action.ReplaceCommit
    case _ => Action.DeltaCommit
  }

  private final case class Raw(instant: String, base: Option[FileEntry], logs: Vector[FileEntry])
}
