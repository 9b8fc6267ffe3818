package hudiidx.log

import hudiidx.bytes.ByteSlice
import java.util.Arrays

/** Entries in one array: key length, value length (int32 each), key, value. Sorted by key with a radix sort on three bytes
  * at a time, which is what keeps entries of one key in the order in which they came.
  */
private[log] final class EntryArena(budgetBytes: Long) {
  require(budgetBytes > 0, s"budget of $budgetBytes bytes")
  private val most = math.min(budgetBytes, EntryArena.MostBytes).toInt
  private var bytes = new Array[Byte](math.min(most, EntryArena.FirstBytes))
  private var used = 0
  private var starts = new Array[Int](256)
  private var count = 0

  def isFull: Boolean = used.toLong + count * EntryArena.EntryOverhead >= most

  def clear(): Unit = {
    used = 0
    count = 0
  }

  def add(key: ByteSlice, value: ByteSlice): Unit = {
    val size = 8L + key.length + value.length
    if (size > bytes.length - used) grow(size)
    if (count == starts.length) starts = Arrays.copyOf(starts, count * 2)
    starts(count) = used
    count += 1
    putInt(used, key.length)
    putInt(used + 4, value.length)
    System.arraycopy(key.bytes, key.from, bytes, used + 8, key.length)
    System.arraycopy(value.bytes, value.from, bytes, used + 8 + key.length, value.length)
    used += size.toInt
  }

  /** To twice its size, not past the budget unless this entry alone needs it. */
  private def grow(size: Long): Unit = {
    val wanted = math.max(used + size, math.min(bytes.length * 2L, most.toLong))
    if (wanted > Int.MaxValue - 16) throw new OutOfMemoryError(s"an entry of $size bytes")
    bytes = Arrays.copyOf(bytes, wanted.toInt)
  }

  /** The entries in order, until the arena is cleared. */
  def sorted(): EntryCursor = {
    val order = Array.tabulate(count)(_.toLong)
    sort(order, 0, count, 0)
    new EntryCursor {
      private var at = 0
      override def next(): Boolean = at < order.length && {
        val start = starts(order(at).toInt)
        val keyLength = int(start)
        key.set(bytes, start + 8, keyLength)
        value.set(bytes, start + 8 + keyLength, int(start + 4))
        at += 1
        true
      }
    }
  }

  /** Sorts a range of entries whose keys agree on their first `shared` bytes. An element of `order` is what decides at this
    * depth (three bytes of the key and how many of them there are) above the entry's number, so equal keys stay in order.
    */
  private def sort(order: Array[Long], from: Int, until: Int, shared: Int): Unit = if (until - from > 1) {
    val depth = commonPrefix(order, from, until, shared)
    var i = from
    while (i < until) {
      val entry = order(i).toInt
      order(i) = (digit(entry, depth) << 32) | entry
      i += 1
    }
    Arrays.sort(order, from, until)
    var runFrom = from
    i = from
    while (i < until) {
      val digit = order(i) >>> 32
      if (i + 1 == until || (order(i + 1) >>> 32) != digit) {
        // Fewer than three bytes left: the keys of the run are equal.
        if ((digit & 3) == 3) sort(order, runFrom, i + 1, depth + 3)
        runFrom = i + 1
      }
      i += 1
    }
  }

  private def digit(entry: Int, depth: Int): Long = {
    val from = starts(entry) + 8 + depth
    val left = math.min(3, int(starts(entry)) - depth)
    var value = 0L
    var i = 0
    while (i < 3) {
      value = (value << 8) | (if (i < left) bytes(from + i) & 0xff else 0)
      i += 1
    }
    (value << 2) | left
  }

  private def commonPrefix(order: Array[Long], from: Int, until: Int, shared: Int): Int = {
    val first = starts(order(from).toInt)
    var common = int(first)
    var i = from + 1
    while (i < until && common > shared) {
      val start = starts(order(i).toInt)
      val length = math.min(common, int(start))
      val differs = Arrays.mismatch(
        bytes,
        first + 8 + shared,
        first + 8 + length,
        bytes,
        start + 8 + shared,
        start + 8 + length
      )
      common = if (differs < 0) length else shared + differs
      i += 1
    }
    common
  }

  private def int(at: Int): Int =
    (bytes(at) << 24) | ((bytes(at + 1) & 0xff) << 16) | ((bytes(at + 2) & 0xff) << 8) | (bytes(at + 3) & 0xff)

  private def putInt(at: Int, value: Int): Unit = {
    bytes(at) = (value >>> 24).toByte
    bytes(at + 1) = (value >>> 16).toByte
    bytes(at + 2) = (value >>> 8).toByte
    bytes(at + 3) = value.toByte
  }
}

private object EntryArena {
  private val FirstBytes = 64 << 10
  private val MostBytes = 1L << 30

  /** Bytes for each entry beside its own: where it starts, and its place in the order. */
  private val EntryOverhead = 12L
}
