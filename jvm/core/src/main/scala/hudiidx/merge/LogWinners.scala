package hudiidx.merge

import hudiidx.bytes.ByteSlice
import hudiidx.log._

/** Gathers the winners of a log. Versions of a key must be merged one after the other: of three it may matter whether the
  * first two or the last two are merged first. So a table that outgrows the budget is written out once, each key's winner
  * being its first version from then on, and all versions behind it are sorted as they are.
  */
private[merge] final class LogWinners(
    rules: LogRules,
    readers: BlockReaders,
    options: MergeOptions,
    wanted: KeySet,
    positions: Option[BlockPositions]
) extends RecordNumbers(rules, readers, wanted, positions)
    with AutoCloseable {
  private var table = new WinnerTable(rules)
  private var sorter: EntrySorter = _
  private val codec = new KeyVersionCodec
  private val value = new ByteSlice

  override protected def add(key: ByteSlice, version: KeyVersion): Unit =
    if (sorter != null) sort(key, version)
    else {
      table.add(key, version)
      if (table.bytes > options.budgetBytes) spill()
    }

  private def sort(key: ByteSlice, version: KeyVersion): Unit = {
    codec.encode(version, touched = false, value)
    sorter.add(key, value)
  }

  private def spill(): Unit = {
    sorter = new EntrySorter(options.budgetBytes, options.tempDir)
    val key = new ByteSlice
    var entry = 0
    while (entry < table.size) {
      table.key(entry, key)
      sort(key, table.version(entry))
      entry += 1
    }
    table = null
  }

  /** Hands over all winners once, as many at a time as the budget allows. */
  def foreachRun(use: WinnerRun => Unit): Unit =
    if (sorter == null) use(new WinnerRun(table, None, None))
    else {
      val keys = new FoldedKeys(sorter.sorted(), rules)
      val key = new ByteSlice
      var above: Option[Array[Byte]] = None
      var more = keys.next()
      while (more) {
        val run = new WinnerTable(rules)
        var last: Array[Byte] = null
        do {
          last = keys.key
          key.set(last)
          run.add(key, keys.last)
          more = keys.next()
        } while (more && run.bytes <= options.budgetBytes)
        use(new WinnerRun(run, above, if (more) Some(last) else None))
        above = Some(last)
      }
    }

  override def close(): Unit = if (sorter != null) sorter.close()
}
