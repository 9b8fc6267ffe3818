package hudiidx.merge

import hudiidx.bytes.ByteSlice
import hudiidx.log.{CountedBlock, RecordPositions}
import java.nio.ByteBuffer

/** Positions of the records of all blocks of a slice: with them a record is known by its base file's row, and no key of that
  * file is read. As in stock Hudi all blocks have them, or those that are there are not used.
  */
private[merge] final class BlockPositions private (blocks: Vector[Array[Long]]) {
  private val key = ByteBuffer.allocate(java.lang.Long.BYTES)
  private val slice = new ByteSlice
  private var block = -1
  private var left = 0
  private var at = 0

  def start(block: Int): Unit = {
    this.block = block
    at = 0
    left = blocks(block).length
  }

  /** The next record's position as a key. */
  def next(): ByteSlice = {
    if (left == 0) throw new BlockPositions.NotForEachRecord
    left -= 1
    at += 1
    BlockPositions.key(blocks(block)(at - 1), key)
    slice.set(key.array)
    slice
  }

  def end(): Unit = if (left > 0) throw new BlockPositions.NotForEachRecord
}

private[merge] object BlockPositions {

  /** A block has more records than positions, or fewer. */
  final class NotForEachRecord extends RuntimeException("positions for other records", null, false, false)

  def of(blocks: Vector[CountedBlock], baseInstant: String): Option[BlockPositions] = {
    val found =
      blocks.iterator.map(b => RecordPositions.of(b.block, baseInstant, b.file)).takeWhile(_.isDefined).toVector
    if (found.isEmpty || found.size < blocks.size) None else Some(new BlockPositions(found.flatten))
  }

  def key(position: Long, into: ByteBuffer): Unit = into.putLong(0, position): Unit

  def position(key: ByteSlice): Long = ByteBuffer.wrap(key.bytes).getLong(key.from)
}
