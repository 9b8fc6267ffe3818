package hudiidx.engine.record

import hudiidx.slice.SliceMerger
import hudiidx.slice.LogReaders
import java.nio.file.{Path, Paths}
import java.util.BitSet

import hudiidx.parquet.{BaseFileKeys, KeyColumns, KeyInQuestion, KeyRows, KeyTable}
import hudiidx.log._
import hudiidx.merge.{MergeOptions, MergeRules}
import hudiidx.storage.{CloseableIterator, Storage}
import hudiidx.sync.{GroupWork, TouchedRows}
import hudiidx.table._

/** Receives the keys of a file group. A key may come several times; of what is told about it any one may be taken. Ranges
  * of bytes are good during the call alone.
  */
trait KeySink {

  /** A live key.
    *
    * @param day          of the commit that wrote its row, in days since 1970-01-01; 0 where days are not read or unknown
    * @param mayBeDeleted a custom payload decides whether the row is there, or a compaction may take it away, as one of several rows
    *                     of its key in a base file
    */
  def add(bytes: Array[Byte], from: Int, length: Int, day: Int, mayBeDeleted: Boolean): Unit

  /** A key that the group does not have (any more). */
  def remove(bytes: Array[Byte], from: Int, length: Int): Unit
}

/** @param days        read commit times too, for `KeySink.add`
  * @param budgetBytes memory for keys, besides that of the log reader and of Parquet's pages
  */
final case class SliceKeysOptions(
    days: Boolean = false,
    budgetBytes: Long = 64L << 20,
    tempDir: Path = Paths.get(System.getProperty("java.io.tmpdir"))
)

/** Live record keys of file slices, and their changes. Memory is bounded by the budgets: what a log touches beyond them
  * costs another pass over the base file's key column.
  *
  * All methods: DamagedTable if a file cannot be decoded or is gone (cleaned since the table was listed: list it anew),
  * UnsupportedTable for formats that are not read.
  *
  * @param blocks which log blocks count; its instant must be that of the slices handed in
  */
