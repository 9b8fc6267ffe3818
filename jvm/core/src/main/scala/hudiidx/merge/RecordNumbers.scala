package hudiidx.merge

import hudiidx.UnsupportedTable
import hudiidx.bytes.ByteSlice
import hudiidx.log.{BlockPart, BlockReaders, KeyVersion, LogRules, RowFields, VersionReader}
import hudiidx.storage.RandomReader

/** Knows the records of a log by their numbers: from 0 through all that are read, in order. The note of a version is its
  * record's number plus one.
  *
  * @param wanted    versions of other keys are skipped, though their records are counted
  * @param positions where they are known they stand for keys; all keys are wanted then
  */
private[merge] abstract class RecordNumbers(
    rules: LogRules,
    readers: BlockReaders,
    wanted: KeySet = KeySet.All,
    positions: Option[BlockPositions] = None
) extends VersionReader(rules, readers) {
  private var count = 0
  private val known = positions.orNull

  /** @param number of the block in the slice */
  final def read(reader: RandomReader, part: BlockPart, number: Int): Unit = {
    if (known != null) known.start(number)
    read(reader, part.counted.block, part.records)
    if (known != null) known.end()
  }

  /** Records read so far. */
  final def records: Int = count

  /** Takes a version; the key's bytes are good during the call alone. */
  protected def add(key: ByteSlice, version: KeyVersion): Unit

  final override protected def take(key: ByteSlice, version: KeyVersion): Unit =
    if (known != null) add(known.next(), version)
    else if (wanted.contains(key.bytes, key.from, key.length)) add(key, version)

  final override protected def note(row: RowFields): Int = {
    if (count == Int.MaxValue)
      throw new UnsupportedTable("a log of more than 2^31 records cannot be merged; compact it")
    count += 1
    count
  }
}
