package hudiidx.hadoop

import java.util.{Arrays, BitSet}

import hudiidx.bytes.XxHash64
import hudiidx.record.PackedKeys

/** Record keys whose rows are asked for. For one thread. */
final class WantedKeys(keys: PackedKeys) {
  private val all = new java.util.HashSet[KeyRange]
  (0 until keys.count).foreach(i => all.add(new KeyRange().set(keys.bytes, keys.from(i), keys.length(i))))
  private val hashes =
    Array.tabulate(keys.count)(i => WantedKeys.hash(keys.bytes, keys.from(i), keys.length(i)))
  Arrays.sort(hashes)
  // Few keys have the low bits of a wanted one's hash, and a bit is faster looked at than hashes are searched.
  private val lowBits = new BitSet(WantedKeys.LowBits + 1)
  hashes.foreach(h => lowBits.set(h & WantedKeys.LowBits))
  private val probe = new KeyRange

  /** False: none of them has this hash. */
  def mayHave(hash: Int): Boolean =
    lowBits.get(hash & WantedKeys.LowBits) && Arrays.binarySearch(hashes, hash) >= 0

  def contains(bytes: Array[Byte], from: Int, length: Int): Boolean = all.contains(probe.set(bytes, from, length))
}

object WantedKeys {
  private val LowBits = (1 << 20) - 1

  def hash(bytes: Array[Byte], from: Int, length: Int): Int = XxHash64.hash(bytes, from, length, 0L).toInt
}
