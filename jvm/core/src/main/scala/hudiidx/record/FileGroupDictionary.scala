package hudiidx.record

import hudiidx.bytes.{PackedInput, PackedInts, PackedOutput}
import hudiidx.hfile.{BlockCache, Codec, HFileOptions, HFileReader, HFileWriter}
import hudiidx.record.page.{ColumnReader, DamagedPage, FileGroupPage, MonotoneColumn, MonotoneReader}
import hudiidx.storage.RandomReader
import hudiidx.table.FileGroup
import java.io.OutputStream
import java.nio.ByteBuffer

/** Writes a segment of the dictionary of file groups: `groups` take the ordinals from `first` on. docs/format.md,
  * "Dictionary segment". A segment is as long as file groups that came with one update, or several such; it is held once.
  */
object GroupSegment {
  private[record] val Version = 1
  private[record] val Info = "hudiidx.RECORD_GROUPS"
  private[record] val PageEntries = 512
  private[record] val OrdinalKey = 'o'.toByte
  private[record] val HashKey = 'h'.toByte
  private val options = HFileOptions(Codec.Zstd(3), 16 << 10)

  def write(out: OutputStream, first: Int, groups: IndexedSeq[FileGroup]): Unit = {
    val file = new HFileWriter(out, options)
    writeHashes(file, first, groups)
    var from = 0
    while (from < groups.size) {
      val to = math.min(groups.size, from + PageEntries)
      file.append(key(OrdinalKey, first + to - 1L), FileGroupPage.encode(groups.slice(from, to)))
      from = to
    }
    val head = new PackedOutput(16)
    head.byte(Version)
    head.varint(first.toLong)
    head.varint(groups.size.toLong)
    file.putFileInfo(Info, head.toBytes)
    file.close()
  }

  /** Pages of hashes with their ordinals. Groups of one hash stand on one page. */
  private def writeHashes(file: HFileWriter, first: Int, groups: IndexedSeq[FileGroup]): Unit = {
    // 32 bits of hash above 32 bits of place sort as one number each.
    val sorted = groups.indices.map(i => (FileGroupPage.hash(groups(i)) << 32) + i + Long.MinValue).toArray
    java.util.Arrays.sort(sorted)
    val hashes = sorted.map(s => (s - Long.MinValue) >>> 32)
    var from = 0
    while (from < sorted.length) {
      var to = math.min(sorted.length, from + PageEntries)
      while (to < sorted.length && hashes(to) == hashes(to - 1)) to += 1
      val out = new PackedOutput(4096)
      out.varint((to - from).toLong)
      MonotoneColumn.write(out, hashes.slice(from, to), to - from)
      out.column(sorted.slice(from, to).map(s => first + (s & 0xffffffffL)), to - from)
      file.append(key(HashKey, hashes(to - 1)), out.toBytes)
      from = to
    }
  }

  private[record] def key(kind: Byte, number: Long): Array[Byte] =
    ByteBuffer.allocate(5).put(kind).putInt(number.toInt).array

  /** Opens a segment; the reader stays the caller's to close. */
  def open(reader: RandomReader, cache: BlockCache): GroupSegmentReader = {
    val file = HFileReader.open(reader, cache, RecordFile.damagedBlock)
    val info = file.fileInfo.getOrElse(Info, throw RecordFile.damaged(reader.path, s"file info has no $Info"))
    try {
      val in = new PackedInput(info)
      val version = in.byte()
      require(version == Version, s"format $version, this hudiidx reads $Version: a later hudiidx wrote it")
      val (first, count) = (in.varint(), in.varint())
      require(first >= 0 && count >= 0 && first + count <= Int.MaxValue, s"$count file groups from $first")
      new GroupSegmentReader(file, reader.path, first.toInt, count.toInt)
    } catch { case e: IllegalArgumentException => throw RecordFile.damaged(reader.path, e.getMessage) }
  }
}

/** An open segment: ordinals `first` until `first + count`. Safe for several threads. */
final class GroupSegmentReader private[record] (file: HFileReader, path: String, val first: Int, val count: Int) {

  /** The page that has an ordinal: its first ordinal and its file groups. */
  private[record] def page(ordinal: Int): (Int, Array[FileGroup]) = {
    val cursor = file.scan(GroupSegment.key(GroupSegment.OrdinalKey, ordinal.toLong))
    if (!cursor.next() || cursor.keyLength != 5 || cursor.key(0) != GroupSegment.OrdinalKey)
      throw RecordFile.damaged(path, s"no page has file group $ordinal")
    val last = ByteBuffer.wrap(cursor.key).getInt(1)
    val groups =
      DamagedPage.guard(path)(FileGroupPage.decode(input(cursor.valueBytes, cursor.valueOffset, cursor.valueLength)))
    val start = last - groups.length + 1
    if (start < first || ordinal < start || last >= first + count)
      throw RecordFile.damaged(path, s"page of file groups $start to $last, looked up for $ordinal")
    (start, groups)
  }

