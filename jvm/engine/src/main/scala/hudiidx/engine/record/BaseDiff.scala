package hudiidx.engine.record

import hudiidx.parquet.{BaseFileKeys, KeyColumns, KeyInQuestion, KeyRows, KeyTable}
import hudiidx.sync.TouchedRows
import hudiidx.table.BaseFile

/** Keys of a base file that are not in the one that was made of it. A rewrite keeps the rows that it keeps in their order, so
  * that a walk through both files in step leaves few keys in question; those are looked up among all keys of the new file.
  * With files in any other order the answer is the same, and takes a look-up for each budget's worth of keys.
  */
private[hudiidx] final class BaseDiff(open: (BaseFile, KeyColumns) => BaseFileKeys, budgetBytes: Long) {

  /** Adds the new file's wanted rows, and removes the old file's keys that are not in the new one. */
  def run(before: BaseFile, after: BaseFile, wanted: TouchedRows, columns: KeyColumns, sink: KeySink): Unit = {
    val needed = columns.copy(commitTimes = columns.commitTimes || wanted.isInstanceOf[TouchedRows.OfInstants])
    val missing = new KeyTable(budgetBytes)
    val (older, newer) = (open(before, columns.copy(commitTimes = false)), open(after, needed))
    try {
      val (old, now) = (older.read(), newer.read())
      var more = now.next()
      var added = false
      while (old.next())
        if (more && BaseDiff.sameKey(old, now)) more = now.next()
        else {
          missing.add(
            new KeyInQuestion(
              java.util.Arrays.copyOfRange(old.bytes, old.from, old.from + old.length),
              null,
              mayBeDeleted = false,
              0
            )
          )
          if (missing.isFull) {
            lookUp(after, needed, missing, if (added) TouchedRows.None else wanted, sink)
            added = true
          }
        }
      if (!added || !missing.isEmpty) lookUp(after, needed, missing, if (added) TouchedRows.None else wanted, sink)
    } finally {
      older.close()
      newer.close()
    }
  }

  /** Removes the keys that the file lacks, and adds its wanted rows on the way. */
  private def lookUp(
      after: BaseFile,
      columns: KeyColumns,
      missing: KeyTable,
      wanted: TouchedRows,
      sink: KeySink
  ): Unit = {
    val file = open(after, columns)
    try {
      val rows = file.read()
      while (rows.next()) {
        missing.remove(rows)
        if (SliceKeys.isWanted(rows, wanted))
          sink.add(rows.bytes, rows.from, rows.length, rows.commitDay, mayBeDeleted = false)
      }
    } finally file.close()
    missing.foreach(k => sink.remove(k.key, 0, k.key.length))
    missing.clear()
  }
}

private object BaseDiff {
  def sameKey(a: KeyRows, b: KeyRows): Boolean =
    java.util.Arrays.equals(a.bytes, a.from, a.from + a.length, b.bytes, b.from, b.from + b.length)
}
