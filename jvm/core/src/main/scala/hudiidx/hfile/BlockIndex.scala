package hudiidx.hfile

import hudiidx.bytes.{ByteCursor, Bytes}
import java.nio.ByteBuffer

/** One block of the data index: where each child block is, and a key that is not above the child's first. Entries are in
  * ascending order of key and offset, and no child reaches into the next: by blocks that share bytes a file would be read as
  * often as it has blocks.
  */
private[hfile] abstract class BlockIndex extends CachedBlock {
  def count: Int
  def offset(i: Int): Long
  def size(i: Int): Int

  /** Order of entry `i`'s row against a key. */
  def compareRow(i: Int, key: Array[Byte], from: Int, length: Int): Int

  /** The last entry from `first` on whose row is not above the key; `first - 1` if there is none. */
  def floor(key: Array[Byte], from: Int, length: Int, first: Int): Int = {
    var low = first
    var high = count - 1
    while (low <= high) {
      val middle = (low + high) >>> 1
      if (compareRow(middle, key, from, length) <= 0) low = middle + 1 else high = middle - 1
    }
    high
  }
}

/** The root, checked as a whole. Rows (record keys) are held as ranges of `bytes`. */
private final class RootIndex(
    bytes: Array[Byte],
    offsets: Array[Long],
    sizes: Array[Int],
    rowFrom: Array[Int],
    rowLength: Array[Int]
) extends BlockIndex {
  def count: Int = offsets.length
  def offset(i: Int): Long = offsets(i)
  def size(i: Int): Int = sizes(i)
  def weightBytes: Int = math.min(Int.MaxValue.toLong, bytes.length + 20L * count + CachedBlock.OverheadBytes).toInt

  def compareRow(i: Int, key: Array[Byte], from: Int, length: Int): Int =
    Bytes.compare(bytes, rowFrom(i), rowLength(i), key, from, length)
}

/** A leaf or intermediate block, read where it stands: of hundreds of entries a search looks at ten. What it looks at is
  * checked, and that a child stands behind the one before it.
  *
  *  @param in        behind the count
  *  @param blocksEnd children lie below
  */
private final class InnerIndex(in: ByteCursor, val count: Int, blocksEnd: Long) extends BlockIndex {
  private val bytes = in.bytes
  private val words = ByteBuffer.wrap(bytes)
  private val positions = in.position
  private val start = positions + 4 * (count + 1)
  private val total = words.getInt(start - 4)
  if (words.getInt(positions) != 0 || total < 0 || total > in.remaining - 4 * (count + 1))
    in.fail(s"$count index entries of $total bytes do not fit the block")

  def weightBytes: Int = math.min(Int.MaxValue.toLong, bytes.length + 160L).toInt

  /** Index in `bytes` of entry `i`, checked to hold a key with a row. */
  private def entry(i: Int): Int = {
    val from = words.getInt(positions + 4 * i)
    val to = words.getInt(positions + 4 * i + 4)
    val length = to - from - InnerIndex.HeadBytes
    if (from < 0 || to > total || length < 2) in.fail(s"index entry $i stands from byte $from to $to of $total")
    val at = start + from
    val row = rowLength(at)
    if (length != row + 2 && length < row + HFileFormat.KeyOverheadBytes)
      in.fail(s"index key of $length bytes does not hold a row of $row")
    at
  }

  private def rowFrom(at: Int): Int = at + InnerIndex.HeadBytes + 2
  private def rowLength(at: Int): Int = words.getShort(at + InnerIndex.HeadBytes) & 0xffff

  def offset(i: Int): Long = words.getLong(checked(i))
  def size(i: Int): Int = words.getInt(checked(i) + 8)

  private def checked(i: Int): Int = {
    val at = entry(i)
    val offset = words.getLong(at)
    val size = words.getInt(at + 8)
    if (offset < 0 || size < HFileFormat.HeaderBytes || offset > blocksEnd - size)
      in.fail(s"index entry $i points at $size bytes at $offset, past the blocks ($blocksEnd)")
    if (i > 0) {
      val before = entry(i - 1)
      val end = words.getLong(before) + words.getInt(before + 8)
      if (end > offset || words.getLong(before) >= offset)
        in.fail(s"index entry $i points at $offset, before the end ($end) of the block before")
      if (Bytes.compare(bytes, rowFrom(before), rowLength(before), bytes, rowFrom(at), rowLength(at)) > 0)
        in.fail(s"index key $i is below the one before it")
    }
    at
  }

  def compareRow(i: Int, key: Array[Byte], from: Int, length: Int): Int = {
    val at = entry(i)
    Bytes.compare(bytes, rowFrom(at), rowLength(at), key, from, length)
  }
}

private object InnerIndex {

  /** Offset and size, before the key. */
  val HeadBytes = 12
}

