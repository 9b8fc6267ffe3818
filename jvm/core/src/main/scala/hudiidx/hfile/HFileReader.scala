package hudiidx.hfile

import hudiidx.DamagedIndex
import hudiidx.bytes.ByteCursor
import hudiidx.storage.RandomReader
import java.nio.ByteBuffer
import java.util.concurrent.atomic.AtomicReference

/** An open HFile v3, written by hudiidx, HBase or Hudi. Safe for several threads; each cursor is for one.
  *
  * Every block read is checked against its checksum where it has one. Damage of any kind becomes the error that the caller
  * of `open` asked for. Keys are compared as unsigned bytes.
  */
final class HFileReader private (
    source: Source,
    cache: BlockCache,
    trailer: Trailer,
    private[hfile] val rootIndex: BlockIndex,
    metaIndex: Map[String, MetaEntry],
    info: Map[String, Array[Byte]],
    checksum: Int
) {
  private[hfile] def indexLevels: Int = trailer.indexLevels
  private val hasMvcc = HFileReader.hasMvcc(info)

  /** Cells in the file, as its trailer says; a scan of the whole file checks it. */
  def entryCount: Long = trailer.entryCount

  /** Entries of the file info by name; not to be changed. */
  def fileInfo: Map[String, Array[Byte]] = info

  /** The content of a meta block, None if no block has that name. Read anew at each call. */
  def meta(name: String): Option[ByteBuffer] = metaIndex.get(name).map { entry =>
    val plain = readBlock(entry.offset, entry.size, HFileFormat.MetaMagic)
    ByteBuffer.wrap(plain.bytes, plain.from, plain.length).slice()
  }

  /** The value of a key, null if the file does not have it. A view that must not be changed. */
  def get(key: Array[Byte]): ByteBuffer = getAll(Array(key))(0)

  /** The values of keys that ascend (equal ones may follow each other), null for each that the file does not have. Views
    * that must not be changed, of the cache's blocks or else of copies. Each block is read and decoded at most once.
    */
  def getAll(keys: Array[Array[Byte]]): Array[ByteBuffer] = {
    val values = new Array[ByteBuffer](keys.length)
    val room = spare.getAndSet(null) match {
      case null  => new BlockRoom
      case found => found
    }
    val cursor = new HFileCursor(this, room)
    var i = 0
    while (i < keys.length) {
      require(
        i == 0 || java.util.Arrays.compareUnsigned(keys(i - 1), keys(i)) <= 0,
        s"key $i is below the one before it"
      )
      if (cursor.seek(keys(i))) values(i) = if (keepsBlocks) cursor.valueBuffer else ByteBuffer.wrap(cursor.value)
      i += 1
    }
    spare.set(room)
    values
  }

  /** The room of the last batch of gets, for the next one. */
  private val spare = new AtomicReference[BlockRoom]

  /** A cursor before the first cell, for one pass: what it points at holds until it moves. */
  def scan(): HFileCursor = new HFileCursor(this, new BlockRoom)

  /** As `scan()`, before the first cell whose key is not below `from`. */
  def scan(from: Array[Byte]): HFileCursor = {
    val cursor = scan()
    cursor.startAt(from)
    cursor
  }

  /** A cursor before the first cell, for seeks: what it points at stays valid when it moves on. */
  def cursor(): HFileCursor = new HFileCursor(this, null)

  /** A cursor for about so many seeks. Where they go through much of a file that is large for the cache, it reads ahead and
    * passes the cache by: blocks would push each other out before anybody asks for them again. What it points at holds until
    * it moves.
    */
  def cursor(seeks: Long): HFileCursor =
    if (sweeps(seeks)) new HFileCursor(this, new BlockRoom(sweep = true)) else cursor()

  private def sweeps(seeks: Long): Boolean =
    seeks >= trailer.entryCount / HFileReader.CellsPerSeek &&
      trailer.totalUncompressedBytes > cache.capacityBytes / HFileReader.CacheShare

  /** Walks over the whole file: keys ascend, the index leads to each of them, and there are as many as the trailer says. Who
    * looks a key up trusts that, and takes one that is not found for absent.
    */
  def requireOrdered(): Unit = {
    val (cells, order) = (scan(), new CellOrder(this))
    while (cells.next()) order.take(cells): Unit
  }

  private[hfile] def fail(what: String, offset: Long): Nothing = source.fail(what, offset)

  private[hfile] def checkEntryCount(seen: Long): Unit =
    if (seen != trailer.entryCount)
      source.fail(
        s"file has $seen cells, its trailer says ${trailer.entryCount}",
        source.size - HFileFormat.TrailerBytes
      )

  private def keepsBlocks: Boolean = cache.capacityBytes > 0

  /** The block, read into `room` (unless that is null) where the cache keeps none. */
  private[hfile] def dataBlock(offset: Long, size: Int, room: BlockRoom): DataBlock =
    if (room != null && room.sweep) readData(offset, size, room)
    else
      cache.find(source.stamp, offset) match {
        case block: DataBlock => block
        case _                =>
          val last = large
          if (last != null && last.fileOffset == offset) last
          else {
            val block = readData(offset, size, if (keepsBlocks) null else room)
            if (keepsBlocks && block.weightBytes > cache.capacityBytes) large = block
            else cache.put(source.stamp, offset, block)
            block
          }
      }

  /** The last block that is too large for the cache: who looks for one key after the other finds many of them there. */
  @volatile private var large: DataBlock = _

  private def readData(offset: Long, size: Int, room: BlockRoom): DataBlock = {
    val plain = readBlock(offset, size, HFileFormat.DataMagic, room)
    new DataBlock(source.damage, offset, plain.bytes, plain.from, plain.to, hasMvcc)
  }

  /** The index block below an entry of `parent`; the root is level 0. */
  private[hfile] def innerIndex(parent: BlockIndex, entry: Int, level: Int): BlockIndex = {
    val offset = parent.offset(entry)
    cache.find(source.stamp, offset) match {
      case index: BlockIndex => index
      case _                 =>
        val leaf = level == trailer.indexLevels - 1
        val magic = if (leaf) HFileFormat.LeafIndexMagic else HFileFormat.IntermediateIndexMagic
        val plain = readBlock(offset, parent.size(entry), magic)
        val in = new ByteCursor(plain.bytes, plain.from, plain.to, source.path, offset, source.damaged)
        val index = BlockIndex.inner(in, trailer.loadOnOpenOffset)
        cache.put(source.stamp, offset, index)
        index
    }
  }

  private def readBlock(offset: Long, size: Int, magic: Long, room: BlockRoom = null): Plain = {
    cache.counters.decoded()
    def decode(bytes: Array[Byte], at: Int) =
      BlockBytes.decode(source, bytes, at, size, offset, magic, trailer.codec, checksum, room)
    if (room == null) decode(source.read(offset, size), 0)
    else {
      room.hold(source, offset, size, trailer.loadOnOpenOffset)
      decode(room.stored, room.placeOf(offset))
    }
  }
}

