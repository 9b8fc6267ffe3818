package hudiidx.hfile

import hudiidx.bytes.{ByteCursor, Varint}
import java.io.ByteArrayOutputStream
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8

/** The last 4096 bytes of an HFile. Offsets and sizes are bytes. Format notes §11.1. */
private[hfile] final case class Trailer(
    fileInfoOffset: Long,
    loadOnOpenOffset: Long,
    uncompressedIndexBytes: Long,
    totalUncompressedBytes: Long,
    dataIndexCount: Int,
    metaIndexCount: Int,
    entryCount: Long,
    indexLevels: Int,
    firstDataBlockOffset: Long,
    lastDataBlockOffset: Long,
    codec: Codec
) {

  /** The 4096 bytes, as HBase writes them.
    *
    * @param comparatorName of the class that orders keys: HBase's readers load it, Hudi's ignore it
    */
  def encode(comparatorName: String): Array[Byte] = {
    val message = new ByteArrayOutputStream
    def number(field: Int, value: Long): Unit = {
      Varint.write(message, (field << 3).toLong)
      Varint.write(message, value)
    }
    number(1, fileInfoOffset)
    number(2, loadOnOpenOffset)
    number(3, uncompressedIndexBytes)
    number(4, totalUncompressedBytes)
    number(5, dataIndexCount.toLong)
    number(6, metaIndexCount.toLong)
    number(7, entryCount)
    number(8, indexLevels.toLong)
    number(9, firstDataBlockOffset)
    number(10, lastDataBlockOffset)
    val comparator = comparatorName.getBytes(UTF_8)
    Varint.write(message, (11 << 3 | 2).toLong)
    Varint.write(message, comparator.length.toLong)
    message.write(comparator, 0, comparator.length)
    number(12, codec.number.toLong)
    val out = new ByteArrayOutputStream
    out.write(ByteBuffer.allocate(8).putLong(HFileFormat.TrailerMagic).array, 0, 8)
    Varint.write(out, message.size.toLong)
    message.writeTo(out)
    val bytes = java.util.Arrays.copyOf(out.toByteArray, HFileFormat.TrailerBytes)
    val version = HFileFormat.MinorVersion << 24 | HFileFormat.MajorVersion
    ByteBuffer.wrap(bytes).putInt(HFileFormat.TrailerBytes - 4, version)
    bytes
  }
}

private[hfile] object Trailer {
  private val MaxLevels = 16

  /** Reads the trailer that starts at the cursor of a file of `fileSize` bytes, and checks every offset and count. */
  def decode(in: ByteCursor, fileSize: Long): Trailer = {
    val version = ByteBuffer.wrap(in.bytes).getInt(in.limit - 4)
    if (in.long("trailer magic") != HFileFormat.TrailerMagic) in.fail("no HFile trailer (magic TRABLK\"$)")
    if ((version & 0xffffff) != HFileFormat.MajorVersion) in.fail(s"HFile version is ${version & 0xffffff}, not 3")
    val length = in.varintUpTo(in.remaining.toLong, "trailer length")
    check(fields(in.slice(length, "trailer")), in, fileSize - HFileFormat.TrailerBytes)
  }

  private def fields(in: ByteCursor): Array[Long] = {
    val values = new Array[Long](14)
    values(12) = Codec.None.number.toLong
    while (in.remaining > 0) {
      val tag = in.varint("trailer field")
      val field = tag >>> 3
      val value = (tag & 7).toInt match {
        case 0 => in.varint("trailer value")
        case 1 => in.long("trailer value")
        case 2 =>
          val size = in.varintUpTo(in.remaining.toLong, "trailer value length")
          in.skip(size.toLong, "trailer value")
          1L
        case 5    => in.int("trailer value").toLong
        case wire => in.fail(s"trailer field $field has wire type $wire")
      }
      if (field > 0 && field < values.length) values(field.toInt) = value
    }
    values
  }

  private def check(v: Array[Long], in: ByteCursor, end: Long): Trailer = {
    def range(field: Int, from: Long, to: Long, name: String): Long = {
      if (v(field) < from || v(field) > to) in.fail(s"trailer's $name is ${v(field)}, not from $from to $to")
      v(field)
    }
    if (v(13) != 0) in.fail("file is encrypted, which hudiidx does not read")
    val codec =
      Codec.ofNumber(v(12)).getOrElse(in.fail(s"compression codec ${v(12)} is not one of GZ 1, NONE 2, ZSTD 6"))
    val loadOnOpen = range(2, 0, end, "load-on-open offset")
    val fileInfo = range(1, loadOnOpen, end, "file info offset")
    val mostEntries = (end - loadOnOpen) * 2048
    val lastData = range(10, -1, loadOnOpen, "last data block offset")
    Trailer(
      fileInfo,
      loadOnOpen,
      v(3),
      v(4),
      range(5, 0, math.min(mostEntries, Int.MaxValue.toLong), "data index count").toInt,
      range(6, 0, math.min(mostEntries, Int.MaxValue.toLong), "meta index count").toInt,
      range(7, 0, Long.MaxValue, "entry count"),
      range(8, 1, MaxLevels.toLong, "number of index levels").toInt,
      range(9, -1, loadOnOpen, "first data block offset"),
      lastData,
      codec
    )
  }
}