final class SliceKeys(
    storage: Storage,
    tablePath: String,
    config: TableConfig,
    blocks: BlockRules,
    options: SliceKeysOptions
) {
  private val rules = TableMergeRules.of(config)
  private val columns = KeyColumns.of(config).copy(commitTimes = options.days)

  private def pathOf(partitionPath: String, fileName: String): String =
    Storage.join(Storage.join(tablePath, partitionPath), fileName)

  /** Adds every live key of the slice. */
  def live(slice: FileSlice)(sink: KeySink): Unit = liveKeys(slice, dated(sink))

  private def liveKeys(slice: FileSlice, sink: KeySink): Unit = {
    val questions = new Questions(logged(slice, slice.logFiles.map(_.fileName), None))
    try scan(slice, questions, TouchedRows.Every, removing = false, sink)
    finally questions.close()
  }

  /** The work that can be done: `All` in place of work that needs a file which the table has no more. */
  def settled(work: GroupWork): GroupWork = work match {
    case GroupWork.Diff(before, slice, _) if isGone(before.partitionPath, before.fileName) => GroupWork.All(slice)
    case GroupWork.Touched(slice, _, logFiles, _) if outside(slice, logFiles).exists(isGone(slice.partitionPath, _)) =>
      GroupWork.All(slice)
    case other => other
  }

  /** Commit times may be read for other ends, and log records always tell theirs. */
  private def dated(sink: KeySink): KeySink = if (options.days) sink else new WithoutDays(sink)

  private def isGone(partitionPath: String, fileName: String): Boolean =
    !storage.isThere(pathOf(partitionPath, fileName))

  /** Log files that are not the slice's: a compaction has taken them in. */
  private def outside(slice: FileSlice, logFiles: Vector[String]): Vector[String] = {
    val inside = slice.logFiles.map(_.fileName).toSet
    logFiles.filterNot(inside)
  }

  /** Adds and removes keys, see [[GroupWork]]. For `All` it adds only: what to remove the index must tell. */
  def changes(work: GroupWork)(sink: KeySink): Unit = settledChanges(work, dated(sink))

  private def settledChanges(work: GroupWork, sink: KeySink): Unit = work match {
    case GroupWork.Unchanged                 => ()
    case GroupWork.All(slice)                => liveKeys(slice, sink)
    case touched: GroupWork.Touched          => ofTouched(touched, sink)
    case GroupWork.Diff(before, slice, rows) =>
      slice.baseFile.foreach(new BaseDiff(open, options.budgetBytes).run(before, _, rows, columns, sink))
  }

  private def ofTouched(work: GroupWork.Touched, sink: KeySink): Unit = {
    val slice = work.slice
    val gone = outside(slice, work.logFiles)
    // Rows of the base file are judged by the whole log, and so are keys that only older logs touched.
    val whole = gone.nonEmpty || work.rows != TouchedRows.None
    val inSlice = logged(slice, slice.logFiles.map(_.fileName), if (whole) None else Some(work.instants))
    val questions =
      if (gone.isEmpty) new Questions(inSlice)
      else new Questions(inSlice, logged(slice, gone, Some(work.instants)))
    try scan(slice, questions, work.rows, removing = true, sink)
    finally questions.close()
  }

  private def logged(
      slice: FileSlice,
      names: Vector[String],
      touchedBy: Option[Set[String]]
  ): CloseableIterator[LoggedKey] = {
    val counted =
      SliceLog.countedBlocks(storage, names.map(pathOf(slice.partitionPath, _)), blocks, logsOf(slice).toMap)
    val logOptions = LogKeysOptions(options.budgetBytes, options.tempDir)
    touchedBy match {
      case Some(instants) => LogKeys.touchedBy(instants, storage, counted, rules, LogReaders.all, logOptions)
      case None           => LogKeys.of(storage, counted, rules, LogReaders.all, logOptions)
    }
  }

  /** Paths of its log files, and the bytes that are known to have been written to them. */
  private def logsOf(slice: FileSlice): Vector[(String, Long)] =
    slice.logFiles.map(f => pathOf(slice.partitionPath, f.fileName) -> f.sizeBytes)

  private def open(base: BaseFile, columns: KeyColumns): BaseFileKeys =
    BaseFileKeys.open(storage, pathOf(base.partitionPath, base.fileName), columns, base.sizeBytes)

  /** Answers the questions by scans of the base file, as many keys at a time as the budget allows, and adds the wanted
    * rows of which none is asked.
    */
  private def scan(
      slice: FileSlice,
      questions: Questions,
      rows: TouchedRows,
      removing: Boolean,
      sink: KeySink
  ): Unit = {
    val table = new KeyTable(options.budgetBytes)
    lazy val dropped = if (rules.mode == MergeMode.Custom) new BitSet else droppedOf(slice)
    val needed = columns.copy(
      commitTimes = options.days || rows.isInstanceOf[TouchedRows.OfInstants],
      ordering = if (questions.hasNext) rules.orderingFields else Vector.empty
    )
    var first = true
    while (first || questions.hasNext) {
      first = false
      table.fill(questions)
      // A key that the log holds a row of is live, whatever the base file has.
      if (rows != TouchedRows.None || table.exists(!_.isLoggedLive)) slice.baseFile.foreach { base =>
        val file = open(base, needed)
        try pass(file, table, rows, row => dropped.get(row.toInt), sink)
        finally file.close()
      }
      table.foreach { k =>
        if (k.isLive) sink.add(k.key, 0, k.key.length, k.liveDay, k.isDoubtful)
        else if (removing) sink.remove(k.key, 0, k.key.length)
      }
    }
  }

  private def pass(
      file: BaseFileKeys,
      table: KeyTable,
      wanted: TouchedRows,
      isDropped: Long => Boolean,
      sink: KeySink
  ): Unit = {
    val rows = file.read()
    while (rows.next()) if (table.covers(rows)) {
      val asked = table.find(rows)
      if (asked != null) asked.meet(rows, isDropped)
      else if (SliceKeys.isWanted(rows, wanted))
        sink.add(rows.bytes, rows.from, rows.length, rows.commitDay, mayBeDeleted = false)
    }
  }

  /** Rows of the base file that are not in the slice as they are. */
  private def droppedOf(slice: FileSlice): BitSet = {
    val logs = logsOf(slice)
    val base = slice.baseFile.map(b => pathOf(b.partitionPath, b.fileName) -> b.instantTime)
    val merging = MergeOptions(options.budgetBytes, options.tempDir)
    val merger = new SliceMerger(storage, config, MergeRules.of(config), blocks, merging, options.budgetBytes)
    val merged = merger.merge(base, logs.map(_._1), logs.toMap)
    try merged.rows.droppedBase
    finally merged.release()
  }
}

private[hudiidx] object SliceKeys {
  def isWanted(row: KeyRows, wanted: TouchedRows): Boolean = wanted match {
    case TouchedRows.Every           => true
    case TouchedRows.OfInstants(set) => row.isOf(set)
    case TouchedRows.None            => false
  }
}

private final class WithoutDays(sink: KeySink) extends KeySink {
  override def add(bytes: Array[Byte], from: Int, length: Int, day: Int, mayBeDeleted: Boolean): Unit =
    sink.add(bytes, from, length, 0, mayBeDeleted)

  override def remove(bytes: Array[Byte], from: Int, length: Int): Unit = sink.remove(bytes, from, length)
}

/** Keys in question, ascending and each once: those of a slice's log, with what it makes of them, and those that other
  * logs touched.
  */
private final class Questions(
    slice: CloseableIterator[LoggedKey],
    others: CloseableIterator[LoggedKey] = Questions.NoKeys
) extends CloseableIterator[KeyInQuestion] {
  private val (a, b) = (slice.buffered, others.buffered)

  override def hasNext: Boolean = a.hasNext || b.hasNext

  override def next(): KeyInQuestion = {
    val order =
      if (!a.hasNext) 1 else if (!b.hasNext) -1 else hudiidx.bytes.Bytes.compare(a.head.keyUtf8, b.head.keyUtf8)
    if (order > 0) new KeyInQuestion(b.next().keyUtf8, null, mayBeDeleted = false, 0)
    else {
      if (order == 0) b.next(): Unit
      KeyTable.inQuestion(a.next())
    }
  }

  override def close(): Unit =
    try slice.close()
    finally others.close()
}

private object Questions {
  object NoKeys extends CloseableIterator[LoggedKey] {
    override def hasNext: Boolean = false
    override def next(): LoggedKey = throw new NoSuchElementException("no more keys")
    override def close(): Unit = ()
  }
}
