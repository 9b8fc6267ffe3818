package hudiidx.hfile

import hudiidx.bytes.{ByteCursor, Bytes}
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.US_ASCII

/** Numbers of the HFile v3 format. Layout tables in docs/format.md. */
private[hfile] object HFileFormat {
  val TrailerBytes = 4096
  val HeaderBytes = 33
  val MajorVersion = 3
  val MinorVersion = 3

  /** Two lengths, row length, family length, timestamp and type: what a cell adds to its key and value but the mvcc byte. */
  val CellOverheadBytes = 20

  /** Bytes of a cell's key besides the row: row length, family length, timestamp, type. */
  val KeyOverheadBytes = 12
  val MaxKeyBytes: Int = Short.MaxValue.toInt
  val PutType: Byte = 4

  /** One checksum for a whole block: 1.1.1's native reader drops cells that are no longer than the checksums. */
  val BytesPerChecksum: Int = 1 << 30

  def magic(text: String): Long = ByteBuffer.wrap(text.getBytes(US_ASCII)).getLong
  val TrailerMagic: Long = magic("TRABLK\"$")
  val DataMagic: Long = magic("DATABLK*")
  val MetaMagic: Long = magic("METABLKc")
  val RootIndexMagic: Long = magic("IDXROOT2")
  val LeafIndexMagic: Long = magic("IDXLEAF2")
  val IntermediateIndexMagic: Long = magic("IDXINTE2")
  val FileInfoMagic: Long = magic("FILEINF2")
  val EncodedDataMagic: Long = magic("DATABLKE")

  /** A magic as text for messages; bytes that are not printable as dots. */
  def magicText(magic: Long): String =
    (0 until 8)
      .map(i => (magic >>> (56 - 8 * i)).toInt & 0xff)
      .map(b => if (b > 32 && b < 127) b.toChar else '.')
      .mkString
}

/** Keys of the file info. The last two are hudiidx's own: other readers ignore them. */
private[hfile] object FileInfoKey {
  val LastKey = "hfile.LASTKEY"
  val AvgKeyLength = "hfile.AVG_KEY_LEN"
  val AvgValueLength = "hfile.AVG_VALUE_LEN"
  val MaxTagsLength = "hfile.MAX_TAGS_LEN"
  val KeyValueVersion = "KEY_VALUE_VERSION"
  val MaxMemstoreTime = "MAX_MEMSTORE_TS_KEY"
  val ChecksumType = "hudiidx.CHECKSUM_TYPE"
  val TrailerCrc = "hudiidx.TRAILER_CRC32C"
}

/** How blocks are protected. `number` is the one in block headers. */
sealed abstract class Checksum(val number: Int) extends Product with Serializable

object Checksum {
  case object Null extends Checksum(0)
  case object Crc32 extends Checksum(1)
  case object Crc32c extends Checksum(2)

  private[hfile] def of(number: Int, bytes: Array[Byte], from: Int, length: Int): Int =
    if (number == Crc32.number) Bytes.crc32(bytes, from, length) else Bytes.crc32c(bytes, from, length)
}

/** The 33 bytes before each block's payload. Sizes are bytes; `onDiskSize` counts payload and checksums. */
private[hfile] final case class BlockHeader(
    magic: Long,
    onDiskSize: Int,
    uncompressedSize: Int,
    checksumType: Int,
    bytesPerChecksum: Int,
    onDiskDataSizeWithHeader: Int
) {
  def totalSize: Long = HFileFormat.HeaderBytes.toLong + onDiskSize
  def payloadSize: Int = onDiskDataSizeWithHeader - HFileFormat.HeaderBytes
}

