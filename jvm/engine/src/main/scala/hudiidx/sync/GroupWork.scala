package hudiidx.sync

import hudiidx.log.MergeMode
import hudiidx.table.{BaseFile, FileSlice, TableConfig, TableMergeRules}

/** What must be read of a dirty file group to bring the index's keys of it up to date. */
sealed trait GroupWork

object GroupWork {

  /** Nothing: the live keys are the same, or the group has no visible slice. */
  case object Unchanged extends GroupWork

  /** Every live key of the slice is added. What the group had before cannot be told from files: keys that the index has of it
    * and that are not among these are to be removed (there are none if the index does not know the group).
    */
  final case class All(slice: FileSlice) extends GroupWork

  /** Of the keys that the writes touched those that are live in the slice are added, the others removed.
    *
    * @param rows     touched rows of the slice's base file
    * @param logFiles names of the log files in which the blocks of `instants` stand: not all need be in the slice. If one
    *                 of them is gone, the work becomes `All`
    */
  final case class Touched(slice: FileSlice, rows: TouchedRows, logFiles: Vector[String], instants: Set[String])
      extends GroupWork

  /** Touched rows of the slice's base file are added, keys of the base file from before that are not live any more removed.
    * If that file is gone, the work becomes `All`.
    */
  final case class Diff(before: BaseFile, slice: FileSlice, rows: TouchedRows) extends GroupWork

  /** Decides from what the writes did to the group.
    *
    * @param slice       the slice that a snapshot query reads; None: the group is gone, replaced or not visible
    * @param baseOn      the base file of this group and of an instant, while the table still has it
    * @param commitTimes base files tell who wrote each row (false for virtual keys)
    * @param mergesAlike compactions keep live keys as readers see them, see `mergesAlike`
    */
  def of(
      touch: GroupTouch,
      slice: Option[FileSlice],
      baseOn: String => Option[BaseFile],
      commitTimes: Boolean,
      mergesAlike: Boolean
  ): GroupWork = slice match {
    case None                                                                              => Unchanged
    case Some(s) if touch.created || touch.rolledBack || (touch.compacted && !mergesAlike) => All(s)
    case Some(s) if touch.deletes > 0                                                      =>
      // A slice with logs had other live keys than its base file.
      val before = touch.previousBase.filter(_ => touch.logFiles.isEmpty && s.logFiles.isEmpty).flatMap(baseOn)
      before.fold[GroupWork](All(s))(Diff(_, s, rows(touch, commitTimes)))
    case Some(s) if touch.logFiles.nonEmpty || rows(touch, commitTimes) != TouchedRows.None =>
      Touched(s, rows(touch, commitTimes), touch.logFiles, touch.instants)
    case _ => Unchanged
  }

  /** False where a compaction may leave other live keys than a reader saw before it: a custom payload decides what becomes of
    * a row, and Hudi 1.0's compaction lets late deletes win (the fixture v8-mor-event) where its reader does not. On an upgraded table that
    * of stock 1.x may merge log files of version 6 a second time, deletes among them (the fixture up-v6-mor-event). Tables of version 6
    * may be compacted by 1.x, to whose rules late records and late deletes are others than to those of 0.15.
    *
    * @param dated commit times count as well: a late log record gives way to the base file's row and its commit time
    */
  def mergesAlike(config: TableConfig, dated: Boolean = false): Boolean = {
    val rules = TableMergeRules.of(config)
    val differsByRelease = config.format.mergesAsHudi015 && rules.orderingFields.nonEmpty
    !config.mayHaveLogsOfSlices && !differsByRelease && (rules.mode match {
      case MergeMode.CommitTime                           => true
      case MergeMode.EventTime | MergeMode.OrderedDeletes => config.format.compactsAsItReads && !dated
      case MergeMode.Custom                               => false
    })
  }

  private def rows(touch: GroupTouch, commitTimes: Boolean): TouchedRows =
    if (touch.inserts == 0 && touch.updates == 0 && touch.compactions.isEmpty) TouchedRows.None
    else if (commitTimes) TouchedRows.OfInstants(touch.instants ++ touch.compactions)
    else TouchedRows.Every
}

/** Rows of a base file that may be new in their group. */
sealed trait TouchedRows

object TouchedRows {
  case object None extends TouchedRows

  /** Rows whose `_hoodie_commit_time` is one of these: an insert bears the instant of its writer, or of a later update. */
  final case class OfInstants(instants: Set[String]) extends TouchedRows

  case object Every extends TouchedRows
}
