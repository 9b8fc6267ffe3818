package hudiidx.column.segment

import hudiidx.bytes.{PackedColumn, PackedInput, PackedInts, PackedOutput, XxHash64}
import java.nio.charset.StandardCharsets.UTF_8
import java.util.Arrays

/** A file that a segment covers.
  *
  *  @param sizeBytes as the manifest has it: a file of another size (a log file may grow) is another one
  *  @param rows      rows it holds, -1 if unknown
  */
final case class CoveredFile(name: String, sizeBytes: Long, rows: Long)

/** 128 bits that stand for a file name of a partition: XXH64 with two seeds. */
private[column] final case class NameDigest(high: Long, low: Long)

private[column] object NameDigest {
  private val LowSeed = 0x68756469696478L

  def of(name: String): NameDigest = {
    val bytes = name.getBytes(UTF_8)
    val words = PackedInts.words(bytes)
    NameDigest(XxHash64.hash(words, 0, bytes.length, 0L), XxHash64.hash(words, 0, bytes.length, LowSeed))
  }
}

/** The files of one partition in a segment, in the order of their names' digests. Read where they stand: most are never asked
  * for. docs/format.md, "Column files".
  *
  *  @param highs   upper halves of the digests, ascending
  *  @param lows    their lower halves
  *  @param places  place of each in the partition
  *  @param sizes   sizes in bytes
  *  @param rowsOf  rows of each file, by place
  *  @param damaged error for a place that no file can have: looked at where it is asked for
  */
private[column] final class FileTable(
    highs: PackedColumn,
    lows: PackedColumn,
    places: PackedColumn,
    sizes: PackedColumn,
    rowsOf: PackedColumn,
    damaged: String => RuntimeException
) {
  def count: Int = highs.length

  private def place(i: Int): Int = {
    val found = places(i)
    if (found < 0 || found >= count) throw damaged(s"file $i of $count has place $found")
    found.toInt
  }

  /** Rows of the file at a place; -1 unknown. */
  def rows(place: Int): Long = rowsOf(place)

  /** Rows of each file, by place. */
  def allRows: Array[Long] = rowsOf.toArray

  /** Place of a file in the partition; -1 if it is not covered, has another size, or cannot be told from another. */
  def find(digest: NameDigest, sizeBytes: Long): Int = {
    var at = first(digest.high)
    var found = -1
    var several = false
    while (at < count && highs(at) == digest.high) {
      if (lows(at) == digest.low) {
        several = found >= 0 || several
        found = at
      }
      at += 1
    }
    if (found < 0 || several || sizes(found) != sizeBytes) -1 else place(found)
  }

  /** The first whose upper half is not below `high`. */
  private def first(high: Long): Int = {
    var (low, end) = (0, count)
    while (low < end) {
      val middle = (low + end) >>> 1
      if (highs(middle) < high) low = middle + 1 else end = middle
    }
    low
  }

  /** Hands over the sizes of the files whose bits are set, the first place's bit being `from`, and of those that cannot be told
    * from another.
    */
  def foreachSize(bits: FileBits, from: Int)(use: Long => Unit): Unit = {
    var i = 0
    while (i < count) {
      if (bits.get(from + place(i))) use(sizes(i))
      i += 1
    }
    twins.foreach(at => use(sizes(at)))
  }

  /** Where files stand that cannot be told from another. */
  private lazy val twins: Array[Int] = {
    val found = Array.newBuilder[Int]
    var before = 0L
    var i = 0
    while (i < count) {
      val high = highs(i)
      if (i > 0 && high == before && lows(i) == lows(i - 1)) {
        found += i - 1
        found += i
      }
      before = high
      i += 1
    }
    found.result()
  }

  /** Digest and size of each file, by place. */
  def byPlace: Array[(NameDigest, Long)] = {
    val out = new Array[(NameDigest, Long)](count)
    (0 until count).foreach(i => out(place(i)) = (NameDigest(highs(i), lows(i)), sizes(i)))
    out
  }
}

