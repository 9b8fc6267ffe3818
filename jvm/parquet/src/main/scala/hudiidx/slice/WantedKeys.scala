package hudiidx.slice

import java.util.{Arrays, BitSet}

import hudiidx.bytes.XxHash64
import hudiidx.parquet.KeyRange
import hudiidx.merge.KeySet
import hudiidx.record.PackedKeys

/** Record keys whose rows are asked for. For one thread. */
final class WantedKeys(keys: PackedKeys) extends KeySet {
  private val all = new java.util.HashSet[KeyRange]
  (0 until keys.count).foreach(i => all.add(new KeyRange().set(keys.bytes, keys.from(i), keys.length(i))))
  private val hashes =
    Array.tabulate(keys.count)(i => WantedKeys.hash(keys.bytes, keys.from(i), keys.length(i)))
  Arrays.sort(hashes)
  // Few keys have the low bits of a wanted one's hash, and a bit is faster looked at than hashes are searched.
  private val mask = WantedKeys.mask(keys.count)
  private val lowBits = new BitSet(mask + 1)
  hashes.foreach(h => lowBits.set(h & mask))
  private val sketches = new BitSet(mask + 1)
  (0 until keys.count).foreach(i => sketches.set(WantedKeys.sketch(keys.bytes, keys.from(i), keys.length(i)) & mask))
  private val probe = new KeyRange

  /** False: none of them has this hash. */
  def mayHave(hash: Int): Boolean =
    lowBits.get(hash & mask) && Arrays.binarySearch(hashes, hash) >= 0

  /** True if the key is wanted; faster than `contains` where few are. */
  def has(bytes: Array[Byte], from: Int, length: Int): Boolean =
    sketches.get(WantedKeys.sketch(bytes, from, length) & mask) && contains(bytes, from, length)

  override def contains(bytes: Array[Byte], from: Int, length: Int): Boolean =
    all.contains(probe.set(bytes, from, length))
}

object WantedKeys {
  private val MostBits = 1 << 20

  /** Of so many bits that few keys have a wanted one's. */
  private def mask(keys: Int): Int = math.min(MostBits, Integer.highestOneBit(math.min(keys, MostBits) | 8) << 7) - 1

  /** Cheaper than a hash: made of the length and some bytes at both ends, in which keys mostly differ. */
  private def sketch(bytes: Array[Byte], from: Int, length: Int): Int = {
    val end = from + length
    var h = length
    var at = from
    while (at < end) {
      h = h * 31 + bytes(at)
      at = if (at == from + 3 && end - at > 9) end - 8 else at + 1
    }
    h * 0x9e3779b1 >>> 8
  }

  def hash(bytes: Array[Byte], from: Int, length: Int): Int = XxHash64.hash(bytes, from, length, 0L).toInt
}
