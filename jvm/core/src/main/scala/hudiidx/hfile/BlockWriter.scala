package hudiidx.hfile

import java.io.OutputStream
import java.nio.ByteBuffer

/** Puts blocks behind one another: compresses, frames, adds the checksum. */
private[hfile] final class BlockWriter(out: OutputStream, options: HFileOptions) {
  private val previous = scala.collection.mutable.Map.empty[Long, Long]
  private var offset0 = 0L
  private var lastSize0 = 0
  private var uncompressed = 0L

  /** Where the next block will start. */
  def offset: Long = offset0

  /** Bytes on disk of the block written last, all included. */
  def lastSize: Int = lastSize0

  /** Headers and plain payloads of all blocks so far. */
  def uncompressedBytes: Long = uncompressed

  /** Writes a block; its offset. */
  def write(magic: Long, bytes: Array[Byte], length: Int): Long = {
    val (payload, size) = BlockCompression.compress(options.codec, bytes, length)
    val header = ByteBuffer.allocate(HFileFormat.HeaderBytes)
    header
      .putLong(magic)
      .putInt(size + BlockWriter.ChecksumBytes)
      .putInt(length)
      .putLong(previous.getOrElse(magic, -1L))
    header
      .put(options.checksum.number.toByte)
      .putInt(HFileFormat.BytesPerChecksum)
      .putInt(HFileFormat.HeaderBytes + size)
    out.write(header.array)
    out.write(payload, 0, size)
    out.write(ByteBuffer.allocate(BlockWriter.ChecksumBytes).putInt(checksum(header.array, payload, size)).array)
    val at = offset0
    previous(magic) = at
    lastSize0 = HFileFormat.HeaderBytes + size + BlockWriter.ChecksumBytes
    offset0 += lastSize0
    uncompressed += HFileFormat.HeaderBytes + length
    at
  }

  /** The block's one checksum. HBase wants its four bytes there even when blocks have none: then they are zero. */
  private def checksum(header: Array[Byte], payload: Array[Byte], size: Int): Int =
    if (options.checksum == Checksum.Null) 0
    else {
      val sum = new java.util.zip.CRC32C
      sum.update(header)
      sum.update(payload, 0, size)
      sum.getValue.toInt
    }
}

private object BlockWriter {
  private val ChecksumBytes = 4
}

/** The data index while the file is written: full leaf blocks go between the data blocks, the rest is held. */
private[hfile] final class IndexWriter(blocks: BlockWriter, maxBytes: Int) {
  private val leaf = new IndexEntries
  private var upper = new IndexEntries
  private val body = new ByteSink(4096)
  private var innerLevels = 0
  private var written = 0L

  def levels: Int = innerLevels + 1
  def rootCount: Int = root.count

  /** Plain bytes of the index blocks written. */
  def writtenBytes: Long = written

  private def root: IndexEntries = if (innerLevels == 0) leaf else upper

  /** To be called before a data block is written: lets a full leaf block go first. */
  def beforeBlock(): Unit = if (leaf.count >= 2 && leaf.leafBytes >= maxBytes) flushLeaf()

  def add(offset: Long, size: Int, row: Array[Byte]): Unit = leaf.add(offset, size, row, row.length)

  private def flushLeaf(): Unit = {
    body.clear()
    leaf.writeLeaf(body, 0, leaf.count)
    val offset = write(HFileFormat.LeafIndexMagic)
    upper.addChild(offset, blocks.lastSize, leaf, 0)
    leaf.clear()
    innerLevels = 1
  }

  /** Writes what stands between the data and the root: the last leaf block, and intermediate levels until the root fits. */
  def finish(): Unit = if (innerLevels > 0) {
    if (leaf.count > 0) flushLeaf()
    while (upper.count > 2 && upper.rootBytes > maxBytes) {
      val above = new IndexEntries
      var from = 0
      while (from < upper.count) {
        val to = upper.leafEnd(from, maxBytes)
        body.clear()
        upper.writeLeaf(body, from, to)
        val offset = write(HFileFormat.IntermediateIndexMagic)
        above.addChild(offset, blocks.lastSize, upper, from)
        from = to
      }
      upper = above
      innerLevels += 1
    }
  }

  def writeRoot(): Unit = {
    body.clear()
    root.writeRoot(body)
    write(HFileFormat.RootIndexMagic)
  }

  private def write(magic: Long): Long = {
    written += body.size
    blocks.write(magic, body.array, body.size)
  }
}
