package hudiidx.record

import hudiidx.DamagedIndex
import hudiidx.bytes.{Bytes, PackedInput, PackedOutput}
import hudiidx.record.page.{DamagedPage, EntryCursor, EntryPageBuilder, PagedCursor}
import hudiidx.storage.{BytesReader, RandomReader}
import java.io.{EOFException, OutputStream}
import java.nio.ByteBuffer

/** A run file's sections: where the entries of one hash group are. */
private[record] final case class RunSection(range: HashRange, offset: Long, bytes: Long, entries: Long)

/** Writes a run file front to back. docs/format.md, "Run file". */
private[record] final class RunWriter(out: OutputStream, ranges: IndexedSeq[HashRange]) {
  private val page = new EntryPageBuilder(RunFile.PageEntries)
  private var offset = 0L
  private var sections = Vector.empty[RunSection]
  private var group = -1
  private var start = 0L
  private var entries = 0L
  raw(ByteBuffer.allocate(8).putLong(RunFile.Magic).array, 0, 8)

  /** Sections follow in the order of the groups. */
  def beginSection(g: Int): Unit = {
    endSection()
    require(g == group + 1, s"section $g behind section $group")
    group = g
    start = offset
    entries = 0
  }

  def append(entry: EntryCursor): Unit = {
    if (page.isFull || page.textBytes > RunFile.MaxTextBytes || (page.count > 0 && page.kind != entry.kind)) flush()
    page.add(entry, entry.ordinal, entry.flags, entry.stamp)
    entries += 1
  }

  def close(inputs: Seq[String], previous: Seq[String]): Unit = {
    endSection()
    require(sections.size == ranges.size, s"${sections.size} sections, not ${ranges.size}")
    val directory = new PackedOutput(64 + sections.size * 16)
    directory.varint(sections.size.toLong)
    sections.foreach { s =>
      directory.varint(s.range.to)
      directory.varint(s.bytes)
      directory.varint(s.entries)
    }
    Seq(inputs, previous).foreach { names =>
      directory.varint(names.size.toLong)
      names.foreach(directory.string)
    }
    val foot = ByteBuffer.allocate(RunFile.FootBytes)
    foot.putLong(offset).putInt(directory.size).putInt(Bytes.crc32c(directory.array, 0, directory.size))
    foot.putLong(RunFile.Magic)
    raw(directory.array, 0, directory.size)
    raw(foot.array, 0, RunFile.FootBytes)
    out.flush()
  }

  private def endSection(): Unit = if (group >= 0) {
    flush()
    sections :+= RunSection(ranges(group), start, offset - start, entries)
  }

  private def flush(): Unit = if (page.count > 0) {
    val encoded = page.encode()
    val frame = ByteBuffer.allocate(RunFile.FrameBytes)
    frame.putInt(encoded.size).putInt(Bytes.crc32c(encoded.array, 0, encoded.size))
    raw(frame.array, 0, RunFile.FrameBytes)
    raw(encoded.array, 0, encoded.size)
  }

  private def raw(bytes: Array[Byte], from: Int, length: Int): Unit = {
    out.write(bytes, from, length)
    offset += length
  }
}

object RunFile {

  /** `HDXRUN`, 0, format version 1. */
  private[record] val Magic = 0x48445852554e0001L
  private[record] val FrameBytes = 8
  private[record] val FootBytes = 24
  private[record] val PageEntries = 1024
  private[record] val MaxTextBytes = 64 << 10
  private val TailBytes = 64 << 10

  private[record] def damaged(path: String, what: String, offset: Long): DamagedIndex =
    new DamagedIndex(s"$path: $what at offset $offset; delete the run file and create the index again")

  private[record] def read(reader: RandomReader, offset: Long, length: Int): Array[Byte] =
    try Bytes.ofBuffer(reader.read(offset, length))
    catch { case _: EOFException => throw damaged(reader.path, s"file ends before $length bytes", offset) }

