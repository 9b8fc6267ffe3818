package hudiidx.logindex

import hudiidx.{DamagedIndex, UnsupportedTable}
import hudiidx.bytes.ByteSlice
import hudiidx.log._
import hudiidx.storage.RandomReader

/** Makes the index tail of a block that is there already, by reading it once. For Avro blocks the tail leads to the records;
  * of any other block it tells which keys it has, and nothing more.
  */
final class BlockIndexer(rules: LogRules, readers: BlockReaders) {

  /** False for a block that has keys and its own index of them, as its writer made it. */
  def lacksTail(reader: RandomReader, counted: CountedBlock): Boolean = counted.block.kind match {
    case LogBlockKind.AvroData =>
      val own =
        try TailReader.ofBlock(reader, counted.block, BlockPlace.of(counted))
        catch { case _: DamagedIndex => None }
      own.isEmpty
    case LogBlockKind.HFileData | LogBlockKind.ParquetData | LogBlockKind.Delete => true
    case _                                                                       => false
  }

  /** DamagedTable and UnsupportedTable as a read of the block. */
  def tail(reader: RandomReader, counted: CountedBlock): KeptTail = {
    val keys = new BlockKeys(new TailBuilder(BlockPlace.of(counted)), rules, readers)
    keys.read(reader, counted.block)
    val isAvro = counted.block.kind == LogBlockKind.AvroData
    keys.builder.buildKept(if (isAvro) keys.recordsEnd else counted.block.contentLength)
  }
}

/** Puts the keys of one block into a builder. Nothing but keys is asked, so ordering values are not decoded. */
private final class BlockKeys(val builder: TailBuilder, rules: LogRules, readers: BlockReaders)
    extends VersionReader(rules.copy(orderingFields = Vector.empty), readers) {
  private var count = 0L

  /** Offset in an Avro block's content behind the last record. */
  var recordsEnd: Long = 8L

  override protected def note(row: RowFields): Int = KeyVersion.NoNote

  override protected def take(key: ByteSlice, version: KeyVersion): Unit = {
    val number = if (record == null) count else record.recordOffset - 4
    if (number > Int.MaxValue)
      throw new UnsupportedTable("a log block of more than 2 GiB cannot be indexed; compact it")
    if (record != null) recordsEnd = record.recordOffset + record.length
    builder.add(key.bytes, key.from, key.length, number.toInt)
    count += 1
  }
}
