package hudiidx.merge

import hudiidx.UnsupportedTable
import hudiidx.log.{BlockReaders, LogRules, RowFields, VersionReader}

/** Knows the records of a log by their numbers: from 0 through the data blocks in order. The note of a version is its
  * record's number plus one.
  */
private[merge] abstract class RecordNumbers(rules: LogRules, readers: BlockReaders)
    extends VersionReader(rules, readers) {
  private var count = 0

  /** Records read so far. */
  final def records: Int = count

  final override protected def note(row: RowFields): Int = {
    if (count == Int.MaxValue)
      throw new UnsupportedTable("a log of more than 2^31 records cannot be merged; compact it")
    count += 1
    count
  }
}
