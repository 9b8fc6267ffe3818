package hudiidx.logindex

import hudiidx.bytes.{PackedInput, PackedInts, PackedOutput, XxHash64}
import hudiidx.record.KeyPages

/** Where a hash filter stands: in a log file of the slice for tails, in a file of the index folder for what is kept there.
  *
  * @param file   name without folder
  * @param offset of the filter's first byte in the file
  */
final case class FilterRef(file: String, offset: Long, shape: FilterShape)

/** What an index tail says of itself. Offsets are from the tail's first byte. docs/format.md, "Index tail".
  *
  * @param instant         INSTANT_TIME of the block
  * @param recordsEnd      bytes of the content before the tail
  * @param keys            entries of the key pages
  * @param min, max        codes of the block's lowest and highest key, cut to `HashFilter.BoundBytes`
  * @param directoryOffset of the list of key pages
  * @param filterOffset    of the hash filter that stands in this tail: of this block, or of this and earlier ones
  * @param filter          its shape; `FilterShape.None` where the filters stand elsewhere
  * @param earlier         filters of the blocks before that are not in this tail's
  */
final case class TailSummary(
    instant: String,
    recordsEnd: Long,
    keys: Int,
    min: Array[Byte],
    max: Array[Byte],
    directoryOffset: Int,
    directoryLength: Int,
    directorySum: Long,
    filterOffset: Int,
    filter: FilterShape,
    earlier: Vector[FilterRef]
) {

  /** False if a key of this code is not in the block. */
  def mightHold(code: Array[Byte]): Boolean = keys > 0 && HashFilter.within(code, min, max)
}

/** A page of a tail's keys.
  *
  * @param lastCode code of its last key, cut to 128 bytes
  * @param offset   from the tail's first byte
  */
private[logindex] final case class PageRef(lastCode: Array[Byte], offset: Int, length: Int, sum: Long)

