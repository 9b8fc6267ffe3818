package hudiidx.hadoop

import java.nio.file.NoSuchFileException

import hudiidx.DamagedTable
import hudiidx.log.{BlockRules, CountedBlock, OrderingValue, SliceLog}
import hudiidx.merge._
import hudiidx.storage.Storage
import hudiidx.table.{CommitTimes, TableConfig}

/** A file slice whose log has been merged with its base file.
  *
  * @param storage where the blocks are to be read from again: it holds their files as far as they fit
  */
final case class MergedSlice(storage: HeldFiles, blocks: Vector[CountedBlock], rows: MergedRows) {

  /** Lets go of the files held: the blocks are not read again. */
  def release(): Unit = storage.release()
}

/** Merges file slices of one table.
  *
  * @param logBytes  log files of a slice are kept in memory from one walk to the next up to so many bytes
  * @param increment of an incremental query: rows of base files that other commits wrote take no part in merging, as in stock
  *                  Hudi, whose Parquet reader passes them over: from version 8 on row by row, before by row groups. They are
  *                  not among the dropped ones
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
  private val shown = increment.map(ShownRows(_, rowByRow = config.version >= 8))
  private val keyColumns = KeyColumns.of(config).copy(commitTimes = shown.exists(_.rowByRow))

  /** Errors as [[hudiidx.merge.SliceMerge]].
    *
    * @param base path and instant of the base file, if there is one
    * @param logs paths of the log files in log order
    * @param written bytes that are known to have been written to them, by path
    */
  def merge(base: Option[(String, String)], logs: Vector[String], written: Map[String, Long]): MergedSlice = {
    val held = new HeldFiles(storage, logBytes)
    val blocks = SliceLog.countedBlocks(held, logs, counting, written)
    val keys = base.map { case (path, instant) =>
      new KeysOfBaseFile(storage, path, instant, keyColumns, rules.log.orderingFields, shown)
    }
    MergedSlice(held, blocks, SliceMerge.rows(held, blocks, rules, LogReaders.all, keys, options))
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
    val file =
      try BaseFileKeys.open(storage, path, wanted)
      catch {
        case e: NoSuchFileException =>
          throw new DamagedTable(s"$path: base file is gone; read the table again, or restore the file", e)
      }
    new OpenBaseKeys(file, shown)
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
