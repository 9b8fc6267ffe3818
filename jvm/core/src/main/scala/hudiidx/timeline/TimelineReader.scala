package hudiidx.timeline

import java.nio.charset.StandardCharsets.UTF_8
import java.time.ZoneId

import scala.collection.JavaConverters._

import hudiidx.bytes.UuidText
import hudiidx.storage.{FileInfo, Storage}
import hudiidx.{NotAHudiTable, TableChanged}

/** Finds the instants of a table's active timeline. Format notes §2.1. */
object TimelineReader {

  /** One listing; files whose names are no instant's are skipped. `zone` is that of the table's instants: it gives the
    *  completion time of completed instants of layout 2 whose names carry none. NotAHudiTable if the folder cannot be read,
    *  TableChanged if an upgrade is moving the timeline away: what is left of it is not the table's.
    *
    *  @param movedTo folder in `dir` where an upgrade of stock Hudi moves instants of layout 1, one by one; the properties tell of it
    *                 when that is done
    */
  def read(storage: Storage, dir: String, layout: Int, zone: ZoneId, movedTo: String): ActiveTimeline =
    read(storage, dir, layout, zone, movedTo, list(storage, dir))

  /** What is in a timeline's folder. NotAHudiTable if it cannot be read. */
  def list(storage: Storage, dir: String): Vector[FileInfo] = NotAHudiTable.reading(dir)(storage.list(dir))

  /** @param files in the folder, as `list` gives them */
  def read(
      storage: Storage,
      dir: String,
      layout: Int,
      zone: ZoneId,
      movedTo: String,
      files: Vector[FileInfo]
  ): ActiveTimeline = {
    if (layout == 1) files.find(f => f.isDirectory && f.name == movedTo).foreach(requireEmpty(storage, _))
    of(dir, layout, files, zone)
  }

  private def requireEmpty(storage: Storage, moved: FileInfo): Unit =
    if (NotAHudiTable.reading(moved.path)(storage.list(moved.path)).exists(f => InstantName.parse(f.name, 2).isDefined))
      throw new TableChanged(
        s"${moved.path}: has instants, and the table's properties say version 6: it is being upgraded. Read it again when that has " +
          "ended; if it failed, upgrade the table again with Hudi"
      )

  /** Pure: the timeline from a listing of its folder. */
  def of(dir: String, layout: Int, files: Vector[FileInfo], zone: ZoneId): ActiveTimeline = {
    require(layout == 1 || layout == 2, s"timeline layout $layout must be 1 or 2")
    val found = new java.util.ArrayList[Instant](files.length)
    files.foreach { f =>
      if (!f.isDirectory)
        InstantName.parse(f.name, layout).foreach(i => found.add(withCompletionTime(i, layout, f, zone)))
    }
    val planless = withoutPlans(found)
    found.removeIf(i => planless(i.fileName))
    found.sort(Order)
    val kept = Vector.newBuilder[Instant]
    var i = 0
    while (i < found.size) {
      // Instants of one group stand together, the highest state last.
      if (i + 1 == found.size || !sameGroup(found.get(i), found.get(i + 1))) kept += found.get(i)
      i += 1
    }
    val instants = kept.result()
    lazy val times = instants.iterator.map(_.requestedTime).toSet
    def isLeft(name: String) = planless(name) && !InstantName.parse(name, layout).exists(i => times(i.requestedTime))
    val unfinished =
      files.filter(f => !f.isDirectory && (isLeft(f.name) || InstantName.unfinished(f.name, layout).isDefined))
    val completed = instants.iterator.filter(_.isCompleted).map(_.fileName).toSet
    val listed = files.iterator.filter(f => completed(f.name)).map(f => f.name -> f).toMap
    new ActiveTimeline(dir, layout, instants, modified(files, layout, zone), unfinished, listed)
  }

  /** Inflight files of plans that are not there: each was made by a process that ended before it saw that its plan had been rolled
    * back meanwhile. Nobody completes such a one.
    */
  private def withoutPlans(found: java.util.List[Instant]): Set[String] = {
    val (planned, begun) = found.asScala.iterator
      .filter(i => Action.Plans(i.action) && !i.isCompleted)
      .toVector
      .partition(_.state == InstantState.Requested)
    val plans = planned.map(i => (i.requestedTime, i.action)).toSet
    begun.filterNot(i => plans((i.requestedTime, i.action))).map(_.fileName).toSet
  }

  /** Where completion times do not tell the moment: there are none, or the clock showed them twice. */
  private def modified(files: Vector[FileInfo], layout: Int, zone: ZoneId): Map[String, Long] =
    if (layout == 2 && zone.getRules.isFixedOffset) Map.empty
    else
      files.iterator
        .filter(f =>
          InstantName
            .parse(f.name, layout)
            .exists(i => i.isCompleted && i.completionTime.forall(InstantTime.comesTwice(_, zone)))
        )
        .map(f => f.name -> f.modifiedMillis)
        .toMap

