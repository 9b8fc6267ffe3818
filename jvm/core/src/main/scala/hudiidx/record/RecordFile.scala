package hudiidx.record

import hudiidx.DamagedIndex
import hudiidx.bytes.{Bytes, PackedInput, PackedOutput}
import hudiidx.hfile.{BlockCache, Codec, HFileCursor, HFileOptions, HFileReader, HFileWriter}
import hudiidx.record.page.{
  DamagedPage,
  EntryCursor,
  EntryFlag,
  EntryPageBuilder,
  KeyCode,
  KeyParts,
  PageReader,
  PagedCursor
}
import hudiidx.storage.RandomReader
import java.io.OutputStream

/** How base and delta files are laid out. docs/decisions.md, "Pages of the record index", has the figures.
  *
  *  @param pageEntries most entries of a page
  *  @param blockBytes  most bytes of an HFile data block before compression, and of a page's texts behind what they share
  *  @param codec       of files whose first page it makes smaller by a quarter; others are not compressed
  */
final case class RecordShape(pageEntries: Int, blockBytes: Int, codec: Codec) {

  /** For a file that begins with a page of these bytes. */
  private[record] def hfile(page: PackedOutput): HFileOptions = {
    val packed = Codec.compressedBytes(codec, page.array, page.size)
    HFileOptions(if (packed <= page.size - page.size / 4) codec else Codec.None, blockBytes)
  }
}

object RecordShape {
  val Default: RecordShape = RecordShape(512, 8 << 10, Codec.Zstd(1))
}

/** What a base or delta file holds: `removes` of the entries are removes, `doubts` are in doubt (0 of a file that is read). */
final case class RecordFileStats(entries: Long, removes: Long, doubts: Long = 0)

/** Writes a base or delta file front to back: entries in ascending order of key code and ordinal. docs/format.md, "Record
  * file". `close` completes the file and leaves `out` open.
  */
final class RecordFileWriter(out: OutputStream, range: HashRange, shape: RecordShape = RecordShape.Default) {
  private var file: HFileWriter = _ // made with the first page, which decides the codec
  private val page = new EntryPageBuilder(shape.pageEntries)
  private val keys = new PageKeys
  private var entries, removes, doubts = 0L

  def append(entry: EntryCursor): Unit = {
    if (!page.fits(entry, shape.blockBytes)) flush()
    page.add(entry, entry.ordinal, entry.flags, entry.stamp)
    entries += 1
    if (entry.isRemove) removes += 1
    if ((entry.flags & EntryFlag.Doubt) != 0) doubts += 1
  }

  /** Appends all that a cursor has left. */
  def appendAll(cursor: EntryCursor): Unit = while (cursor.next()) append(cursor)

  def close(): RecordFileStats = {
    flush()
    if (file == null) file = new HFileWriter(out, HFileOptions(Codec.None, shape.blockBytes))
    val head = new PackedOutput(32)
    head.byte(RecordFile.Version)
    Seq(range.from, range.to, entries, removes).foreach(head.varint)
    file.putFileInfo(RecordFile.Info, head.toBytes)
    file.close()
    RecordFileStats(entries, removes, doubts)
  }

  private def flush(): Unit = if (page.count > 0) {
    val lowest = keys.lowest(page)
    val key = keys.next(page)
    val encoded = page.encode()
    if (file == null) file = new HFileWriter(out, shape.hfile(encoded))
    file.append(key, lowest, encoded.array, 0, encoded.size)
  }
}

/** Cell keys of pages: the first bytes of the last key's code. Where that is not above the key before (one key, or one long
  * beginning of keys, over several pages) the key before and a counter of four bytes.
  */
private[record] final class PageKeys {
  private val code = new Array[Byte](RecordFile.KeyBytes)
  private var before = Array.emptyByteArray
  private var counted = false

  /** What the code of the page's first key begins with. */
  def lowest(page: EntryPageBuilder): Array[Byte] = java.util.Arrays.copyOf(code, page.code(0, code))

  def next(page: EntryPageBuilder): Array[Byte] = {
    val length = page.code(page.count - 1, code)
    val plain = Bytes.compare(code, 0, length, before, 0, before.length) > 0
    before =
      if (plain) java.util.Arrays.copyOf(code, length)
      else if (counted && count(before) != -1) {
        val next = before.clone()
        java.nio.ByteBuffer.wrap(next).putInt(next.length - 4, count(before) + 1)
        next
      } else java.util.Arrays.copyOf(before, before.length + 4)
    counted = !plain
    before
  }

  private def count(key: Array[Byte]): Int = java.nio.ByteBuffer.wrap(key).getInt(key.length - 4)
}

