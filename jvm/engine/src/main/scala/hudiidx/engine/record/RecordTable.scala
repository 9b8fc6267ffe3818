package hudiidx.engine.record

import hudiidx.parquet.{BaseFileKeys, CommitDay, KeyColumns}
import hudiidx.storage.{FileInfo, Storage}
import hudiidx.sync.{IndexState, TableAccess, TableContext}
import hudiidx.table.{BaseFile, TableConfig, TableMergeRules, ViewTimeline}

/** What tasks must know of a table to read its record keys; sent to them.
  *
  *  @param firstDay records committed before this day, in days since 1970-01-01, are left out; None: none are
  *  @param asOf     requested time of the reader's instant; None: the latest
  */
private[record] final case class RecordTable(
    path: String,
    config: TableConfig,
    timeline: ViewTimeline,
    firstDay: Option[Int],
    asOf: Option[String]
) {

  def sliceKeys(access: TableAccess): SliceKeys =
    new SliceKeys(
      access.storage,
      path,
      config,
      TableMergeRules.blocks(config, timeline, asOf),
      SliceKeysOptions(days = firstDay.isDefined)
    )

  /** DamagedTable if the file is gone. */
  def baseKeys(access: TableAccess, base: BaseFile): BaseFileKeys = {
    val columns = KeyColumns.of(config).copy(commitTimes = firstDay.isDefined)
    BaseFileKeys.open(access.storage, pathOf(base), columns, base.sizeBytes)
  }

  private def pathOf(base: BaseFile): String = Storage.join(Storage.join(path, base.partitionPath), base.fileName)

  /** The file that `keys` opens of an input without logs. */
  def baseOf(input: SliceInput): Option[FileInfo] =
    if (input.slice.logFiles.nonEmpty) None
    else input.slice.baseFile.map(b => FileInfo(pathOf(b), b.sizeBytes, 0L, isDirectory = false))

  /** Hands over the live keys of an input. */
  def keys(access: TableAccess, input: SliceInput)(add: RecordTable.Add): Unit =
    if (input.slice.logFiles.nonEmpty) sliceKeys(access).live(input.slice)(sink(add))
    else
      input.slice.baseFile.foreach { base =>
        val file = baseKeys(access, base)
        try rows(file, input, add)
        finally file.close()
      }

  private def rows(file: BaseFileKeys, input: SliceInput, add: RecordTable.Add): Unit = {
    val wanted = file.rowGroups.map(_.ordinal).filter(_ % input.parts == input.part)
    val rows = file.read(wanted)
    while (rows.next()) {
      val day = if (firstDay.isEmpty) 0 else rows.commitDay
      if (isInWindow(day)) add(rows.bytes, rows.from, rows.length, day, false)
    }
  }

  /** A day of 0 is not known, so it counts as inside. */
  def isInWindow(day: Int): Boolean = firstDay.isEmpty || day == 0 || day >= firstDay.get

  /** Commit times of rows decide what is indexed. */
  def isDated: Boolean = firstDay.isDefined && config.populateMetaFields

  private def sink(take: RecordTable.Add): KeySink = new KeySink {
    override def add(bytes: Array[Byte], from: Int, length: Int, day: Int, mayBeDeleted: Boolean): Unit =
      if (isInWindow(day)) take(bytes, from, length, day, mayBeDeleted)
    override def remove(bytes: Array[Byte], from: Int, length: Int): Unit = ()
  }
}

private[record] object RecordTable {

  /** Takes a live key: bytes, from, length, day of its commit, whether it may be deleted. */
  type Add = (Array[Byte], Int, Int, Int, Boolean) => Unit

  def of(state: IndexState, windowDays: Option[Int], asOf: Option[String] = None): RecordTable =
    of(state.table, state.view.timeline, windowDays, asOf)

  def of(
      table: TableContext,
      timeline: ViewTimeline,
      windowDays: Option[Int],
      asOf: Option[String]
  ): RecordTable =
    RecordTable(table.tablePath, table.config, timeline.withoutHistory, windowDays.flatMap(firstDay(table, _)), asOf)

  /** A window ends with the day of the newest instant, not with the clock's. None if that instant is no date. */
  private def firstDay(table: TableContext, days: Int): Option[Int] =
    Some(CommitDay.of(table.newestInstant)).filter(_ > 0).map(day => math.max(1, day - days))
}
