package hudiidx.logindex

import hudiidx.bytes.PackedInts
import hudiidx.record.{KeysByCode, PackedKeys}
import hudiidx.storage.RandomReader

/** The keys of one lookup; a key's number is its place in the order of key codes. */
private[logindex] final class AskedKeys(val keys: PackedKeys) {
  val byCode = new KeysByCode(keys)

  /** `hash << 31 | number`, ascending. */
  val byHash: Array[Long] = {
    val all = Array.tabulate(byCode.count) { i =>
      (HashFilter.hash(keys.bytes, keys.from(byCode.at(i)), keys.length(byCode.at(i))) << 31) | i
    }
    java.util.Arrays.sort(all)
    all
  }

  def hash(entry: Long): Long = entry >>> 31
  def number(entry: Long): Int = (entry & Int.MaxValue).toInt
}

private[logindex] object FilterProbe {

  /** Looks keys up in a filter: calls `use` with a key's number and the place among the filter's members of a block that may
    * hold it. Reads the buckets alone that the keys fall into. DamagedIndex if one cannot be read.
    */
  def run(reader: RandomReader, filter: FilterRef, asked: AskedKeys)(use: (Int, Int) => Unit): Unit =
    TailReader.guard(reader.path, filter.offset) {
      val shape = filter.shape
      val wanted = asked.byHash.filter(e => shape.mightHold(asked.byCode.code(asked.number(e))))
      if (wanted.nonEmpty) {
        val buckets = wanted.map(e => shape.bucketOf(asked.hash(e))).distinct
        val (starts, lengths) = places(reader, filter, buckets)
        val bucket = new BucketReader(shape)
        var at = 0
        RangeReads.foreach(reader, starts, lengths) { (i, bytes, from) =>
          bucket.open(bytes, from, lengths(i), buckets(i))
          var entry = 0
          while (at < wanted.length && shape.bucketOf(asked.hash(wanted(at))) == buckets(i)) {
            val hash = asked.hash(wanted(at))
            while (entry < bucket.count && bucket.hashes(entry) < hash) entry += 1
            var same = entry
            while (same < bucket.count && bucket.hashes(same) == hash) {
              use(asked.number(wanted(at)), bucket.member(same))
              same += 1
            }
            at += 1
          }
        }
      }
    }

  /** Offsets in the file and lengths of buckets. */
  private def places(reader: RandomReader, filter: FilterRef, buckets: Array[Int]): (Array[Long], Array[Int]) = {
    val shape = filter.shape
    val starts = new Array[Long](buckets.length)
    val lengths = new Array[Int](buckets.length)
    val at = buckets.map(b => filter.offset + shape.directoryOffset + b.toLong * HashFilter.PlaceBytes)
    RangeReads.foreach(reader, at, Array.fill(buckets.length)(2 * HashFilter.PlaceBytes)) { (i, bytes, from) =>
      val words = PackedInts.words(bytes)
      val start = words.getInt(from)
      val end = words.getInt(from + HashFilter.PlaceBytes)
      require(start >= 0 && start < end && end <= shape.directoryOffset, s"bucket ${buckets(i)} from $start until $end")
      starts(i) = filter.offset + start
      lengths(i) = end - start
    }
    (starts, lengths)
  }
}