  /** Reads what a run file holds; its pages are checked when they are read. The reader stays the caller's to close. */
  def open(reader: RandomReader): RunReader = {
    val path = reader.path
    val size = reader.sizeBytes
    if (size < 8 + FootBytes) throw damaged(path, s"run file of $size bytes is too short", 0)
    val tailFrom = math.max(0L, size - TailBytes)
    val tail = read(reader, tailFrom, (size - tailFrom).toInt)
    val head = if (tailFrom == 0) tail else read(reader, 0, 8)
    if (ByteBuffer.wrap(head).getLong != Magic) throw damaged(path, "no run file of this format", 0)
    val foot = ByteBuffer.wrap(tail, tail.length - FootBytes, FootBytes)
    val offset = foot.getLong
    val length = foot.getInt
    val crc = foot.getInt
    if (foot.getLong != Magic) throw damaged(path, "no end of a run file", size - 8)
    if (offset < 8 || length < 0 || offset + length != size - FootBytes)
      throw damaged(path, s"directory of $length bytes at $offset does not end at the file's end", size - FootBytes)
    val bytes =
      if (offset >= tailFrom) java.util.Arrays.copyOfRange(tail, (offset - tailFrom).toInt, tail.length - FootBytes)
      else read(reader, offset, length)
    if (Bytes.crc32c(bytes, 0, length) != crc) throw damaged(path, "directory differs from its checksum", offset)
    // A small file need not be read again.
    val pages = if (tailFrom == 0) new BytesReader(path, tail) else reader
    try decode(pages, bytes, offset)
    catch {
      case e: IllegalArgumentException => throw damaged(path, s"directory is malformed (${e.getMessage})", offset)
    }
  }

  private def decode(reader: RandomReader, bytes: Array[Byte], end: Long): RunReader = {
    val in = new PackedInput(bytes)
    val count = in.count(24)
    var from = 0L
    var offset = 8L
    val sections = Vector.fill(count) {
      val section = RunSection(HashRange(from, in.varint()), offset, in.varint(), in.varint())
      from = section.range.to + 1
      offset += section.bytes
      require(section.bytes >= 0 && offset <= end, s"section of ${section.bytes} bytes")
      section
    }
    require(offset == end && HashRange.tiles(sections.map(_.range)), s"$count sections do not fill the file")
    def names(): Vector[String] = Vector.fill(in.count(8))(in.string())
    new RunReader(reader, sections, names(), names())
  }
}

/** An open run file.
  *
  *  @param inputs   names of the inputs that are complete with this run and those of `previous`
  *  @param previous runs that hold the beginning of these inputs
  */
final class RunReader private[record] (
    reader: RandomReader,
    sections: Vector[RunSection],
    val inputs: Vector[String],
    val previous: Vector[String]
) {
  def ranges: Vector[HashRange] = sections.map(_.range)
  def entries: Long = sections.map(_.entries).sum
  def entries(group: Int): Long = sections(group).entries
  def bytes(group: Int): Long = sections(group).bytes

  /** True if `section` reads the whole section at once. */
  def isReadAtOnce(group: Int): Boolean = bytes(group) <= RunCursor.ChunkBytes

  /** The entries of a group. A section of up to 256 KiB is read at once, so that the file may be closed; of a longer one
    * that much is in memory at a time. Closing the cursor does not close the file.
    */
  def section(group: Int): EntryCursor = new RunCursor(reader, sections(group))
}

private[record] final class RunCursor(reader: RandomReader, section: RunSection) extends PagedCursor(reader.path) {
  private val end = section.offset + section.bytes
  private var chunk = Array.emptyByteArray
  private var chunkOffset = section.offset
  private var at = 0
  private var seen = 0L
  if (section.bytes <= RunCursor.ChunkBytes) fill(0)

  protected def nextPage(): Boolean =
    if (chunkOffset + at == end) {
      if (seen != section.entries) fail(s"section has $seen entries, the directory says ${section.entries}", end)
      false
    } else {
      need(RunFile.FrameBytes)
      val frame = ByteBuffer.wrap(chunk, at, RunFile.FrameBytes)
      val length = frame.getInt
      val crc = frame.getInt
      if (length < 0 || length > end - chunkOffset - at - RunFile.FrameBytes)
        fail(s"page of $length bytes passes the section's end", chunkOffset + at)
      need(RunFile.FrameBytes + length)
      val from = at + RunFile.FrameBytes
      if (Bytes.crc32c(chunk, from, length) != crc) fail("page differs from its checksum", chunkOffset + at)
      DamagedPage.guard(s"${reader.path}: page at offset ${chunkOffset + at}")(pageReader.open(chunk, from, length))
      seen += pageReader.count
      at = from + length
      true
    }

  private def need(bytes: Int): Unit = if (chunk.length - at < bytes) {
    if (end - chunkOffset - at < bytes) fail(s"section ends before $bytes bytes", chunkOffset + at)
    fill(bytes)
  }

  /** Reads on from the current place, at least `bytes`. */
  private def fill(bytes: Int): Unit = {
    chunkOffset += at
    at = 0
    val length = math.min(end - chunkOffset, math.max(bytes, RunCursor.ChunkBytes).toLong).toInt
    chunk = if (length == 0) Array.emptyByteArray else RunFile.read(reader, chunkOffset, length)
  }

  private def fail(what: String, offset: Long): Nothing = throw RunFile.damaged(reader.path, what, offset)
}

private[record] object RunCursor {
  val ChunkBytes = 256 << 10
}