/** Arrays that a cursor reads one block after another into. Reads ahead of blocks that follow each other closely.
  *
  * @param sweep the cache is passed by
  */
private[hfile] final class BlockRoom(val sweep: Boolean = false) {
  private var storedBytes, plainBytes = Array.emptyByteArray
  private var from = 0L // offset in the file of the bytes held
  private var held = 0
  private var ahead = 0

  /** Bytes as they stand in the file. */
  def stored: Array[Byte] = storedBytes

  /** Index in `stored` of what stands at an offset of the file that is held. */
  def placeOf(offset: Long): Int = (offset - from).toInt

  /** Sees to it that the block is held.
    *
    * @param end of the blocks in the file
    */
  def hold(source: Source, offset: Long, size: Int, end: Long): Unit =
    if (offset < from || offset + size > from + held) {
      val gap = offset - (from + held)
      ahead =
        if (held > 0 && gap >= -size && gap <= BlockRoom.MostGap) math.min(BlockRoom.MostAhead, ahead * 2 + size) else 0
      val length = math.max(size.toLong, math.min(ahead.toLong, end - offset)).toInt
      if (storedBytes.length < length) storedBytes = new Array[Byte](length)
      held = 0 // should the read fail
      source.read(offset, length, storedBytes)
      from = offset
      held = length
    }

  /** For at least `length` decompressed bytes. */
  def plain(length: Int): Array[Byte] = {
    if (plainBytes.length < length) plainBytes = new Array[Byte](length)
    plainBytes
  }
}

private[hfile] object BlockRoom {
  val MostAhead: Int = 128 << 10

  /** Bytes skipped that cost less than another read. */
  val MostGap: Int = 64 << 10
}

/** Looks whether the cells of one pass over an HFile ascend, and whether its index leads to each of them. */
final class CellOrder(reader: HFileReader) {
  private val path = new IndexPath(reader)
  private var before: Array[Byte] = _

  /** The key of the cell that the cursor is on; the reader's error where the order is broken. */
  def take(cells: HFileCursor): Array[Byte] = {
    val key = cells.key
    if (before != null && java.util.Arrays.compareUnsigned(before, key) >= 0)
      reader.fail("a key is not above the one before it in the data block", cells.blockOffset)
    path.find(key, 0, key.length)
    if (path.blockOffset != cells.blockOffset)
      reader.fail(s"the index leads to the data block at ${path.blockOffset} for a key of the one", cells.blockOffset)
    before = key
    key
  }
}

