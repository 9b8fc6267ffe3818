package hudiidx.slice

import hudiidx.Log
import hudiidx.parquet.{BaseFileKeys, KeyColumns}
import hudiidx.log.{BlockPart, BlockRules, OrderingValue, SliceLog}
import hudiidx.logindex.{KeptTails, LogBlockFacts, LogLookup}
import hudiidx.merge._
import hudiidx.record.PackedKeys
import hudiidx.storage.Storage
import hudiidx.table.query.CommitTimes
import hudiidx.table.TableConfig

/** A file slice whose log has been merged with its base file, or some keys of it.
  *
  * @param storage where the blocks are to be read from again: it holds their files as far as they fit
  * @param parts   what was read of the blocks
  */
final case class MergedSlice(storage: HeldFiles, parts: Vector[BlockPart], rows: MergedRows) {

  /** Lets go of the files held: the blocks are not read again. */
  def release(): Unit = storage.release()
}

/** Merges file slices of one table.
  *
  * @param logBytes  log files of a slice are kept in memory from one walk to the next up to so many bytes
  * @param increment of an incremental query: rows of base files that other commits wrote take no part in merging, as in stock
  *                  Hudi, whose Parquet reader skips them: from version 8 on row by row, before by row groups. They are
  *                  not among the dropped ones. Nor do log compactions that cover more than the range
  */
final class SliceMerger(
    storage: Storage,
    config: TableConfig,
    rules: MergeRules,
    counting: BlockRules,
    options: MergeOptions,
    logBytes: Long,
    increment: Option[CommitTimes] = None
) {
  private val log = Log.of(classOf[SliceMerger])
  private var warned = false
  private val blockRules = counting.copy(inRange = increment.map(times => times.contains(_)))
  private val shown = increment.map(ShownRows(_, rowByRow = config.format.incrementsByRow))
  private val keyColumns = KeyColumns.of(config).copy(commitTimes = shown.exists(_.rowByRow))

  /** Errors as [[hudiidx.merge.SliceMerge]].
    *
    * @param base path and instant of the base file, if there is one
    * @param logs paths of the log files in log order
    * @param written bytes that are known to have been written to them, by path
    */
  def merge(base: Option[(String, String)], logs: Vector[String], written: Map[String, Long]): MergedSlice = {
    val held = new HeldFiles(storage, logBytes)
    val blocks = SliceLog.countedBlocks(held, logs, blockRules, written)
    val keys = base.map { case (path, instant) =>
      new KeysOfBaseFile(storage, path, instant, keyColumns, rules.log.orderingFields, shown)
    }
    val merged = SliceMerge.rows(held, blocks, rules, LogReaders.all, keys, options)
    MergedSlice(held, blocks.map(BlockPart(_, None)), merged)
  }

  /** The last data block of a log file has an index tail. */
  def isIndexed(log: String): Boolean = LogBlockFacts.hasTail(storage, log)

  private def warnOfDamage(file: String): Unit = if (!warned) {
    warned = true
    log.warn(
      s"$file: the index of a log block cannot be read, so blocks are read whole; `hudiidx add-index TABLE logs` makes what is kept " +
        "beside the log anew"
    )
  }

  /** The rows of some keys alone, through the indexes of the log's blocks as far as they have any; the others are read whole.
    * Not for incremental queries. Errors as above.
    *
    * @param base path of the base file and its rows that have these keys, each in one row at most
    * @param kept indexes of blocks that have none of their own
    */
  def mergeKeys(
      keys: PackedKeys,
      base: Option[(String, KeyedRows)],
      logs: Vector[String],
      written: Map[String, Long],
      kept: KeptTails
  ): MergedSlice = {
    val blocks = SliceLog.countedBlocks(storage, logs, blockRules, written)
    val found = new LogLookup(storage, blocks, kept).find(keys)
    if (found.counts.damaged > 0) warnOfDamage(logs.head)
    val whole = found.parts.filter(_.records.isEmpty).map(_.counted.file).toSet
    val held = new HeldFiles(storage, logBytes, whole)
    val rowsOfKeys = base.map { case (path, rows) =>
      new FoundBaseKeys(storage, path, rows, keyColumns, rules.log.orderingFields)
    }
    val merged =
      SliceMerge.rowsOfKeys(held, found.parts, new WantedKeys(keys), rules, LogReaders.all, rowsOfKeys, options)
    MergedSlice(held, found.parts, merged)
  }
}

private final class KeysOfBaseFile(
    storage: Storage,
    path: String,
    val instant: String,
    columns: KeyColumns,
    orderingFields: Vector[String],
    shown: Option[ShownRows]
) extends BaseKeyFile {

  override def open(keys: Boolean, ordering: Boolean): BaseKeys = {
    val wanted = columns.copy(keys = keys, ordering = if (ordering) orderingFields else Vector.empty)
    new OpenBaseKeys(BaseFileKeys.open(storage, path, wanted), shown)
  }
}

/** Which rows of a base file take part in merging. */
private final case class ShownRows(times: CommitTimes, rowByRow: Boolean)

private final class OpenBaseKeys(file: BaseFileKeys, shown: Option[ShownRows]) extends BaseKeys {
  private val rows = shown.filterNot(_.rowByRow).fold(file.read())(s => file.read(file.groupsOf(s.times)))
  private val times = shown.filter(_.rowByRow).map(_.times).orNull

  override def next(): Boolean = {
    var more = rows.next()
    if (times != null) while (more && !counts) more = rows.next()
    more
  }

  private def counts: Boolean = rows.commitTime != null && times.contains(rows.commitTime)

  override def row: Long = rows.row
  override def bytes: Array[Byte] = rows.bytes
  override def from: Int = rows.from
  override def length: Int = rows.length
  override def ordering: OrderingValue = rows.ordering

  override def close(): Unit =
    try rows.close()
    finally file.close()
}

/** Rows of a base file that are known already; ordering values are read of the row groups that they lie in. */
private final class FoundBaseKeys(
    storage: Storage,
    path: String,
    found: KeyedRows,
    columns: KeyColumns,
    orderingFields: Vector[String]
) extends BaseKeyFile {

  /** Positions of records are not used. */
  override def instant: String = ""

  override def open(keys: Boolean, ordering: Boolean): BaseKeys = {
    val orderings = if (ordering) orderingsOf() else null
    new BaseKeys {
      private var at = -1

      override def next(): Boolean = {
        at += 1
        at < found.numbers.length
      }

      override def row: Long = found.numbers(at).toLong
      override def bytes: Array[Byte] = found.keys(at)
      override def from: Int = 0
      override def length: Int = found.keys(at).length
      override def ordering: OrderingValue = orderings(at)
      override def close(): Unit = ()
    }
  }

  private def orderingsOf(): Array[OrderingValue] = {
    val values = new Array[OrderingValue](found.numbers.length)
    val file = BaseFileKeys.open(storage, path, columns.copy(keys = false, ordering = orderingFields))
    try {
      val groups = file.rowGroups.filter { g =>
        val first = java.util.Arrays.binarySearch(found.numbers, g.firstRow.toInt)
        val from = if (first < 0) -first - 1 else first
        from < found.numbers.length && found.numbers(from) < g.firstRow + g.rows
      }
      val rows = file.read(groups.map(_.ordinal))
      var i = 0
      try
        while (i < values.length && rows.next())
          if (rows.row == found.numbers(i)) {
            values(i) = rows.ordering
            i += 1
          }
      finally rows.close()
    } finally file.close()
    values
  }
}
