package hudiidx.spark.write.group

import hudiidx.{ShellCommand, WriteConflict}
import hudiidx.log.{CountedBlock, RecordPositions, SliceLog}
import hudiidx.parquet.{BaseFileKeys, KeyColumns, KeyRange, KeyRows}
import hudiidx.spark.pinned.SharedTable
import hudiidx.storage.Storage
import hudiidx.table.{FileSlice, TableMergeRules}
import java.nio.charset.StandardCharsets.UTF_8
import java.util.BitSet

/** Logs that name rows of the base file by their numbers, as stock Hudi's may. Blocks of ours name keys, and beside one that does all
  * count by key, in stock Hudi too: of several rows of a key then the first one alone is changed or deleted, and others that were come
  * back.
  */
private[write] object PositionedLogs {

  /** Of the slice's logs, those that count. */
  def blocks(table: SharedTable, slice: FileSlice): Vector[CountedBlock] =
    if (slice.logFiles.isEmpty) Vector.empty
    else {
      val folder = Storage.join(table.path, slice.partitionPath)
      val rules = TableMergeRules.blocks(table.config, table.viewTimeline, None)
      SliceLog.countedBlocks(table.context.storage, slice.logFiles.map(f => Storage.join(folder, f.fileName)), rules)
    }

  /** WriteConflict if the slice has other rows once its blocks count by key.
    *
    * @param blocks of its logs
    */
  def requireSameByKey(table: SharedTable, slice: FileSlice, blocks: Vector[CountedBlock]): Unit = for {
    base <- slice.baseFile
    rows <- named(blocks, base.instantTime)
  } {
    val path = Storage.join(Storage.join(table.path, base.partitionPath), base.fileName)
    val keys = BaseFileKeys.open(table.context.storage, path, KeyColumns.of(table.config))
    try
      laterRow(keys, rows).foreach { key =>
        throw new WriteConflict(
          s"${table.path}: record key '$key' has several rows in ${Storage.join(base.partitionPath, base.fileName)}, and the file group's " +
            "log changes or deletes them by their positions, which no longer counts beside a log of this write: rows would come back. Run " +
            s"the compaction (${ShellCommand("compact-table", Vector(table.path)).quoted}, or stock Hudi), then write again"
        )
      }
    finally keys.close()
  }

  /** The rows that blocks name; None if not all of them do, so that they count by key already. */
  private def named(blocks: Vector[CountedBlock], baseInstant: String): Option[BitSet] = {
    val found =
      blocks.iterator.map(b => RecordPositions.of(b.block, baseInstant, b.file)).takeWhile(_.isDefined).flatten.toVector
    if (found.isEmpty || found.size < blocks.size) None
    else {
      val all = new BitSet
      found.foreach(_.foreach(p => if (p <= Int.MaxValue) all.set(p.toInt)))
      Some(all)
    }
  }

  /** A key of these rows whose row is not its first one. */
  private def laterRow(file: BaseFileKeys, named: BitSet): Option[String] = {
    val probe = new KeyRange
    var found: Option[String] = None
    var next = 0
    while (found.isEmpty && next >= 0) {
      val (firsts, after) = keysFrom(file.read(), named, next)
      val rows = file.read()
      while (found.isEmpty && rows.next()) {
        val first = firsts.get(probe.set(rows.bytes, rows.from, rows.length))
        if (first != null && first(0) < 0) first(0) = rows.row
        else if (first != null && named.get(rows.row.toInt))
          found = Some(new String(rows.bytes, rows.from, rows.length, UTF_8))
      }
      next = after
    }
    found
  }

  /** Keys of named rows from one on, as many as the budget allows, and the named row behind them; -1: there is none. */
  private def keysFrom(rows: KeyRows, named: BitSet, from: Int): (java.util.HashMap[KeyRange, Array[Long]], Int) = {
    val keys = new java.util.HashMap[KeyRange, Array[Long]]
    var (used, wanted) = (0L, named.nextSetBit(from))
    while (wanted >= 0 && used < KeyBudget.Bytes && rows.next()) if (rows.row == wanted) {
      val key = java.util.Arrays.copyOfRange(rows.bytes, rows.from, rows.from + rows.length)
      keys.put(new KeyRange().set(key, 0, key.length), Array(-1L))
      used += KeyBudget.bytesOf(key)
      wanted = named.nextSetBit(wanted + 1)
    }
    (keys, if (used < KeyBudget.Bytes) -1 else wanted)
  }
}
