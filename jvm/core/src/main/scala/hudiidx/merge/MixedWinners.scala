package hudiidx.merge

import hudiidx.bytes.ByteSlice
import hudiidx.log._
import java.util.BitSet
import scala.collection.mutable

/** Gathers the versions of a log whose rows may be mixed of several: what becomes of a key is known only when all its
  * versions are there, so all are sorted.
  *
  * @param isPartial true for a record (by its number) that holds only the columns that changed
  */
private[merge] final class MixedWinners(
    rules: MergeRules,
    readers: BlockReaders,
    options: MergeOptions,
    wanted: KeySet,
    positions: Option[BlockPositions],
    isPartial: Int => Boolean
) extends RecordNumbers(rules.log, readers, wanted, positions)
    with AutoCloseable {
  private val sorter = new EntrySorter(options.budgetBytes, options.tempDir)
  private val codec = new KeyVersionCodec
  private val value = new ByteSlice

  override protected def add(key: ByteSlice, version: KeyVersion): Unit = {
    codec.encode(version, touched = false, value)
    sorter.add(key, value)
  }

  /** Holds all keys against the base file, as many at a time as the budget allows. */
  def join(base: Option[BaseKeyFile], droppedBase: BitSet, deletedBase: BitSet, keptLog: BitSet): PartialMergePlan = {
    val keys = new SortedVersions(sorter.sorted())
    val walk = new BaseWalk(base, rules.log.comparesBase, positions.isDefined)
    val mixedRows = new PartialMergePlan.Builder
    var above: Option[Array[Byte]] = None
    var more = keys.next()
    while (more) {
      val table = new WinnerTable(rules.log)
      val chains = mutable.ArrayBuffer.empty[Vector[Int]]
      var last: Array[Byte] = null
      do {
        last = keys.key
        add(keys, table, chains)
        more = keys.next()
      } while (more && table.bytes + chains.size * MixedWinners.ChainBytes <= options.budgetBytes)
      val run = new WinnerRun(table, above, if (more) Some(last) else None)
      new MixedJoin(rules, run, chains, isPartial, droppedBase, deletedBase, keptLog, mixedRows).take(walk)
      above = Some(last)
    }
    mixedRows.result()
  }

  /** Folds the key's versions: what stays is a delete, or a chain of records. */
  private def add(keys: SortedVersions, table: WinnerTable, chains: mutable.ArrayBuffer[Vector[Int]]): Unit = {
    var winner: KeyVersion = null
    var chain = Vector.empty[Int]
    keys.versions.foreach { version =>
      val newerWins = winner == null || (KeyMerge.latest(winner, version, rules.log) eq version)
      val record = version.note - 1
      if (winner == null || winner.isDelete || version.isDelete) {
        if (newerWins) chain = if (version.isDelete) Vector.empty else Vector(record)
      } else if (newerWins) chain = if (isWhole(record)) Vector(record) else chain :+ record
      else if (!isWhole(chain.head) && !rules.winnersAsTheyAre) chain = record +: chain
      if (newerWins) winner = version
    }
    val note = if (winner.isDelete) KeyVersion.NoNote else { chains += chain; chains.size }
    table.add(keyOf(keys), winner.copy(note = note))
  }

  /** True if nothing below the record shows. */
  private def isWhole(record: Int): Boolean =
    (rules.mixing == ColumnMerge.Never || rules.withBaseAlone) && !isPartial(record)

  private def keyOf(keys: SortedVersions): ByteSlice = {
    val key = new ByteSlice
    key.set(keys.key)
    key
  }

  override def close(): Unit = sorter.close()
}

private object MixedWinners {

  /** A chain of a few records and its place in the list, roughly. */
  private val ChainBytes = 96L
}

/** Holds a run of chains against the base file. */
private final class MixedJoin(
    rules: MergeRules,
    run: WinnerRun,
    chains: mutable.ArrayBuffer[Vector[Int]],
    isPartial: Int => Boolean,
    droppedBase: BitSet,
    deletedBase: BitSet,
    keptLog: BitSet,
    mixedRows: PartialMergePlan.Builder
) {
  private val table = run.table
  private val compares = rules.log.comparesBase

  def take(walk: BaseWalk): Unit = {
    walk.foreach(run)(meet)
    var entry = 0
    while (entry < table.size) {
      if (table.isKept(entry)) {
        val chain = chains(table.note(entry) - 1)
        if (chain.size == 1) keptLog.set(chain.head) else mixedRows.add(PartialMergePlan.NoBase, chain)
      }
      entry += 1
    }
  }

  private def meet(row: BaseKeys, entry: Int): Unit = {
    val winner = table.version(entry)
    val baseWins = compares && KeyMerge.baseStays(winner, row.ordering, rules.log)
    val chain = if (winner.isDelete) Vector.empty else chains(winner.note - 1)
    // A base row is whole: nothing shows below it, unless any column of it may give way.
    val yields = rules.mixing != ColumnMerge.Never && !(baseWins && rules.winnersAsTheyAre)
    val mixes = chain.nonEmpty && (yields || (!baseWins && isPartial(chain.head)))
    val number = BaseWalk.rowNumber(row.row)
    table.meet(entry, loses = mixes || baseWins)
    if (mixes) mixedRows.add(number, if (baseWins) chain :+ PartialMergePlan.Base else PartialMergePlan.Base +: chain)
    if (mixes || !baseWins) droppedBase.set(number)
    if (!baseWins && winner.isDelete) deletedBase.set(number)
  }
}
