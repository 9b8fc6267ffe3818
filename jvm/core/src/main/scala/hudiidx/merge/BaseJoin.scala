package hudiidx.merge

import hudiidx.bytes.Bytes
import hudiidx.log.{KeyMerge, LogRules}

/** Holds runs of winners against the base file. */
private[merge] final class BaseJoin(
    base: Option[BaseKeyFile],
    rules: LogRules,
    merged: MergedRows,
    byPosition: Boolean
) {
  private val compares = rules.comparesBase
  private val walk = new BaseWalk(base, compares, byPosition)

  def take(run: WinnerRun): Unit = {
    val table = run.table
    // What nothing is compared with need not be read.
    if (byPosition && !compares) walk.foreachPosition(table)((entry, row) => drop(table, entry, row))
    else walk.foreach(run)((row, entry) => meet(row, table, entry))
    var entry = 0
    while (entry < table.size) {
      if (table.isKept(entry)) merged.keptLog.set(table.note(entry) - 1)
      entry += 1
    }
  }

  private def drop(table: WinnerTable, entry: Int, row: Int): Unit = {
    merged.droppedBase.set(row)
    if (table.isDelete(entry)) merged.deletedBase.set(row)
  }

  private def meet(row: BaseKeys, table: WinnerTable, entry: Int): Unit = {
    val stays = compares && KeyMerge.baseStays(table.version(entry), row.ordering, rules)
    table.meet(entry, loses = stays)
    if (!stays) drop(table, entry, BaseWalk.rowNumber(row.row))
  }
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
