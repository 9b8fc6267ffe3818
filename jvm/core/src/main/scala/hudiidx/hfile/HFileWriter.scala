package hudiidx.hfile

import hudiidx.bytes.Bytes
import java.io.OutputStream
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import scala.collection.immutable.TreeMap

/** How an HFile is written.
  *
  * @param blockBytes      most bytes of a data block before compression; one larger cell makes a block of its own
  * @param indexBlockBytes most bytes of an index block; a larger index gets one more level. The default lets root index,
  *                        file info and trailer come in one read of 64 KiB
  * @param comparator      class name of the keys' order, for HBase's readers; the default needs no jar of Hudi's
  */
final case class HFileOptions(
    codec: Codec = Codec.Zstd(3),
    blockBytes: Int = 64 << 10,
    checksum: Checksum = Checksum.Crc32c,
    indexBlockBytes: Int = 32 << 10,
    comparator: String = "org.apache.hadoop.hbase.CellComparatorImpl"
) {
  require(blockBytes > 0, s"blockBytes is $blockBytes")
  require(indexBlockBytes > 0, s"indexBlockBytes is $indexBlockBytes")
  require(checksum != Checksum.Crc32, "checksum CRC32 is for reading; write CRC32C or NULL")
}

/** Writes an HFile v3 front to back, as HBase and Hudi read it; holds one data block and one index block a level's worth.
  * The same calls give the same bytes. `close` completes the file and flushes `out`, but leaves it open.
  */
final class HFileWriter(out: OutputStream, options: HFileOptions) extends AutoCloseable {
  private val blocks = new BlockWriter(out, options)
  private val data = new ByteSink(options.blockBytes + 1024)
  private val index = new IndexWriter(blocks, options.indexBlockBytes)
  private var metas = TreeMap.empty[String, Array[Byte]]
  private var info = TreeMap.empty[String, Array[Byte]]
  private var lastKey = Array.emptyByteArray
  private var lastKeyLength = -1
  private var separator = Array.emptyByteArray // index key of the block being filled
  private var entries, keyBytes, valueBytes = 0L
  private var firstBlock, lastBlock = -1L
  private var closed = false

  /** Bytes written to `out` so far. */
  def writtenBytes: Long = blocks.offset

  def entryCount: Long = entries

  /** Adds a cell. Keys must ascend strictly as unsigned bytes, and take 32,767 bytes at most. */
  def append(key: Array[Byte], value: Array[Byte]): Unit = append(key, value, 0, value.length)

  def append(key: Array[Byte], value: Array[Byte], valueFrom: Int, valueLength: Int): Unit =
    append(key, key, value, valueFrom, valueLength)

  /** Adds a cell that stands for all keys from `lowest` to its own: the block index leads them to its block.
    *
    *  @param lowest not above `key`; of no effect unless above the key of the cell before
    */
  def append(
      key: Array[Byte],
      lowest: Array[Byte],
      value: Array[Byte],
      valueFrom: Int,
      valueLength: Int
  ): Unit = {
    require(!closed, "the writer is closed")
    require(
      key.length <= HFileFormat.MaxKeyBytes,
      s"key of ${key.length} bytes; an HFile takes ${HFileFormat.MaxKeyBytes}"
    )
    if (!isAboveLast(key))
      throw new IllegalArgumentException(s"key ${HFileWriter.show(key)} is not above the one before it")
    val cellBytes = HFileFormat.CellOverheadBytes + key.length.toLong + valueLength + 1
    if (data.size > 0 && data.size + cellBytes > options.blockBytes) finishBlock()
    if (data.size == 0) separator = shortest(if (isAboveLast(lowest)) lowest else key)
    data.int(key.length + HFileFormat.KeyOverheadBytes)
    data.int(valueLength)
    Cells.writeKey(data, key, key.length)
    data.write(value, valueFrom, valueLength)
    data.write(0)
    remember(key)
    entries += 1
    keyBytes += key.length + HFileFormat.KeyOverheadBytes
    valueBytes += valueLength
  }

  private def isAboveLast(key: Array[Byte]): Boolean =
    lastKeyLength < 0 || Bytes.compare(key, 0, key.length, lastKey, 0, lastKeyLength) > 0

  /** Adds a meta block, readable by name. */
  def appendMeta(name: String, bytes: Array[Byte]): Unit = {
    require(!closed, "the writer is closed")
    metas += name -> bytes
  }

