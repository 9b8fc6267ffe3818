package hudiidx.merge

import hudiidx.UnsupportedTable
import hudiidx.bytes.{ByteSlice, Bytes}
import hudiidx.log._
import hudiidx.storage.Storage
import java.nio.file.{Path, Paths}
import java.util.BitSet

/** Walks the record keys of a base file's rows, in the order of the file. What it shows is good until the next `next`. */
trait BaseKeys extends AutoCloseable {

  /** Moves to the next row; false behind the last. */
  def next(): Boolean

  /** Number of the row in the file, from 0. */
  def row: Long

  /** The key is `length` bytes of `bytes` from `from` on, UTF-8. */
  def bytes: Array[Byte]
  def from: Int
  def length: Int

  /** The row's ordering value, where asked for. */
  def ordering: OrderingValue
}

/** Opens a base file's keys; each call walks them from the first row.
  *
  * @see `open`: true asks for ordering values too
  */
trait BaseKeyFile {
  def open(ordering: Boolean): BaseKeys
}

/** @param budgetBytes memory for the keys of a log, while they are gathered and again while they are held against the base
  *                    file. Keys beyond it are sorted in temporary files, and cost a pass over the base file's keys for each
  *                    budget of them. Bits for rows, one window of a block and the formats' own readers come on top
  */
final case class MergeOptions(
    budgetBytes: Long = MergeOptions.DefaultBudgetBytes,
    tempDir: Path = Paths.get(System.getProperty("java.io.tmpdir"))
)

object MergeOptions {
  val DefaultBudgetBytes: Long = 64L << 20
}

/** Which rows a slice has, where each row is one that stands in a file: what merging comes to if versions are never mixed.
  *
  * @param droppedBase numbers of the base file's rows that the slice does not have
  * @param keptLog     numbers of the log's records that it has. Records are numbered from 0 through the data blocks in order
  * @param firstRecord number of the first record of each counted block, in their order; a delete block has none
  */
final case class MergedRows(droppedBase: BitSet, keptLog: BitSet, firstRecord: Array[Int])

/** Merges file slices. Format notes §7. */
object SliceMerge {

  /** Reads the keys of all blocks, and those of the base file if the log has any.
    *
    * DamagedTable if a file is gone or cannot be decoded, UnsupportedTable for blocks and merge rules that are not known,
    * IndexNotWritable if temporary files cannot be written.
    *
    * @param blocks from `SliceLog.countedBlocks`, all of the slice
    */
  def rows(
      storage: Storage,
      blocks: Vector[CountedBlock],
      rules: LogRules,
      readers: BlockReaders,
      base: Option[BaseKeyFile],
      options: MergeOptions
  ): MergedRows = {
    require(rules.mode != MergeMode.Custom, "custom merging")
    blocks.find(_.block.isPartial).foreach { b =>
      throw new UnsupportedTable(
        s"${b.file}: the log block at offset ${b.block.offset} holds partial records, which are not served; compact the " +
          "table, or read the base files alone with option hoodie.datasource.query.type=read_optimized"
      )
    }
    // Ordering values that nothing is decided by are not decoded.
    val needed = if (comparesLog(rules)) rules else rules.copy(orderingFields = Vector.empty)
    val log = new LogWinners(needed, readers, options)
    try {
      val first = new Array[Int](blocks.size)
      var block = 0
      SliceLog.foreach(storage, blocks) { (reader, counted) =>
        first(block) = log.records
        log.read(reader, counted.block)
        block += 1
      }
      val merged = MergedRows(new BitSet, new BitSet(log.records), first)
      log.foreachRun(run => join(run, base, needed, merged))
      merged
    } finally log.close()
  }

  private def comparesLog(rules: LogRules): Boolean = rules.mode == MergeMode.EventTime || rules.asHudi015

  /** Holds a run of winners against the base file. The first row of a key takes the entry with it; others of the same key
    * pass unmerged, as in stock Hudi.
    */
  private def join(run: WinnerRun, base: Option[BaseKeyFile], rules: LogRules, merged: MergedRows): Unit = {
    val table = run.table
    if (table.size > 0) base.foreach { file =>
      val rows = file.open(rules.mode == MergeMode.EventTime)
      try
        while (rows.next()) {
          val entry = if (run.covers(rows)) table.find(rows.bytes, rows.from, rows.length) else -1
          if (entry >= 0 && !table.isMet(entry)) {
            val stays = rules.mode == MergeMode.EventTime &&
              KeyMerge.baseStays(table.version(entry), rows.ordering, rules)
            table.meet(entry, loses = stays)
            if (!stays) merged.droppedBase.set(rowNumber(rows.row))
          }
        }
      finally rows.close()
    }
    var entry = 0
    while (entry < table.size) {
      if (table.isKept(entry)) merged.keptLog.set(table.note(entry) - 1)
      entry += 1
    }
  }

  private def rowNumber(row: Long): Int =
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

/** Gathers the winners of a log. Versions of a key must be merged one after the other: of three it may matter whether the
  * first two or the last two are merged first. So a table that outgrows the budget is written out once, each key's winner
  * being its first version from then on, and all versions behind it are sorted as they are.
  */
private[merge] final class LogWinners(rules: LogRules, readers: BlockReaders, options: MergeOptions)
    extends VersionReader(rules, readers)
    with AutoCloseable {
  private var table = new WinnerTable(rules)
  private var sorter: EntrySorter = _
  private val codec = new KeyVersionCodec
  private val value = new ByteSlice
  private var count = 0

  /** Records read so far. */
  def records: Int = count

  override protected def note(row: RowFields): Int = {
    if (count == Int.MaxValue)
      throw new UnsupportedTable("a log of more than 2^31 records cannot be merged; compact it")
    count += 1
    count
  }

  override protected def take(key: ByteSlice, version: KeyVersion): Unit =
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
