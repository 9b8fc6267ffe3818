package hudiidx.merge

import hudiidx.UnsupportedTable
import hudiidx.bytes.{ByteSlice, Bytes}
import hudiidx.log.{KeyMerge, LogRules}
import java.nio.ByteBuffer
import java.util.BitSet

/** Holds runs of winners against the base file. The first row of a key takes the entry with it; others of the same key pass
  * unmerged, as in stock Hudi.
  */
private[merge] final class BaseJoin(
    base: Option[BaseKeyFile],
    rules: LogRules,
    merged: MergedRows,
    byPosition: Boolean
) {
  private val compares = rules.comparesBase
  private val key = new ByteSlice
  private val number = ByteBuffer.allocate(java.lang.Long.BYTES)

  def take(run: WinnerRun): Unit = {
    val table = run.table
    if (table.size > 0) base.foreach { file =>
      if (byPosition && !compares) dropPositions(table)
      else {
        val rows = file.open(keys = !byPosition, compares)
        try if (byPosition) walkPositions(rows, table) else walkKeys(rows, run)
        finally rows.close()
      }
    }
    var entry = 0
    while (entry < table.size) {
      if (table.isKept(entry)) merged.keptLog.set(table.note(entry) - 1)
      entry += 1
    }
  }

  private def walkKeys(rows: BaseKeys, run: WinnerRun): Unit =
    while (rows.next()) {
      val entry = if (run.covers(rows)) run.table.find(rows.bytes, rows.from, rows.length) else -1
      if (entry >= 0 && !run.table.isMet(entry)) meet(rows, run.table, entry)
    }

  private def walkPositions(rows: BaseKeys, table: WinnerTable): Unit = {
    val touched = new BitSet
    foreachPosition(table)((_, row) => touched.set(row))
    while (rows.next())
      if (touched.get(BaseJoin.rowNumber(rows.row))) {
        BlockPositions.key(rows.row, number)
        meet(rows, table, table.find(number.array, 0, number.capacity))
      }
  }

  private def dropPositions(table: WinnerTable): Unit =
    foreachPosition(table)((entry, row) => drop(table, entry, row))

  private def drop(table: WinnerTable, entry: Int, row: Int): Unit = {
    merged.droppedBase.set(row)
    if (table.isDelete(entry)) merged.deletedBase.set(row)
  }

  private def foreachPosition(table: WinnerTable)(use: (Int, Int) => Unit): Unit = {
    var entry = 0
    while (entry < table.size) {
      table.key(entry, key)
      use(entry, BaseJoin.rowNumber(BlockPositions.position(key)))
      entry += 1
    }
  }

  private def meet(row: BaseKeys, table: WinnerTable, entry: Int): Unit = {
    val stays = compares && KeyMerge.baseStays(table.version(entry), row.ordering, rules)
    table.meet(entry, loses = stays)
    if (!stays) drop(table, entry, BaseJoin.rowNumber(row.row))
  }
}

private[merge] object BaseJoin {
  def rowNumber(row: Long): Int =
    if (row < Int.MaxValue) row.toInt
    else
      throw new UnsupportedTable(s"a base file of more than ${Int.MaxValue} rows cannot be merged; cluster the table")
}

/** Winners of a range of keys: all keys, or those above one (None: from the first) up to another (None: to the last). */
private[merge] final class WinnerRun(val table: WinnerTable, above: Option[Array[Byte]], last: Option[Array[Byte]]) {
  private val low = above.orNull
  private val high = last.orNull

  /** True if the table has all that the log says of the row's key. */
  def covers(row: BaseKeys): Boolean =
    (low == null || Bytes.compare(row.bytes, row.from, row.length, low, 0, low.length) > 0) &&
      (high == null || Bytes.compare(row.bytes, row.from, row.length, high, 0, high.length) <= 0)
}