private[hfile] object BlockHeader {

  /** Reads and checks a header whose block may take at most `room` bytes. */
  def read(in: ByteCursor, room: Long): BlockHeader = {
    if (in.remaining < HFileFormat.HeaderBytes) in.fail(s"block header is cut off after ${in.remaining} bytes")
    val magic = in.long("block magic")
    val onDiskSize = in.int("block size")
    val uncompressedSize = in.int("uncompressed block size")
    in.long("previous block offset")
    val checksumType = in.byte("checksum type").toInt
    val perChecksum = in.int("bytes per checksum")
    val dataSize = in.int("block size without checksums")
    val header = BlockHeader(magic, onDiskSize, uncompressedSize, checksumType, perChecksum, dataSize)
    if (magic == HFileFormat.EncodedDataMagic) in.fail("data block is encoded (DATABLKE), which hudiidx does not read")
    if (onDiskSize < 0 || header.totalSize > room) in.fail(s"block of $onDiskSize bytes passes its end ($room bytes)")
    if (uncompressedSize < 0) in.fail(s"uncompressed block size is $uncompressedSize")
    if (dataSize < HFileFormat.HeaderBytes || dataSize > header.totalSize)
      in.fail(s"block size without checksums is $dataSize, with them ${header.totalSize}")
    checkChecksums(header, in)
    header
  }

  private def checkChecksums(h: BlockHeader, in: ByteCursor): Unit = {
    if (h.checksumType < Checksum.Null.number || h.checksumType > Checksum.Crc32c.number)
      in.fail(s"checksum type ${h.checksumType} is unknown")
    if (h.checksumType != Checksum.Null.number) {
      if (h.bytesPerChecksum <= 0) in.fail(s"bytes per checksum is ${h.bytesPerChecksum}")
      val chunks = (h.onDiskDataSizeWithHeader + h.bytesPerChecksum.toLong - 1) / h.bytesPerChecksum
      val sums = h.totalSize - h.onDiskDataSizeWithHeader
      if (sums != chunks * 4) in.fail(s"block has $sums bytes of checksums for $chunks chunks")
    }
  }
}

/** A block's payload, checked and decompressed: `bytes` from `from` until `to`. */
private[hfile] final case class Plain(header: BlockHeader, bytes: Array[Byte], from: Int, to: Int) {
  def length: Int = to - from
}

private[hfile] object BlockBytes {

  /** Checks and decompresses the block at index `from` of `bytes`, which is `fileOffset` in the file and may take `length`
    * bytes at most. `checksum` is the type that all blocks of the file have, or negative where it is not known yet.
    */
  def decode(
      source: Source,
      bytes: Array[Byte],
      from: Int,
      length: Int,
      fileOffset: Long,
      magic: Long,
      codec: Codec,
      checksum: Int,
      room: BlockRoom = null
  ): Plain = {
    val in = new ByteCursor(bytes, from, from + length, source.path, fileOffset, source.damaged)
    val header = BlockHeader.read(in, length.toLong)
    def fail(what: String): Nothing = source.fail(what, fileOffset)
    if (header.magic != magic)
      fail(s"block is ${HFileFormat.magicText(header.magic)}, not ${HFileFormat.magicText(magic)}")
    if (checksum >= 0 && header.checksumType != checksum)
      fail(s"block has checksum type ${header.checksumType}, the file has $checksum")
    verify(header, bytes, from, fail)
    val start = from + HFileFormat.HeaderBytes
    if (codec == Codec.None) {
      if (header.payloadSize != header.uncompressedSize)
        fail(s"plain block of ${header.payloadSize} bytes says it holds ${header.uncompressedSize}")
      Plain(header, bytes, start, start + header.payloadSize)
    } else {
      val size = header.uncompressedSize
      val plain = BlockCompression.decompress(codec, bytes, start, header.payloadSize, size, room)(fail)
      Plain(header, plain, 0, size)
    }
  }

  private def verify(h: BlockHeader, bytes: Array[Byte], from: Int, fail: String => Nothing): Unit =
    if (h.checksumType != Checksum.Null.number) {
      val end = from + h.onDiskDataSizeWithHeader
      val sums = ByteBuffer.wrap(bytes)
      var at = from
      var sumAt = end
      while (at < end) {
        val length = math.min(h.bytesPerChecksum, end - at)
        val found = Checksum.of(h.checksumType, bytes, at, length)
        if (found != sums.getInt(sumAt))
          fail(f"block differs from its checksum (computed $found%08x, stored ${sums.getInt(sumAt)}%08x)")
        at += length
        sumAt += 4
      }
    }
}