  private def sameGroup(a: Instant, b: Instant): Boolean =
    a.requestedTime == b.requestedTime && InstantName.comparableAction(a.action) ==
      InstantName.comparableAction(b.action)

  /** By requested time, comparable action, state. Two completed files of one clean (concurrent cleaners): the earlier
    *  completion stands last and so is kept.
    */
  private val Order: java.util.Comparator[Instant] = new java.util.Comparator[Instant] {
    override def compare(a: Instant, b: Instant): Int = {
      val byTime = a.requestedTime.compareTo(b.requestedTime)
      if (byTime != 0) byTime
      else {
        val byAction = InstantName.comparableAction(a.action).compareTo(InstantName.comparableAction(b.action))
        if (byAction != 0) byAction
        else {
          val byState = Integer.compare(a.state.ordinal, b.state.ordinal)
          if (byState != 0) byState else b.fileName.compareTo(a.fileName)
        }
      }
    }
  }

  private def withCompletionTime(instant: Instant, layout: Int, file: FileInfo, zone: ZoneId): Instant =
    if (layout == 1 || !instant.isCompleted || instant.completionTime.isDefined) instant
    else {
      // A completion time is compared with requested times as a string, so it must have their length.
      val modified = InstantTime.format(file.modifiedMillis, zone)
      val comparable = if (modified.length == instant.requestedTime.length) modified else instant.requestedTime
      instant.copy(completionTime = Some(comparable))
    }
}

/** Names of instant files. */
object InstantName {

  /** The instant that a file name stands for; None for any other name. Layout 2 puts the completion time behind the
    *  requested time: `<requested>_<completed>.<action>`.
    */
  def parse(name: String, layout: Int): Option[Instant] = {
    val digits = digitsFrom(name, 0)
    if (digits == 0 || digits == name.length) None
    else if (name.charAt(digits) == '.') ofExtension(name, digits, name.substring(0, digits), None)
    else if (layout == 2 && name.charAt(digits) == '_') {
      val end = digitsFrom(name, digits + 1)
      if (end == digits + 1 || end == name.length || name.charAt(end) != '.') None
      else
        ofExtension(name, end, name.substring(0, digits), Some(name.substring(digits + 1, end)))
          .filter(_.isCompleted)
    } else None
  }

  /** The instant of a file that is left of one, see [[ActiveTimeline.unfinished]]. */
  def left(name: String, layout: Int): Option[Instant] = unfinished(name, layout).orElse(parse(name, layout))

  /** The instant of a file that hudiidx makes beside its place, as storages name those; None for any other name. Stock Hudi has no
    * names of this form.
    */
  def unfinished(name: String, layout: Int): Option[Instant] = {
    val end = name.length - Unfinished.length - UuidText.Length - 1
    if (end < 2 || name.charAt(0) != '.' || name.charAt(end) != '.' || !name.endsWith(Unfinished)) None
    else {
      val uuid = name.substring(end + 1, end + 1 + UuidText.Length).getBytes(UTF_8)
      val isOne = uuid.length == UuidText.Length && UuidText.parse(uuid, 0, new Array[Long](2))
      if (isOne) parse(name.substring(1, end), layout) else None
    }
  }

  private val Unfinished = ".tmp"

  private def digitsFrom(name: String, from: Int): Int = {
    var i = from
    while (i < name.length && name.charAt(i) >= '0' && name.charAt(i) <= '9') i += 1
    i
  }

  private def ofExtension(name: String, at: Int, requested: String, completion: Option[String]): Option[Instant] = {
    val extension = extensions.get(name.substring(at))
    if (extension == null) None else Some(Instant(requested, extension._1, extension._2, completion, name))
  }

  /** Every extension that counts, with its action and state. A completed compaction, log compaction or clustering has
    *  the name of the commit it became.
    */
  private val extensions: java.util.HashMap[String, (String, InstantState)] = {
    import Action._
    val all = new java.util.HashMap[String, (String, InstantState)]
    val pendingOnly = Seq(Compaction, LogCompaction, Clustering)
    val others = Seq(Commit, DeltaCommit, ReplaceCommit, Clean, Rollback, Restore, Savepoint, Indexing)
    (pendingOnly ++ others).foreach { action =>
      all.put(s".$action.requested", (action, InstantState.Requested))
      all.put(s".$action.inflight", (action, InstantState.Inflight))
    }
    others.foreach(action => all.put(s".$action", (action, InstantState.Completed)))
    all.put(".inflight", (Commit, InstantState.Inflight))
    all
  }

  /** Actions that are one instant's in different states compare equal: a compaction becomes a commit. */
  def comparableAction(action: String): String = action match {
    case Action.Compaction    => Action.Commit
    case Action.LogCompaction => Action.DeltaCommit
    case Action.Clustering    => Action.ReplaceCommit
    case other                => other
  }
}
