package hudiidx.merge

import hudiidx.UnsupportedTable
import hudiidx.bytes.ByteSlice
import java.nio.ByteBuffer
import java.util.BitSet

/** Finds the rows of a base file that winners of a log are held against. By key the first row of a key takes the entry with it;
  * others of the same key pass unmerged, as in stock Hudi. By position each row has an entry of its own.
  *
  * @param ordering true: rows show their ordering values
  */
private[merge] final class BaseWalk(base: Option[BaseKeyFile], ordering: Boolean, byPosition: Boolean) {
  private val key = new ByteSlice
  private val number = ByteBuffer.allocate(java.lang.Long.BYTES)

  /** Gives each row of the file that the run has an entry for, and that entry. */
  def foreach(run: WinnerRun)(meet: (BaseKeys, Int) => Unit): Unit =
    if (run.table.size > 0) base.foreach { file =>
      val rows = file.open(keys = !byPosition, ordering)
      try if (byPosition) walkPositions(rows, run.table)(meet) else walkKeys(rows, run)(meet)
      finally rows.close()
    }

  private def walkKeys(rows: BaseKeys, run: WinnerRun)(meet: (BaseKeys, Int) => Unit): Unit =
    while (rows.next()) {
      val entry = if (run.covers(rows)) run.table.find(rows.bytes, rows.from, rows.length) else -1
      if (entry >= 0 && !run.table.isMet(entry)) meet(rows, entry)
    }

  private def walkPositions(rows: BaseKeys, table: WinnerTable)(meet: (BaseKeys, Int) => Unit): Unit = {
    val touched = new BitSet
    foreachPosition(table)((_, row) => touched.set(row))
    while (rows.next())
      if (touched.get(BaseWalk.rowNumber(rows.row))) {
        BlockPositions.key(rows.row, number)
        meet(rows, table.find(number.array, 0, number.capacity))
      }
  }

  /** Entries of a table of positions with the numbers of their rows, without a look at the file. */
  def foreachPosition(table: WinnerTable)(use: (Int, Int) => Unit): Unit = {
    var entry = 0
    while (entry < table.size) {
      table.key(entry, key)
      use(entry, BaseWalk.rowNumber(BlockPositions.position(key)))
      entry += 1
    }
  }
}

private[merge] object BaseWalk {
  def rowNumber(row: Long): Int =
    if (row >= 0 && row < Int.MaxValue) row.toInt
    else
      throw new UnsupportedTable(s"a base file of more than ${Int.MaxValue} rows cannot be merged; cluster the table")
}
