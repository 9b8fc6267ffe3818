package hudiidx.logindex

import hudiidx.bytes.{Bytes, PackedInput, PackedInts, PackedOutput, XxHash64}
import hudiidx.record.page.KeyCode

/** Hashes of the keys of some blocks. docs/format.md, "Hash filter".
  *
  * @param members blocks that the filter covers
  * @param entries `hash << 24 | member`, ascending and distinct: 32 bits of the key's hash, the block's place in `members`
  */
final case class FilterEntries(members: Vector[BlockPlace], entries: Array[Long]) {

  /** Those of some of the members. */
  def of(some: Set[BlockPlace]): FilterEntries = {
    val kept = members.indices.filter(i => some(members(i)))
    val numbers = Array.fill(members.size)(-1)
    kept.indices.foreach(i => numbers(kept(i)) = i)
    val mask = FilterEntries.MaxMembers - 1L
    val left = entries.filter(e => numbers((e & mask).toInt) >= 0).map(e => (e & ~mask) | numbers((e & mask).toInt))
    FilterEntries(kept.map(members).toVector, left)
  }
}

object FilterEntries {
  private[logindex] val MemberBits = 24
  private[logindex] val MaxMembers: Int = 1 << MemberBits

  /** Of one block; the array is sorted in place. */
  def of(place: BlockPlace, hashes: Array[Long]): FilterEntries = {
    val entries = hashes.map(_ << MemberBits)
    FilterEntries(Vector(place), sorted(entries))
  }

  /** Of all blocks of several filters. */
  def merge(filters: Seq[FilterEntries]): FilterEntries = {
    val all = new Array[Long](filters.map(_.entries.length).sum)
    var at = 0
    var member = 0L
    filters.foreach { f =>
      var i = 0
      while (i < f.entries.length) {
        all(at) = f.entries(i) + member
        at += 1
        i += 1
      }
      member += f.members.size
    }
    FilterEntries(filters.iterator.flatMap(_.members).toVector, sorted(all))
  }

  private def sorted(entries: Array[Long]): Array[Long] = {
    java.util.Arrays.sort(entries)
    var n = 0
    var i = 0
    while (i < entries.length) {
      if (n == 0 || entries(n - 1) != entries(i)) {
        entries(n) = entries(i)
        n += 1
      }
      i += 1
    }
    if (n == entries.length) entries else java.util.Arrays.copyOf(entries, n)
  }
}

/** How to read a hash filter: offsets from its first byte.
  *
  * @param level    eight filters of a level are merged into one of the next
  * @param min, max codes of the lowest and highest key, cut to `HashFilter.BoundBytes`
  */
final case class FilterShape(
    level: Int,
    entries: Int,
    buckets: Int,
    riceBits: Int,
    memberBits: Int,
    directoryOffset: Int,
    membersOffset: Int,
    length: Int,
    membersSum: Long,
    min: Array[Byte],
    max: Array[Byte]
) {

  /** False if a key of this code is in none of the blocks. */
  def mightHold(code: Array[Byte]): Boolean = entries > 0 && HashFilter.within(code, min, max)

  private[logindex] def bucketOf(hash: Long): Int = ((hash * buckets) >>> 32).toInt
}

object FilterShape {
  private val Empty = Array.emptyByteArray

  /** Of a tail without a filter, which says nothing of any block. */
  val None: FilterShape = FilterShape(0, 0, 0, 0, 0, 0, 0, 0, 0L, Empty, Empty)
}