  /** Ordinals whose file group has this hash. */
  private[record] def candidates(hash: Long): Array[Int] = {
    val cursor = file.scan(GroupSegment.key(GroupSegment.HashKey, hash))
    if (!cursor.next() || cursor.key(0) != GroupSegment.HashKey) Array.emptyIntArray
    else
      DamagedPage.guard(path) {
        val in = input(cursor.valueBytes, cursor.valueOffset, cursor.valueLength)
        val words = PackedInts.words(cursor.valueBytes)
        val size = in.varint()
        require(size >= 1 && size <= FileGroupPage.MaxEntries * 2, s"page of $size hashes")
        val hashes = new MonotoneReader
        hashes.open(in, words, size.toInt)
        val ordinals = new ColumnReader
        ordinals.open(in, words, size.toInt)
        hashes.search(hash)
        Array.tabulate(hashes.until - hashes.first)(i => Math.toIntExact(ordinals(hashes.first + i)))
      }
  }

  private def input(bytes: Array[Byte], from: Int, length: Int): PackedInput =
    new PackedInput(bytes, from, from + length)
}

/** The file groups of a record index by ordinal, and ordinals by file group. Loads the pages that are asked for and keeps
  * some. Safe for several threads.
  *
  *  @param segments ascending, tiling 0 until `size`
  */
final class FileGroupDictionary(segments: IndexedSeq[GroupSegmentReader]) {
  private val pages = new java.util.LinkedHashMap[Integer, Array[FileGroup]](16, 0.75f, true) {
    override def removeEldestEntry(e: java.util.Map.Entry[Integer, Array[FileGroup]]): Boolean =
      this.size > FileGroupDictionary.PagesKept
  }
  private val firsts: Array[Int] = segments.map(_.first).toArray
  private val judged, outdated = new java.util.BitSet

  /** The ordinal that the next new file group takes. */
  val size: Int = segments.lastOption.fold(0)(s => s.first + s.count)
  segments.indices.foreach { i =>
    val due = if (i == 0) 0 else segments(i - 1).first + segments(i - 1).count
    if (segments(i).first != due)
      throw RecordFile.damaged("dictionary of file groups", s"segment $i begins at ${segments(i).first}, not $due")
  }

  /** DamagedIndex for an ordinal that no segment has. */
  def apply(ordinal: Int): FileGroup = {
    if (ordinal < 0 || ordinal >= size)
      throw RecordFile.damaged("dictionary of file groups", s"no file group $ordinal among $size")
    val at = java.util.Arrays.binarySearch(firsts, ordinal)
    var segment = if (at >= 0) at else -at - 2
    while (segments(segment).count == 0) segment += 1
    pageOf(segments(segment), ordinal)
  }

  private def pageOf(segment: GroupSegmentReader, ordinal: Int): FileGroup = {
    val place = segment.first + (ordinal - segment.first) / GroupSegment.PageEntries * GroupSegment.PageEntries
    var page = pages.synchronized(pages.get(place))
    if (page == null) {
      val (start, groups) = segment.page(ordinal)
      if (start != place) throw RecordFile.damaged("dictionary of file groups", s"page $start stands for page $place")
      page = groups
      pages.synchronized(pages.put(place, page))
    }
    page(ordinal - place)
  }

  /** The ordinal of a file group, the newest if it has several; None if the dictionary does not have it. */
  def find(group: FileGroup): Option[Int] = {
    val hash = FileGroupPage.hash(group)
    val all = segments.iterator.flatMap(_.candidates(hash)).filter(apply(_) == group)
    if (all.hasNext) Some(all.max) else None
  }

  /** False for an ordinal whose file group took a new one: its mappings are none any more. */
  def isCurrent(ordinal: Int): Boolean = {
    val known = judged.synchronized(judged.get(ordinal))
    if (known) !outdated.synchronized(outdated.get(ordinal))
    else {
      val current = find(apply(ordinal)).contains(ordinal)
      if (!current) outdated.synchronized(outdated.set(ordinal))
      judged.synchronized(judged.set(ordinal))
      current
    }
  }

  /** All file groups in the order of their ordinals. */
  def all: Iterator[FileGroup] = Iterator.range(0, size).map(apply)
}

private[record] object FileGroupDictionary {
  private val PagesKept = 64
}