/** Bytes of index tails; pure. Malformed bytes raise IllegalArgumentException or IndexOutOfBoundsException. */
private[logindex] object TailFormat {
  val Version = 1

  /** Read as the length of one more record it would be negative: no reader takes the tail for records. */
  val Head: Array[Byte] = Array(0xff.toByte, 'H', 'D', 'X')

  /** The last bytes of the content. */
  val End: Array[Byte] = "HDXLOG".getBytes("US-ASCII") ++ Array[Byte](0, Version.toByte)

  /** Summary length, tail length (int32 each), checksum of the summary and of these, magic. */
  val TrailerBytes = 4 + 4 + 8 + 8

  def directory(pages: Vector[PageRef]): Array[Byte] = {
    val out = new PackedOutput()
    out.varint(pages.size.toLong)
    var last = Array.emptyByteArray
    pages.foreach { p =>
      val at = java.util.Arrays.mismatch(last, p.lastCode)
      val shared = if (at < 0) last.length else at
      out.varint(shared.toLong)
      out.bytes(p.lastCode.drop(shared))
      out.varint(p.length.toLong)
      out.long(p.sum)
      last = p.lastCode
    }
    out.toBytes
  }

  /** The pages follow one another from behind the head on. */
  def pages(directory: Array[Byte], tailBytes: Int): Vector[PageRef] = {
    val in = new PackedInput(directory)
    val count = in.count(8 * 11)
    var last = Array.emptyByteArray
    var offset = Head.length
    val found = Vector.fill(count) {
      val shared = in.varint()
      require(shared >= 0 && shared <= last.length, s"page code shares $shared of ${last.length} bytes")
      last = last.take(shared.toInt) ++ in.bytes()
      require(last.length <= KeyPages.CodeBytes, s"code of ${last.length} bytes")
      val length = in.varint()
      require(length > 0 && length <= tailBytes - offset, s"key page of $length bytes at $offset")
      offset += length.toInt
      PageRef(last, offset - length.toInt, length.toInt, in.long())
    }
    require(in.remaining == 0, s"${in.remaining} bytes after the pages")
    found
  }

  /** The end of a tail: its summary and trailer.
    *
    * @param before bytes of the tail before the summary
    */
  def end(summary: TailSummary, before: Int): Array[Byte] = {
    val out = new PackedOutput()
    out.string(summary.instant)
    out.varint(summary.recordsEnd)
    out.varint(summary.keys.toLong)
    out.bytes(summary.min)
    out.bytes(summary.max)
    out.varint(summary.directoryOffset.toLong)
    out.varint(summary.directoryLength.toLong)
    out.long(summary.directorySum)
    out.varint(summary.filterOffset.toLong)
    writeShape(out, summary.filter)
    out.varint(summary.earlier.size.toLong)
    val files = new SharedTexts
    summary.earlier.foreach { f =>
      files.write(out, f.file)
      out.varint(f.offset)
      writeShape(out, f.shape)
    }
    val length = out.size
    out.bits(Array(length.toLong, before.toLong + length + TrailerBytes), 2, 0L, 32)
    out.long(XxHash64.hash(out.array, 0, out.size, 0L))
    out.raw(End, 0, End.length)
    out.toBytes
  }

  /** Lengths of summary and tail from the last bytes of a content; None if no tail ends there. */
  def trailer(bytes: Array[Byte], until: Int): Option[(Int, Int)] = {
    val at = until - TrailerBytes
    if (at < 0 || !java.util.Arrays.equals(bytes, until - End.length, until, End, 0, End.length)) None
    else {
      val words = PackedInts.words(bytes)
      Some((words.getInt(at), words.getInt(at + 4)))
    }
  }

  /** The summary of `length` bytes that ends before the trailer at the end of `bytes`. */
  def summary(bytes: Array[Byte], length: Int): TailSummary = {
    val end = bytes.length - TrailerBytes
    val from = end - length
    val sum = PackedInts.words(bytes).getLong(end + 8)
    require(XxHash64.hash(bytes, from, length + 8, 0L) == sum, "checksum of an index tail's summary differs")
    val in = new PackedInput(bytes, from, end)
    val found = TailSummary(
      instant = in.string(),
      recordsEnd = in.varint(),
      keys = in.varint().toInt,
      min = in.bytes(),
      max = in.bytes(),
      directoryOffset = offset(in),
      directoryLength = offset(in),
      directorySum = in.long(),
      filterOffset = offset(in),
      filter = readShape(in),
      earlier = readEarlier(in)
    )
    require(in.remaining == 0, s"${in.remaining} bytes after an index tail's summary")
    found
  }

  private def readEarlier(in: PackedInput): Vector[FilterRef] = {
    val count = in.count(8 * 12)
    val files = new SharedTexts
    Vector.fill(count)(FilterRef(files.read(in), in.varint(), readShape(in)))
  }

  private def offset(in: PackedInput): Int = {
    val value = in.varint()
    require(value >= 0 && value <= Int.MaxValue, s"offset or length $value")
    value.toInt
  }

  def writeShape(out: PackedOutput, s: FilterShape): Unit = {
    out.byte(s.level)
    out.varint(s.entries.toLong)
    out.varint(s.buckets.toLong)
    out.byte(s.riceBits)
    out.byte(s.memberBits)
    out.varint(s.directoryOffset.toLong)
    out.varint(s.membersOffset.toLong)
    out.varint(s.length.toLong)
    out.long(s.membersSum)
    out.bytes(s.min)
    out.bytes(s.max)
  }

  def readShape(in: PackedInput): FilterShape = {
    val shape = FilterShape(
      level = in.byte(),
      entries = offset(in),
      buckets = offset(in),
      riceBits = in.byte(),
      memberBits = in.byte(),
      directoryOffset = offset(in),
      membersOffset = offset(in),
      length = offset(in),
      membersSum = in.long(),
      min = in.bytes(),
      max = in.bytes()
    )
    // A hash takes a bit at least.
    require(shape.entries <= shape.length * 8L, s"${shape.entries} hashes in a filter of ${shape.length} bytes")
    shape
  }
}