/** Writes and reads hash filters; pure. Malformed bytes raise IllegalArgumentException or IndexOutOfBoundsException. */
private[logindex] object HashFilter {
  val BoundBytes = 32

  /** Bits of a hash. One absent key in 2^32 / entries is taken for present: one in a thousand at four million entries. */
  val HashBits = 32

  /** Entries to a bucket: what a look at a key reads. */
  private val BucketEntries = 128

  def hash(key: Array[Byte], from: Int, length: Int): Long = KeyCode.hash(key, from, length)

  /** Places of buckets are numbers of 4 bytes. */
  val PlaceBytes = 4

  def encode(filter: FilterEntries, level: Int, min: Array[Byte], max: Array[Byte]): (Array[Byte], FilterShape) = {
    require(filter.members.size < FilterEntries.MaxMembers, s"filter of ${filter.members.size} blocks")
    val members = new PackedOutput()
    BlockPlace.write(members, filter.members)
    val membersSum = XxHash64.hash(members.array, 0, members.size, 0L)
    val n = filter.entries.length
    val buckets = (n + BucketEntries - 1) / BucketEntries
    val shape = FilterShape(
      level,
      n,
      buckets,
      riceBitsFor(n),
      32 - Integer.numberOfLeadingZeros(filter.members.size - 1),
      0,
      0,
      0,
      membersSum,
      cut(min),
      cut(max)
    )
    val out = new PackedOutput(n * 4 + 256)
    val places = new Array[Long](buckets + 1)
    val writer = new BucketWriter(shape)
    var from = 0
    var b = 0
    while (b < buckets) {
      places(b) = out.size.toLong
      val until = endOfBucket(filter.entries, from, shape, b)
      writer.write(filter.entries, from, until, b, out)
      from = until
      b += 1
    }
    places(buckets) = out.size.toLong
    val directory = out.size
    out.bits(places, places.length, 0L, PlaceBytes * 8)
    val membersAt = out.size
    out.raw(members.array, 0, members.size)
    (out.toBytes, shape.copy(directoryOffset = directory, membersOffset = membersAt, length = out.size))
  }

  def cut(code: Array[Byte]): Array[Byte] = code.take(BoundBytes)

  def lowest(codes: Seq[Array[Byte]]): Array[Byte] =
    codes.reduceOption((a, b) => if (Bytes.compare(a, b) <= 0) a else b).getOrElse(Array.emptyByteArray)

  def highest(codes: Seq[Array[Byte]]): Array[Byte] =
    codes.reduceOption((a, b) => if (Bytes.compare(a, b) >= 0) a else b).getOrElse(Array.emptyByteArray)

  /** True if a code may lie between two that were cut. */
  def within(code: Array[Byte], min: Array[Byte], max: Array[Byte]): Boolean = {
    val length = math.min(code.length, BoundBytes)
    Bytes.compare(code, 0, length, min, 0, min.length) >= 0 && Bytes.compare(code, 0, length, max, 0, max.length) <= 0
  }

  /** Golomb's rule for gaps of a geometric distribution. */
  private def riceBitsFor(entries: Int): Int = {
    val gap = (1L << HashBits) / math.max(1, entries)
    63 - java.lang.Long.numberOfLeadingZeros(math.max(1L, gap * 69 / 100))
  }

  private def endOfBucket(entries: Array[Long], from: Int, shape: FilterShape, bucket: Int): Int = {
    var i = from
    while (i < entries.length && shape.bucketOf(entries(i) >>> FilterEntries.MemberBits) == bucket) i += 1
    i
  }

  /** The lowest hash that falls into a bucket. */
  def base(shape: FilterShape, bucket: Int): Long = ((bucket.toLong << 32) + shape.buckets - 1) / shape.buckets

  /** Ties the bytes of a bucket to its place in its filter. */
  def sum(bytes: Array[Byte], from: Int, length: Int, shape: FilterShape, bucket: Int): Int =
    XxHash64.hash(bytes, from, length, shape.membersSum + bucket).toInt

  def members(bytes: Array[Byte], shape: FilterShape): Vector[BlockPlace] = {
    require(XxHash64.hash(bytes, 0, bytes.length, 0L) == shape.membersSum, "checksum of a hash filter's blocks differs")
    val in = new PackedInput(bytes)
    val places = BlockPlace.read(in)
    require(in.remaining == 0 && places.nonEmpty, s"${places.size} blocks and ${in.remaining} bytes after them")
    places
  }

  /** All entries of a filter's bytes. */
  def decode(bytes: Array[Byte], shape: FilterShape): FilterEntries = {
    require(bytes.length == shape.length, s"hash filter of ${bytes.length} bytes, not ${shape.length}")
    val places = members(java.util.Arrays.copyOfRange(bytes, shape.membersOffset, shape.length), shape)
    val words = PackedInts.words(bytes)
    val entries = new Array[Long](shape.entries)
    val reader = new BucketReader(shape)
    var n = 0
    var b = 0
    while (b < shape.buckets) {
      val from = words.getInt(shape.directoryOffset + b * PlaceBytes)
      reader.open(bytes, from, words.getInt(shape.directoryOffset + (b + 1) * PlaceBytes) - from, b)
      var i = 0
      while (i < reader.count) {
        entries(n) = (reader.hashes(i) << FilterEntries.MemberBits) | reader.member(i)
        require(reader.member(i) < places.size, s"block ${reader.member(i)} of ${places.size}")
        n += 1
        i += 1
      }
      b += 1
    }
    require(n == shape.entries, s"$n hashes, not ${shape.entries}")
    FilterEntries(places, entries)
  }
}

