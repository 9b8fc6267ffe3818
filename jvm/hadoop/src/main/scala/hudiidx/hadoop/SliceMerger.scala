package hudiidx.hadoop

import java.nio.file.NoSuchFileException

import hudiidx.DamagedTable
import hudiidx.log.{BlockRules, CountedBlock, OrderingValue, SliceLog}
import hudiidx.merge._
import hudiidx.storage.Storage
import hudiidx.table.TableConfig

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
  * @param logBytes log files of a slice are kept in memory from one walk to the next up to so many bytes
  */
final class SliceMerger(
    storage: Storage,
    config: TableConfig,
    rules: MergeRules,
    counting: BlockRules,
    options: MergeOptions,
    logBytes: Long
) {
  private val keyColumns = KeyColumns.of(config)

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
      new KeysOfBaseFile(storage, path, instant, keyColumns, rules.log.orderingFields)
    }
    MergedSlice(held, blocks, SliceMerge.rows(held, blocks, rules, LogReaders.all, keys, options))
  }
}

private final class KeysOfBaseFile(
    storage: Storage,
    path: String,
    val instant: String,
    columns: KeyColumns,
    orderingFields: Vector[String]
) extends BaseKeyFile {

  override def open(keys: Boolean, ordering: Boolean): BaseKeys = {
    val wanted = columns.copy(keys = keys, ordering = if (ordering) orderingFields else Vector.empty)
    val file =
      try BaseFileKeys.open(storage, path, wanted)
      catch {
        case e: NoSuchFileException =>
          throw new DamagedTable(s"$path: base file is gone; read the table again, or restore the file", e)
      }
    new OpenBaseKeys(file)
  }
}

private final class OpenBaseKeys(file: BaseFileKeys) extends BaseKeys {
  private val rows = file.read()

  override def next(): Boolean = rows.next()
  override def row: Long = rows.row
  override def bytes: Array[Byte] = rows.bytes
  override def from: Int = rows.from
  override def length: Int = rows.length
  override def ordering: OrderingValue = rows.ordering

  override def close(): Unit =
    try rows.close()
    finally file.close()
}