object HFileReader {
  // A read of everything costs about as much as reads of every fourth block; docs/decisions.md.
  private val CellsPerSeek = 4
  private val CacheShare = 4

  /** Bytes read from the end at first: enough for trailer and load-on-open section of most files. */
  val TailBytes: Int = 64 << 10

  private def hasMvcc(info: Map[String, Array[Byte]]): Boolean =
    info.get(FileInfoKey.KeyValueVersion).exists(v => v.length == 4 && ByteBuffer.wrap(v).getInt == 1)

  /** Reads trailer, root index and file info: one positional read, two where they take more than `tailBytes`.
    *
    * @param damaged makes the error for a file that cannot be decoded; the reader stays the caller's to close
    */
  def open(
      reader: RandomReader,
      cache: BlockCache,
      damaged: String => RuntimeException = new DamagedIndex(_),
      tailBytes: Int = TailBytes
  ): HFileReader = {
    require(tailBytes >= HFileFormat.TrailerBytes, s"tail of $tailBytes bytes does not hold the trailer")
    if (reader.sizeBytes < HFileFormat.TrailerBytes)
      throw damaged(
        s"${reader.path}: file of ${reader.sizeBytes} bytes is shorter than an HFile's trailer; write it anew"
      )
    val source = new Source(reader, damaged, cache.counters, tailBytes)
    val trailerOffset = source.size - HFileFormat.TrailerBytes
    val trailerBytes = source.read(trailerOffset, HFileFormat.TrailerBytes)
    val in = new ByteCursor(trailerBytes, 0, trailerBytes.length, source.path, trailerOffset, damaged)
    val trailer = Trailer.decode(in, source.size)
    val opened = loadOnOpen(source, cache, trailer, trailerBytes)
    source.trim()
    opened
  }

  private def loadOnOpen(
      source: Source,
      cache: BlockCache,
      trailer: Trailer,
      trailerBytes: Array[Byte]
  ): HFileReader = {
    val from = trailer.loadOnOpenOffset
    val length = source.size - HFileFormat.TrailerBytes - from
    if (length > Int.MaxValue - 16)
      source.fail(s"load-on-open section has $length bytes, more than hudiidx reads", from)
    val bytes = source.read(from, length.toInt)
    def block(offset: Long, magic: Long, checksum: Int): Plain = {
      val at = (offset - from).toInt
      BlockBytes.decode(source, bytes, at, bytes.length - at, offset, magic, trailer.codec, checksum)
    }
    def cursor(plain: Plain, offset: Long): ByteCursor =
      new ByteCursor(plain.bytes, plain.from, plain.to, source.path, offset, source.damaged)
    val root = block(from, HFileFormat.RootIndexMagic, -1)
    val checksum = root.header.checksumType
    val metaOffset = from + root.header.totalSize
    val metas = block(metaOffset, HFileFormat.RootIndexMagic, checksum)
    val infoBlock = block(trailer.fileInfoOffset, HFileFormat.FileInfoMagic, checksum)
    val info = FileInfoBlock.decode(cursor(infoBlock, trailer.fileInfoOffset))
    checkInfo(source, info, checksum, trailerBytes)
    val index = BlockIndex.root(cursor(root, from), trailer.dataIndexCount, from)
    val metaIndex = MetaIndex.read(cursor(metas, metaOffset), trailer.metaIndexCount, from)
    new HFileReader(source, cache, trailer, index, metaIndex, info, checksum)
  }

  private def checkInfo(
      source: Source,
      info: Map[String, Array[Byte]],
      checksum: Int,
      trailerBytes: Array[Byte]
  ): Unit = {
    val trailerOffset = source.size - HFileFormat.TrailerBytes
    info.get(FileInfoKey.ChecksumType).foreach { v =>
      if (v.length != 1 || v(0) != checksum) source.fail(s"blocks have checksum type $checksum, not the file's", 0)
    }
    info.get(FileInfoKey.TrailerCrc).foreach { v =>
      val found = hudiidx.bytes.Bytes.crc32c(trailerBytes, 0, trailerBytes.length)
      if (v.length != 4 || ByteBuffer.wrap(v).getInt != found)
        source.fail("trailer differs from its checksum", trailerOffset)
    }
    if (info.contains(FileInfoKey.MaxTagsLength)) source.fail("cells carry tags, which hudiidx does not read", 0)
  }
}
