package hudiidx.logindex

import hudiidx.DamagedIndex
import hudiidx.bytes.{Bytes, XxHash64}
import hudiidx.log.LogBlock
import hudiidx.storage.RandomReader
import java.io.EOFException

/** An index tail in a file.
  *
  * @param path   full path of the file
  * @param offset of the tail's first byte in it
  */
private[logindex] final class BlockTail(
    val path: String,
    val offset: Long,
    val length: Int,
    val summary: TailSummary,
    end: Array[Byte]
) {

  /** This block's filter and those before it, as a block behind it refers to them. */
  def filters: Vector[FilterRef] = {
    val own = FilterRef(BlockPlace.nameOf(path), offset + summary.filterOffset, summary.filter)
    (if (summary.filter.length > 0) Vector(own) else Vector.empty) ++ summary.earlier
  }

  /** The list of key pages; DamagedIndex if it is none. */
  def pages(reader: RandomReader): Vector[PageRef] = TailReader.guard(path, offset) {
    require(
      summary.directoryOffset <= length - summary.directoryLength,
      s"list of key pages of ${summary.directoryLength} bytes in a tail of $length"
    )
    val at = summary.directoryOffset - (length - end.length)
    val bytes =
      if (at >= 0) java.util.Arrays.copyOfRange(end, at, at + summary.directoryLength)
      else TailReader.bytes(reader, offset + summary.directoryOffset, summary.directoryLength)
    require(
      XxHash64.hash(bytes, 0, bytes.length, 0L) == summary.directorySum,
      "checksum of the list of key pages differs"
    )
    TailFormat.pages(bytes, length)
  }
}

/** Reads parts of index tails. Whatever is wrong with one is a DamagedIndex. */
private[logindex] object TailReader {

  /** Read at once from the end: holds most summaries and lists of key pages. */
  private val EndBytes = 4096

  /** The tail that ends at `until`, if one does.
    *
    * @param from the content's first byte
    */
  def read(reader: RandomReader, from: Long, until: Long): Option[BlockTail] = guard(reader.path, until) {
    val first = bytes(reader, math.max(from, until - EndBytes), math.min(until - from, EndBytes.toLong).toInt)
    TailFormat.trailer(first, first.length).map { case (summaryLength, tailLength) =>
      val needed = summaryLength.toLong + TailFormat.TrailerBytes
      require(
        summaryLength >= 0 && needed + TailFormat.Head.length <= tailLength && tailLength <= until - from,
        s"summary of $summaryLength bytes in a tail of $tailLength"
      )
      val end =
        if (needed > first.length) bytes(reader, until - needed, needed.toInt)
        else if (tailLength < first.length) java.util.Arrays.copyOfRange(first, first.length - tailLength, first.length)
        else first
      val summary = TailFormat.summary(end, summaryLength)
      new BlockTail(reader.path, until - tailLength, tailLength, summary, end)
    }
  }

  /** The tail that an Avro block has of its own; None if there is none, or that of another block. */
  def ofBlock(reader: RandomReader, block: LogBlock, place: BlockPlace): Option[BlockTail] =
    read(reader, block.contentOffset, block.contentOffset + block.contentLength).filter { t =>
      t.summary.instant == place.instant && block.contentOffset + t.summary.recordsEnd == t.offset
    }

  /** All entries of a filter. */
  def entries(reader: RandomReader, filter: FilterRef): FilterEntries = guard(reader.path, filter.offset)(
    HashFilter.decode(bytes(reader, filter.offset, filter.shape.length), filter.shape)
  )

  def members(reader: RandomReader, filter: FilterRef): Vector[BlockPlace] = guard(reader.path, filter.offset) {
    val shape = filter.shape
    require(shape.membersOffset <= shape.length, s"blocks at ${shape.membersOffset} of ${shape.length}")
    HashFilter.members(
      bytes(reader, filter.offset + shape.membersOffset, shape.length - shape.membersOffset),
      shape
    )
  }

  def bytes(reader: RandomReader, offset: Long, length: Int): Array[Byte] = {
    require(
      offset >= 0 && length >= 0 && offset <= reader.sizeBytes - length,
      s"$length bytes at $offset of a file of ${reader.sizeBytes}"
    )
    Bytes.ofBuffer(reader.read(offset, length))
  }

  def guard[A](path: String, offset: Long)(read: => A): A =
    try read
    catch {
      case e @ (_: IllegalArgumentException | _: IndexOutOfBoundsException | _: ArithmeticException |
          _: NegativeArraySizeException | _: EOFException) =>
        throw new DamagedIndex(s"$path: log index at offset $offset cannot be read: ${e.getMessage}", e)
    }
}