private[column] object FileTable {

  /** Files by place: digest and size of each, and its rows. */
  def encode(digests: Array[NameDigest], sizes: Array[Long], rows: Array[Long]): Array[Byte] = {
    val n = digests.length
    val order = digests.indices.sortBy(i => (digests(i).high, digests(i).low)).toArray
    val out = new PackedOutput(16 + n * 24)
    out.varint(n.toLong)
    out.bits(order.map(digests(_).high), n, 0L, 64)
    out.bits(order.map(digests(_).low), n, 0L, 64)
    out.column(order.map(_.toLong), n)
    out.column(order.map(sizes(_)), n)
    out.column(rows, n)
    out.toBytes
  }

  /** Over the bytes of `in`, which must not change. IllegalArgumentException if it is malformed. */
  def decode(in: PackedInput, damaged: String => RuntimeException = new IllegalArgumentException(_)): FileTable = {
    val n = in.count(128)
    val (highs, lows) = (in.bitsInPlace(n, 0L, 64), in.bitsInPlace(n, 0L, 64))
    new FileTable(highs, lows, in.columnInPlace(n), in.columnInPlace(n), in.columnInPlace(n), damaged)
  }

  /** A sum that is the same for the same files in any order. */
  def fingerprint(digests: Array[NameDigest], sizes: Array[Long]): Long = {
    var sum = 0L
    var i = 0
    while (i < digests.length) {
      val h = (digests(i).high ^ java.lang.Long.rotateLeft(sizes(i), 32)) * 0x9e3779b97f4a7c15L
      sum += (h ^ (h >>> 29)) * 0xbf58476d1ce4e5b9L ^ digests(i).low
      i += 1
    }
    sum
  }
}

/** The partitions of a segment in the order of their keys, and where their files stand.
  *
  *  @param starts       ordinal of the first file of each, and behind them the number of all files
  *  @param fingerprints of each partition's files
  */
private[column] final class PartitionDirectory(
    val paths: Array[String],
    val starts: Array[Int],
    val fingerprints: Array[Long]
) {
  private val places = {
    val map = new java.util.HashMap[String, Integer](paths.length * 2)
    paths.indices.foreach(i => map.put(paths(i), i))
    map
  }

  def count: Int = paths.length
  def files: Int = starts(count)

  /** -1 if the segment has no such partition. */
  def find(path: String): Int = {
    val found = places.get(path)
    if (found == null) -1 else found
  }

  def encode: Array[Byte] = {
    val out = new PackedOutput(64 + count * 24)
    out.varint(count.toLong)
    var before = Array.emptyByteArray
    paths.foreach { p =>
      val key = p.getBytes(UTF_8)
      val differ = Arrays.mismatch(before, key)
      val common = if (differ < 0) key.length else differ
      out.varint(common.toLong)
      out.bytes(Arrays.copyOfRange(key, common, key.length))
      before = key
    }
    out.column(Array.tabulate(count)(i => (starts(i + 1) - starts(i)).toLong), count)
    out.bits(fingerprints, count, 0L, 64)
    out.toBytes
  }
}

private[column] object PartitionDirectory {

  /** More than stores take: without a limit paths that share all of long ones before them fill any memory. */
  private val MostPathBytes = 8192

  /** IllegalArgumentException if it is malformed. */
  def decode(in: PackedInput): PartitionDirectory = {
    val n = in.count(16 + 64)
    var key = Array.emptyByteArray
    val paths = Array.fill(n) {
      val common = in.varint()
      require(common >= 0 && common <= key.length, s"a path shares $common bytes with one of ${key.length}")
      val rest = in.bytes()
      require(common + rest.length <= MostPathBytes, s"a path of ${common + rest.length} bytes")
      key = Arrays.copyOf(key, common.toInt + rest.length)
      System.arraycopy(rest, 0, key, common.toInt, rest.length)
      new String(key, UTF_8)
    }
    val starts = new Array[Int](n + 1)
    val counts = in.column(n)
    counts.indices.foreach { i =>
      require(counts(i) >= 0 && starts(i) + counts(i) <= Int.MaxValue, s"partition of ${counts(i)} files")
      starts(i + 1) = starts(i) + counts(i).toInt
    }
    val fingerprints = new Array[Long](n)
    in.bits(fingerprints, 0L, 64)
    new PartitionDirectory(paths, starts, fingerprints)
  }
}