object RecordFile {
  private[record] val Version = 2

  /** Files from this format on are read. */
  private[record] val EarliestVersion = 1
  private[record] val Info = "hudiidx.RECORD"

  /** Bytes of a key's code that page keys have. */
  private[record] val KeyBytes = 128

  /** Opens a base or delta file; the reader stays the caller's to close. DamagedIndex for anything but a whole file of a
    * known format.
    */
  def open(reader: RandomReader, cache: BlockCache): RecordFileReader = {
    val file = HFileReader.open(reader, cache, damagedBlock)
    val info = file.fileInfo.getOrElse(Info, throw damaged(reader.path, s"file info has no $Info"))
    try {
      val in = new PackedInput(info)
      val version = in.byte()
      require(
        version >= EarliestVersion && version <= Version,
        s"format $version, this hudiidx reads $EarliestVersion to $Version: a later hudiidx wrote it"
      )
      val range = HashRange(in.varint(), in.varint())
      new RecordFileReader(file, reader.path, range, RecordFileStats(in.varint(), in.varint()))
    } catch { case e: IllegalArgumentException => throw damaged(reader.path, e.getMessage) }
  }

  /** The error for what the container finds; the message has file and offset. */
  private[record] val damagedBlock: String => DamagedIndex =
    what => new DamagedIndex(s"$what; `hudiidx create` makes a new index")

  private[record] def damaged(path: String, what: String): DamagedIndex =
    new DamagedIndex(s"$path: $what; `hudiidx create` makes a new index")
}

/** An open base or delta file. Safe for several threads; each cursor and finder is for one. */
final class RecordFileReader private[record] (
    file: HFileReader,
    path: String,
    val range: HashRange,
    val stats: RecordFileStats
) {

  /** All entries in order; at the end their number is checked. */
  def scan(): EntryCursor = new RecordFileCursor(file.cursor(), path, stats.entries)

  /** @param keys about how many will be asked */
  private[record] def finder(keys: Int): EntryFinder = new EntryFinder(file.cursor(keys.toLong), path)
}

private[record] final class RecordFileCursor(cells: HFileCursor, path: String, entries: Long)
    extends PagedCursor(path) {
  private var seen = 0L

  protected def nextPage(): Boolean =
    if (cells.next()) {
      DamagedPage.guard(path)(pageReader.open(cells.valueBytes, cells.valueOffset, cells.valueLength))
      seen += pageReader.count
      true
    } else {
      if (seen != entries) throw RecordFile.damaged(path, s"$seen entries, its file info says $entries")
      false
    }
}

/** Finds keys that ascend, each page opened at most once. */
private[record] final class EntryFinder(cells: HFileCursor, path: String) {
  private val code = new Array[Byte](RecordFile.KeyBytes)
  val page = new PageReader
  private var state = EntryFinder.Before

  /** Pages opened so far. */
  var pages = 0L

  /** Calls `found` for each page that has entries of the key, when they stand from `page.first` until `page.until`. Keys
    * must ascend strictly from call to call.
    */
  def find(key: KeyParts)(found: PageReader => Unit): Unit = {
    var more = state match {
      case EntryFinder.Before => seek(key)
      case EntryFinder.OnPage => true
      case _                  => false
    }
    var sought = state == EntryFinder.Before
    if (sought && more) state = EntryFinder.OnPage
    if (!more) state = EntryFinder.Behind
    while (more) {
      val beyond = search(key)
      if (page.first < page.until) found(page)
      if (!beyond) more = false
      else {
        more = if (!sought && page.first == page.until) moveOn(key) else nextPage()
        sought = true
        if (!more) state = EntryFinder.Behind
      }
    }
  }

  private def search(key: KeyParts): Boolean = DamagedPage.guard(path)(page.search(key))

  private def seek(key: KeyParts): Boolean = {
    cells.seek(code, 0, KeyCode.write(key, code))
    cells.hasCell && open()
  }

  /** From a page that ends below the key to the first one that may have it. */
  private def moveOn(key: KeyParts): Boolean = {
    val (block, from) = (cells.blockOffset, cells.keyOffset)
    cells.seek(code, 0, KeyCode.write(key, code))
    if (cells.hasCell && cells.blockOffset == block && cells.keyOffset == from) nextPage()
    else cells.hasCell && open()
  }

  private def nextPage(): Boolean = cells.next() && open()

  private def open(): Boolean = {
    pages += 1
    DamagedPage.guard(path)(page.open(cells.valueBytes, cells.valueOffset, cells.valueLength))
    true
  }
}

private[record] object EntryFinder {
  private val Before = 0
  private val OnPage = 1
  private val Behind = 2
}
