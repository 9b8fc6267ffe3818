package hudiidx.hfile

import hudiidx.storage.FileStamp
import java.util
import java.util.concurrent.atomic.LongAdder

/** What HFile readers did: numbers only grow, and may be read while others count. */
final class HFileCounters {
  private val hitCount, missCount, readCount, byteCount, blockCount = new LongAdder

  /** Blocks found in the cache. */
  def hits: Long = hitCount.sum

  /** Blocks that were not there and had to be read. */
  def misses: Long = missCount.sum

  /** Positional reads of files. */
  def reads: Long = readCount.sum
  def bytesRead: Long = byteCount.sum

  /** Data, index and meta blocks checked and decompressed, those of the load-on-open section not counted. */
  def blocksDecoded: Long = blockCount.sum

  private[hfile] def hit(): Unit = hitCount.increment()
  private[hfile] def miss(): Unit = missCount.increment()
  private[hfile] def decoded(): Unit = blockCount.increment()
  private[hfile] def readDone(bytes: Long): Unit = {
    readCount.increment()
    byteCount.add(bytes)
  }
}

/** Something that a block cache holds. `weightBytes` is about what it takes on the heap and does not change. */
private[hfile] trait CachedBlock {
  def weightBytes: Int
}

private[hfile] object CachedBlock {

  /** What a block takes beside its bytes: the objects around them, its entry, key and the name of its file. */
  val OverheadBytes: Long = 400
}

/** Decompressed blocks of HFiles by file and offset, the least recently used going first. Another file under a name that was
  * there before is another file. Safe for several threads; two that miss the same block both read it.
  *
  * @param capacityBytes most that the blocks take together; a block larger than that is not kept
  */
final class BlockCache(val capacityBytes: Long = BlockCache.DefaultCapacityBytes) {
  require(capacityBytes >= 0, s"capacity is $capacityBytes bytes")
  val counters = new HFileCounters
  private val blocks = new util.LinkedHashMap[BlockKey, CachedBlock](64, 0.75f, true)
  private var held = 0L

  /** Bytes held now. */
  def sizeBytes: Long = blocks.synchronized(held)

  private[hfile] def find(file: FileStamp, offset: Long): CachedBlock = {
    val found = blocks.synchronized(blocks.get(BlockKey(file, offset)))
    if (found == null) counters.miss() else counters.hit()
    found
  }

  private[hfile] def put(file: FileStamp, offset: Long, block: CachedBlock): Unit =
    if (block.weightBytes <= capacityBytes) blocks.synchronized {
      val before = blocks.put(BlockKey(file, offset), block)
      held += block.weightBytes - (if (before == null) 0 else before.weightBytes)
      val oldest = blocks.entrySet.iterator
      while (held > capacityBytes && oldest.hasNext) {
        held -= oldest.next().getValue.weightBytes
        oldest.remove()
      }
    }
}

object BlockCache {
  val DefaultCapacityBytes: Long = 64L << 20
}

private[hfile] final case class BlockKey(file: FileStamp, offset: Long) {
  override def hashCode: Int = file.hashCode * 31 + java.lang.Long.hashCode(offset)
}