private[hfile] object BlockIndex {
  private val MinRootEntryBytes = 13
  private val MinLeafEntryBytes = 16

  /** A root block of `count` entries whose children lie below `end`. */
  def root(in: ByteCursor, count: Int, end: Long): BlockIndex = {
    if (count > in.remaining / MinRootEntryBytes)
      in.fail(s"index block of ${in.remaining} bytes cannot hold $count entries")
    val build = new Builder(in, count, end)
    while (!build.full) {
      val offset = in.long("index entry offset")
      val size = in.int("index entry size")
      build.add(offset, size, keyLength(in))
    }
    build.result()
  }

  /** A leaf or intermediate block, which carries its count and the offsets of its entries. */
  def inner(in: ByteCursor, end: Long): BlockIndex = {
    val count = in.int("index entry count")
    if (count <= 0 || count > in.remaining / MinLeafEntryBytes)
      in.fail(s"index block of ${in.remaining} bytes cannot hold $count entries")
    new InnerIndex(in, count, end)
  }

  /** Length of the key at the cursor. HBase writes it as Hadoop's vint; Hudi 1.1.1 as a protobuf varint, which differs
    * from 128 on. The one after which a key of a record fits exactly is right, else any key.
    */
  private def keyLength(in: ByteCursor): Int = {
    val at = in.position
    val hadoop = in.hadoopVint("index key length")
    if (fitsExactly(in, hadoop)) hadoop.toInt
    else {
      val behindHadoop = in.position
      in.moveTo(at)
      val varint = in.varint("index key length")
      if (fitsExactly(in, varint)) varint.toInt
      else {
        in.moveTo(behindHadoop)
        if (!fits(in, hadoop)) in.fail(s"index key length is neither $hadoop nor $varint")
        hadoop.toInt
      }
    }
  }

  private def rowLength(in: ByteCursor): Int =
    (in.bytes(in.position) & 0xff) << 8 | (in.bytes(in.position + 1) & 0xff)

  private def inBounds(in: ByteCursor, length: Long): Boolean = length >= 2 && length <= in.remaining

  /** A row with its 2-byte length, alone (Hudi) or with empty family, timestamp and type behind it. */
  private def fitsExactly(in: ByteCursor, length: Long): Boolean =
    inBounds(in, length) && (length == rowLength(in) + 2 || length == rowLength(in) + HFileFormat.KeyOverheadBytes)

  /** As above, or with a family and qualifier, which tables of HBase itself have. */
  private def fits(in: ByteCursor, length: Long): Boolean =
    fitsExactly(in, length) || (inBounds(in, length) && length >= rowLength(in) + HFileFormat.KeyOverheadBytes)

  private final class Builder(in: ByteCursor, count: Int, end: Long) {
    private val offsets = new Array[Long](count)
    private val sizes, rowFrom, rowLength = new Array[Int](count)
    private var n = 0

    def full: Boolean = n == count

    /** Takes an entry whose key of `length` bytes is at the cursor. */
    def add(offset: Long, size: Int, length: Int): Unit = {
      if (offset < 0 || size < HFileFormat.HeaderBytes || offset > end - size)
        in.fail(s"index entry $n points at $size bytes at $offset, past the blocks ($end)")
      if (n > 0 && offset < offsets(n - 1) + sizes(n - 1))
        in.fail(
          s"index entry $n points at $offset, before the end (${offsets(n - 1) + sizes(n - 1)}) of the block before"
        )
      if (!fits(in, length.toLong)) in.fail(s"index key of $length bytes does not hold a row")
      val row = in.unsignedShort("row length")
      offsets(n) = offset
      sizes(n) = size
      rowFrom(n) = in.position
      rowLength(n) = row
      if (n > 0 && Bytes.compare(in.bytes, rowFrom(n - 1), rowLength(n - 1), in.bytes, rowFrom(n), row) > 0)
        in.fail(s"index key $n is below the one before it")
      in.skip(length - 2L, "index key")
      n += 1
    }

    def result(): BlockIndex = new RootIndex(in.bytes, offsets, sizes, rowFrom, rowLength)
  }
}

/** Where a meta block is. */
private[hfile] final case class MetaEntry(name: String, offset: Long, size: Int)

private[hfile] object MetaIndex {

  /** The meta index: entries as in a root index, but the keys are bare names. */
  def read(in: ByteCursor, count: Int, end: Long): Map[String, MetaEntry] = {
    if (count > in.remaining / 13) in.fail(s"meta index of ${in.remaining} bytes cannot hold $count entries")
    (0 until count).map { i =>
      val offset = in.long("meta entry offset")
      val size = in.int("meta entry size")
      if (offset < 0 || size < HFileFormat.HeaderBytes || offset > end - size)
        in.fail(s"meta entry $i points at $size bytes at $offset, past the blocks ($end)")
      val at = in.position
      var length = in.hadoopVint("meta name length")
      if (length < 0 || length > in.remaining) {
        in.moveTo(at)
        length = in.varintUpTo(in.remaining.toLong, "meta name length").toLong
      }
      val name = in.utf8(length.toInt, "meta name")
      name -> MetaEntry(name, offset, size)
    }.toMap
  }
}