  /** Sets an entry of the file info. Names that begin with `hfile.` are the format's own. */
  def putFileInfo(key: String, bytes: Array[Byte]): Unit = {
    require(!closed, "the writer is closed")
    require(!key.startsWith("hfile.") && !HFileWriter.OwnInfo(key), s"file info $key is the writer's own")
    info += key -> bytes
  }

  override def close(): Unit = if (!closed) {
    closed = true
    if (data.size > 0) finishBlock()
    val metaEntries = metas.map { case (name, bytes) =>
      (name, blocks.write(HFileFormat.MetaMagic, bytes, bytes.length), blocks.lastSize)
    }
    index.finish()
    val loadOnOpen = blocks.offset
    index.writeRoot()
    writeMetaIndex(metaEntries)
    val trailer = Trailer(
      blocks.offset,
      loadOnOpen,
      index.writtenBytes,
      blocks.uncompressedBytes,
      index.rootCount,
      metas.size,
      entries,
      index.levels,
      firstBlock,
      lastBlock,
      options.codec
    ).encode(options.comparator)
    val fileInfo = FileInfoBlock.encode(info ++ ownInfo(trailer))
    blocks.write(HFileFormat.FileInfoMagic, fileInfo, fileInfo.length)
    out.write(trailer)
    out.flush()
  }

  private def finishBlock(): Unit = {
    index.beforeBlock()
    val offset = blocks.write(HFileFormat.DataMagic, data.array, data.size)
    if (firstBlock < 0) firstBlock = offset
    lastBlock = offset
    index.add(offset, blocks.lastSize, separator)
    data.clear()
  }

  /** The shortest key that is above the last one and not above `key`. */
  private def shortest(key: Array[Byte]): Array[Byte] =
    if (lastKeyLength < 0) key.clone()
    else {
      val common = java.util.Arrays.mismatch(lastKey, 0, lastKeyLength, key, 0, key.length)
      java.util.Arrays.copyOf(key, common + 1)
    }

  private def remember(key: Array[Byte]): Unit = {
    if (lastKey.length < key.length) lastKey = new Array[Byte](math.max(64, key.length * 2))
    System.arraycopy(key, 0, lastKey, 0, key.length)
    lastKeyLength = key.length
  }

  private def writeMetaIndex(metaEntries: Iterable[(String, Long, Int)]): Unit = {
    val body = new ByteSink(256)
    metaEntries.foreach { case (name, offset, size) =>
      val key = name.getBytes(UTF_8)
      body.long(offset)
      body.int(size)
      hudiidx.bytes.Varint.writeHadoop(body, key.length.toLong)
      body.write(key, 0, key.length)
    }
    blocks.write(HFileFormat.RootIndexMagic, body.array, body.size)
  }

  private def ownInfo(trailer: Array[Byte]): Map[String, Array[Byte]] = {
    def int(value: Long): Array[Byte] = ByteBuffer.allocate(4).putInt(value.toInt).array
    val base = Map(
      FileInfoKey.AvgKeyLength -> int(if (entries == 0) 0 else keyBytes / entries),
      FileInfoKey.AvgValueLength -> int(if (entries == 0) 0 else valueBytes / entries),
      FileInfoKey.KeyValueVersion -> int(1),
      FileInfoKey.MaxMemstoreTime -> new Array[Byte](8),
      FileInfoKey.ChecksumType -> Array(options.checksum.number.toByte),
      FileInfoKey.TrailerCrc -> int(Bytes.crc32c(trailer, 0, trailer.length).toLong)
    )
    if (lastKeyLength < 0) base
    else {
      val last = new ByteSink(lastKeyLength + 16)
      Cells.writeKey(last, lastKey, lastKeyLength)
      base + (FileInfoKey.LastKey -> java.util.Arrays.copyOf(last.array, last.size))
    }
  }
}

private[hfile] object HFileWriter {
  private val OwnInfo =
    Set(FileInfoKey.KeyValueVersion, FileInfoKey.MaxMemstoreTime, FileInfoKey.ChecksumType, FileInfoKey.TrailerCrc)

  /** A key for a message: its text if it is printable, else hexadecimal; at most 64 bytes of it. */
  private def show(key: Array[Byte]): String = {
    val head = key.take(64)
    if (head.forall(b => b >= 32 && b < 127)) new String(head, UTF_8) else head.map(b => f"$b%02x").mkString
  }
}
