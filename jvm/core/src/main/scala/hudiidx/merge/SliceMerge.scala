package hudiidx.merge

import hudiidx.log._
import hudiidx.storage.{RandomReader, Storage}
import java.nio.file.{Path, Paths}
import java.util.BitSet

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

/** Which rows a slice has.
  *
  * @param droppedBase numbers of the base file's rows that the slice does not have as they are
  * @param keptLog     numbers of the log's records that it has as they are. Records are numbered from 0 through the data
  *                    blocks in order
  * @param mixedRows     its rows that are mixed of several
  * @param deletedBase of the dropped ones those that no other version of their key takes the place of
  * @param firstRecord number of the first record of each block that was read, in their order; a delete block has none
  */
final case class MergedRows(
    droppedBase: BitSet,
    deletedBase: BitSet,
    keptLog: BitSet,
    mixedRows: PartialMergePlan,
    firstRecord: Array[Int]
)

/** Merges file slices. Format notes §7. */
object SliceMerge {

  /** Reads the keys of all blocks, and those of the base file if the log has any.
    *
    * DamagedTable if a file is gone or cannot be decoded, UnsupportedTable for blocks that are not read, IndexNotWritable if
    * temporary files cannot be written.
    *
    * @param blocks from `SliceLog.countedBlocks`, all of the slice
    */
  def rows(
      storage: Storage,
      blocks: Vector[CountedBlock],
      rules: MergeRules,
      readers: BlockReaders,
      base: Option[BaseKeyFile],
      options: MergeOptions
  ): MergedRows = {
    val parts = blocks.map(BlockPart(_, None))
    val merging = new SliceMerging(storage, parts, needed(rules), readers, base, options, KeySet.All)
    def merged(positions: Option[BlockPositions]) =
      if (mixes(rules, blocks)) merging.mixed(positions) else merging.whole(positions)
    base.flatMap(b => BlockPositions.of(blocks, b.instant)) match {
      case None      => merged(None)
      case positions =>
        try merged(positions)
        catch { case _: BlockPositions.NotForEachRecord => merged(None) }
    }
  }

  /** The same of some keys alone. Records of a base file are met by their keys, whatever positions blocks have: a key must not
    * stand in several rows of it.
    *
    * @param parts what of the slice's counted blocks may hold versions of these keys, as `LogLookup` finds it; records are
    *              numbered through these
    * @param base  walks the rows that have these keys, and no others
    */
  def rowsOfKeys(
      storage: Storage,
      parts: Vector[BlockPart],
      keys: KeySet,
      rules: MergeRules,
      readers: BlockReaders,
      base: Option[BaseKeyFile],
      options: MergeOptions
  ): MergedRows = {
    val merging = new SliceMerging(storage, parts, needed(rules), readers, base, options, keys)
    if (mixes(rules, parts.map(_.counted))) merging.mixed(None) else merging.whole(None)
  }

  /** Ordering values that nothing is decided by are not decoded. */
  private def needed(rules: MergeRules): MergeRules =
    if (rules.log.comparesBase || rules.log.asHudi015) rules
    else rules.copy(log = rules.log.copy(orderingFields = Vector.empty))

  private def mixes(rules: MergeRules, blocks: Vector[CountedBlock]): Boolean =
    rules.mixing != ColumnMerge.Never || blocks.exists(_.block.isPartial)
}

private final class SliceMerging(
    storage: Storage,
    parts: Vector[BlockPart],
    rules: MergeRules,
    readers: BlockReaders,
    base: Option[BaseKeyFile],
    options: MergeOptions,
    wanted: KeySet
) {

  /** Each row is a row of one file. */
  def whole(positions: Option[BlockPositions]): MergedRows = {
    val log = new LogWinners(rules.log, readers, options, wanted, positions)
    try {
      val first = read(log)((reader, part, number) => log.read(reader, part, number))
      val merged = MergedRows(new BitSet, new BitSet, new BitSet(log.records), PartialMergePlan.Empty, first)
      val join = new BaseJoin(base, rules.log, merged, positions.isDefined)
      log.foreachRun(join.take)
      merged
    } finally log.close()
  }

  /** Rows may be mixed of several. */
  def mixed(positions: Option[BlockPositions]): MergedRows = {
    val partial = new BitSet
    val log = new MixedWinners(rules, readers, options, wanted, positions, partial.get)
    try {
      val first = read(log) { (reader, part, number) =>
        val from = log.records
        log.read(reader, part, number)
        if (part.counted.block.isPartial) partial.set(from, log.records)
      }
      val (dropped, deleted, kept) = (new BitSet, new BitSet, new BitSet(log.records))
      val mixedRows = log.join(base, dropped, deleted, kept)
      MergedRows(dropped, deleted, kept, mixedRows, first)
    } finally log.close()
  }

  /** Number of each part's first record. */
  private def read(log: RecordNumbers)(use: (RandomReader, BlockPart, Int) => Unit): Array[Int] = {
    val first = new Array[Int](parts.size)
    var number = 0
    SliceLog.foreach(storage, parts.map(_.counted)) { (reader, _) =>
      first(number) = log.records
      use(reader, parts(number), number)
      number += 1
    }
    first
  }
}