/** A bucket: int32 checksum, varint count, bits(count, w) blocks, then gaps of the hashes in Rice's code. */
private final class BucketWriter(shape: FilterShape) {
  private val body = new PackedOutput()
  private var members = new Array[Long](256)
  private var bits, used = 0L

  def write(entries: Array[Long], from: Int, until: Int, bucket: Int, out: PackedOutput): Unit = {
    val n = until - from
    if (members.length < n) members = new Array[Long](n)
    var i = 0
    while (i < n) {
      members(i) = entries(from + i) & (FilterEntries.MaxMembers - 1)
      i += 1
    }
    body.clear()
    body.varint(n.toLong)
    body.bits(members, n, 0L, shape.memberBits)
    var last = HashFilter.base(shape, bucket)
    i = 0
    while (i < n) {
      val hash = entries(from + i) >>> FilterEntries.MemberBits
      gap(hash - last)
      last = hash
      i += 1
    }
    if (used > 0) put(0L, 8 - used.toInt)
    val sum = HashFilter.sum(body.array, 0, body.size, shape, bucket)
    out.bits(Array(sum & 0xffffffffL), 1, 0L, 32)
    out.raw(body.array, 0, body.size)
  }

  private def gap(value: Long): Unit = {
    var ones = value >>> shape.riceBits
    while (ones >= 8) {
      put(0xff, 8)
      ones -= 8
    }
    put((1L << ones) - 1, ones.toInt + 1)
    put(value & ((1L << shape.riceBits) - 1), shape.riceBits)
  }

  private def put(value: Long, width: Int): Unit = {
    bits |= value << used
    used += width
    while (used >= 8) {
      body.byte((bits & 0xff).toInt)
      bits >>>= 8
      used -= 8
    }
  }
}

/** Buckets of a filter, one at a time. Not safe for several threads. */
private[logindex] final class BucketReader(shape: FilterShape) {
  var hashes: Array[Long] = new Array[Long](256)
  var count = 0
  private var members = Array.emptyLongArray
  private var bytes: Array[Byte] = _
  private var at, end = 0
  private var bits = 0L
  private var held = 0

  def member(i: Int): Int = members(i).toInt

  /** IllegalArgumentException if the checksum differs. */
  def open(source: Array[Byte], from: Int, length: Int, bucket: Int): Unit = {
    require(length > 4 && from >= 0 && from <= source.length - length, s"bucket of $length bytes at $from")
    val sum = PackedInts.words(source).getInt(from)
    require(
      HashFilter.sum(source, from + 4, length - 4, shape, bucket) == sum,
      s"checksum of bucket $bucket of a hash filter differs"
    )
    val in = new PackedInput(source, from + 4, from + length)
    count = in.count(1)
    members = new Array[Long](count)
    if (shape.memberBits > 0) in.bits(members, 0L, shape.memberBits)
    if (hashes.length < count) hashes = new Array[Long](count)
    bytes = source
    at = in.index
    end = from + length
    bits = 0L
    held = 0
    var hash = HashFilter.base(shape, bucket)
    var i = 0
    while (i < count) {
      hash += gap()
      hashes(i) = hash
      i += 1
    }
  }

  private def gap(): Long = {
    var ones = 0L
    fill()
    while ((bits & 0xff) == 0xff && held >= 8) {
      ones += 8
      take(8)
    }
    val rest = java.lang.Long.numberOfTrailingZeros(~bits)
    require(rest < held, "hash filter's bucket ends in a hash")
    take(rest + 1)
    (ones + rest << shape.riceBits) | take(shape.riceBits)
  }

  private def take(width: Int): Long = {
    if (held < width) fill()
    require(width <= held, "hash filter's bucket ends in a hash")
    val value = bits & ((1L << width) - 1)
    bits >>>= width
    held -= width
    if (held < 9) fill()
    value
  }

  private def fill(): Unit = while (held <= 55 && at < end) {
    bits |= (bytes(at) & 0xffL) << held
    at += 1
    held += 8
  }
}
