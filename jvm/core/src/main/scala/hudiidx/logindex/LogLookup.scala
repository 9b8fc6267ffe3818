package hudiidx.logindex

import hudiidx.log._
import hudiidx.record.PackedKeys
import hudiidx.storage.{CloseableIterator, Storage}
import scala.collection.mutable

/** How a lookup came to its answer.
  *
  * @param filters     hash filters that were asked
  * @param keyLists    blocks whose lists of keys were asked
  * @param wholeBlocks blocks that must be read whole: without index, with one that cannot be read, or not of Avro
  * @param damaged     parts of indexes that could not be read since the lookup was made
  */
final case class LookupCounts(filters: Int, keyLists: Int, wholeBlocks: Int, damaged: Int)

/** What of a slice's blocks may hold the keys asked for, in the order of the blocks. A block with none of them is left out. */
final case class LookupAnswer(parts: Vector[BlockPart], counts: LookupCounts)

/** Finds keys in the log of a file slice through the indexes of its blocks (RFC-06). Which blocks count is decided before, by
  * `SliceLog`; an index only leaves out what cannot hold a key, and blocks without one, or with one that cannot be read, are
  * read. Not safe for several threads.
  *
  * @param blocks from `SliceLog.countedBlocks`
  * @param kept   the indexes of blocks that have none of their own
  */
final class LogLookup(storage: Storage, blocks: Vector[CountedBlock], kept: KeptTails = KeptTails.None) {
  private val tails = new SliceTails(blocks, kept)
  private lazy val coverage = withFiles(Coverage.of(tails, _))

  /** Where versions of the keys may stand. Opens the files that it needs, and closes them. */
  def find(keys: PackedKeys): LookupAnswer = {
    val covered = coverage
    withFiles { files =>
      val asked = new AskedKeys(keys)
      val numbers = candidates(covered, asked, files)
      val parts = blocks.indices.toVector.flatMap { i =>
        if (numbers(i) == null) None else part(i, asked, numbers(i).toArray, files)
      }
      val wholeBlocks = parts.count(_.records.isEmpty)
      val keyLists = numbers.count(n => n != null && n.nonEmpty)
      LookupAnswer(parts, LookupCounts(covered.filters.size, keyLists, wholeBlocks, tails.damaged))
    }
  }

  /** The keys that the log touches, with their states: as `LogKeys.of` of all blocks, but for these keys alone. Errors as
    * there.
    */
  def get(
      keys: PackedKeys,
      rules: LogRules,
      readers: BlockReaders,
      options: LogKeysOptions = LogKeysOptions()
  ): CloseableIterator[LoggedKey] = {
    val wanted = (0 until keys.count).map(i => keys.bytes.slice(keys.from(i), keys.from(i) + keys.length(i)))
    LogKeys.among(wanted, storage, find(keys).parts, rules, readers, options)
  }

  /** Filters that a block written behind these builds on.
    *
    * @param folder with a slash at its end; where the block will stand, in which filters are looked for
    */
  def chain(folder: String): Vector[FilterRef] =
    coverage.filters.filter(_.folder == folder).map(_.ref).sortBy(f => (-f.shape.level, f.file, f.offset))

  /** All entries of a filter of the chain; none if it cannot be read: its blocks then answer by themselves. */
  def load(folder: String)(filter: FilterRef): FilterEntries = withFiles { files =>
    tails
      .whole(TailReader.entries(files(folder + filter.file), filter))
      .getOrElse(FilterEntries(Vector.empty, Array.emptyLongArray))
  }

  /** For each block the numbers of the keys that it may hold; null: none, empty: the block must be read whole. */
  private def candidates(covered: Coverage, asked: AskedKeys, files: OpenLogs): Array[mutable.BitSet] = {
    val numbers = new Array[mutable.BitSet](blocks.size)
    def add(block: Int, number: Int): Unit = {
      if (numbers(block) == null) numbers(block) = mutable.BitSet.empty
      numbers(block) += number
    }
    def byBounds(block: Int): Unit = tails.tail(block, files) match {
      case None       => numbers(block) = mutable.BitSet.empty
      case Some(tail) =>
        asked.byHash.indices.filter(i => tail.summary.mightHold(asked.byCode.code(i))).foreach(add(block, _))
    }
    covered.filters.foreach { f =>
      val answer = tails.whole(FilterProbe.run(files(f.path), f.ref, asked) { (number, member) =>
        if (f.blocks(member) >= 0) add(f.blocks(member), number)
      })
      if (answer.isEmpty) f.blocks.filter(_ >= 0).foreach(byBounds)
    }
    covered.direct.foreach(byBounds)
    covered.whole.foreach(i => numbers(i) = mutable.BitSet.empty)
    numbers
  }

  /** @param numbers of keys that the block may hold; none: it must be read whole */
  private def part(i: Int, asked: AskedKeys, numbers: Array[Int], files: OpenLogs): Option[BlockPart] = {
    val found =
      if (numbers.isEmpty) None
      else
        tails.tail(i, files).flatMap { tail =>
          tails.whole(PageProbe.run(files(tail.path), tail, asked, numbers))
        }
    found match {
      case Some(records) if records.isEmpty                               => None
      case Some(records) if blocks(i).block.kind == LogBlockKind.AvroData => Some(BlockPart(blocks(i), found))
      case _                                                              => Some(BlockPart(blocks(i), None))
    }
  }

  private def withFiles[A](use: OpenLogs => A): A = {
    val files = new OpenLogs(storage)
    try use(files)
    finally files.close()
  }
}
